/* lineage/merger_clumps: clumps as groups of merger trees. The masses of sub-clumps count for their
 * parents, but not in the links. */
#include <math.h>
#include <stdlib.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "lineage/clumps.h"
#include "lineage/merger_priv.h"

MEM_ORDER_OF(by_number, int64_t)

/* Row of the clump that contains k; −1: none. */
static int64_t row_of_parent(const struct lineage_groups *g, const struct clump *k)
{
    const int64_t *at = mem_find(&k->parent, g->id, (size_t)g->n, sizeof *g->id, by_number);
    return at && k->parent != k->index ? at - g->id : -1;
}

void merger_of_clumps(const struct clumps *k, const struct halo_box *b, const struct comm *c,
                      int nmost, struct merger_groups *out)
{
    const double mass = halo_solar(b), speed = b->unit_l / b->unit_t / CGS_KM;
    struct lineage_clumps all;
    lineage_clumps_make(k, c, nmost, true, &all);
    struct lineage_groups *g = &all.groups;
    *out = (struct merger_groups){.nmember = k->nmember};
    merger_noise_make(g);
    out->node = mem_new(sizeof *out->node * (size_t)g->n + 1, "trees: groups");
    for (int64_t i = 0; i < g->n; i++) {
        const struct clump *q = &all.at[i];
        g->noise[i] = merger_noise(q->nbound);
        struct merger_node *n = &out->node[i];
        *n = (struct merger_node){.number = q->index,
                                  .within = row_of_parent(g, q),
                                  .members = q->nbound,
                                  .mass = all.whole[i] * mass};
        for (int d = 0; d < 3; d++) n->x[d] = q->x[d] / b->boxlen, n->v[d] = q->part_v[d] * speed;
        n->m200m = n->r200m = n->m200c = n->r200c = n->mvir = n->rvir = n->sigma = n->spin = NAN;
    }
    out->links = *g;
    *g = (struct lineage_groups){.n = 0};
    lineage_clumps_free(&all);
    out->member = mem_new(sizeof *out->member * (size_t)k->nmember + 1, "trees: members");
    for (int64_t i = 0; i < k->nmember; i++)
        out->member[i] = (struct merger_member){k->member[i].id, k->member[i].clump};
}
