/* sph/leap_dev: leap.h on a device. */
#include <math.h>
#include <stddef.h>

#include "dev/sums.h"
#include "sph/device.h"
#include "sph/leap.h"
#include "sph/leap_kernels.h"

enum {
    /* blocks that reduce rows, at most, and rows of a block, at least; the host joins what they
     * found */
    BLOCKS = 256,
    ROWS = 4 * DEV_THREADS,
    POSITION = SMOOTH_BIT(X) | SMOOTH_BIT(Y) | SMOOTH_BIT(Z),
    VELOCITY = SMOOTH_BIT(VX) | SMOOTH_BIT(VY) | SMOOTH_BIT(VZ),
    ACCELERATION = SMOOTH_BIT(AX) | SMOOTH_BIT(AY) | SMOOTH_BIT(AZ),
    HALF = SMOOTH_BIT(VX_HALF) | SMOOTH_BIT(VY_HALF) | SMOOTH_BIT(VZ_HALF) | SMOOTH_BIT(U_HALF)
};

static double *at(struct sph *s, enum smooth_column c)
{
    return smooth_dev_at(s->device->smooth, c);
}

static void need(struct sph *s, smooth_set which)
{
    smooth_dev_need(s->device->smooth, &s->p, which);
}

static int64_t few(int64_t n)
{
    const int64_t blocks = (n + ROWS - 1) / ROWS;
    return blocks < BLOCKS ? blocks : BLOCKS;
}

enum err leap_dev_drift_and_predict(struct sph *s, double dt)
{
    const smooth_set writes = POSITION | VELOCITY | HALF | SMOOTH_BIT(U) | SMOOTH_BIT(ALPHA);
    struct leap_drift_args a = {.n = s->p.n,
                                .dt = dt,
                                .par = s->eq,
                                .u = at(s, SMOOTH_U_COLUMN),
                                .u_half = at(s, SMOOTH_U_HALF_COLUMN),
                                .alpha = at(s, SMOOTH_ALPHA_COLUMN),
                                .du = at(s, SMOOTH_DU_COLUMN),
                                .alpha_loc = at(s, SMOOTH_ALPHA_LOC_COLUMN),
                                .divv = at(s, SMOOTH_DIVV_COLUMN),
                                .h = at(s, SMOOTH_H_COLUMN)};
    for (int d = 0; d < 3; d++) {
        a.x[d] = at(s, SMOOTH_X_COLUMN + d);
        a.v[d] = at(s, SMOOTH_VX_COLUMN + d);
        a.v_half[d] = at(s, SMOOTH_VX_HALF_COLUMN + d);
        a.a[d] = at(s, SMOOTH_AX_COLUMN + d);
    }
    need(s, POSITION | VELOCITY | ACCELERATION | SMOOTH_BIT(U) | SMOOTH_BIT(DU) |
                SMOOTH_BIT(ALPHA) | SMOOTH_BIT(ALPHA_LOC) | SMOOTH_BIT(DIVV) | SMOOTH_BIT(H));
    dev_launch(s->device->stream, &sph_drift, dev_blocks(a.n), &a);
    smooth_dev_changed(s->device->smooth, writes, true);
    return OK;
}

/* Memory of the results of blocks. */
static enum err results(struct sph *s, size_t bytes)
{
    return dev_room_need(s->device->stream, &s->device->found, bytes, "results");
}

/* The sum of the digits of all blocks. */
static void join(struct sum *sum, int64_t blocks, int64_t (*digit)[DEV_SUM])
{
    sum_init(sum);
    for (int64_t k = 0; k < blocks; k++) {
        for (int i = 0; i < SUM_DIGITS; i++) sum->digit[i] += digit[k][i];
        sum->bad += digit[k][SUM_DIGITS];
        sum_carry(sum);
    }
}

/* Sums of the blocks of sph_correct and sph_squares. */
struct correction {
    int64_t bad;
    double most[BLOCKS];
    int64_t digit[BLOCKS][DEV_SUM];
};

