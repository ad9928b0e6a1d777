/* hydro: unsplit MUSCL-Hancock on the octree. Method and equations: docs/method/hydro.md.
 *
 * Everything is local to a rank: U (and F with gravity) of level l and, for interpolation, of
 * levels l-1 and l-2 must be valid in ghosts on entry; only own octs are written. Bits do not
 * depend on threads, tiles or ranks. */
#pragma once
#include "base/sum.h"
#include "hydro/point_kern.h"
#include "oct/mesh.h"
#include "patch/patch.h"

enum riemann {
#define RIEMANN(name, text, flux) RIEMANN_##name,
#define ITERATED(name, text) RIEMANN_##name,
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    RIEMANN_COUNT
};
enum bound_type { BOUND_PERIODIC, BOUND_REFLECT, BOUND_OUTFLOW, BOUND_IMPOSED };

struct hydro_par {
    int nvar;                      /* vars.n */
    struct patch_scratch *scratch; /* lent by the caller; NULL: made for each step */
    struct gas_vars vars;
    double gamma, smallr, smallc, courant_factor;
    enum riemann riemann;
    int niter_riemann;
    enum slope slope_type;
    double slope_theta, difmag;
    bool pressure_fix;
    double beta_fix;
    /* 0: tiles of the best size; else cubes of 2^(tile_depth-1) octs: same bits, for tests */
    int tile_depth;
    int interpol_var, interpol_type;
    enum bound_type bound[6]; /* −x,+x,−y,+y,−z,+z */
    bool no_inflow;           /* BOUND_OUTFLOW: nothing flows in */
    /* imposed: primitive (rho, v, P, scalars) */
    double bound_state[6][NVAR_MAX];
    double err_grad_d, err_grad_p, err_grad_u, floor_d, floor_p, floor_u; /* refinement; -1: off */
};

/* The solver of this name (hydro_params/riemann), or RIEMANN_COUNT. */
enum riemann hydro_riemann_named(const char *name);

/* Where totals of the own leaf cells of a level are added: one value per oct, times cell volume.
 * internal: NULL: not wanted. momentum: [3] */
struct hydro_sums {
    struct sum *mass, *energy, *internal, *momentum;
};

/* Largest allowed step of level l from the gas of this rank's own leaf cells (without the
 * boxlen/smallc bound; HUGE_VAL if none). sums: NULL: none are wanted. */
double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p,
                     const struct hydro_sums *sums);

/* Godunov step of own octs of level l over dt: U := U^{n+1} including the corrections that level
 * l+1 left (reflux), with gravity the term ½ dt f rho_old at constant internal energy, with
 * pressure_fix its source and switch (hexp: code units, 0 without cosmology). Adds this level's
 * corrections for level l-1 to lev[l].reflux[REFLUX_GAS]. The arrays lev[l].fld[FLD_U…] are
 * replaced by new ones; ghosts are stale afterwards. a: ghosts of U of level l are being received
 * (patch/patch.h), NULL: they are here. c NULL: no changes by sources. */
struct hydro_change;
void hydro_update(struct mesh *m, int l, double dt, double hexp, const struct hydro_par *p,
                  const struct patch_arrival *a, const struct hydro_change *c);

/* Changes that sources make to U of own octs within the step: after the fluxes, and before gravity
 * and pressure_fix. Begins as zeros with .nvar; its rows are zeroed [nvar][8]. */
struct hydro_change {
    int nvar;
    lidx n, cap;
    lidx *row;      /* by own oct: -1: none; NULL: none at all */
    double (*u)[8]; /* [n][nvar] */
};
/* Row of c for own oct i of a level of nown octs, made if missing; valid until the next call. */
double (*hydro_change_row(struct hydro_change *c, lidx nown, lidx i))[8];
void hydro_change_free(struct hydro_change *c);
/* Adds the changes c to U of own octs, outside of a step. */
void hydro_change_apply(const struct hydro_change *c, struct level *lv);

/* Numbers of a face in the registers (patch/reflux.h) of REFLUX_GAS: variables, and with
 * pressure_fix two more. */
int hydro_nflux(const struct hydro_par *p);

/* momentum += dt f rho, kinetic energy consistently (internal energy unchanged), own octs of level
 * l, and its ghosts if these are wanted. */
void hydro_kick(struct mesh *m, int l, bool ghosts, double dt, const struct hydro_par *p);

/* Split cells of own octs of level l := mean of their children. U of level l+1 valid in ghosts. */
void hydro_restrict(struct mesh *m, int l, const struct hydro_par *p);

/* adapt_prolong callback: ctx = struct hydro_par*. U interpolated, other fields injected. */
void hydro_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8], void *ctx);

/* Gradient criteria (docs/method/step.md): ok[i][c] |= 1 for own octs of level l. */
void hydro_flag(const struct mesh *m, int l, const struct hydro_par *p, unsigned char (*ok)[8]);
