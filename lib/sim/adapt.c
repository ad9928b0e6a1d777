/* sim/adapt: when the mesh and the domains change. How they change is in dom/adapt. */
#include "dom/adapt.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sim/sim.h"

void sim_count_octs(struct sim *s)
{
    int64_t n[LEVEL_MAX + 2] = {0};
    struct spread all[LEVEL_MAX + 2];
    for (int l = 1; l <= s->mesh.levelmax; l++) n[l] = s->mesh.lev[l].nown;
    comm_spread(&s->comm, LEVEL_MAX + 2, n, all);
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        s->noct[l] = s->mesh.lev[l].total;
        s->noct_least[l] = all[l].low;
        s->noct_most[l] = all[l].high;
    }
}

void sim_refine(struct sim *s, int from)
{
    struct mesh *m = &s->mesh;
    if (m->levelmin == m->levelmax || s->refine.frozen) return;
    struct adapt_changes here[LEVEL_MAX + 2] = {{0}}, all[LEVEL_MAX + 2];
    for (int l = from; l < m->levelmax; l++) {
        if (!m->lev[l].valid[FLD_FLAG]) ghost_fill_flags(&s->comm, m, l);
        here[l] = adapt_count(m, l);
    }
    memcpy(all, here, sizeof all);
    comm_add_i64(&s->comm, &all[from].created, 2 * (m->levelmax - from));
    /* created octs are not flagged, and removed ones neither: no level changes the counts of the
     * next */
    for (int l = from; l < m->levelmax; l++) {
        adapt_change(m, &s->comm, s->dom, l, here[l], all[l], m->hydro ? hydro_prolong : NULL,
                     &s->hydro);
        s->noct[l + 1] = m->lev[l + 1].total;
    }
}
