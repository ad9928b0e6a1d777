/* vec/power: powers of numbers above 0, with the same bits on hosts and devices (vec/vec.h). The
 * logarithm is a sum of two numbers, so that a power has the relative error 3e-16 up to 2^±60. */
#pragma once
#include "vec/vec.h"

/* 2^(high + low), |high| ≤ 1000, |low| much smaller. */
VEC_INLINE vec vec_exp2_sum(vec high, vec low)
{
    vec shifted = high + VEC_MAGIC, r = (high - (shifted - VEC_MAGIC)) + low, r2 = r * r,
        r4 = r2 * r2, r8 = r4 * r4;
    /* coefficients ln 2^k / k! of the exponential series */
    vec p1 = 6.931471805599453094e-1 + r * 2.402265069591007123e-1;
    vec p3 = 5.550410866482157995e-2 + r * 9.618129107628477161e-3;
    vec p5 = 1.333355814642844342e-3 + r * 1.540353039338160995e-4;
    vec p7 = 1.525273380405984028e-5 + r * 1.321548679014430948e-6;
    vec p9 = 1.017808600923969973e-7 + r * 7.054911620801123329e-9;
    vec p11 = 4.445538271870811498e-10 + r * 2.567843599348820514e-11;
    vec p13 = 1.369148885390412888e-12 + r * 6.778726354822545634e-14;
    vec p = (p1 + r2 * p3) + r4 * (p5 + r2 * p7) + r8 * ((p9 + r2 * p11) + r4 * p13);
    return (1 + r * p) * vec_from_bits((vec_as_bits(shifted) + 1023) << 52);
}

/* The part of a b that a double lacks, given ab = a * b (Dekker 1971). */
VEC_INLINE vec vec_product_rest(vec a, vec b, vec ab)
{
    const double SPLIT = 0x1p27 + 1;
    vec ta = a * SPLIT, ah = ta - (ta - a), al = a - ah;
    vec tb = b * SPLIT, bh = tb - (tb - b), bl = b - bh;
    return ((ah * bh - ab) + ah * bl + al * bh) + al * bl;
}

/* log2 of normal x > 0 as high + *low: x = m 2^e, m in 1/√2..√2, ln m = 2 artanh (m-1)/(m+1). */
VEC_INLINE vec vec_log2_sum(vec x, vec *low)
{
    vec_bits b = vec_as_bits(x), bits = b & 0xfffffffffffffULL;
    vec_bits up = (vec_bits)(bits > 0x6a09e667f3bcdULL) & 1; /* m > √2 */
    vec m = vec_from_bits(bits | (1023 - up) << 52);
    vec e = vec_from_bits(((b >> 52) + up) | 0x4330000000000000ULL) - (0x1p52 + 1023);
    vec f = m - 1, g = m + 1, g_rest = m - (g - 1), s = f / g, sg = s * g;
    vec s_rest = (((f - sg) - vec_product_rest(s, g, sg)) - s * g_rest) / g;
    vec z = s * s, z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
    vec p3 = 1 / 3.0 + z * (1 / 5.0), p7 = 1 / 7.0 + z * (1 / 9.0);
    vec p11 = 1 / 11.0 + z * (1 / 13.0), p15 = 1 / 15.0 + z * (1 / 17.0);
    vec p19 = 1 / 19.0 + z * (1 / 21.0), p23 = 1 / 23.0 + z * (1 / 25.0);
    vec p = (p3 + z2 * p7) + z4 * (p11 + z2 * p15) + z8 * (p19 + z2 * p23);
    vec rest = s_rest + s * (z * p), h = s + rest, h_rest = rest - (h - s);
    /* 2 / ln 2 as a sum */
    const double LOG = 0x1.71547652b82fep+1, LOG_REST = 0x1.777d0ffda0d24p-55;
    vec q = h * LOG, sum = e + q;
    vec q_rest = vec_product_rest(h, vec_of(LOG), q) + (h * LOG_REST + h_rest * LOG);
    *low = (q - (sum - e)) + q_rest;
    return sum;
}

/* x^y of normal x > 0; between 2^-1000 and 2^1000. */
VEC_INLINE vec vec_power(vec x, double y)
{
    vec low, high = vec_log2_sum(x, &low), power = high * y;
    vec rest = vec_product_rest(high, vec_of(y), power) + low * y;
    return vec_exp2_sum(vec_max(vec_min(power, vec_of(1000)), vec_of(-1000)), rest);
}

/* e^x, between e^-690 and e^690. */
VEC_INLINE vec vec_exp(vec x)
{
    const double LOG = 0x1.71547652b82fep+0, LOG_REST = 0x1.777d0ffda0d24p-56;
    x = vec_max(vec_min(x, vec_of(690)), vec_of(-690));
    vec power = x * LOG;
    return vec_exp2_sum(power, vec_product_rest(x, vec_of(LOG), power) + x * LOG_REST);
}
