/* grav: Poisson solver per level (multigrid or conjugate gradient), force, gas deposit. Method:
 * docs/method/grav.md (Guillet & Teyssier 2011). All functions are collective unless said
 * otherwise; no result depends on ranks or threads: norms are exact sums (base/sum) of per-oct
 * sums, deposits are integers. */
#pragma once
#include "comm/comm.h"
#include "grav/far.h"
#include "grav/fourier.h"
#include "oct/mesh.h"

enum { GRAV_CYCLES = 10 }; /* at most, of multigrid */

struct grav_par {
    double epsilon;
    int gravity_type; /* 0 self-gravity, >0 analytic acceleration, <0 analytic density added */
    double gravity_params[10];
    int cg_levelmin;
    /* multigrid: every rank solves the levels with at most this many octs, and those with at most
     * twice as many below another level; same bits */
    int mg_shared_octs;
    int fft_levelmin; /* complete levels of a periodic box from this one on in Fourier space */
    enum green green; /* with this Green function */
    bool fft_fixed;   /* and the transform that devices have too, fft/fixed.h; else FFTW's */
    /* Of what the mesh does not hold: the source times 1 + response(wave), wave in units of 2π/box;
     * NULL: none. Fourier only. */
    double (*response)(const void *ctx, double wave);
    const void *response_ctx;
    /* the solver's (init NULL), of one mesh; grav_fini frees them */
    struct fourier *fourier;
    struct cached *cached[LEVEL_MAX + 2];
    int verbose; /* 1: one line per solve in the log */
    /* Lent by the caller: the next solve takes them along if it has a reduction for that (n 0
     * then); NULL: none. */
    struct comm_minima *minima;
    /* Of the last solves, for speed alone: the level that was shared, the errors (init 0). */
    int shared_level[LEVEL_MAX + 2];
    double past_error[LEVEL_MAX + 2][GRAV_CYCLES];
    /* multigrid safe mode, switched on by the solver, kept for the run (init 0) */
    unsigned char safe[LEVEL_MAX + 2];
    /* box and code units in cgs: needed for gravity_type 3 and -3 only */
    double boxlen, unit_l, unit_t, unit_d;
};

/* Cycle n of a solve of level l (from 0): the last one tells that its error decides nothing, so
 * that nobody need wait for it. */
static inline bool grav_error_late(const struct grav_par *p, int l, int n)
{
    return n + 1 < GRAV_CYCLES && p->past_error[l][n] > 4 * p->epsilon;
}

/* Whether an error does, after the one before: the solve ends, or goes on in safe mode. */
static inline bool grav_error_decides(const struct grav_par *p, int l, double err, double last)
{
    return err < p->epsilon || (err > 0.5 * last && !p->safe[l]);
}

struct grav_report {
    int cycles;
    double error;
    bool converged;
};

/* Sources of the potential of a level, beside the density of its cells. */
struct grav_source {
    double fourpi;        /* 4π·scale, or 1.5 Ω_m a·scale */
    double rho_tot;       /* mean density (0 with boundaries) */
    double tfrac;         /* values of level l-1 are φ + (φ − φ_old) tfrac */
    struct far_field far; /* all mass, for the monopole beyond boundaries */
};

/* Solves level l for FLD_PHI (own and ghosts valid on return) from FLD_RHO (own cells valid on
 * entry). The first guess is made here: PHI need not be set. gravity_type > 0: does nothing.
 * PHI, PHI_OLD of level l-1 valid in ghosts. (collective) */
struct grav_report grav_solve(struct mesh *m, const struct comm *c, int l,
                              const struct grav_source *from, struct grav_par *p);

struct fourier_green grav_green(const struct grav_par *p); /* of its solves in Fourier space */
void grav_fini(struct grav_par *p);
/* Frees what is kept of solves of levels l and finer: their octs are about to change, or another
 * mesh follows. Local. */
void grav_forget(struct grav_par *p, int l);

/* FX..FZ of level l: the acceleration −∇φ, code units, from PHI by the 5-point gradient; own and
 * ghosts valid on return. Of `from` tfrac and far. gravity_type > 0: that of an analytic law at the
 * centres of cells. (collective) */
void grav_force(struct mesh *m, const struct comm *c, int l, const struct grav_source *from,
                const struct grav_par *p);

/* Interpolated potential of the 8 cells of the (missing) oct in cell `cell` of oct i of level l
 * (local; interpolation of docs/method/grav.md), for boundary values. Of `from` tfrac and far. */
void grav_interpol_phi(const struct mesh *m, int l, lidx i, int cell,
                       const struct grav_source *from, double out[8]);

/* Mass moments for the gas deposit: com[l'] for every level l' in l..levelmax, one row of 3 doubles
 * per oct: centre of mass of the oct (= of its parent cell), code units, ghosts valid. New arrays
 * in com[] (owner: caller). */
void grav_moments(struct mesh *m, const struct comm *c, int l, double (*com[])[3]);
/* Of these levels in l..levelmax the rows of ghosts are made here, as those of own octs; those of
 * others come from their owners. */
bool grav_moments_alone(const struct mesh *m, int l, int k);
/* Adds the gas of own octs of level l to mass (int64, quantum: code mass a unit, [noct][8], zeroed
 * by the caller): each cell is a pseudo-particle at its centre of mass (leaf: centre), CIC on
 * existing cells of level l only. Local. com: of level l+1 (NULL: none). Density is floored at
 * smallr. */
void grav_deposit_gas(const struct mesh *m, int l, double quantum, const double (*com)[3],
                      double smallr, int64_t (*mass)[8]);
/* Analytic density for gravity_type < 0 (0 for unknown types): rho at x (code units). Local. */
double grav_analytic_density(const struct grav_par *p, const double x[3]);
