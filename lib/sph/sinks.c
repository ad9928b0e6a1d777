/* sph/sinks: point masses: their motion, and accretion of gas with its mass, momentum and angular
 * momentum, either of all gas within a radius, or of gas that would stay there (Bate, Bonnell &
 * Price 1995, section 2.2.2, without their ratio of energies). */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sph/sph.h"

void sph_sinks_begin(struct sph *s)
{
    const struct param_sph *p = &s->par->sph;
    mem_free(s->sink);
    s->nsink = p->nsink;
    s->sink = mem_zero(sizeof *s->sink * (size_t)(p->nsink > 0 ? p->nsink : 1), "point masses");
    for (int i = 0; i < p->nsink; i++) {
        struct sph_sink *k = &s->sink[i];
        k->m = p->sink_m[i];
        k->racc = p->sink_racc[i];
        for (int d = 0; d < 3; d++) k->x[d] = p->sink_x[3 * i + d], k->v[d] = p->sink_v[3 * i + d];
    }
}

void sph_sinks_kick(struct sph *s, double dt)
{
    for (int i = 0; i < s->nsink; i++)
        for (int d = 0; d < 3; d++) s->sink[i].v[d] += dt * s->sink[i].a[d];
}

static double wrapped(double x, double lo, double side)
{
    x -= side * floor((x - lo) / side);
    return x >= lo && x < lo + side ? x : lo;
}

void sph_sinks_drift(struct sph *s, double dt)
{
    for (int i = 0; i < s->nsink; i++)
        for (int d = 0; d < 3; d++) {
            double *x = &s->sink[i].x[d];
            *x += dt * s->sink[i].v[d];
            if (s->periodic) *x = wrapped(*x, s->lo[d], s->side[d]);
        }
}

/* ---- accretion ---- */

/* Position and velocity of a gas particle from those of a point mass. */
struct relative {
    double d[3], w[3], far2;
};

static struct relative relative(const struct sph *s, int64_t i, const struct sph_sink *k)
{
    const struct smooth *p = &s->p;
    const double x[3] = {p->x[0][i], p->x[1][i], p->x[2][i]};
    struct relative r;
    sph_between(s, x, k->x, r.d);
    for (int d = 0; d < 3; d++) r.w[d] = p->v[d][i] - k->v[d];
    r.far2 = r.d[0] * r.d[0] + r.d[1] * r.d[1] + r.d[2] * r.d[2];
    return r;
}

