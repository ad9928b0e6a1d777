/* patch: a Godunov step of a level by any system of conservation laws (patch/law.h).
 *
 * All functions are local to a rank: the fields of level l and, for octs that do not exist, of
 * coarser levels must be valid in ghosts on entry; only own octs are written. Bits do not depend on
 * threads, tiles or ranks. */
#pragma once
#include "patch/law.h"

/* Work memory of tiles, one sweep per thread; reused from step to step. */
struct patch_scratch;
struct patch_scratch *patch_scratch_new(void);
void patch_scratch_free(struct patch_scratch **s);

/* Ghosts of level l that are being received during a step: tiles that need no ghosts come first,
 * then `wait` is called once (by the calling thread), then the other tiles follow. */
struct patch_arrival {
    void (*wait)(void *ctx);
    void *ctx;
    bool soon; /* whether waiting takes less time than further tiles would */
};

struct patch_rows_flow;
/* Mass fluxes of a step, for tracers: of the first variable, dt/dx × flux through the faces along
 * an axis of the two rows of cells (2y and 2y+1 of plane k; one in one dimension) of a row of octs.
 * Faces of refined cells have 0. */
struct patch_flow {
    /* octs: mask (slots.own) of the own octs of the row. Cell x of row i has the fluxes lo[i][x]
     * through its lower face and hi[i][x] through its upper one; old[i][x]: its value before the
     * step. Called by the threads, once for each row, plane and axis. */
    void (*rows)(const struct sweep *s, void *ctx, const struct patch_rows_flow *at);
    void *ctx;
};
struct patch_rows_flow {
    int axis, y, k;
    uint32_t octs;
    const double *lo[2], *hi[2], *old[2];
};

struct patch_how {
    const struct patch_arrival *arrival; /* ghosts being received; NULL: ghosts are valid */
    struct patch_scratch *scratch;       /* lent; NULL: allocated for this step */
    /* −1: tiles of the best size; otherwise cubes of 2^depth octs: same bits, for tests */
    int depth;
    const struct patch_flow *flow; /* NULL: nothing wants the fluxes */
    /* [nvar] receives the arrays of old values (owner: caller, mem_free), NULL of variables that
     * are 0 everywhere or if the level is empty; NULL: old values are freed */
    double (**old)[8];
};

/* Advances the variables of own octs of level l by dt, including the corrections of level l+1
 * (reflux). Adds this level's corrections for level l−1 to lev[l].reflux[law->system]. The arrays
 * of the variables are replaced by new ones; ghosts are stale afterwards. */
void patch_update(struct mesh *m, int l, double dt, const struct law *law,
                  const struct patch_how *how);

/* Sums of the eight cells of oct i: on entry of law.finish w holds old values, flux differences and
 * registers, on return the new values. */
struct oct_sums {
    const struct law *law;
    const struct mesh *m;
    int l;
    double dt, dx;
    lidx i;
    double w[LAW_FIELDS][8];
};
