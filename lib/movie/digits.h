/* movie/digits: sums of doubles at many places that do not depend on the order of the terms.
 *
 * A term is split into three digits of 32 bits in fixed places of absolute value, the highest of
 * which all terms of a quantity share (Demmel & Nguyen 2015). Digits are added as integers; digits
 * below the lowest place are dropped; which ones depends on the highest place in the end alone:
 * a number that is below half a unit of a place has the digit 0 there, so that its other digits do
 * not depend on whether that place was in use. The sum has 2^-64 of its largest term or better. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "vec/vec4.h"

enum { DIGITS = 3, DIGIT_BITS = 32, DIGIT_TOP_MIN = -28, DIGIT_TOP_MAX = 28 };

struct scale {
    int top;      /* highest place: of units 2^(32 top) */
    double limit; /* terms are smaller */
    double magic[DIGITS], unit[DIGITS];
    int64_t bits[DIGITS];
};

static inline void scale_set(struct scale *s, int top)
{
    s->top = top;
    s->limit = ldexp(1, DIGIT_BITS * top + DIGIT_BITS - 2);
    for (int k = 0; k < DIGITS; k++) {
        s->unit[k] = ldexp(1, DIGIT_BITS * (top - k));
        s->magic[k] = ldexp(1.5, 52) * s->unit[k];
        memcpy(&s->bits[k], &s->magic[k], sizeof s->bits[k]);
    }
}

/* Highest place for terms up to x, at least that of the scale. */
static inline int scale_for(const struct scale *s, double x)
{
    int top = s->top;
    while (top < DIGIT_TOP_MAX && !(x < ldexp(1, DIGIT_BITS * top + DIGIT_BITS - 2))) top++;
    return top;
}

/* Adding the magic number rounds to units of a place, which then are the lowest bits. */
static inline void digits_of(const struct scale *s, double x, int64_t d[DIGITS])
{
    for (int k = 0; k < DIGITS; k++) {
        const double sum = x + s->magic[k];
        memcpy(&d[k], &sum, sizeof sum);
        d[k] -= s->bits[k];
        x -= sum - s->magic[k];
    }
}

typedef long long digit4 __attribute__((vector_size(32), may_alias, aligned(8)));

/* Adds the digits of four terms to d[DIGITS][4]. */
VEC4_INLINE void digits_add4(const struct scale *s, vec4 x, int64_t *d)
{
    for (int k = 0; k < DIGITS; k++) {
        const vec4 sum = x + s->magic[k];
        *(digit4 *)(d + 4 * k) += (vec4_mask)sum - s->bits[k];
        x -= sum - s->magic[k];
    }
}

/* The sum; `step`: distance of its digits. */
static inline double digits_sum(const struct scale *s, const int64_t *d, int step)
{
    double x = 0;
    for (int k = DIGITS - 1; k >= 0; k--) x += (double)d[k * step] * s->unit[k];
    return x;
}

/* Integers in the order of doubles, for maxima. NaN: none. */
static inline int64_t digits_key(double x)
{
    int64_t k;
    memcpy(&k, &x, sizeof k);
    return k < 0 ? k ^ INT64_MAX : k;
}

static inline double digits_unkey(int64_t k)
{
    double x;
    if (k < 0) k ^= INT64_MAX;
    memcpy(&x, &k, sizeof x);
    return x;
}
