/* base/sum: exact accumulation; see sum.h. (Kulisch 2013; Neal 2015, arXiv:1505.05571, "small
 * superaccumulator") */
#include "base/sum.h"

#include <math.h>
#include <string.h>

enum { MANY = 1 << 30 }; /* maximum terms between two carry passes, below 2^31 */

void sum_init(struct sum *s)
{
    memset(s, 0, sizeof *s);
}

/* Normalises every digit but the last to [0, 2^32). */
void sum_carry(struct sum *s)
{
    int64_t carry = 0;
    for (int i = 0; i < SUM_DIGITS - 1; i++) {
        int64_t v = s->digit[i] + carry;
        carry = v >> 32;
        s->digit[i] = v & 0xffffffff;
    }
    s->digit[SUM_DIGITS - 1] += carry;
    s->count = 0;
}

void sum_add(struct sum *s, double x)
{
    int i;
    int64_t d[3];
    if (!sum_split(x, &i, d)) {
        s->bad++;
        return;
    }
    s->digit[i] += d[0];
    s->digit[i + 1] += d[1];
    s->digit[i + 2] += d[2];
    if (++s->count >= MANY) sum_carry(s);
}

/* Slices of at most CHUNK terms (Rump, Ogita & Oishi 2008, SIAM J. Sci. Comput. 31, 189): rounded
 * to multiples of 2^(e−43), all below 2^e, they add up without error in any order; the rounding
 * residuals form the next slice. The sum of a slice is one term. */
enum { CHUNK = 1 << 10, CHUNK_BITS = 10 };

static double slice_add(struct sum *s, double top, int n, const double *x, double *rest)
{
    int e;
    frexp(top, &e);
    double shift = ldexp(1.5, e + CHUNK_BITS - 1), slice = 0, left = 0;
#pragma omp simd reduction(+ : slice) reduction(max : left)
    for (int k = 0; k < n; k++) {
        double part = (x[k] + shift) - shift, low = x[k] - part, size = fabs(low);
        slice += part;
        rest[k] = low;
        left = left > size ? left : size;
    }
    sum_add(s, slice); /* adds NaN if any term is NaN */
    return left;
}

/* The largest |x|; NaN ranks above all numbers by the order of bits. */
static double largest(int n, const double *x)
{
    int64_t max = 0;
    double top;
#pragma omp simd reduction(max : max)
    for (int k = 0; k < n; k++) {
        int64_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        bits &= INT64_MAX;
        max = max > bits ? max : bits;
    }
    memcpy(&top, &max, sizeof top);
    return top;
}

static bool all_equal(int n, const double *x)
{
    int differ = 0;
#pragma omp simd reduction(| : differ)
    for (int k = 0; k < n; k++) differ |= x[k] != x[0]; /* NaN compares unequal to itself */
    return !differ;
}

/* Adds n copies of x, n ≤ MANY. */
static void add_times(struct sum *s, int n, double x)
{
    int i;
    int64_t d[3];
    if (!sum_split(x, &i, d)) {
        s->bad += n;
        return;
    }
    for (int k = 0; k < 3; k++) s->digit[i + k] += n * d[k];
    s->count += n;
    if (s->count >= MANY) sum_carry(s);
}

void sum_add_times(struct sum *s, int64_t n, double x)
{
    for (; n > 0; n -= MANY) {
        if (s->count + (n < MANY ? n : MANY) > MANY) sum_carry(s);
        add_times(s, n < MANY ? (int)n : MANY, x);
    }
}

static void chunk_add(struct sum *s, int n, const double *x)
{
    if (all_equal(n, x)) { /* as for the equal masses of dark matter particles */
        add_times(s, n, x[0]);
        return;
    }
    double rest[CHUNK], top = largest(n, x);
    for (; top > 0x1p-900 && top < 0x1p900; x = rest) top = slice_add(s, top, n, x, rest);
    if (top == 0) return;
    for (int k = 0; k < n; k++) sum_add(s, x[k]);
}

void sum_add_many(struct sum *s, int64_t n, const double *x)
{
    for (int64_t k = 0; k < n; k += CHUNK)
        chunk_add(s, n - k < CHUNK ? (int)(n - k) : CHUNK, x + k);
}

void sum_join(struct sum *s, const struct sum *other)
{
    struct sum o = *other;
    sum_carry(&o);
    sum_carry(s);
    for (int i = 0; i < SUM_DIGITS; i++) s->digit[i] += o.digit[i];
    s->bad += o.bad;
    s->count = 1;
}

double sum_get(const struct sum *s)
{
    if (s->bad) return NAN;
    struct sum t = *s;
    sum_carry(&t);
    bool negative = t.digit[SUM_DIGITS - 1] < 0;
    if (negative) {
        for (int i = 0; i < SUM_DIGITS; i++) t.digit[i] = -t.digit[i];
        sum_carry(&t);
    }
    /* From the top: three digits hold at least 65 bits; lower ones only decide ties (sticky
     * bit). */
    int top = SUM_DIGITS - 1;
    while (top > 2 && t.digit[top] == 0) top--;
    unsigned __int128 v = (unsigned __int128)(uint64_t)t.digit[top] << 64 |
                          (uint64_t)t.digit[top - 1] << 32 | (uint64_t)t.digit[top - 2];
    for (int i = 0; i < top - 2; i++)
        if (t.digit[i]) {
            v |= 1;
            break;
        }
    int scale = 32 * (top - 2) - 1074;
    int extra = 0; /* reduces to 64 bits with a sticky bit, so that the conversion rounds once */
    while (v >> 64) {
        v = v >> 1 | (v & 1);
        extra++;
    }
    double r = ldexp((double)(uint64_t)v, scale + extra);
    return negative ? -r : r;
}
