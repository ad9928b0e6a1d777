/* Sums of accelerations and potentials over lists: each in eight partial sums, by the place in the
 * list, of which as many are computed together as a register has numbers. */
#define VEC_REGISTER

#include "multipole/multipole_priv.h"
#include "multipole/soften.h"

enum { SUMS = 8 };

/* Partial sums number `first` … first + VEC − 1. */
struct partial {
    int64_t first;
    vec a[3], phi;
};

struct target {
    vec x[3], back, zeta;
};

static inline vec distance2(const struct target *p, const struct terms *t, int64_t k, vec r[3])
{
    for (int j = 0; j < 3; j++) r[j] = p->x[j] - vec_load(t->at[TERM_X + j] + k);
    return (r[0] * r[0] + r[1] * r[1]) + r[2] * r[2];
}

/* −m/r − (r·Q·r)/2r⁵, with Q the traceless quadrupole, and minus its gradient */
static void pull_far(struct partial *s, const struct target *p, const struct terms *t)
{
    for (int64_t k = s->first; k < t->n; k += SUMS) {
        vec r[3], q[6], r2 = distance2(p, t, k, r), mass = vec_load(t->at[TERM_MASS] + k);
        for (int j = 0; j < 6; j++) q[j] = vec_load(t->at[TERM_QUAD + j] + k);
        vec back = 1 / vec_sqrt(r2), back2 = back * back;
        vec back3 = back2 * back, back5 = back3 * back2;
        vec qr[3] = {(q[0] * r[0] + q[3] * r[1]) + q[4] * r[2],
                     (q[3] * r[0] + q[1] * r[1]) + q[5] * r[2],
                     (q[4] * r[0] + q[5] * r[1]) + q[2] * r[2]};
        vec rqr = (qr[0] * r[0] + qr[1] * r[1]) + qr[2] * r[2];
        vec radial = mass * back3 + 2.5 * rqr * (back5 * back2);
        for (int j = 0; j < 3; j++) s->a[j] += qr[j] * back5 - radial * r[j];
        s->phi -= mass * back + 0.5 * rqr * back5;
    }
}

static inline void add_newton(struct partial *s, vec mass, vec inv, const vec r[3])
{
    vec phi = mass * inv, radial = phi * (inv * inv);
    for (int j = 0; j < 3; j++) s->a[j] -= radial * r[j];
    s->phi -= phi;
}

static void pull_plain(struct partial *s, const struct target *p, const struct terms *t)
{
    for (int64_t k = s->first; k < t->n; k += SUMS) {
        vec r[3], r2 = distance2(p, t, k, r);
        add_newton(s, vec_load(t->at[TERM_MASS] + k), 1 / vec_sqrt(r2), r);
    }
}

/* The force of one of a pair for its h, over r, and its potential: of mass and of ζ. inv: 1/r,
 * not finite if r is 0, and then not used. back: 1/h. */
static inline void soften_one(enum smooth_kernel kernel, vec r, vec inv, vec back, vec zeta,
                              vec *radial, vec *phi)
{
    vec q = r * back, back2 = back * back;
    vec_bits inside = (vec_bits)(q < 1);
    struct soften w = soften_of(kernel, q);
    vec out = w.mass * inv;
    *radial += vec_pick(inside, w.in * (back2 * back), out * (inv * inv)) +
               zeta * vec_pick(inside, w.slope * back, w.df * inv);
    *phi += vec_pick(inside, w.in * (q * q) * back, out) + w.beyond * back;
}

static inline void pull_soft(enum smooth_kernel kernel, struct partial *s, const struct target *p,
                             const struct terms *t)
{
    for (int64_t k = s->first; k < t->n; k += SUMS) {
        vec r[3], radial = vec_of(0), phi = vec_of(0), dist = vec_sqrt(distance2(p, t, k, r));
        vec inv = 1 / dist, mass = vec_load(t->at[TERM_MASS] + k), half = 0.5 * mass;
        vec back = vec_load(t->at[TERM_BACK] + k), zeta = vec_load(t->at[TERM_ZETA] + k);
        if (!vec_any((vec_bits)(dist * vec_min(back, p->back) < kern_support(kernel)))) {
            add_newton(s, mass, inv, r);
            continue;
        }
        soften_one(kernel, dist, inv, p->back, p->zeta, &radial, &phi);
        soften_one(kernel, dist, inv, back, zeta, &radial, &phi);
        for (int j = 0; j < 3; j++) s->a[j] -= half * radial * r[j];
        s->phi -= half * phi;
    }
}

static double total(const double s[SUMS])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

static struct target target_of(const struct forest *f, int64_t i)
{
    struct target p = {.back = vec_of(f->back[i]), .zeta = vec_of(f->zeta[i])};
    for (int k = 0; k < 3; k++) p.x[k] = vec_of(f->x[k][i]);
    return p;
}

void multipole_pull(const struct forest *f, const struct lists *l, int64_t i, double result[4])
{
    const struct target p = target_of(f, i);
    double sum[4][SUMS];
    for (int first = 0; first < SUMS; first += VEC) {
        struct partial s = {first, {vec_of(0), vec_of(0), vec_of(0)}, vec_of(0)};
        pull_far(&s, &p, &l->far);
        pull_plain(&s, &p, &l->plain);
        if (f->kernel == SMOOTH_M6)
            pull_soft(SMOOTH_M6, &s, &p, &l->soft);
        else
            pull_soft(SMOOTH_M4, &s, &p, &l->soft);
        for (int k = 0; k < 3; k++) vec_store(sum[k] + first, s.a[k]);
        vec_store(sum[3] + first, s.phi);
    }
    for (int k = 0; k < 4; k++) result[k] = total(sum[k]);
}

double soften_slope(const struct forest *f, const struct lists *l, int64_t i)
{
    const struct target p = target_of(f, i);
    double sums[SUMS];
    for (int first = 0; first < SUMS; first += VEC) {
        vec r[3], sum = vec_of(0);
        for (int64_t k = first; k < l->soft.n; k += SUMS) {
            vec q = vec_sqrt(distance2(&p, &l->soft, k, r)) * p.back;
            if (!vec_any((vec_bits)(q < f->support))) continue;
            sum += vec_load(l->soft.at[TERM_MASS] + k) * soften_of(f->kernel, q).beyond;
        }
        vec_store(sums + first, sum);
    }
    return total(sums) * f->back[i] * f->back[i];
}
