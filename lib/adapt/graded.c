/* adapt/graded: levels of touching cells differ by at most one. A flag that would break this rule
 * is dropped before octs are created. */
#include "adapt/adapt.h"
#include "oct/bits.h"

/* Whether the missing oct of level l with this key will be created by the flags of level l−1. */
static bool will_be(const struct mesh *m, int l, okey key)
{
    const struct level *up = &m->lev[l - 1];
    lidx p = mesh_find(up, key >> 3);
    return p >= 0 && up->flag[p][key & 7];
}

/* Whether cell c of oct i may be split: all octs of level l that touch it must exist. */
static bool may_split(const struct mesh *m, int l, lidx i, int c)
{
    lidx oct[8];
    int64_t x[3];
    mesh_corner(m, l, i, c, 7, oct);
    okey_coords(m->lev[l].key[i], x);
    for (int k = 1; k < 8; k++) {
        int64_t y[3];
        okey key;
        if (oct[k] != NBR_NONE) continue;
        for (int d = 0; d < 3; d++) y[d] = x[d] + (k >> d & 1) * (2 * (c >> d & 1) - 1);
        if (mesh_key_at(m, l, y, &key) && !will_be(m, l, key)) return false;
    }
    return true;
}

int64_t adapt_drop_ungraded(struct mesh *m, int l)
{
    struct level *lv = &m->lev[l];
    int64_t dropped = 0;
#pragma omp parallel for schedule(static) reduction(+ : dropped)
    for (lidx i = 0; i < lv->nown; i++) {
        unsigned cells = bits_of_bytes(lv->flag[i]);
        if (cells) cells &= bits_of_leaves(lv->child[i]);
        for (; cells; cells &= cells - 1) {
            int c = __builtin_ctz(cells);
            if (may_split(m, l, i, c)) continue;
            lv->flag[i][c] = 0;
            dropped++;
        }
    }
    return dropped;
}
