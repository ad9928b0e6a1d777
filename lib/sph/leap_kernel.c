/* sph/leap_kernel: the kernels of leap_dev.c, a particle a thread. */
#define VEC_ONE /* must precede vec/vec.h */
#include "dev/sums.h"
#include "sph/leap_kernels.h"

DEV_FN void drift_row(const struct leap_drift_args *a, int64_t i)
{
    const double half = 0.5 * a->dt, x[3] = {a->x[0][i], a->x[1][i], a->x[2][i]};
    a->alpha[i] = leap_alpha(&a->par, a->dt, a->alpha[i], a->alpha_loc[i], a->divv[i], a->h[i],
                             a->u[i], x);
    for (int d = 0; d < 3; d++) {
        const double acc = a->a[d][i];
        double v = a->v[d][i], at = x[d];
        leap_drift(half, a->dt, acc, &v, &at);
        a->x[d][i] = at;
        a->v_half[d][i] = v;
        a->v[d][i] = v + half * acc;
    }
    const double u = a->u[i] + half * a->du[i];
    a->u_half[i] = u;
    a->u[i] = u + half * a->du[i];
}

KERNEL(sph_drift, struct leap_drift_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i < a->n) drift_row(a, i);
    }
}

/* One number of each thread of a block. */
struct leap_best {
    double of[DEV_THREADS];
};

/* The changed velocity of a particle: how much it changed, squared. */
DEV_FN double correct_row(const struct leap_correct_args *a, int64_t i)
{
    double change = 0;
    for (int d = 0; d < 3; d++) {
        const double v = a->v_half[d][i] + a->half * a->a[d][i], by = v - a->v[d][i];
        change += by * by;
        a->v[d][i] = v;
    }
    a->u[i] = a->u_half[i] + a->half * a->du[i];
    if (!(a->u[i] >= 0)) dev_add_i64(a->bad, 1);
    return change;
}

KERNEL(sph_correct, struct leap_correct_args, struct leap_best, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        double most = 0;
        for (int64_t i = (int64_t)b->index * DEV_THREADS + t; i < a->n;
             i += (int64_t)b->count * DEV_THREADS)
            most = fmax(most, correct_row(a, i));
        s->of[t] = most;
    }
    PHASE (t, 1) {
        double most = 0;
        for (int k = 0; k < DEV_THREADS; k++) most = fmax(most, s->of[k]);
        a->most[b->index] = most;
    }
}

DEV_FN int64_t squares(const struct leap_squares_args *a)
{
    return a->n;
}

DEV_FN void square(const struct leap_squares_args *a, int64_t i, double x[1])
{
    const double v[3] = {a->v[0][i], a->v[1][i], a->v[2][i]};
    x[0] = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

DEV_TOTALS(sph_squares, struct leap_squares_args, 1, squares, square)

DEV_FN double longest_row(const struct leap_extreme_args *q, int64_t i)
{
    const double a[3] = {q->a[0][i], q->a[1][i], q->a[2][i]};
    const double x[3] = {q->x[0][i], q->x[1][i], q->x[2][i]};
    return leap_limit(&q->par, &q->limits, q->h[i], q->u[i], q->vsig[i], a, x);
}

KERNEL(sph_longest, struct leap_extreme_args, struct leap_best, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        double least = DBL_MAX;
        for (int64_t i = (int64_t)b->index * DEV_THREADS + t; i < a->n;
             i += (int64_t)b->count * DEV_THREADS)
            least = fmin(least, longest_row(a, i));
        s->of[t] = least;
    }
    PHASE (t, 1) {
        double least = DBL_MAX;
        for (int k = 0; k < DEV_THREADS; k++) least = fmin(least, s->of[k]);
        a->out[b->index] = least;
    }
}

KERNEL(sph_largest, struct leap_extreme_args, struct leap_best, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        double most = 0;
        for (int64_t i = (int64_t)b->index * DEV_THREADS + t; i < a->n;
             i += (int64_t)b->count * DEV_THREADS)
            most = fmax(most, a->h[i]);
        s->of[t] = most;
    }
    PHASE (t, 1) {
        double most = 0;
        for (int k = 0; k < DEV_THREADS; k++) most = fmax(most, s->of[k]);
        a->out[b->index] = most;
    }
}

KERNEL(sph_wrap, struct leap_wrap_args, struct dev_nothing, DEV_THREADS)
{
    PHASE (t, DEV_THREADS) {
        const int64_t i = (int64_t)b->index * DEV_THREADS + t;
        if (i >= a->n) continue;
        const double x[3] = {a->x[0][i], a->x[1][i], a->x[2][i]};
        if (!near_has_place(x)) {
            dev_add_i64(a->bad, 1);
            continue;
        }
        for (int d = 0; d < 3; d++) a->x[d][i] = near_wrapped(x[d], a->lo[d], a->side[d]);
    }
}
