#include "fd/fd_dev.h"

#include <string.h>

#include "fd/kernels.h"
#include "fd/rows.h"

/* The box in tiles, a block each. Returns their number. */
static int64_t tiles_of(struct fd_step_args *args, const struct fd_par *p, const struct brick *b,
                        const int lo[3], const int hi[3], const struct fd_arrays *a)
{
    static const int tile[3] = {FD_TILE_X, FD_TILE_Y, FD_TILE_Z};
    int64_t blocks = 1;
    *args = (struct fd_step_args){.law = fd_law(p), .start = b->start};
    for (int d = 0; d < 3; d++) {
        args->stride[d] = b->stride[d];
        args->lo[d] = lo[d], args->hi[d] = hi[d];
        args->tiles[d] = hi[d] > lo[d] ? (hi[d] - lo[d] + tile[d] - 1) / tile[d] : 0;
        blocks *= args->tiles[d];
    }
    for (int f = 0; f < FD_FIELDS && a; f++) {
        args->now[f] = a->now[f] ? a->now[f] : a->now[FD_UX];
        args->next[f] = a->next[f], args->change[f] = a->change[f];
    }
    return blocks;
}

void fd_dev_substep(struct dev_stream *s, const struct fd_par *p, const struct brick *b,
                    const int lo[3], const int hi[3], const struct fd_arrays *a, int i, double dt)
{
    const struct dev_kernel *kernel = p->order == 2   ? &fd_step_2
                                      : p->order == 4 ? &fd_step_4
                                      : p->order == 6 ? &fd_step_6
                                                      : &fd_step_8;
    struct fd_step_args args;
    const int64_t blocks = tiles_of(&args, p, b, lo, hi, a);
    args.stage = fd_stage(i, dt);
    if (blocks > 0 && args.law.parts) dev_launch(s, kernel, blocks, &args);
}

int64_t fd_dev_speeds(const struct brick *b)
{
    static const int none[3];
    struct fd_step_args args;
    const struct fd_par p = {.order = 2};
    return tiles_of(&args, &p, b, none, b->own, NULL);
}

void fd_dev_speed(struct dev_stream *s, const struct fd_par *p, const struct brick *b,
                  const struct fd_arrays *a, double *max)
{
    static const int none[3];
    struct fd_speed_args args = {.max = max};
    const int64_t blocks = tiles_of(&args.box, p, b, none, b->own, a);
    if (blocks > 0) dev_launch(s, &fd_speed, blocks, &args);
}
