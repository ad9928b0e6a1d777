/* sph/external: the mass at the origin and point masses: each pulls with −G M d/(d²+ε²)^(3/2), and
 * point masses feel what they exert. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sph/sph.h"

void sph_between(const struct sph *s, const double x[3], const double y[3], double d[3])
{
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - y[k];
        if (s->periodic) d[k] -= s->side[k] * rint(d[k] / s->side[k]);
    }
}

void sph_displace(const struct sph *s, const double at[3], int64_t first, int n,
                  double (*d)[SPH_BLOCK], double *far2)
{
    const bool periodic = s->periodic;
    for (int i = 0; i < n; i++) far2[i] = 0;
    for (int k = 0; k < 3; k++) {
        const double *x = s->p.x[k] + first, from = at[k], side = s->side[k];
#pragma omp simd
        for (int i = 0; i < n; i++) {
            double by = x[i] - from;
            if (periodic) by -= side * rint(by / side);
            d[k][i] = by;
            far2[i] += by * by;
        }
    }
}

/* A mass that pulls: its place, G m, and ε². */
struct puller {
    double x[3], gm, soft2;
};

/* G m times the external mass, or 0. */
static double external_gm(const struct sph *s)
{
    const struct param_sph *p = &s->par->sph;
    return strcmp(p->external, "point") == 0 ? p->gm : 0;
}

static double soft2(const struct sph *s)
{
    return s->par->sph.soften * s->par->sph.soften;
}

void sph_centre(struct sph *s)
{
    const bool follows = s->nsink > 0 && strcmp(s->par->sph.external, "none") == 0;
    for (int d = 0; d < 3; d++) s->eq.centre[d] = follows ? s->sink[0].x[d] : 0;
}

/* d: from the mass to x; *cube: 1/(d²+ε²)^(3/2), *inverse: 1/√(d²+ε²), both 0 in the mass itself.
 */
static void separation(const struct sph *s, const struct puller *m, const double x[3], double d[3],
                       double *cube, double *inverse)
{
    sph_between(s, x, m->x, d);
    const double far2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + m->soft2;
    *inverse = far2 > 0 ? 1 / sqrt(far2) : 0;
    *cube = far2 > 0 ? *inverse / far2 : 0;
}

/* Sums of the pull of the gas on a mass, per its own mass: Σ d/(…)^(3/2), three components; and Σ
 * 1/√(…). */
enum { FORCE, POTENTIAL = 3, PULLS };

enum { AT_ONCE = SPH_SUMS / PULLS };

/* Masses that pull the gas at once. */
struct pull {
    struct sph *s;
    const struct puller *m;
    int n;
};

/* Accelerates a block of particles, and makes the terms of the sums, with the operations of
 * separation. Those of other particles than gas, and of one in the mass itself, are 0. */
static void pull_by(const struct sph *s, const struct puller *m, int64_t first, int n,
                    double (*term)[SPH_BLOCK])
{
    const struct smooth *p = &s->p;
    const int8_t *type = p->type + first;
    const double gm = m->gm, soft = m->soft2;
    double cube[SPH_BLOCK];
    sph_displace(s, m->x, first, n, term + FORCE, cube);
#pragma omp simd
    for (int i = 0; i < n; i++) {
        const double far2 = cube[i] + soft;
        const bool counts = (type[i] == SMOOTH_GAS) & (far2 > 0);
        const double some = counts ? far2 : 1, inverse = (counts ? 1.0 : 0.0) / sqrt(some);
        term[POTENTIAL][i] = inverse;
        cube[i] = inverse / some;
    }
    for (int k = 0; k < 3; k++) {
        double *a = p->a[k] + first, *d = term[FORCE + k];
#pragma omp simd
        for (int i = 0; i < n; i++) {
            d[i] *= cube[i];
            a[i] -= gm * d[i];
        }
    }
}

static void pull_block(const void *ctx, int64_t first, int n, double (*term)[SPH_BLOCK])
{
    const struct pull *q = ctx;
    for (int i = 0; i < q->n; i++) pull_by(q->s, &q->m[i], first, n, term + (int)PULLS * i);
}

/* n masses pull the gas: sum[n]. */
static void pull_gas(struct sph *s, int n, const struct puller *m, struct sum (*sum)[PULLS])
{
    for (int i = 0; i < n; i += AT_ONCE) {
        const int some = n - i < AT_ONCE ? n - i : AT_ONCE;
        sph_sums(s, PULLS * some, pull_block, &(struct pull){s, m + i, some}, sum[i]);
    }
}

/* All masses that pull: the point masses, then the external one, whose G m may be 0. */
static struct puller *pullers(const struct sph *s)
{
    struct puller *m = mem_zero(sizeof *m * (size_t)(s->nsink + 1), "point masses");
    for (int i = 0; i < s->nsink; i++) {
        memcpy(m[i].x, s->sink[i].x, sizeof m[i].x);
        m[i].gm = s->par->sph.g * s->sink[i].m;
    }
    m[s->nsink].gm = external_gm(s);
    for (int i = 0; i <= s->nsink; i++) m[i].soft2 = soft2(s);
    return m;
}

