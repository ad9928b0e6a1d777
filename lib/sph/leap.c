#include "sph/leap.h"

#include <math.h>

#include "sph/leap_kern.h"

void leap_drift_all(struct sph *s, double dt)
{
    struct smooth *p = &s->p;
    const double half = 0.5 * dt;
    smooth_switch(&s->eq, p, dt);
#pragma omp parallel for
    for (int64_t i = 0; i < p->n; i++) {
        for (int d = 0; d < 3; d++) leap_drift(half, dt, p->a[d][i], &p->v[d][i], &p->x[d][i]);
        p->u[i] += half * p->du[i];
    }
}

void leap_predict_all(struct sph *s, double dt)
{
    struct smooth *p = &s->p;
    const double half = 0.5 * dt;
#pragma omp parallel for
    for (int64_t i = 0; i < p->n; i++) {
        for (int d = 0; d < 3; d++) {
            p->v_half[d][i] = p->v[d][i];
            p->v[d][i] += half * p->a[d][i];
        }
        p->u_half[i] = p->u[i];
        p->u[i] += half * p->du[i];
    }
}

static void square_terms(const void *ctx, int64_t first, int n, double (*term)[SPH_BLOCK])
{
    const struct smooth *p = ctx;
    const double *x = p->v[0] + first, *y = p->v[1] + first, *z = p->v[2] + first;
#pragma omp simd
    for (int i = 0; i < n; i++) term[0][i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}

void leap_correct_all(struct sph *s, double dt, struct leap_corrected *c)
{
    struct smooth *p = &s->p;
    const double half = 0.5 * dt;
    double most = 0;
    bool bad = false;
#pragma omp parallel for reduction(max : most) reduction(|| : bad)
    for (int64_t i = 0; i < p->n; i++) {
        double change = 0;
        for (int d = 0; d < 3; d++) {
            const double v = p->v_half[d][i] + half * p->a[d][i], by = v - p->v[d][i];
            change += by * by;
            p->v[d][i] = v;
        }
        most = fmax(most, change);
        p->u[i] = p->u_half[i] + half * p->du[i];
        bad = bad || !(p->u[i] >= 0);
    }
    c->most = most;
    c->bad = bad;
    sph_sums(s, 1, square_terms, p, &c->square);
}

double leap_longest(const struct sph *s)
{
    const struct smooth *p = &s->p;
    const struct leap_limits q = {s->par->sph.cfl, s->par->sph.cfl_force};
    double dt = DBL_MAX;
#pragma omp parallel for reduction(min : dt)
    for (int64_t i = 0; i < p->n; i++) {
        const double a[3] = {p->a[0][i], p->a[1][i], p->a[2][i]};
        const double x[3] = {p->x[0][i], p->x[1][i], p->x[2][i]};
        dt = fmin(dt, leap_limit(&s->eq, &q, p->h[i], p->u[i], p->vsig[i], a, x));
    }
    return dt;
}

double leap_largest_h(const struct sph *s)
{
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < s->p.n; i++) most = fmax(most, s->p.h[i]);
    return most;
}
