/* smooth/forces_kernel: accelerations and heating rates on a device, with the functions of the CPU.
 */
#define VEC_ONE /* must precede vec/vec.h */
#include "smooth/eos_kern.h"
#include "smooth/list_kern.h"

struct smooth_forces_shared {
    struct smooth_select sel;
#define ROW(name) double name[SMOOTH_THREADS];
    SMOOTH_PUSH(ROW)
#undef ROW
    bool busy;
};

DEV_FN void smooth_push_row(const struct smooth_forces_args *a, const struct smooth_select *s,
                            const struct smooth_place *to, const enum smooth_kernel k, int t,
                            struct smooth_push *sum)
{
    const struct smooth_law law = smooth_law_of(&a->par);
    const int p = t / SMOOTH_PARTS, n = smooth_inside(s, to, p);
    const int32_t point = s->point[p];
    const struct smooth_self self = {
#define ROW(name) a->name[point],
        SMOOTH_PAIR(ROW)
#undef ROW
    };
    for (int i = t % SMOOTH_PARTS; i < n; i += SMOOTH_PARTS) {
        const int32_t at = to->at[p * to->room + i];
        const struct smooth_other other = {
#define ROW(name) a->name[at],
            SMOOTH_PAIR(ROW)
#undef ROW
        };
        double d[3];
        smooth_between_points(&a->tree, s, p, at, d);
        smooth_add_push(k, &law, &self, &other, d, 1, sum);
    }
}

DEV_FN void smooth_forces_rows(const struct smooth_forces_args *a, struct smooth_forces_shared *s,
                               struct dev_block *b, struct smooth_place *to,
                               const enum smooth_kernel k)
{
    smooth_move(&a->tree, &s->sel, b, to, a->reach2, 0);
    SMOOTH_PASS(&a->tree, &s->sel, b, to, a->reach2)
    PHASE (t, SMOOTH_THREADS) {
        struct smooth_push sum = {0, 0, 0, 0, 0, 0, 0};
        if (s->sel.limit2[t / SMOOTH_PARTS] < 0) continue;
#define ROW(name) sum.name = to->window > 0 ? s->name[t] : 0;
        SMOOTH_PUSH(ROW)
#undef ROW
        smooth_push_row(a, &s->sel, to, k, t, &sum);
#define ROW(name) s->name[t] = sum.name;
        SMOOTH_PUSH(ROW)
#undef ROW
    }
}

DEV_FN void smooth_forces_keep(const struct smooth_forces_args *a,
                               const struct smooth_forces_shared *s, int p)
{
    const int32_t point = s->sel.point[p], row = a->tree.order[point];
    const int t = p * SMOOTH_PARTS;
    const bool gas = a->type[row] != SMOOTH_BOUNDARY;
    const double m = a->par.mass;
    a->a[0][row] = gas ? -m * smooth_total(&s->x[t]) : 0;
    a->a[1][row] = gas ? -m * smooth_total(&s->y[t]) : 0;
    a->a[2][row] = gas ? -m * smooth_total(&s->z[t]) : 0;
    a->vsig[row] = smooth_largest(&s->signal[t]);
    a->near[row] = (double)s->sel.n[p];
    a->du[row] = gas ? smooth_heating(&a->par, a->weight[point], a->pressure[point],
                                      smooth_total(&s->work[t]), smooth_total(&s->viscous[t]),
                                      smooth_total(&s->conducted[t]))
                     : 0;
}

DEV_FN void smooth_forces_leaf(const struct smooth_forces_args *a, struct smooth_forces_shared *s,
                               struct dev_block *b, struct smooth_place *to,
                               const enum smooth_kernel k)
{
    const int32_t leaf = b->index, end = a->tree.first[leaf + 1];
    for (int32_t first = a->tree.first[leaf]; first < end; first += SMOOTH_ROWS) {
        PHASE (p, 1) {
            s->busy = false;
        }
        PHASE (p, SMOOTH_ROWS) {
            if (!smooth_row_begin(&a->tree, &s->sel, leaf, first, p)) continue;
            s->sel.limit2[p] = a->reach2[first + p];
            s->busy = true;
        }
        if (!s->busy) continue;
        smooth_forces_rows(a, s, b, to, k);
        PHASE (p, SMOOTH_ROWS) {
            if (s->sel.limit2[p] >= 0) smooth_forces_keep(a, s, p);
        }
    }
}

#define SMOOTH_FORCES(name, kernel, room)                                                          \
    struct name##_shared_memory {                                                                  \
        struct smooth_forces_shared all;                                                           \
        int32_t at[SMOOTH_ROWS * (room)];                                                          \
    };                                                                                             \
    KERNEL(name, struct smooth_forces_args, struct name##_shared_memory, SMOOTH_THREADS)           \
    {                                                                                              \
        struct smooth_place to = {room, 0, s->at, NULL};                                           \
        smooth_forces_leaf(a, &s->all, b, &to, kernel);                                            \
    }
SMOOTH_FORCES(smooth_forces_m4, SMOOTH_M4, 104)
SMOOTH_FORCES(smooth_forces_m6, SMOOTH_M6, 168)
