/* grav: Poisson solver per level (multigrid or conjugate gradient), force, gas deposit. Method:
 * docs/method/grav.md (Guillet & Teyssier 2011). All functions are collective unless marked local;
 * no result depends on ranks or threads: norms are exact sums (base/sum) of per-oct sums, deposits
 * are integers. */
#pragma once
#include "comm/comm.h"
#include "grav/far.h"
#include "grav/fourier.h"
#include "oct/mesh.h"

enum { GRAV_CYCLES = 64 }; /* limit of grav_par.cycles */

struct grav_par {
    double epsilon;
    int cycles;       /* maximum multigrid cycles; 0: 10 */
    bool strict;      /* a solution short of epsilon is an error */
    bool analytic;    /* nothing is solved: the analytic acceleration is the only one */
    int density_type; /* analytic density added to that of matter; 0: none */
    int force_type;   /* analytic acceleration, alone or added to that of matter; 0: none */
    double density_params[10], force_params[10];
    int cg_levelmin;
    /* Maximum octs of a multigrid level that every rank solves; twice as many on coarser levels of
     * a hierarchy. Results are bit for bit independent of it. */
    int mg_shared_octs;
    int fft_levelmin; /* minimum level solved in Fourier space if complete and periodic */
    enum green green; /* Green function of Fourier solves */
    bool fft_fixed;   /* true for the line transform of fft/fixed.h, as on devices; else FFTW */
    /* Response of components that are not on the mesh: the source is multiplied by 1 +
     * response(wave), wave in units of 2π/box; NULL: none. Fourier solver only. */
    double (*response)(const void *ctx, double wave);
    const void *response_ctx;
    /* Solver caches of one mesh (initially NULL); grav_fini frees them. */
    struct fourier *fourier;
    struct cached *cached[LEVEL_MAX + 2];
    int verbose; /* log level; 1: one line per solve */
    /* Minima (lent) that the next solve reduces together with its own reductions, if it has any (n
     * is then 0); NULL: none. */
    struct comm_minima *minima;
    /* Hints from previous solves that affect speed only (initially 0): shared level, errors. */
    int shared_level[LEVEL_MAX + 2];
    double past_error[LEVEL_MAX + 2][GRAV_CYCLES];
    /* Multigrid safe mode by level, switched on by the solver for the whole run (initially 0). */
    unsigned char safe[LEVEL_MAX + 2];
    /* Box length and code units in cgs, needed for analytic fields of type 3 only. */
    double boxlen, unit_l, unit_t, unit_d;
};

static inline int grav_cycles(const struct grav_par *p)
{
    return p->cycles > 0 ? p->cycles : 10;
}

/* Whether the error of cycle n (from 0) of a solve of level l is known from the last solve to have
 * no effect, so that the host need not wait for it. */
static inline bool grav_error_late(const struct grav_par *p, int l, int n)
{
    return n + 1 < grav_cycles(p) && p->past_error[l][n] > 4 * p->epsilon;
}

/* Whether an error, given the previous one, ends the solve or switches to safe mode. */
static inline bool grav_error_decides(const struct grav_par *p, int l, double err, double last)
{
    return err < p->epsilon || (err > 0.5 * last && !p->safe[l]);
}

struct grav_report {
    int cycles;
    double error;
    bool converged;
};

/* Parameters of the source of the potential of a level. */
struct grav_source {
    double fourpi; /* factor of the density in the Poisson equation: 4π·scale, or 1.5 Ω_m a·scale */
    double rho_tot; /* mean density; 0 with boundaries */
    double tfrac;   /* weight of the time interpolation φ + (φ − φ_old) tfrac of level l-1 */
    struct far_field far;     /* monopole of all mass, for values beyond boundaries */
    struct far_field far_old; /* the monopole that belongs to φ_old of level l-1 */
};

/* Solves level l for FLD_PHI (own and ghosts valid on return) from FLD_RHO (own cells valid on
 * entry). The first guess is computed here, so PHI need not be set. No effect if `analytic`.
 * PHI and PHI_OLD of level l-1 must be valid in ghosts. (collective) */
struct grav_report grav_solve(struct mesh *m, const struct comm *c, int l,
                              const struct grav_source *from, struct grav_par *p);

/* An error if the run is strict and the solution of level l short of epsilon. Local. */
MUST_USE enum err grav_accepted(int l, const struct grav_report *rep, const struct grav_par *p);

struct fourier_green grav_green(const struct grav_par *p); /* Green function of Fourier solves */
void grav_fini(struct grav_par *p);
/* Frees the caches of levels l and finer before their octs or the mesh change. Local. */
void grav_forget(struct grav_par *p, int l);

/* PHI becomes PHI_OLD, and PHI anything, for a level that is solved next. Local. */
void grav_keep(struct level *lv);

/* Computes FX..FZ of level l: the acceleration −∇φ, code units, from PHI by the 5-point gradient
 * (zero along missing axes); own and ghosts valid on return. Uses tfrac and far of `from`.
 * The analytic acceleration at cell centres is added; with `analytic` it is the only one.
 * (collective) */
void grav_force(struct mesh *m, const struct comm *c, int l, const struct grav_source *from,
                const struct grav_par *p);

/* Interpolates the potential of the 8 cells of the (missing) oct in cell `cell` of oct i of level
 * l, for boundary values (docs/method/grav.md). Uses tfrac and far of `from`. Local. */
void grav_interpol_phi(const struct mesh *m, int l, lidx i, int cell,
                       const struct grav_source *from, double out[8]);

/* Mass moments for the gas deposit: com[l'] for every level l' in l..levelmax, one row of 3 doubles
 * per oct: centre of mass of the oct (= of its parent cell), code units, ghosts valid. Allocates
 * the arrays com[] (owner: caller). */
void grav_moments(struct mesh *m, const struct comm *c, int l, double (*com[])[3]);
/* Whether ghost rows of level k, for moments from level l, are computed locally like own octs;
 * otherwise they are received. */
bool grav_moments_alone(const struct mesh *m, int l, int k);
/* Adds the gas of own octs of level l to mass (int64, in units of `quantum` of code mass,
 * [noct][8], zeroed by the caller): each cell is a pseudo-particle at its centre of mass (leaf:
 * centre), CIC on existing cells of level l only. com: centres of mass of level l+1 (NULL: none).
 * Densities below smallr count as smallr. Local. */
void grav_deposit_gas(const struct mesh *m, int l, double quantum, const double (*com)[3],
                      double smallr, int64_t (*mass)[8]);
/* Analytic density at x (code units) of density_type; 0 for unknown types. Local. */
double grav_analytic_density(const struct grav_par *p, int ndim, const double x[3]);