enum err leap_dev_correct(struct sph *s, double dt, struct leap_corrected *c)
{
    struct correction found = {0}, *on;
    struct dev_stream *stream = s->device->stream;
    const int64_t blocks = few(s->p.n);
    TRY(results(s, sizeof found));
    on = s->device->found.p;
    struct leap_correct_args a = {.n = s->p.n,
                                  .half = 0.5 * dt,
                                  .u = at(s, SMOOTH_U_COLUMN),
                                  .u_half = at(s, SMOOTH_U_HALF_COLUMN),
                                  .du = at(s, SMOOTH_DU_COLUMN),
                                  .most = on->most,
                                  .bad = &on->bad};
    struct leap_squares_args q = {.n = s->p.n, .out = on->digit[0]};
    for (int d = 0; d < 3; d++) {
        q.v[d] = a.v[d] = at(s, SMOOTH_VX_COLUMN + d);
        a.v_half[d] = at(s, SMOOTH_VX_HALF_COLUMN + d);
        a.a[d] = at(s, SMOOTH_AX_COLUMN + d);
    }
    need(s, VELOCITY | HALF | ACCELERATION | SMOOTH_BIT(U) | SMOOTH_BIT(DU));
    dev_fill(stream, on, 0, sizeof found);
    dev_launch(stream, &sph_correct, blocks, &a);
    dev_launch(stream, &sph_squares, blocks, &q);
    smooth_dev_changed(s->device->smooth, VELOCITY | SMOOTH_BIT(U), true);
    dev_get(stream, &found, on,
            offsetof(struct correction, digit) + sizeof *found.digit * (size_t)blocks);
    TRY(dev_wait(stream));
    c->bad = found.bad > 0;
    c->most = 0;
    for (int64_t k = 0; k < blocks; k++) c->most = fmax(c->most, found.most[k]);
    join(&c->square, blocks, found.digit);
    return OK;
}

/* The results of the blocks of sph_longest and sph_largest, in found[few(n)]. */
static enum err extreme(struct sph *s, const struct dev_kernel *kernel, double found[BLOCKS])
{
    struct dev_stream *stream = s->device->stream;
    const int64_t blocks = few(s->p.n);
    TRY(results(s, sizeof *found * BLOCKS));
    struct leap_extreme_args a = {.n = s->p.n,
                                  .par = s->eq,
                                  .limits = {s->par->sph.cfl, s->par->sph.cfl_force},
                                  .h = at(s, SMOOTH_H_COLUMN),
                                  .u = at(s, SMOOTH_U_COLUMN),
                                  .vsig = at(s, SMOOTH_VSIG_COLUMN),
                                  .out = s->device->found.p};
    for (int d = 0; d < 3; d++) {
        a.x[d] = at(s, SMOOTH_X_COLUMN + d);
        a.a[d] = at(s, SMOOTH_AX_COLUMN + d);
    }
    dev_launch(stream, kernel, blocks, &a);
    dev_get(stream, found, a.out, sizeof *found * (size_t)blocks);
    return dev_wait(stream);
}

enum err leap_dev_longest(struct sph *s, double *dt)
{
    double found[BLOCKS];
    *dt = DBL_MAX;
    need(s, POSITION | ACCELERATION | SMOOTH_BIT(H) | SMOOTH_BIT(U) | SMOOTH_BIT(VSIG));
    TRY(extreme(s, &sph_longest, found));
    for (int64_t k = 0; k < few(s->p.n); k++) *dt = fmin(*dt, found[k]);
    return OK;
}

enum err leap_dev_largest_h(struct sph *s, double *h)
{
    double found[BLOCKS];
    *h = 0;
    need(s, SMOOTH_BIT(H));
    TRY(extreme(s, &sph_largest, found));
    for (int64_t k = 0; k < few(s->p.n); k++) *h = fmax(*h, found[k]);
    return OK;
}

enum err leap_dev_wrap(struct sph *s, int64_t *bad)
{
    struct dev_stream *stream = s->device->stream;
    *bad = 0;
    TRY(results(s, sizeof *bad));
    struct leap_wrap_args a = {.n = s->p.n, .bad = s->device->found.p};
    for (int d = 0; d < 3; d++) {
        a.lo[d] = s->swarm.frame.lo[d];
        a.side[d] = s->swarm.frame.side[d];
        a.x[d] = at(s, SMOOTH_X_COLUMN + d);
    }
    need(s, POSITION);
    dev_fill(stream, a.bad, 0, sizeof *bad);
    dev_launch(stream, &sph_wrap, dev_blocks(a.n), &a);
    smooth_dev_changed(s->device->smooth, POSITION, true);
    dev_get(stream, bad, a.bad, sizeof *bad);
    return dev_wait(stream);
}
