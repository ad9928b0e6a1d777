/* dev/digits_kern: packing of exact sums by one block, for kernels that make such sums. Layout of
 * the packed sums, in words of 8 bytes: for each sum a byte with its first nonzero digit and one
 * with the number of digits to its last one; from word digits_head(n) these digits, sum by sum. */
#pragma once
#include "dev/kernel.h"

enum { DIGITS_SUMS = 128, DIGITS_WIDTH = 255 }; /* limits of n and width */

PTAH_HD int digits_head(int n)
{
    return (n + 3) / 4;
}

struct digits_shared {
    int first[DIGITS_SUMS], n[DIGITS_SUMS];
};

/* from: [n][width]; written in a phase before. */
DEV_FN void digits_write(const int64_t *from, int n, int width, int64_t *to,
                         struct digits_shared *s, struct dev_block *b)
{
    PHASE (j, n) {
        int first = 0, end = 0;
        for (int d = width; d-- > 0;) {
            if (from[j * width + d] == 0) continue;
            first = d;
            if (end == 0) end = d + 1;
        }
        s->first[j] = first;
        s->n[j] = end - first;
        ((unsigned char *)to)[2 * j] = (unsigned char)first;
        ((unsigned char *)to)[2 * j + 1] = (unsigned char)(end - first);
    }
    PHASE (t, n * width) {
        const int j = t / width, d = t % width - s->first[j];
        int at = digits_head(n) + d;
        if (d < 0 || d >= s->n[j]) continue;
        for (int i = 0; i < j; i++) at += s->n[i];
        to[at] = from[t];
    }
}

struct digits_pack_args {
    const int64_t *from; /* [n][width] */
    int n, width;
    int64_t *to;
};

#ifndef __CUDACC__
extern const struct dev_kernel digits_pack; /* one block */
#endif
