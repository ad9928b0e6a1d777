/* oct/pieces: the octs of a level in pieces, for passes on all threads that count first and write
 * then. A piece has as many octs for any number of threads, so that results do not depend on it. */
#pragma once
#include "oct/okey.h"

enum { PIECE = 1024 /* octs */, PIECES_FROM = 4 /* pieces from which threads are worth it */ };

static inline lidx pieces_of(lidx n)
{
    return (lidx)(((int64_t)n + PIECE - 1) / PIECE);
}

static inline lidx piece_end(lidx n, lidx piece)
{
    return n - piece * PIECE > PIECE ? (piece + 1) * PIECE : n;
}

/* first[p] := the sum of those before; returns that of all. */
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
