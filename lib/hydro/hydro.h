/* hydro: unsplit MUSCL-Hancock on the octree. Method and equations: docs/method/hydro.md.
 *
 * All functions are local to a rank: U (and F with gravity) of level l and, for interpolation, of
 * levels l-1 and l-2 must be valid in ghosts on entry; only own octs are written. Bits do not
 * depend on threads, tiles or ranks. */
#pragma once
#include "base/sum.h"
#include "hydro/point_kern.h"
#include "oct/mesh.h"
#include "patch/patch.h"
#include "turb/force_kern.h"

enum riemann {
#define RIEMANN(name, text, flux) RIEMANN_##name,
#define ITERATED(name, text) RIEMANN_##name,
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    RIEMANN_COUNT
};
/* Predictors: half a step of the primitive equations, or characteristic tracing (Colella 1990),
 * which is for one dimension only. */
enum predictor { PREDICT_MUSCL, PREDICT_PLMDE };
enum bound_type { BOUND_PERIODIC, BOUND_REFLECT, BOUND_OUTFLOW, BOUND_IMPOSED };

/* Numbers that hydro_courant keeps from step to step; zeros at first. The Godunov step before finds
 * the signal and the totals that the next call for a level needs, for each row of new values while
 * it is in the cache; whoever changes the gas or the octs of the level in between forgets them. */
enum { HYDRO_TOTALS = 5 };
struct hydro_fresh {
    double last[LEVEL_MAX + 2]; /* the last signal of each level; 0: none */
    bool wanted, sums_wanted;   /* whether the next step is to find the signal; the totals, too */
    int level;                  /* to which it belongs; 0: forgotten */
    bool sums;                  /* whether there are totals */
    double signal;              /* the highest one of this rank (patch/courant.h) */
    struct sum total[HYDRO_TOTALS]; /* mass, energy, momentum */
};

struct hydro_par {
    int nvar; /* number of conserved variables (vars.n) */
    /* scratch memory lent by the caller; NULL: allocated for each step */
    struct patch_scratch *scratch;
    struct hydro_fresh *fresh;     /* lent; NULL: nothing is kept from step to step */
    const struct patch_flow *flow; /* lent: receives mass fluxes of steps; NULL: nothing does */
    /* lent: driven turbulence of the level, which shortens the Courant step and acts at the end of
     * hydro_update and mhd_update; NULL: none */
    const struct turb_force *drive;
    struct gas_vars vars;
    struct gas_energies energy; /* non-thermal energies (energies.c) */
    double gamma, smallr, smallc, courant_factor;
    enum riemann riemann;
    int niter_riemann;
    enum slope slope_type;
    enum predictor predictor;
    double slope_theta, difmag;
    bool pressure_fix;
    double beta_fix;
    /* Tiles of 2^(tile_depth-1) octs a side; 0: best size. Bits do not depend on it; for tests. */
    int tile_depth;
    int interpol_var, interpol_type;
    double photon_speed;      /* new octs get |F| <= this N of photons; 0: no limit */
    enum bound_type bound[6]; /* boundary conditions −x,+x,−y,+y,−z,+z */
    bool no_inflow;           /* whether BOUND_OUTFLOW prevents inflow */
    /* primitive state (rho, v, P, non-thermal pressures, scalars) of imposed boundaries */
    double bound_state[6][NVAR_MAX];
    /* refinement thresholds and floors; -1: off */
    double err_grad_d, err_grad_p, err_grad_u, floor_d, floor_p, floor_u;
    double err_grad_energy[GAS_ENERGIES], floor_energy[GAS_ENERGIES];
};

/* Riemann solver of this name (hydro_params/riemann), or RIEMANN_COUNT. */
enum riemann hydro_riemann_named(const char *name);

/* Sums to which the totals of the own leaf cells of a level are added: one value per oct, times the
 * cell volume. internal: NULL: not wanted. momentum: [3]. */
struct hydro_sums {
    struct sum *mass, *energy, *internal, *momentum;
};

/* Largest allowed step of level l from the gas of this rank's own leaf cells (without the bound
 * boxlen/smallc; HUGE_VAL without cells). sums: NULL: not wanted. */
double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p,
                     const struct hydro_sums *sums);

/* Godunov step of own octs of level l over dt: U := U^{n+1}, including the flux corrections of
 * level l+1 (reflux), with gravity the term ½ dt f rho_old at constant internal energy, with
 * pressure_fix its source and switch (hexp: code units, 0 without cosmology). Adds this level's
 * corrections for level l-1 to lev[l].reflux[REFLUX_GAS]. The arrays lev[l].fld[FLD_U…] are
 * replaced by new ones; ghosts are stale afterwards. a: ghosts of U of level l are being received
 * (patch/patch.h), NULL: they are here. c NULL: no changes by sources. */
struct hydro_change;
void hydro_update(struct mesh *m, int l, double dt, double hexp, const struct hydro_par *p,
                  const struct patch_arrival *a, const struct hydro_change *c);

/* Changes of U of own octs by sources within the step, applied after the fluxes and before gravity
 * and pressure_fix. Initialised with zeros and .nvar; new rows are zero [nvar][8]. */
struct hydro_change {
    int nvar;
    lidx n, cap;
    lidx *row;      /* [nown] row of each own oct, -1: none; NULL: no rows */
    double (*u)[8]; /* [n][nvar] changes */
};
/* Row of c for own oct i of a level of nown octs, created if missing; valid until the next call. */
double (*hydro_change_row(struct hydro_change *c, lidx nown, lidx i))[8];
void hydro_change_free(struct hydro_change *c);
/* Adds the changes c to U of own octs, outside of a step. */
void hydro_change_apply(const struct hydro_change *c, struct level *lv);

/* Number of variables per face in the registers (patch/reflux.h) of REFLUX_GAS: nvar, and two more
 * with pressure_fix. */
int hydro_nflux(const struct hydro_par *p);

/* Kick of own octs of level l, and of its ghosts if wanted: momentum += dt f rho at constant
 * internal energy. */
void hydro_kick(struct mesh *m, int l, bool ghosts, double dt, const struct hydro_par *p);
/* Momentum of own octs of level l += dt rho a, with the acceleration a of driven turbulence, at
 * constant internal and magnetic energy. Updates with hydro_par.drive do the same. */
void hydro_drive(struct mesh *m, int l, double dt, const struct turb_force *f, double smallr);

/* Restriction: split cells of own octs of level l get the mean of their children. U of level l+1
 * must be valid in ghosts. */
void hydro_restrict(struct mesh *m, int l, const struct hydro_par *p);

/* Prolongation, an adapt_prolong callback: gas and photons are interpolated, other fields are
 * injected. ctx: struct hydro_par*. hydro_prolong_before fills the fields before field `end`, and
 * returns their number. */
int hydro_prolong_before(int end, const struct mesh *m, int l, lidx parent, int cell,
                         const struct hydro_par *p, double (*out)[8]);
void hydro_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8], void *ctx);

/* Whether a criterion by gradients is on. */
bool hydro_flags(const struct hydro_par *p);
/* Gradient criteria (docs/method/step.md): sets ok[i][c] |= 1 for own octs of level l. */
void hydro_flag(const struct mesh *m, int l, const struct hydro_par *p, unsigned char (*ok)[8]);
