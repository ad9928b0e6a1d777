/* cooldev/cool_kernel: cooling of the leaf cells of a level on a device, one thread per cell, and
 * the table of rates, of which nodes come when cells ask for them. On hosts phys/cooling does the
 * same in vectors of cells. */
#define VEC_ONE /* must precede vec/vec.h */
#include <string.h>

#include "cool/solve_kern.h"
#include "cooldev/kernels.h"
#include "dev/kernel.h"

/* T2 of a cell after the step; asks for what the table lacks: then *lacks is a place. */
DEV_FN double cooled(const struct gas_cool_args *a, double nH, const struct cooling_cell *x,
                     int *lacks)
{
    const struct table_there *t = &a->table;
    const double seen = cooling_seen(&a->law, nH);
    const double T2 = a->implicit ? cell_implicit(t, a->law.dt, nH, seen, x->Z, x->T2, lacks)
                                  : cell_original(t, a->law.dt, nH, seen, x->Z, x->T2, lacks);
    if (*lacks != PLACE_NONE &&
        dev_swap_if(&t->state[*lacks], PLACE_MISSING, PLACE_ASKED) == PLACE_MISSING)
        a->asked[1 + dev_add_i32(a->asked, 1)] = *lacks;
    return T2;
}

KERNEL(gas_cool, struct gas_cool_args, struct dev_nothing, DEV_THREADS)
{
    const struct level *lv = &a->mesh->lev[a->l];
    const struct cooling_law *w = &a->law;
    PHASE (t, DEV_THREADS) {
        int64_t at = (int64_t)b->index * DEV_THREADS + t;
        lidx i = (lidx)(at >> 3);
        int c = (int)(at & 7), lacks = PLACE_NONE;
        if (at >= 8 * (int64_t)lv->nown || lv->child[i][c] >= 0) continue;
        if (a->again && !a->left[at]) continue;
        double nH = cooling_density(w, lv, i, c) * w->hydrogen,
               floor = cooling_floor(&w->floor, nH);
        if (!a->table.node) {
            cooling_set(w, lv, i, c, floor);
            continue;
        }
        struct cooling_cell x = cooling_enter(w, lv, i, c, floor);
        const double T2 = cooled(a, nH, &x, &lacks);
        a->left[at] = lacks != PLACE_NONE;
        if (lacks == PLACE_NONE) cooling_leave(w, lv, i, c, &x, T2);
    }
}

/* Changes node k of the parcel by its differences. */
DEV_FN void node_put(const struct table_put_args *a, int k)
{
    struct table_node *to = &a->to[a->node[k]];
    const unsigned char *from = a->bytes + a->first[k / NODE_GROUP];
    for (int j = k / NODE_GROUP * NODE_GROUP; j < k; j++)
        for (int r = 0; r < NODE_NUMBERS; r++) from += node_bytes(a->half[j], r);
    for (int r = 0; r < NODE_NUMBERS; r++) {
        double *x = r < RATE_COUNT ? &to->value[r] : &to->slope[r - RATE_COUNT];
        uint64_t bits;
        memcpy(&bits, x, sizeof bits);
        for (int i = 0; i < node_bytes(a->half[k], r); i++) bits ^= (uint64_t)*from++ << 8 * i;
        memcpy(x, &bits, sizeof bits);
    }
}

KERNEL(table_put, struct table_put_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int k = b->index * DEV_THREADS + t;
        if (k < a->nodes) node_put(a, k);
        if (k < a->places && a->state[a->place[k]] < PLACE_THERE) /* those that were read stay so */
            a->state[a->place[k]] = PLACE_THERE;
    }
}

KERNEL(table_reads, struct table_reads_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int word = b->index * DEV_THREADS + t;
        uint32_t bits = 0;
        if (word >= TABLE_WORDS) continue;
        for (int k = 0; k < 32 && 32 * word + k < TABLE_PLACES; k++)
            bits |= (uint32_t)(a->state[32 * word + k] == PLACE_READ) << k;
        a->bits[word] = bits;
    }
}
