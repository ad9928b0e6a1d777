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

struct patch_how {
    const struct patch_arrival *arrival; /* ghosts being received; NULL: ghosts are valid */
    struct patch_scratch *scratch;       /* lent; NULL: allocated for this step */
    /* −1: tiles of the best size; otherwise cubes of 2^depth octs: same bits, for tests */
    int depth;
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
