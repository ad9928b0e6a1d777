/* cool/fast: 10^x and log10 x without branches or calls, so that loops over cells vectorise, to
 * some units of the last digit; the same bits in scalar and vector code, on any machine. */
#pragma once
#include <stdint.h>
#include <string.h>

static inline __attribute__((always_inline)) double fast_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline __attribute__((always_inline)) uint64_t fast_word(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* 10^x for |x| ≤ 300; beyond: that of the end. */
static inline __attribute__((always_inline)) double fast_exp10(double x)
{
    const double magic = 0x1.8p52; /* its last bits hold the integer that is added */
    x = x > 300 ? 300 : x;
    x = x < -300 ? -300 : x;
    double shifted = x * 3.321928094887362348 + magic, n = shifted - magic;
    double r = (x - n * 0x1.34413509f4p-2) - n * 0x1.cff7988f8959bp-41;
    r *= 2.302585092994045684;
    double p = 1 / 479001600.0;
    p = p * r + 1 / 39916800.0;
    p = p * r + 1 / 3628800.0;
    p = p * r + 1 / 362880.0;
    p = p * r + 1 / 40320.0;
    p = p * r + 1 / 5040.0;
    p = p * r + 1 / 720.0;
    p = p * r + 1 / 120.0;
    p = p * r + 1 / 24.0;
    p = p * r + 1 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1;
    p = p * r + 1;
    return p * fast_bits((fast_word(shifted) + 1023) << 52);
}

/* log10 x of normal x > 0: x = m 2^e, m in 1/√2..√2, ln m = 2 artanh (m-1)/(m+1). */
static inline __attribute__((always_inline)) double fast_log10(double x)
{
    uint64_t b = fast_word(x), low = b & 0xfffffffffffffULL;
    uint64_t up = low > 0x6a09e667f3bcdULL; /* m > √2 */
    double m = fast_bits(low | (1023 - up) << 52);
    double e = fast_bits(((b >> 52) + up) | 0x4330000000000000ULL) - (0x1p52 + 1023);
    double s = (m - 1) / (m + 1), z = s * s, p = 1 / 23.0;
    p = p * z + 1 / 21.0;
    p = p * z + 1 / 19.0;
    p = p * z + 1 / 17.0;
    p = p * z + 1 / 15.0;
    p = p * z + 1 / 13.0;
    p = p * z + 1 / 11.0;
    p = p * z + 1 / 9.0;
    p = p * z + 1 / 7.0;
    p = p * z + 1 / 5.0;
    p = p * z + 1 / 3.0;
    p = p * z + 1;
    return e * 0.30102999566398119521 + s * p * 0.86858896380650365530;
}
