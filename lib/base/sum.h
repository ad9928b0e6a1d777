/* base/sum: sums of doubles that do not depend on the order of the terms, exactly rounded once at
 * the end.
 *
 * A sum is an array of int64 digits of 32 bits each, spanning the exponents of double (a small
 * Kulisch accumulator): adding a term touches three digits, so 2^30 terms fit before a carry pass.
 * Partial sums from threads and ranks are joined by integer addition (sum_join; comm_sum for
 * ranks), hence in any order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/device.h"

enum { SUM_DIGITS = 68 };

struct sum {
    int64_t digit[SUM_DIGITS]; /* digits; digit i has weight 2^(32*i - 1074) */
    int64_t bad;               /* number of infinities and NaNs added */
    int64_t count;             /* number of terms since the last carry pass */
};

/* Splits a term into three digits, starting at digit `first`, with the sign of the term. Returns
 * false if x is not finite. */
PTAH_HD bool sum_split(double x, int *first, int64_t d[3])
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int expo = (int)(bits >> 52 & 0x7ff);
    uint64_t mant = bits & 0xfffffffffffffu;
    if (expo == 0x7ff) return false;
    if (expo)
        mant |= (uint64_t)1 << 52;
    else
        expo = 1;
    int shift = (expo - 1) & 31;
    uint64_t low = mant << shift, high = shift ? mant >> (64 - shift) : 0;
    *first = (expo - 1) >> 5;
    d[0] = (int64_t)(low & 0xffffffff);
    d[1] = (int64_t)(low >> 32);
    d[2] = (int64_t)high;
    if (bits >> 63) d[0] = -d[0], d[1] = -d[1], d[2] = -d[2];
    return true;
}

void sum_init(struct sum *s); /* sets the sum to 0, without terms */
void sum_add(struct sum *s, double x);
/* Adds x[0..n-1], bit for bit like repeated sum_add, several times faster. */
void sum_add_many(struct sum *s, int64_t n, const double *x);
/* Adds n times x, bit for bit like repeated sum_add. */
void sum_add_times(struct sum *s, int64_t n, double x);
/* Adds `other` to s exactly. */
void sum_join(struct sum *s, const struct sum *other);
double sum_get(const struct sum *s); /* NaN if any term was not finite */
void sum_carry(struct sum *s);       /* normalises the digits; called automatically when needed */

/* Buffer for terms computed one by one; `sum` is complete after sum_batch_end. */
enum { SUM_BATCH = 256 };
struct sum_batch {
    struct sum sum;
    int n;
    double x[SUM_BATCH];
};

static inline void sum_batch_begin(struct sum_batch *b)
{
    sum_init(&b->sum);
    b->n = 0;
}

static inline void sum_batch_end(struct sum_batch *b)
{
    sum_add_many(&b->sum, b->n, b->x);
    b->n = 0;
}

static inline void sum_batch_add(struct sum_batch *b, double x)
{
    b->x[b->n++] = x;
    if (b->n == SUM_BATCH) sum_batch_end(b);
}
