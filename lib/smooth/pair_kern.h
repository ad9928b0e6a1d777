/* smooth/pair_kern: what neighbours add to the sums of a particle, for vectors of eight neighbours
 * on the CPU, each element being one partial sum, and for single neighbours on devices. The kernel
 * is a constant where these functions are inlined. Members are written out one by one: gcc 12 would
 * keep arrays of vectors in memory. */
#pragma once
#include "smooth/kern.h"

/* Sums over a list are in so many parts; vectors of VEC parts pass through the list one after the
 * other. */
enum { SMOOTH_PARTS = 8 };

PTAH_HD double smooth_total(const double s[SMOOTH_PARTS])
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

PTAH_HD double smooth_largest(const double s[SMOOTH_PARTS])
{
    double most = s[0];
    for (int k = 1; k < SMOOTH_PARTS; k++) most = s[k] > most ? s[k] : most;
    return most;
}

/* A difference of coordinates to the nearest image. Positions lie inside the box: at most one
 * period is too much. */
VEC_INLINE vec smooth_nearest(vec d, double period)
{
    const vec zero = vec_of(0.0), whole = vec_of(period), half = vec_of(0.5 * period);
    return d - vec_pick((vec_bits)(d > half), whole, zero) +
           vec_pick((vec_bits)(d < -half), whole, zero);
}

/* ---- the density: Σ f and Σ (3f + q f'), of which −C/h⁴ is Σ ∂W/∂h ---- */

struct smooth_fill {
    vec f, change;
};

VEC_INLINE void smooth_add_fill(const enum smooth_kernel k, vec q, struct smooth_fill *s)
{
    vec f, slope;
    kern_at(k, q, &f, &slope);
    s->f = s->f + f;
    s->change = s->change + (3 * f + q * slope);
}

/* ---- gradients: with t = −f'/r ≥ 0, and d = x_a − x_b ---- */

/* Σ t d d: xx, xy, xz, yy, yz, zz */
struct smooth_shape {
    vec xx, xy, xz, yy, yz, zz;
};

VEC_INLINE void smooth_add_shape(vec t, const vec d[3], struct smooth_shape *s)
{
    const vec x = t * d[0], y = t * d[1], z = t * d[2];
    s->xx = s->xx + x * d[0];
    s->xy = s->xy + x * d[1];
    s->xz = s->xz + x * d[2];
    s->yy = s->yy + y * d[1];
    s->yz = s->yz + y * d[2];
    s->zz = s->zz + z * d[2];
}

/* Σ t (v_a − v_b) d: component of v first */
struct smooth_slope {
    vec xx, xy, xz, yx, yy, yz, zx, zy, zz;
};

VEC_INLINE void smooth_add_slope(vec t, const vec d[3], const vec v[3], struct smooth_slope *s)
{
    const vec x = t * d[0], y = t * d[1], z = t * d[2];
    s->xx = s->xx + v[0] * x;
    s->xy = s->xy + v[0] * y;
    s->xz = s->xz + v[0] * z;
    s->yx = s->yx + v[1] * x;
    s->yy = s->yy + v[1] * y;
    s->yz = s->yz + v[1] * z;
    s->zx = s->zx + v[2] * x;
    s->zy = s->zy + v[2] * y;
    s->zz = s->zz + v[2] * z;
}

/* ---- the force ---- */

/* A pair needs of a particle: v; 1/h; C/(h⁴ Ω ρ²); P; ρ/2; α c; c; h; and for conductivity
 * C/(2 h⁴ Ω ρ) and u. */
#define SMOOTH_PAIR(ROW)                                                                           \
    ROW(vx)                                                                                        \
    ROW(vy)                                                                                        \
    ROW(vz)                                                                                        \
    ROW(per_h)                                                                                     \
    ROW(weight)                                                                                    \
    ROW(pressure)                                                                                  \
    ROW(half_rho)                                                                                  \
    ROW(alpha_c)                                                                                   \
    ROW(c)                                                                                         \
    ROW(h)                                                                                         \
    ROW(conduct)                                                                                   \
    ROW(u)

struct smooth_self {
#define ROW(name) double name;
    SMOOTH_PAIR(ROW)
#undef ROW
};
struct smooth_other {
#define ROW(name) vec name;
    SMOOTH_PAIR(ROW)
#undef ROW
};

