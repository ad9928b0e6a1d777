/* tree/near_pack: the groups of eight of tree/near. */
#include "base/mem.h"
#include "tree/near_priv.h"

#include <math.h>

static int64_t groups_of(int64_t members)
{
    return (members + NEAR_LANES - 1) / NEAR_LANES;
}

/* Sets lane `member` of a level to the box of all lanes of a group of the level below. */
static void join_lanes(struct near_pack *p, int level, int64_t member)
{
    const struct near_eight *from = &p->group[level - 1][member];
    struct near_eight *to = &p->group[level][member / NEAR_LANES];
    const int at = (int)(member % NEAR_LANES);
    for (int d = 0; d < 3; d++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int k = 0; k < NEAR_LANES; k++) {
            lo = from->lo[d][k] < lo ? from->lo[d][k] : lo;
            hi = from->hi[d][k] > hi ? from->hi[d][k] : hi;
        }
        to->lo[d][at] = lo, to->hi[d][at] = hi;
    }
}

static void join_reach(struct near_pack *p, int level, int64_t member)
{
    const struct near_eight *from = &p->group[level - 1][member];
    double reach = 0;
    for (int k = 0; k < NEAR_LANES; k++) reach = from->reach[k] > reach ? from->reach[k] : reach;
    p->group[level][member / NEAR_LANES].reach[member % NEAR_LANES] = reach;
}

/* Lanes without a member contain nothing. */
static void empty_lanes(struct near_eight *g)
{
    for (int k = 0; k < NEAR_LANES; k++) {
        for (int d = 0; d < 3; d++) g->lo[d][k] = INFINITY, g->hi[d][k] = -INFINITY;
        g->reach[k] = 0;
    }
}

static void new_levels(struct near_pack *p, int64_t leaves)
{
    int64_t members = leaves;
    do {
        int64_t groups = groups_of(members);
        struct near_eight *g = mem_new(sizeof *g * (size_t)groups, "near: groups");
        empty_lanes(&g[groups - 1]);
        p->group[p->levels] = g;
        p->n[p->levels++] = members;
        members = groups;
    } while (members > 1);
}

void near_pack_boxes(struct near *t)
{
    struct near_pack *p = &t->tree->pack;
    if (t->nleaf == 0) return;
    new_levels(p, t->nleaf);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->nleaf; i++) {
        const struct near_node *b = near_leaf_node(t, i);
        struct near_eight *g = &p->group[0][i / NEAR_LANES];
        const int at = (int)(i % NEAR_LANES);
        for (int d = 0; d < 3; d++) g->lo[d][at] = b->lo[d], g->hi[d][at] = b->hi[d];
        g->reach[at] = b->reach;
    }
    for (int level = 1; level < p->levels; level++)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < p->n[level]; i++) {
            join_lanes(p, level, i);
            join_reach(p, level, i);
        }
}

void near_pack_reach(struct near *t)
{
    struct near_pack *p = &t->tree->pack;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->nleaf; i++)
        p->group[0][i / NEAR_LANES].reach[i % NEAR_LANES] = near_leaf_node(t, i)->reach;
    for (int level = 1; level < p->levels; level++)
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < p->n[level]; i++) join_reach(p, level, i);
}

void near_pack_free(struct near_pack *p)
{
    for (int level = 0; level < p->levels; level++) FREE(p->group[level]);
    p->levels = 0;
}
