/* oct/bits: flags of the cells of an oct, eight bytes that are zero or not, or eight links, as the
 * bits of one byte. */
#pragma once
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

static const uint64_t BITS_ONES = 0x0101010101010101u;

/* Sets each nonzero byte to 1. */
static inline uint64_t bits_ones(uint64_t bytes)
{
    uint64_t low = 0x7f * BITS_ONES; /* no byte carries into the next */
    return (((bytes & low) + low) | bytes) >> 7 & BITS_ONES;
}

/* Bit k: whether byte k is nonzero. Byte k is shifted by 7 k to bit 56 + k, so that bits do not
 * overlap. */
static inline unsigned char bits_of_bytes(const unsigned char byte[8])
{
    uint64_t x;
    memcpy(&x, byte, sizeof x);
    return (unsigned char)(bits_ones(x) * 0x0102040810204080u >> 56);
}

/* byte[k] := bit k. */
static inline void bits_to_bytes(unsigned bits, unsigned char byte[8])
{
    uint64_t x = bits_ones((bits & 0xff) * BITS_ONES & 0x8040201008040201u);
    memcpy(byte, &x, sizeof x);
}

/* Bit k: whether link k is negative (no oct). */
static inline unsigned bits_of_leaves(const int32_t link[8])
{
    uint64_t two[4], all = 0; /* signs of two links are bits 31 and 63 */
    memcpy(two, link, sizeof two);
    for (int k = 0; k < 4; k++) all |= (two[k] >> 31 & 0x100000001u) << 2 * k;
    return (unsigned)((all | all >> 31) & 0xff);
}

/* Lists the k of the bytes that are not zero, among n; returns their number. */
static inline int bits_list(const unsigned char *byte, int n, int *list)
{
    int found = 0, k = 0;
    for (; k + 8 <= n; k += 8) {
        uint64_t x;
        memcpy(&x, byte + k, sizeof x);
        for (x = bits_ones(x); x; x &= x - 1) list[found++] = k + (__builtin_ctzll(x) >> 3);
    }
    for (; k < n; k++)
        if (byte[k]) list[found++] = k;
    return found;
}