static void cross(const double a[3], const double b[3], double c[3])
{
    for (int d = 0; d < 3; d++)
        c[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

/* Specific energy in the field of a point mass. */
static double energy(const struct sph *s, const struct relative *r, const struct sph_sink *k)
{
    const struct param_sph *p = &s->par->sph;
    const double far2 = r->far2 + p->soften * p->soften;
    return 0.5 * (r->w[0] * r->w[0] + r->w[1] * r->w[1] + r->w[2] * r->w[2]) -
           (far2 > 0 ? p->g * k->m / sqrt(far2) : INFINITY);
}

/* Whether a particle within the radius of a point mass would stay there: it is bound, to no other
 * point mass more, and its angular momentum is below that of the circular orbit at the radius. */
static bool stays(const struct sph *s, int64_t i, int which)
{
    const struct sph_sink *k = &s->sink[which];
    const struct relative r = relative(s, i, k);
    if (r.far2 < 0.64 * k->racc * k->racc) return true;
    const double bound = energy(s, &r, k);
    double spin[3];
    cross(r.d, r.w, spin);
    if (bound >= 0 ||
        spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2] >= s->par->sph.g * k->m * k->racc)
        return false;
    for (int j = 0; j < s->nsink; j++) {
        const struct relative other = relative(s, i, &s->sink[j]);
        if (j != which && energy(s, &other, &s->sink[j]) < bound) return false;
    }
    return true;
}

/* The number of the point mass that accretes own particle i, or −1: the nearest one, the first of
 * those, within its radius. */
static int taker(const struct sph *s, int64_t i, bool all)
{
    int best = -1;
    double least = INFINITY;
    if (s->p.type[i] != SMOOTH_GAS) return -1;
    for (int j = 0; j < s->nsink; j++) {
        const double far2 = relative(s, i, &s->sink[j]).far2, racc = s->sink[j].racc;
        if (far2 < racc * racc && far2 < least) best = j, least = far2;
    }
    return best >= 0 && (all || stays(s, i, best)) ? best : -1;
}

/* Whether a row of a block is within the radius of a point mass. */
static bool any_within(const struct sph *s, int64_t first, int n)
{
    for (int j = 0; j < s->nsink; j++) {
        const double racc = s->sink[j].racc;
        double d[3][SPH_BLOCK], far2[SPH_BLOCK], least = INFINITY;
        sph_displace(s, s->sink[j].x, first, n, d, far2);
#pragma omp simd reduction(min : least)
        for (int i = 0; i < n; i++) least = least < far2[i] ? least : far2[i];
        if (least < racc * racc) return true;
    }
    return false;
}

/* by[i]: what accretes each row of a block. Returns the number of those that go. */
static int64_t take(const struct sph *s, int64_t first, bool all, int16_t *by)
{
    const int64_t left = s->p.n - first;
    const int n = left < SPH_BLOCK ? (int)left : SPH_BLOCK;
    const bool any = any_within(s, first, n);
    int64_t gone = 0;
    for (int i = 0; i < n; i++) {
        by[first + i] = any ? (int16_t)taker(s, first + i, all) : -1;
        gone += by[first + i] >= 0;
    }
    return gone;
}

/* Sums over the particles of a point mass, relative to it: d, w, a, d × w. */
enum { D = 0, W = 3, A = 6, SPIN = 9, SUMS = 12 };

static void add_particle(const struct sph *s, int64_t i, const struct sph_sink *k, struct sum *sum)
{
    const struct relative r = relative(s, i, k);
    double spin[3];
    cross(r.d, r.w, spin);
    for (int d = 0; d < 3; d++) {
        sum_add(&sum[D + d], r.d[d]);
        sum_add(&sum[W + d], r.w[d]);
        sum_add(&sum[A + d], s->p.a[d][i]);
        sum_add(&sum[SPIN + d], spin[d]);
    }
}

/* Joins `mass` with these sums to a point mass. About its former place, and in its former frame,
 * the angular momentum is that of the particles and the spin; the new orbit has a part of it. */
static void grow(struct sph *s, struct sph_sink *k, double mass, const struct sum *sum)
{
    const double total = k->m + mass, unit = s->eq.mass;
    double dx[3], dv[3], orbit[3];
    for (int d = 0; d < 3; d++) {
        dx[d] = unit * sum_get(&sum[D + d]) / total;
        dv[d] = unit * sum_get(&sum[W + d]) / total;
        k->a[d] = (k->m * k->a[d] + unit * sum_get(&sum[A + d])) / total;
    }
    cross(dx, dv, orbit);
    for (int d = 0; d < 3; d++) {
        k->spin[d] += unit * sum_get(&sum[SPIN + d]) - total * orbit[d];
        k->x[d] += dx[d];
        if (s->periodic) k->x[d] = wrapped(k->x[d], s->lo[d], s->side[d]);
        k->v[d] += dv[d];
    }
    k->m = total;
    k->accreted += mass;
}

static void grow_all(struct sph *s, const int16_t *by)
{
    const size_t n = (size_t)s->nsink;
    struct sum *sum = mem_new(sizeof *sum * SUMS * n, "accretion");
    int64_t *count = mem_zero(sizeof *count * n, "accretion");
    for (size_t i = 0; i < SUMS * n; i++) sum_init(&sum[i]);
    for (int64_t i = 0; i < s->p.n; i++) {
        if (by[i] < 0) continue;
        add_particle(s, i, &s->sink[by[i]], &sum[SUMS * by[i]]);
        count[by[i]]++;
    }
    comm_sums(s->comm, sum, (int)(SUMS * n));
    comm_add_i64(s->comm, count, (int)n);
    for (size_t j = 0; j < n; j++)
        if (count[j] > 0) grow(s, &s->sink[j], s->eq.mass * (double)count[j], &sum[SUMS * j]);
    mem_free(count);
    mem_free(sum);
}

/* Moves n rows to lower ones. */
static void move_rows(struct smooth *p, int64_t from, int64_t to, int64_t n)
{
    for (int c = 0; c < SMOOTH_COLUMNS && from != to; c++) {
        char *at = *smooth_at(p, c);
        const size_t bytes = smooth_row[c].bytes;
        memmove(at + bytes * (size_t)to, at + bytes * (size_t)from, bytes * (size_t)n);
    }
}

/* Rows that no point mass takes close up, all between two that go at once. */
static void close_up(struct sph *s, const int16_t *by)
{
    struct smooth *p = &s->p;
    int64_t left = 0;
    for (int64_t i = 0, end; i < p->n; i = end + 1) {
        end = i;
        while (end < p->n && by[end] < 0) end++;
        move_rows(p, i, left, end - i);
        left += end - i;
    }
    p->n = left, p->ghosts = 0;
    sph_count(s);
}

void sph_accrete(struct sph *s, int64_t *gone)
{
    const bool all = strcmp(s->par->sph.sink_accretion, "hard") == 0;
    const int64_t n = s->p.n;
    *gone = 0;
    if (s->nsink == 0) return;
    int16_t *by = mem_new(sizeof *by * (size_t)(n > 0 ? n : 1), "accretion");
    int64_t mine = 0;
#pragma omp parallel for schedule(static) reduction(+ : mine)
    for (int64_t first = 0; first < n; first += SPH_BLOCK) mine += take(s, first, all, by);
    *gone = mine;
    comm_add_i64(s->comm, gone, 1);
    if (*gone > 0) {
        grow_all(s, by);
        close_up(s, by);
    }
    mem_free(by);
}
