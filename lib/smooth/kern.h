/* smooth/kern: the kernels W = C f(q)/h³ with q = r/h, for vectors of neighbours on the CPU and for
 * single ones on devices (vec/vec.h). M4 and M6 are the cubic and the quintic B-spline (Schoenberg
 * 1946; Price 2012, section 2.4), as differences of truncated powers, which need no branches. The
 * kernel is a constant where these functions are inlined. */
#pragma once
#include "smooth/law.h"
#include "vec/vec.h"

#define SMOOTH_PI 3.14159265358979323846

/* C and R */
PTAH_HD double kern_norm(const enum smooth_kernel k)
{
    return k == SMOOTH_M4 ? 1 / SMOOTH_PI : 1 / (120 * SMOOTH_PI);
}

PTAH_HD double kern_support(const enum smooth_kernel k)
{
    return k == SMOOTH_M4 ? 2 : 3;
}

/* (n − q)₊ */
VEC_INLINE vec kern_rest(double n, vec q)
{
    return vec_max(n - q, vec_of(0.0));
}

/* f and f' at q ≥ 0; both +0 or −0 for q ≥ R */
VEC_INLINE void kern_at(const enum smooth_kernel k, vec q, vec *f, vec *slope)
{
    if (k == SMOOTH_M4) {
        const vec s = kern_rest(2, q), t = kern_rest(1, q), s2 = s * s, t2 = t * t;
        *f = 0.25 * (s * s2) - t * t2;
        *slope = 3 * t2 - 0.75 * s2;
        return;
    }
    const vec s = kern_rest(3, q), t = kern_rest(2, q), u = kern_rest(1, q);
    const vec s2 = s * s, t2 = t * t, u2 = u * u, s4 = s2 * s2, t4 = t2 * t2, u4 = u2 * u2;
    *f = (s4 * s - 6 * (t4 * t)) + 15 * (u4 * u);
    *slope = -5 * ((s4 - 6 * t4) + 15 * u4);
}

VEC_INLINE vec kern_slope(const enum smooth_kernel k, vec q)
{
    vec f, slope;
    kern_at(k, q, &f, &slope);
    return slope;
}
