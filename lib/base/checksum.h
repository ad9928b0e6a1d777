/* base/checksum: 64-bit sums of bytes, to detect accidental changes (not forgery).
 *
 * Bytes are divided into words of 8; each word is mixed with its position, and the results are
 * added. So the sum vectorises (several GB/s), pieces may be added in any order, and a change
 * within one word is always detected, since the mixing is invertible. The length counts too. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether the checksum in a file, of this or another kind, equals the computed one. Fuzzers set
 * checksum_blind to make the comparison always succeed and so reach the code behind the check. */
extern bool checksum_blind;

static inline bool checksum_agrees(uint64_t said, uint64_t found)
{
    return said == found || checksum_blind;
}

static inline uint64_t checksum_mix(uint64_t w, uint64_t location)
{
    w ^= (location + 1) * 0x9e3779b97f4a7c15u;
    w = (w ^ w >> 32) * 0xd6e8feb86659fd93u;
    return w ^ w >> 32;
}

/* Checksum of n words that start at word index `location`. */
static inline uint64_t checksum_words(const void *p, size_t n, uint64_t location)
{
    const char *c = (const char *)p;
    uint64_t s = 0;
#pragma omp simd reduction(+ : s)
    for (size_t i = 0; i < n; i++) {
        uint64_t w;
        memcpy(&w, c + 8 * i, 8);
        s += checksum_mix(w, location + i);
    }
    return s;
}

/* Checksum of a complete array. */
static inline uint64_t checksum_of(const void *p, size_t bytes)
{
    size_t n = bytes / 8;
    uint64_t last = 0;
    memcpy(&last, (const char *)p + 8 * n, bytes % 8);
    return bytes + checksum_words(p, n, 0) + checksum_mix(last, n);
}

/* Checksum of a file while it is written. Pieces may start at any byte and arrive in any order;
 * finally they must cover the file without gaps or overlaps. */
struct checksum {
    uint64_t sum;
    int64_t bytes; /* end of the last piece so far */
    int npart, room;
    struct checksum_part { /* partly received word; missing bytes are zero */
        int64_t word;
        uint64_t value;
        int have;
    } * part;
};

/* zero *c before the first call */
void checksum_add(struct checksum *c, const void *p, size_t n, int64_t at);
/* checksum_add in two steps: threads compute checksum_inner of their pieces in parallel, then add
 * the partial words one thread at a time. */
uint64_t checksum_inner(const void *p, size_t n, int64_t at);
void checksum_add_inner(struct checksum *c, const void *p, size_t n, int64_t at, uint64_t inner);
uint64_t checksum_end(struct checksum *c); /* returns the sum and frees memory */
