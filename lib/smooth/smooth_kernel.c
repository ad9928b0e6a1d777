/* smooth/smooth_kernel: what density and forces need of each leaf and each point of the tree. */
#define VEC_ONE /* must precede vec/vec.h */
#include "dev/kernel.h"
#include "smooth/eos_kern.h"
#include "smooth/kernels.h"

KERNEL(smooth_candidates, struct smooth_tree_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int32_t leaf = b->index * DEV_THREADS + t;
        if (leaf >= a->nleaf) continue;
        int32_t *begin = a->begin + leaf, sum = 0, e = a->list_first[leaf];
        for (; e < a->list_first[leaf + 1]; e++) {
            const int32_t other = a->list[e] / 2;
            begin[e] = sum;
            sum += a->first[other + 1] - a->first[other];
        }
        begin[e] = sum;
    }
}

KERNEL(smooth_sort, struct smooth_sort_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int32_t i = b->index * DEV_THREADS + t;
        if (i >= a->n) continue;
        const int32_t row = a->order[i];
        for (int k = 0; k < 6; k++) a->to[k][i] = a->from[k][row];
    }
}

KERNEL(smooth_reaches, struct smooth_reaches_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int32_t i = b->index * DEV_THREADS + t;
        if (i < a->n) a->reach[i] = i < a->own ? a->factor * a->h[i] : 0;
    }
}

KERNEL(smooth_pairs, struct smooth_pairs_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int32_t i = b->index * DEV_THREADS + t;
        if (i >= a->n) continue;
        const int32_t row = a->order[i];
        const double h = a->from.h[row],
                     x[3] = {a->from.x[0][row], a->from.x[1][row], a->from.x[2][row]};
        const double reach = kern_support(a->par.kernel) * h;
        if (!(h > 0 && a->from.omega[row] > 0)) dev_add_i64(&a->counter[SMOOTH_COUNT_FAULTS], 1);
        struct smooth_self self = smooth_self_of(&a->par, h, a->from.omega[row], a->from.u[row], x);
        self.vx = a->from.v[0][row], self.vy = a->from.v[1][row], self.vz = a->from.v[2][row];
        self.alpha_c = a->from.alpha[row] * self.c;
#define ROW(name) a->name[i] = self.name;
        SMOOTH_PAIR(ROW)
#undef ROW
        a->reach[row] = reach;
        a->reach2[i] = reach * reach;
    }
}
