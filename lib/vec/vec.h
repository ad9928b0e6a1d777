/* vec/vec: vectors of eight doubles, in one register or several, with log2 and 2^x. The result of
 * an element does not depend on other elements, the machine or the compiler, to the last bit.
 * Device kernels define VEC_ONE: the same source for a single double. VEC_REGISTER: as many doubles
 * as a register has, for functions that hold more vectors than there are registers. For C, C++ and
 * CUDA. */
#pragma once
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/device.h"

#define VEC_INLINE PTAH_HD

#if defined(__CUDACC__) && !defined(VEC_ONE)
#define VEC_ONE /* CUDA has no vectors */
#endif

#ifdef VEC_ONE

enum { VEC = 1 };

typedef double vec;
typedef uint64_t vec_bits;

VEC_INLINE vec vec_of(double x)
{
    return x;
}

VEC_INLINE double vec_first(vec x)
{
    return x;
}

VEC_INLINE vec_bits vec_as_bits(vec x)
{
    vec_bits b;
    memcpy(&b, &x, sizeof b);
    return b;
}

VEC_INLINE vec vec_from_bits(vec_bits b)
{
    vec x;
    memcpy(&x, &b, sizeof x);
    return x;
}

VEC_INLINE vec vec_pick(vec_bits mask, vec a, vec b)
{
    return mask ? a : b;
}

VEC_INLINE bool vec_any(vec_bits mask)
{
    return mask != 0;
}

VEC_INLINE vec vec_sqrt(vec x)
{
    return sqrt(x);
}

/* The address is one of a number, unlike that of a vector: memcpy would read byte by byte on
 * devices where the compiler does not see how it is aligned. */
VEC_INLINE vec vec_load(const double *p)
{
    return *p;
}

VEC_INLINE void vec_store(double *p, vec x)
{
    *p = x;
}

#else

/* All functions are inlined, so the calling convention for 512-bit registers does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

#if !defined(VEC_REGISTER) || defined(__AVX512F__)
enum { VEC = 8 };
#elif defined(__AVX__)
enum { VEC = 4 };
#else
enum { VEC = 2 };
#endif

typedef double vec __attribute__((vector_size(8 * VEC)));
typedef uint64_t vec_bits __attribute__((vector_size(8 * VEC)));

VEC_INLINE vec vec_of(double x)
{
    return x - (vec){0}; /* all bits of x, unlike x + 0 */
}

VEC_INLINE double vec_first(vec x)
{
    return x[0];
}

VEC_INLINE vec_bits vec_as_bits(vec x)
{
    return (vec_bits)x;
}

VEC_INLINE vec vec_from_bits(vec_bits b)
{
    return (vec)b;
}

/* Element-wise a where the mask (of a comparison) is set, else b. */
VEC_INLINE vec vec_pick(vec_bits mask, vec a, vec b)
{
    return (vec)((mask & (vec_bits)a) | (~mask & (vec_bits)b));
}

VEC_INLINE bool vec_any(vec_bits mask)
{
    uint64_t any = 0;
    for (int k = 0; k < VEC; k++) any |= mask[k];
    return any != 0;
}

VEC_INLINE vec vec_sqrt(vec x)
{
    double s[VEC];
    memcpy(s, &x, sizeof s);
    for (int k = 0; k < VEC; k++) s[k] = __builtin_sqrt(s[k]);
    memcpy(&x, s, sizeof s);
    return x;
}

VEC_INLINE vec vec_load(const double *p)
{
    vec x;
    memcpy(&x, p, sizeof x);
    return x;
}

VEC_INLINE void vec_store(double *p, vec x)
{
    memcpy(p, &x, sizeof x);
}

#endif

VEC_INLINE vec vec_max(vec a, vec b)
{
    return vec_pick((vec_bits)(a > b), a, b);
}

VEC_INLINE vec vec_min(vec a, vec b)
{
    return vec_pick((vec_bits)(a < b), a, b);
}

VEC_INLINE vec vec_abs(vec x)
{
    return vec_from_bits(vec_as_bits(x) & 0x7fffffffffffffffULL);
}

/* number whose sum with a small integer holds the integer in its low bits */
static const double VEC_MAGIC = 0x1.8p52;

/* Rounds to the nearest integer, |x| < 2^51. */
VEC_INLINE vec vec_round(vec x)
{
    return (x + VEC_MAGIC) - VEC_MAGIC;
}

/* 2^x for |x| ≤ 1000, relative error 1e-14. */
VEC_INLINE vec vec_exp2(vec x)
{
    vec shifted = x + VEC_MAGIC, r = x - (shifted - VEC_MAGIC), r2 = r * r, r4 = r2 * r2,
        r8 = r4 * r4;
    /* coefficients ln 2^k / k! of the exponential series */
    vec p0 = 1 + r * 6.931471805599453094e-1;
    vec p2 = 2.402265069591007123e-1 + r * 5.550410866482157995e-2;
    vec p4 = 9.618129107628477161e-3 + r * 1.333355814642844342e-3;
    vec p6 = 1.540353039338160995e-4 + r * 1.525273380405984028e-5;
    vec p8 = 1.321548679014430948e-6 + r * 1.017808600923969973e-7;
    vec p10 = 7.054911620801123329e-9 + r * 4.445538271870811498e-10;
    vec p = (p0 + r2 * p2) + r4 * (p4 + r2 * p6) + r8 * (p8 + r2 * p10);
    return p * vec_from_bits((vec_as_bits(shifted) + 1023) << 52);
}

/* log2 of normal x > 0: x = m 2^e, m in 1/√2..√2, ln m = 2 artanh (m-1)/(m+1). Error 3e-14. */
VEC_INLINE vec vec_log2(vec x)
{
    vec_bits b = vec_as_bits(x), low = b & 0xfffffffffffffULL;
    vec_bits up = (vec_bits)(low > 0x6a09e667f3bcdULL) & 1; /* m > √2 */
    vec m = vec_from_bits(low | (1023 - up) << 52);
    vec e = vec_from_bits(((b >> 52) + up) | 0x4330000000000000ULL) - (0x1p52 + 1023);
    vec s = (m - 1) / (m + 1), z = s * s, z2 = z * z, z4 = z2 * z2;
    vec p0 = 1 + z * (1 / 3.0), p2 = 1 / 5.0 + z * (1 / 7.0);
    vec p4 = 1 / 9.0 + z * (1 / 11.0), p6 = 1 / 13.0 + z * (1 / 15.0);
    vec p = (p0 + z2 * p2) + z4 * (p4 + z2 * p6);
    return e + s * p * 2.885390081777926815; /* 2 / ln 2 */
}
