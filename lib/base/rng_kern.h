/* base/rng_kern: the rounds of base/rng for C, C++ and CUDA. */
#pragma once
#include <stdint.h>

#include "base/device.h"

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
