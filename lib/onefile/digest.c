/* onefile/digest: digests, which do not depend on ranks. */
#include <string.h>

#include "base/rng.h"
#include "onefile/onefile.h"

static const uint64_t SALT[2] = {0x9e3779b97f4a7c15u, 0xd1b54a32d192ed03u};

void onefile_words(const char *name, uint64_t word[2])
{
    for (int k = 0; k < 2; k++) {
        word[k] = SALT[k];
        for (const char *s = name; *s; s++) word[k] = rng_mix(word[k] + (unsigned char)*s);
    }
}

void onefile_add(uint64_t sum[2], const uint64_t word[2], int64_t n, const void *values, int64_t at)
{
    const char *v = values;
    uint64_t a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits, place = (uint64_t)(at + i + 1);
        memcpy(&bits, v + 8 * i, 8);
        a += rng_mix(bits ^ rng_mix(place * SALT[0] ^ word[0]));
        b += rng_mix((bits + SALT[1]) ^ rng_mix(place * SALT[1] ^ word[1]));
    }
    sum[0] += a, sum[1] += b;
}

void onefile_add_named(uint64_t sum[2], const char *name, double value)
{
    uint64_t word[2];
    onefile_words(name, word);
    onefile_add(sum, word, 1, &value, 0);
}

void onefile_add_head(uint64_t sum[2], const struct onefile_head *h)
{
    const struct onefile_keys *k = h->keys;
    onefile_add_named(sum, "t", h->t);
    onefile_add_named(sum, "dt", h->dt);
    onefile_add_named(sum, "it", (double)h->it);
    for (int i = 0; i < k->n; i++) {
        char name[ONEFILE_NAME + 4] = "key ";
        memcpy(name + 4, k->name[i], ONEFILE_NAME);
        if (strncmp(k->name[i], "next_", 5) != 0) onefile_add_named(sum, name, k->value[i]);
    }
}

/* Sums mod 2^64, in halves whose sums do not overflow. */
void onefile_sum_ranks(const struct comm *c, uint64_t (*digest)[2], int n)
{
    int64_t half[2 * 2 * ONEFILE_PARTS];
    BUG_ON(n > ONEFILE_PARTS);
    for (int i = 0; i < 4 * n; i++)
        half[i] = (int64_t)(uint32_t)(digest[i / 4][i / 2 % 2] >> 32 * (i % 2));
    comm_add_i64(c, half, 4 * n);
    for (int i = 0; i < 2 * n; i++)
        digest[i / 2][i % 2] = (uint64_t)half[2 * i] + ((uint64_t)half[2 * i + 1] << 32);
}

void onefile_join(int n, uint64_t (*part)[2], uint64_t digest[2])
{
    digest[0] = digest[1] = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++) digest[k] += rng_mix(part[i][k] ^ SALT[k]);
}
