/* dev/sums: exact sums (base/sum.h) of doubles over the threads of a block: digits are integers, so
 * that the result does not depend on the order of threads and blocks.
 *
 * A thread splits a term (dev_term_of) in one phase; then dev_sum_add assigns SUM_PARTS threads to
 * each digit, which divide the terms. Digits without contributions cost nothing, and terms of
 * similar size contribute to few digits. */
#pragma once
#include "base/sum.h"
#include "dev/kernel.h"

/* The last digit counts infinities and NaNs. */
enum { DEV_SUM = SUM_DIGITS + 1, SUM_PARTS = 8 };

struct dev_term {
    int first; /* first digit (sum_split); the last digit, with value 1, for infinities and NaNs */
    int64_t digit[3];
};

/* Accumulator in shared memory of a block. */
struct dev_sum {
    int64_t digit[DEV_SUM];
    unsigned char any[DEV_SUM + 2]; /* nonzero for digits with contributions */
};

struct dev_sum_parts {
    int64_t of[DEV_SUM * SUM_PARTS];
};

DEV_FN void dev_sum_clear(struct dev_sum *s, struct dev_block *b)
{
    PHASE (d, DEV_SUM + 2) {
        s->any[d] = 0;
        if (d < DEV_SUM) s->digit[d] = 0;
    }
}

/* Splits the term of one thread, in a phase. Concurrent writes to `any` are equal. */
PTAH_HD void dev_term_of(struct dev_sum *s, struct dev_term *to, double x)
{
    if (!sum_split(x, &to->first, to->digit)) {
        to->first = SUM_DIGITS;
        to->digit[0] = 1;
        to->digit[1] = to->digit[2] = 0;
    }
    for (int k = 0; k < 3; k++)
        if (to->digit[k] != 0) s->any[to->first + k] = 1;
}

/* Adds n terms. */
DEV_FN void dev_sum_add(struct dev_sum *s, struct dev_sum_parts *part, const struct dev_term *term,
                        int n, struct dev_block *b)
{
    PHASE (t, DEV_SUM * SUM_PARTS) {
        const int d = t / SUM_PARTS;
        int64_t sum = 0;
        for (int i = t % SUM_PARTS; i < n && s->any[d]; i += SUM_PARTS) {
            int k = d - term[i].first;
            if (k >= 0 && k < 3) sum += term[i].digit[k];
        }
        part->of[t] = sum;
    }
    PHASE (d, DEV_SUM) {
        for (int k = 0; k < SUM_PARTS && s->any[d]; k++) s->digit[d] += part->of[SUM_PARTS * d + k];
    }
}

/* Adds the block's sum to the global sum; all blocks add to one sum. */
DEV_FN void dev_sum_flush(int64_t *to, const struct dev_sum *s, struct dev_block *b)
{
    PHASE (d, DEV_SUM) {
        if (s->digit[d] != 0) dev_add_i64(&to[d], s->digit[d]);
    }
}

/* ---- totals ---- */

/* A kernel name with arguments a of type args, which have the member `int64_t *out`: n exact sums
 * over terms(a) terms each, fn(a, i, double x[n]), in out[block][n][DEV_SUM]. */
enum { DEV_TOTALS_TERMS = DEV_THREADS };
#define DEV_TOTALS(name, args, n, terms, fn)                                                       \
    struct name##_shared {                                                                         \
        double x[n][DEV_TOTALS_TERMS];                                                             \
        struct dev_term term[DEV_TOTALS_TERMS];                                                    \
        struct dev_sum sum[n];                                                                     \
        struct dev_sum_parts part;                                                                 \
    };                                                                                             \
    KERNEL(name, args, struct name##_shared, DEV_THREADS)                                          \
    {                                                                                              \
        const int64_t last = terms(a), step = (int64_t)b->count * DEV_TOTALS_TERMS;                \
        for (int k = 0; k < (n); k++) dev_sum_clear(&s->sum[k], b);                                \
        for (int64_t i0 = (int64_t)b->index * DEV_TOTALS_TERMS; i0 < last; i0 += step) {           \
            PHASE (t, DEV_TOTALS_TERMS) {                                                          \
                double x[n] = {0};                                                                 \
                if (i0 + t < last) fn(a, i0 + t, x);                                               \
                for (int k = 0; k < (n); k++) s->x[k][t] = x[k];                                   \
            }                                                                                      \
            for (int k = 0; k < (n); k++) {                                                        \
                PHASE (t, DEV_TOTALS_TERMS) {                                                      \
                    dev_term_of(&s->sum[k], &s->term[t], s->x[k][t]);                              \
                }                                                                                  \
                dev_sum_add(&s->sum[k], &s->part, s->term, DEV_TOTALS_TERMS, b);                   \
            }                                                                                      \
        }                                                                                          \
        PHASE (t, (n)*DEV_SUM) {                                                                   \
            a->out[(int64_t)b->index * ((n)*DEV_SUM) + t] =                                        \
                s->sum[t / DEV_SUM].digit[t % DEV_SUM];                                            \
        }                                                                                          \
    }