struct smooth_law {
    double beta, alpha_u;
    bool disc;    /* viscosity of receding pairs too, times h/r (Lodato & Price 2010) */
    bool conduct; /* of u */
    bool gravity; /* v_u = |w| instead of √(|P_a − P_b|/ρ) */
};

PTAH_HD struct smooth_law smooth_law_of(const struct smooth_par *p)
{
    struct smooth_law law;
    law.beta = p->beta, law.alpha_u = p->alpha_u;
    law.disc = p->alpha_switch == SMOOTH_DISC;
    law.conduct = p->eos == SMOOTH_ADIABATIC && p->alpha_u > 0;
    law.gravity = p->gravity;
    return law;
}

/* Σ of the acceleration over −m, of heating by compression and by viscosity over
 * m/(Ω_a ρ_a² h_a⁴/C), of conduction over m, and the largest signal speed. */
#define SMOOTH_PUSH(ROW)                                                                           \
    ROW(x)                                                                                         \
    ROW(y)                                                                                         \
    ROW(z)                                                                                         \
    ROW(work)                                                                                      \
    ROW(viscous)                                                                                   \
    ROW(conducted)                                                                                 \
    ROW(signal)
struct smooth_push {
#define ROW(name) vec name;
    SMOOTH_PUSH(ROW)
#undef ROW
};

/* q of one of a pair of relative speed w; *heats: the part of it that heats. */
VEC_INLINE vec smooth_viscous(const struct smooth_law *p, vec half_rho, vec alpha_c, vec h,
                              vec per_r, vec w, vec *heats)
{
    const vec zero = vec_of(0.0);
    const vec_bits meet = (vec_bits)(w < zero);
    if (p->disc) {
        const vec linear = half_rho * alpha_c * (h * per_r) * -w;
        const vec square = half_rho * p->beta * (h * per_r) * (w * w);
        *heats = linear;
        return vec_pick(meet, linear + square, linear);
    }
    const vec speed = vec_max(alpha_c - p->beta * w, zero);
    const vec q = vec_pick(meet, half_rho * speed * -w, zero);
    *heats = q;
    return q;
}

VEC_INLINE vec smooth_conducted(const struct smooth_law *p, const struct smooth_self *a,
                                const struct smooth_other *b, vec slope_a, vec slope_b, vec w)
{
    const vec speed = p->gravity ? vec_abs(w)
                                 : vec_sqrt(vec_abs(a->pressure - b->pressure) /
                                            (a->half_rho + b->half_rho));
    return p->alpha_u * speed * (a->u - b->u) * (slope_a * a->conduct + slope_b * b->conduct);
}

/* live: elements that are neighbours. */
VEC_INLINE void smooth_add_push(const enum smooth_kernel k, const struct smooth_law *p,
                                const struct smooth_self *a, const struct smooth_other *b,
                                const vec d[3], vec_bits live, struct smooth_push *s)
{
    const vec zero = vec_of(0.0), r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], r = vec_sqrt(r2);
    /* Particles at one place have no direction. */
    const vec per_r = vec_pick((vec_bits)(r > zero), 1 / r, zero);
    const vec vx = a->vx - b->vx, vy = a->vy - b->vy, vz = a->vz - b->vz;
    const vec w = (vx * d[0] + vy * d[1] + vz * d[2]) * per_r;
    const vec slope_a = vec_pick(live, kern_slope(k, r * a->per_h), zero);
    const vec slope_b = vec_pick(live, kern_slope(k, r * b->per_h), zero);
    vec heats_a, heats_b;
    const vec q_a = smooth_viscous(p, vec_of(a->half_rho), vec_of(a->alpha_c), vec_of(a->h), per_r,
                                   w, &heats_a);
    const vec q_b = smooth_viscous(p, b->half_rho, b->alpha_c, b->h, per_r, w, &heats_b);
    const vec t = ((a->pressure + q_a) * (a->weight * slope_a) +
                   (b->pressure + q_b) * (b->weight * slope_b)) *
                  per_r;
    s->x = s->x + t * d[0];
    s->y = s->y + t * d[1];
    s->z = s->z + t * d[2];
    s->work = s->work + w * slope_a;
    s->viscous = s->viscous + heats_a * (w * slope_a);
    if (p->conduct) s->conducted = s->conducted + smooth_conducted(p, a, b, slope_a, slope_b, w);
    const vec signal = vec_max(vec_of(a->c), b->c) - p->beta * w;
    s->signal = vec_max(s->signal, vec_pick(live, signal, zero));
}
