/* oct/pieces: divides the octs of a level into pieces of fixed size, for passes on all threads that
 * count first and write then. The size does not depend on the number of threads, so neither do the
 * results. */
#pragma once
#include "oct/okey.h"

enum { PIECE = 1024 /* octs */, PIECES_FROM = 4 /* minimum number of pieces for threads */ };

static inline lidx pieces_of(lidx n)
{
    return (lidx)(((int64_t)n + PIECE - 1) / PIECE);
}

static inline lidx piece_end(lidx n, lidx piece)
{
    return n - piece * PIECE > PIECE ? (piece + 1) * PIECE : n;
}

/* Exclusive prefix sum of first[pieces]; returns the total. */
static inline int64_t pieces_sum(lidx pieces, int64_t *first)
{
    int64_t sum = 0;
    for (lidx p = 0; p < pieces; p++) {
        int64_t n = first[p];
        first[p] = sum;
        sum += n;
    }
    return sum;
}
