/* base/rng: see rng.h. */
#include "base/rng.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <math.h>
#include <string.h>

void rng_block(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4])
{
    rng_rounds(ctr, key, out);
}

struct rng rng_make(uint64_t seed, uint64_t key, uint32_t step)
{
    return (struct rng){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
                        .ctr = {0, step, (uint32_t)key, (uint32_t)(key >> 32)},
                        .used = 4};
}

uint32_t rng_word(struct rng *r)
{
    if (r->used == 4) {
        rng_block(r->ctr, r->key, r->word);
        r->ctr[0]++;
        r->used = 0;
    }
    return r->word[r->used++];
}

double rng_uniform(struct rng *r)
{
    const uint32_t high = rng_word(r), low = rng_word(r);
    return rng_words_uniform(high, low);
}

/* The numbers of as many keys as a register has 64-bit lanes. A product of 32-bit numbers in each
 * lane is one instruction, which gcc 12 does not find: multiplication reads the lower halves alone,
 * so that the upper ones may have anything. */
#if defined(__AVX512F__)
enum { LANES = 8 };
typedef __m512i lanes;
#define LANES_OF(x) _mm512_set1_epi64((int64_t)(x))
#define LANES_TIMES(x, y) _mm512_mul_epu32(x, y)
#elif defined(__AVX2__)
enum { LANES = 4 };
typedef __m256i lanes;
#define LANES_OF(x) _mm256_set1_epi64x((int64_t)(x))
#define LANES_TIMES(x, y) _mm256_mul_epu32(x, y)
#else
enum { LANES = 1 };
typedef uint64_t lanes;
#define LANES_OF(x) (x)
#define LANES_TIMES(x, y) ((uint64_t)(uint32_t)(x) * (y))
#endif
#if defined(__AVX2__)
typedef uint64_t words __attribute__((vector_size(8 * LANES)));
#else
typedef uint64_t words;
#endif

static inline void pairs_find(uint64_t hide, uint32_t key, const int64_t *of, uint32_t *high,
                              uint32_t *low)
{
    words a, b;
    uint64_t A[LANES], B[LANES];
    memcpy(&a, of, sizeof a);
    b = a >> 32 ^ hide >> 32;
    a ^= hide & UINT32_MAX;
    for (int round = 0; round < 7; round++, key += 0x9E3779B9u) { /* rng_two */
        const words p = (words)LANES_TIMES((lanes)a, LANES_OF(0xD256D193u));
        a = p >> 32 ^ b ^ (uint64_t)key;
        b = p;
    }
    memcpy(A, &a, sizeof a);
    memcpy(B, &b, sizeof b);
    for (int k = 0; k < LANES; k++) {
        high[k] = (uint32_t)A[k];
        low[k] = (uint32_t)B[k];
    }
}

void rng_pairs(uint64_t seed, int n, const int64_t *key, uint32_t *high, uint32_t *low)
{
    const uint64_t hide = rng_mix(seed);
    const uint32_t more = (uint32_t)rng_mix(hide + 1);
    int i = 0;
    for (; i + LANES <= n; i += LANES) pairs_find(hide, more, key + i, high + i, low + i);
    for (; i < n; i++) {
        high[i] = (uint32_t)key[i] ^ (uint32_t)hide;
        low[i] = (uint32_t)((uint64_t)key[i] >> 32) ^ (uint32_t)(hide >> 32);
        rng_two(more, &high[i], &low[i]);
    }
}

double rng_normal(struct rng *r)
{
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    double radius = sqrt(-2 * log(1 - rng_uniform(r))); /* 1 - u is never 0 */
    double angle = 2 * M_PI * rng_uniform(r);
    r->spare = radius * sin(angle);
    r->has_spare = 1;
    return radius * cos(angle);
}

/* Inversion of the cumulative distribution term by term, for small means. */
static int64_t poisson_invert(struct rng *r, double mean)
{
    enum { FAR = 200 }; /* beyond are terms below the spacing of the uniform numbers */
    double u = rng_uniform(r), term = exp(-mean);
    int64_t k = 0;
    while (u >= term && k < FAR) {
        u -= term;
        term *= mean / (double)++k;
    }
    return k;
}

/* Transformed rejection with squeeze, for means of 10 and more (Hormann 1993, algorithm PTRS). */
static int64_t poisson_reject(struct rng *r, double mean)
{
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = rng_uniform(r) - 0.5, v = rng_uniform(r), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= squeeze) return (int64_t)k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse) - log(a / (us * us) + b) <= k * log(mean) - mean - lgamma(k + 1))
            return (int64_t)k;
    }
}

int64_t rng_poisson(struct rng *r, double mean)
{
    enum { SMALL = 12 };
    return mean < SMALL ? poisson_invert(r, mean) : poisson_reject(r, mean);
}
