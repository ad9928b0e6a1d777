/* patch: a Godunov step of a level by any system of conservation laws (patch/law.h).
 *
 * Everything is local to a rank: the fields of level l and, for octs that do not exist, of coarser
 * levels must be valid in ghosts on entry; only own octs are written. Bits do not depend on
 * threads, tiles or ranks. */
#pragma once
#include "patch/law.h"

/* Memory for tiles, that of a thread each; serves step after step. */
struct patch_scratch;
struct patch_scratch *patch_scratch_new(void);
void patch_scratch_free(struct patch_scratch **s);

/* A step while ghosts of level l are being received: tiles that need no ghosts come first, then
 * wait is called once (by the calling thread), then the rest. */
struct patch_arrival {
    void (*wait)(void *ctx);
    void *ctx;
    bool soon; /* waiting takes less time than the work of more tiles */
};

struct patch_how {
    const struct patch_arrival *arrival; /* NULL: the ghosts are here */
    struct patch_scratch *scratch;       /* lent; NULL: made for this step */
    int depth; /* −1: tiles of the best size; else cubes of 2^depth octs: same bits, for tests */
};

/* The variables of own octs of level l after dt, including the corrections that level l+1 left
 * (reflux). Adds this level's corrections for level l−1 to lev[l].reflux[law->system]. The arrays
 * of the variables are replaced by new ones; ghosts are stale afterwards. */
void patch_update(struct mesh *m, int l, double dt, const struct law *law,
                  const struct patch_how *how);

/* The eight cells of oct i: w holds the sums of old values, flux differences and registers on entry
 * of law.finish, and the new values on return. */
struct oct_sums {
    const struct law *law;
    const struct mesh *m;
    int l;
    double dt, dx;
    lidx i;
    double w[LAW_FIELDS][8];
};
