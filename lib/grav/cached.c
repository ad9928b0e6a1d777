/* grav/cached: multigrid hierarchies cached from one solve of a level to the next.
 *
 * A hierarchy follows from the lists of octs of its level and all coarser ones. All ranks change
 * such a list together, so that they agree without communication on whether the hierarchy is still
 * valid. Between solves only tables are kept. */
#include "grav/cached.h"

#include "base/mem.h"

static uint64_t changes(const struct mesh *m, int l)
{
    uint64_t n = 0;
    for (int k = 1; k <= l; k++) n += m->lev[k].octs;
    return n;
}

void cached_free(struct cached **kp)
{
    if (!*kp) return;
    mg_free(&(*kp)->mg);
    mesh_fini(&(*kp)->whole);
    FREE(*kp);
}

struct cached *cached_get(struct cached **kp, const struct mesh *m, int l)
{
    const uint64_t now = changes(m, l);
    if (*kp && (*kp)->changes != now) cached_free(kp);
    if (*kp) return *kp;
    *kp = mem_zero(sizeof **kp, MG_TABLES);
    (*kp)->changes = now;
    return *kp;
}
