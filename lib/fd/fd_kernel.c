/* fd/fd_kernel: a substep on a device, one thread a cell, with the point functions of the CPU.
 * Differences read device memory through the first cache of a multiprocessor, where the threads of
 * a tile find each other's numbers; each stage of rhs_kern.h is a phase. */
#define VEC_ONE /* must precede vec/vec.h */
#include "dev/kernel.h"
#include "fd/kernels.h"
#include "fd/rhs_kern.h"

DEV_FN void fd_put_field(const struct fd_step_args *a, const int f, int64_t at, double rate)
{
    a->next[f][at] = fd_put(&a->stage, a->change[f] + at, a->now[f] + at, rate);
}

/* Values that a thread hands on to its next stage. The stages are phases because nvcc would mix
 * them otherwise, and need more registers than there are. */
struct fd_step_shared {
    double force[3][FD_THREADS], square[FD_THREADS], push[3][FD_THREADS];
};

/* The number of a thread's cell in arrays; −1: it has none. */
DEV_FN int64_t fd_cell_of(const struct fd_step_args *a, const struct dev_block *b, int t)
{
    const int i = b->index % a->tiles[0], j = b->index / a->tiles[0] % a->tiles[1],
              k = b->index / a->tiles[0] / a->tiles[1];
    const int x = a->lo[0] + i * FD_TILE_X + t % FD_TILE_X,
              y = a->lo[1] + j * FD_TILE_Y + t / FD_TILE_X % FD_TILE_Y,
              z = a->lo[2] + k * FD_TILE_Z + t / (FD_TILE_X * FD_TILE_Y);
    if (x >= a->hi[0] || y >= a->hi[1] || z >= a->hi[2]) return -1;
    return a->start + x + y * a->stride[1] + z * a->stride[2];
}

DEV_FN struct fd_cell fd_cell_at(const struct fd_step_args *a, int64_t at)
{
    struct fd_cell c;
    c.step[0] = 1, c.step[1] = a->stride[1], c.step[2] = a->stride[2];
#define FIELD(symbol, name, needs) c.f[FD_##symbol] = a->now[FD_##symbol] + at;
#include "fd/fields.def"
    return c;
}

DEV_FN void fd_step_tile(const struct fd_step_args *a, struct fd_step_shared *s,
                         struct dev_block *b, const int order)
{
    const struct fd_law *p = &a->law;
    const bool magnetic = p->parts & FD_PART_MAGNETIC, flow = p->parts & FD_PART_FLOW;
    PHASE (t, magnetic ? FD_THREADS : 0) {
        const int64_t at = fd_cell_of(a, b, t);
        if (at < 0) continue;
        const struct fd_cell c = fd_cell_at(a, at);
        struct fd_current j;
        double out[FD_FIELDS];
        fd_induction(p, order, &c, &j, out);
        FD_AXES(i, fd_put_field(a, FD_AX + i, at, out[FD_AX + i]); s->force[i][t] = j.force[i];);
        s->square[t] = j.square;
    }
    PHASE (t, flow ? FD_THREADS : 0) {
        const int64_t at = fd_cell_of(a, b, t);
        if (at < 0) continue;
        const struct fd_cell c = fd_cell_at(a, at);
        struct fd_known k;
        k.j.force[0] = k.j.force[1] = k.j.force[2] = k.j.square = 0;
        double out[FD_FIELDS] = {0};
        if (magnetic) {
            FD_AXES(i, k.j.force[i] = s->force[i][t];);
            k.j.square = s->square[t];
        }
        fd_flow(p, order, p->parts, &c, &k, out);
#define FIELD(symbol, name, needs)                                                                 \
    if (fd_by_flow(p->parts, FD_##symbol)) fd_put_field(a, FD_##symbol, at, out[FD_##symbol]);
#include "fd/fields.def"
        FD_AXES(i, s->push[i][t] = out[FD_UX + i];);
    }
    PHASE (t, flow ? FD_THREADS : 0) {
        const int64_t at = fd_cell_of(a, b, t);
        if (at < 0) continue;
        const struct fd_cell c = fd_cell_at(a, at);
        struct fd_known k;
        FD_AXES(i, fd_shear(p, order, &c, i, &k);
                fd_put_field(a, FD_UX + i, at, s->push[i][t] + k.viscous[i]););
    }
}

/* ---- signal speed ---- */

struct fd_speed_shared {
    double speed[FD_THREADS];
};

DEV_FN double fd_signal_at(const struct fd_step_args *a, int64_t at)
{
    const struct fd_cell c = fd_cell_at(a, at);
    switch (a->law.order) {
    case 2:
        return fd_signal(&a->law, 2, &c);
    case 4:
        return fd_signal(&a->law, 4, &c);
    case 6:
        return fd_signal(&a->law, 6, &c);
    }
    return fd_signal(&a->law, 8, &c);
}

/* The largest of a block's cells, to max[block]. */
KERNEL(fd_speed, struct fd_speed_args, struct fd_speed_shared, FD_THREADS)
{
    PHASE (t, FD_THREADS) {
        const int64_t at = fd_cell_of(&a->box, b, t);
        s->speed[t] = at < 0 ? 0.0 : fd_signal_at(&a->box, at);
    }
    for (int half = FD_THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) s->speed[t] = fd_faster(s->speed[t], s->speed[t + half]);
    PHASE (t, 1) a->max[b->index] = s->speed[t];
}

#define FD_STEP(name, order)                                                                       \
    KERNEL(name, struct fd_step_args, struct fd_step_shared, FD_THREADS)                           \
    {                                                                                              \
        fd_step_tile(a, s, b, order);                                                              \
    }
FD_STEP(fd_step_2, 2)
FD_STEP(fd_step_4, 4)
FD_STEP(fd_step_6, 6)
FD_STEP(fd_step_8, 8)
