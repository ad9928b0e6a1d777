/* multipole/soften: softening by the kernels of smoothed particles, from the solution of
 * Poisson's equation for the density W (Price & Monaghan 2007), for vectors. With the mass within q
 * h and the potential of what lies beyond,
 *
 *     M(q) = 4π ∫_0^q f s² ds,   N(q) = 4π ∫_q^R f s ds,   W = f(q)/h³,
 *     φ' = M/r²,   φ = −M/r − N/h,   ∂φ/∂h = N/h².
 *
 * From q = 1 to R, f is a sum of c (k − q)^n over the knots k beyond q, and with t = max(k − q, 0)
 *
 *     M = 1 − Σ 4πc t^(n+1) (k²/(n+1) − 2kt/(n+2) + t²/(n+3)),
 *     N = Σ 4πc t^(n+1) (k/(n+1) − t/(n+2)).
 *
 * Below 1, M/q³ is a polynomial in q, and so is f'/q. Private to multipole. */
#pragma once
#include "smooth/kern.h"
#include "smooth/smooth.h"

/* The kernel's constant C is not part of df and slope: f = C (spline). */
struct soften {
    vec in;     /* M/q³ where q < 1 */
    vec mass;   /* M where q ≥ 1 */
    vec beyond; /* N */
    vec slope;  /* f'/q where q < 1 */
    vec df;     /* f' where q ≥ 1 */
};

/* 4πc = 1 */
VEC_INLINE struct soften soften_m4(vec q)
{
    vec t = vec_max(2 - q, vec_of(0)), t2 = t * t, t4 = t2 * t2, q2 = q * q;
    vec inner = 1.4 + q2 * (q2 * (1.5 - 0.6 * q) - 2);
    return (struct soften){
        .in = 4 / 3.0 + q2 * (0.5 * q - 1.2),
        .mass = 1 - t4 * (1 - 0.8 * t + t2 * (1 / 6.0)),
        .beyond = vec_pick((vec_bits)(q < 1), inner, t4 * (0.5 - 0.2 * t)),
        .slope = 2.25 * q - 3,
        .df = -0.75 * t2,
    };
}

/* 4πc = 1/30 for the knot 3, −6/30 for the knot 2 */
VEC_INLINE struct soften soften_m6(vec q)
{
    vec t = vec_max(3 - q, vec_of(0)), t2 = t * t, t4 = t2 * t2, t6 = t4 * t2;
    vec u = vec_max(2 - q, vec_of(0)), u2 = u * u, u4 = u2 * u2, u6 = u4 * u2;
    vec q2 = q * q, q3 = q * q2;
    vec mass = t6 * (1.5 - t * (6 / 7.0) + t2 * 0.125) -
               6 * u6 * (2 / 3.0 - u * (4 / 7.0) + u2 * 0.125);
    vec outer = t6 * (0.5 - t * (1 / 7.0)) - 6 * u6 * (1 / 3.0 - u * (1 / 7.0));
    vec inner = 239 / 210.0 - q2 * (1.1 - q2 * (0.5 - q2 * (1 / 6.0 - q * (1 / 21.0))));
    return (struct soften){
        .in = 11 / 15.0 - q2 * (0.4 - q2 * (1 / 7.0 - q * (1 / 24.0))),
        .mass = 1 - mass * (1 / 30.0),
        .beyond = vec_pick((vec_bits)(q < 1), inner, outer * (1 / 30.0)),
        .slope = 120 * q2 - 120 - 50 * q3,
        .df = 30 * u4 - 5 * t4,
    };
}

VEC_INLINE struct soften soften_of(enum smooth_kernel k, vec q)
{
    return k == SMOOTH_M6 ? soften_m6(q) : soften_m4(q);
}
