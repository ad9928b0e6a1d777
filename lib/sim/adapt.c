/* sim/adapt: when the mesh and the domains change. How they change is in dom/adapt. */
#include "dom/adapt.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "sim/sim.h"

void sim_count_octs(struct sim *s)
{
    int64_t n[LEVEL_MAX + 2] = {0};
    for (int l = 1; l <= s->mesh.levelmax; l++) n[l] = s->mesh.lev[l].nown;
    comm_add_i64(&s->comm, n, LEVEL_MAX + 2);
    int64_t least[2][LEVEL_MAX + 2] = {{0}};
    for (int l = 1; l <= s->mesh.levelmax; l++) {
        least[0][l] = s->mesh.lev[l].nown;
        least[1][l] = -least[0][l];
    }
    comm_min_i64(&s->comm, least[0], 2 * (LEVEL_MAX + 2));
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        s->noct[l] = n[l];
        s->noct_least[l] = least[0][l];
        s->noct_most[l] = -least[1][l];
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
    for (int l = from; l < m->levelmax; l++) {
        /* created octs are not flagged, and removed ones neither: no level changes these of the
         * next */
        struct adapt_changes now = adapt_count(m, l);
        BUG_ON(now.created != here[l].created || now.removed != here[l].removed);
        adapt_change(m, &s->comm, s->dom, l, all[l], m->hydro ? hydro_prolong : NULL, &s->hydro);
        s->noct[l + 1] = m->lev[l + 1].total;
    }
}
