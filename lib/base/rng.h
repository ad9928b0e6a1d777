/* base/rng: random numbers as a pure function of (seed, key, step, position in the stream).
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, SC11): no state to share or to save, so a draw
 * does not depend on ranks, threads or the order of work. key identifies the owner of the numbers
 * (a particle id, an oct's key folded to 64 bits), step the time; each purpose (stars, jets …) has
 * its own seed. */
#pragma once
#include <stdint.h>

#include "base/device.h"

/* Invertible mixing: every bit of the result depends on all bits of x; for hashes (last step of
 * SplitMix64; Steele, Lea & Flood 2014). */
static inline uint64_t rng_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct rng {
    uint32_t key[2], ctr[4]; /* key: seed; ctr: block, step, key low, key high */
    uint32_t word[4];        /* current block of four numbers */
    int used;                /* numbers consumed from the block, 4: exhausted */
    int has_spare;           /* true if `spare` holds the second normal deviate of a pair */
    double spare;
};

/* Ten rounds of Philox4x32 (Salmon, Moraes, Dror & Shaw 2011, section 4). */
PTAH_HD void rng_rounds(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t a = ctr[0], b = ctr[1], c = ctr[2], d = ctr[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * a, p1 = (uint64_t)0xCD9E8D57u * c;
        a = (uint32_t)(p1 >> 32) ^ b ^ k0;
        c = (uint32_t)(p0 >> 32) ^ d ^ k1;
        b = (uint32_t)p1;
        d = (uint32_t)p0;
        k0 += 0x9E3779B9u; /* golden ratio as a 32-bit fraction */
        k1 += 0xBB67AE85u; /* sqrt(3) - 1 as a 32-bit fraction */
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

/* Number in [0, 1) of 27 and 26 bits of two words. */
PTAH_HD double rng_words_uniform(uint32_t high, uint32_t low)
{
    return (double)((uint64_t)(high >> 5) << 26 | low >> 6) * 0x1p-53;
}

/* First rng_uniform of rng_make(seed, key, step). */
PTAH_HD double rng_first_uniform(uint64_t seed, uint64_t key, uint32_t step)
{
    const uint32_t ctr[4] = {0, step, (uint32_t)key, (uint32_t)(key >> 32)},
                   k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t word[4];
    rng_rounds(ctr, k, word);
    return rng_words_uniform(word[0], word[1]);
}

/* Computes one block by ten rounds of Philox4x32. */
void rng_block(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]);

/* Returns the stream of this seed, key and step, positioned at its first number. */
struct rng rng_make(uint64_t seed, uint64_t key, uint32_t step);
uint32_t rng_word(struct rng *r);  /* 32 random bits */
double rng_uniform(struct rng *r); /* in [0, 1), a multiple of 2^-53 */
/* Philox2x32 of seven rounds: a, b: counter, then the two words. */
static inline void rng_two(uint32_t key, uint32_t *a, uint32_t *b)
{
    for (int round = 0; round < 7; round++, key += 0x9E3779B9u) {
        const uint64_t p = (uint64_t)0xD256D193u * *a;
        *a = (uint32_t)(p >> 32) ^ *b ^ key;
        *b = (uint32_t)p;
    }
}
/* Two words for each of n keys by seven rounds of Philox2x32, the fewest that pass all tests of
 * Salmon et al. (2011), for many draws of which one suffices. The seed also tells steps and
 * purposes apart; 96 bits that are made of it hide the keys. */
void rng_pairs(uint64_t seed, int n, const int64_t *key, uint32_t *high, uint32_t *low);
static inline double rng_pair_uniform(uint32_t high, uint32_t low)
{
    return (double)(int64_t)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53;
}
double rng_normal(struct rng *r); /* mean 0, variance 1 (Box & Muller 1958) */
/* Poisson deviate for mean >= 0. Not thread-safe (lgamma). */
int64_t rng_poisson(struct rng *r, double mean);