/* The forces of point mass i on those after it, and of the external mass on it. Returns the
 * potential energy. */
static double pull_sinks(struct sph *s, int i)
{
    const double g = s->par->sph.g, gm = external_gm(s);
    struct sph_sink *a = &s->sink[i];
    const struct puller m = {.x = {a->x[0], a->x[1], a->x[2]}, .gm = g * a->m, .soft2 = soft2(s)};
    double d[3], cube, inverse, energy = 0;
    for (int j = i + 1; j < s->nsink; j++) {
        struct sph_sink *b = &s->sink[j];
        separation(s, &m, b->x, d, &cube, &inverse);
        for (int k = 0; k < 3; k++) {
            a->a[k] += g * b->m * (d[k] * cube);
            b->a[k] -= g * a->m * (d[k] * cube);
        }
        energy -= g * a->m * b->m * inverse;
    }
    if (gm == 0) return energy;
    const struct puller origin = {.gm = gm, .soft2 = soft2(s)};
    separation(s, &origin, a->x, d, &cube, &inverse);
    for (int k = 0; k < 3; k++) a->a[k] -= gm * (d[k] * cube);
    return energy - gm * a->m * inverse;
}

void sph_external(struct sph *s, double *epot)
{
    const double g = s->par->sph.g, gm = external_gm(s), mass = s->eq.mass;
    const int n = s->nsink, all = n + (gm != 0);
    struct sum(*sum)[PULLS] = mem_zero(sizeof *sum * (size_t)(n + 1), "forces of point masses");
    struct puller *m = pullers(s);
    pull_gas(s, all, m, sum);
    if (all > 0) comm_sums(s->comm, *sum, PULLS * all);
    *epot = 0 - gm * mass * sum_get(&sum[n][POTENTIAL]);
    for (int i = 0; i < n; i++) {
        struct sph_sink *a = &s->sink[i];
        for (int k = 0; k < 3; k++) a->a[k] = g * mass * sum_get(&sum[i][FORCE + k]);
        *epot -= g * a->m * mass * sum_get(&sum[i][POTENTIAL]);
    }
    for (int i = 0; i < n; i++) *epot += pull_sinks(s, i);
    mem_free(m);
    mem_free(sum);
}

/* ---- time step ---- */

/* G M/(d²+ε²)^(3/2) of two masses, or 0 where they are at the same place. */
static double rate2(const struct sph *s, const struct puller *m, const struct puller *other)
{
    double d[3], cube, inverse;
    separation(s, m, other->x, d, &cube, &inverse);
    return (fabs(m->gm) + other->gm) * cube;
}

/* The rate (rate2) of the nearest gas particle of a block that is not in the mass itself. */
static double block_rate2(const struct sph *s, const struct puller *m, int64_t first, int n)
{
    const int8_t *type = s->p.type + first;
    double d[3][SPH_BLOCK], far2[SPH_BLOCK], least = DBL_MAX;
    sph_displace(s, m->x, first, n, d, far2);
#pragma omp simd reduction(min : least)
    for (int i = 0; i < n; i++) {
        const double far = far2[i] + m->soft2;
        const bool counts = (type[i] == SMOOTH_GAS) & (far > 0);
        const double mine = counts ? far : DBL_MAX;
        least = least < mine ? least : mine;
    }
    return fabs(m->gm) * (1 / sqrt(least) / least);
}

/* The largest of this rank's gas. */
static double gas_rate2(const struct sph *s, int n, const struct puller *m)
{
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t first = 0; first < s->p.n; first += SPH_BLOCK) {
        const int64_t left = s->p.n - first;
        for (int i = 0; i < n; i++)
            most = fmax(most,
                        block_rate2(s, &m[i], first, left < SPH_BLOCK ? (int)left : SPH_BLOCK));
    }
    return most;
}

double sph_external_dt(const struct sph *s)
{
    const int n = s->nsink;
    struct puller *m = pullers(s);
    const struct puller *origin = &m[n];
    double most = n > 0 || origin->gm != 0 ? gas_rate2(s, n + (origin->gm != 0), m) : 0;
    for (int i = 0; i < n; i++) {
        const struct puller still = {.x = {m[i].x[0], m[i].x[1], m[i].x[2]}};
        most = fmax(most, rate2(s, origin, &still));
        for (int j = i + 1; j < n; j++) most = fmax(most, rate2(s, &m[i], &m[j]));
    }
    mem_free(m);
    comm_max_f64(s->comm, &most, 1);
    return most > 0 ? s->par->sph.cfl_force * sqrt(1 / most) : DBL_MAX;
}
