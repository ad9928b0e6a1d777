/* oct/turn: see turn.h. */
#include "oct/turn.h"

#include <string.h>

enum { CELLS = 8 };
typedef double line __attribute__((vector_size(64)));

/* Lines i and i + side of each pair change the halves that `low` and `high` leave out. */
#define SWAP(side, low, high)                                                                      \
    for (int i = 0; i < CELLS; i++) {                                                              \
        if (i & (side)) continue;                                                                  \
        line a = r[i], b = r[i + (side)];                                                          \
        r[i] = __builtin_shufflevector(a, b, low);                                                 \
        r[i + (side)] = __builtin_shufflevector(a, b, high);                                       \
    }
#define LIST(...) __VA_ARGS__

/* Squares of 1, then 2, then 4 numbers a side change places across the diagonal. */
static inline void turn_square(line r[CELLS])
{
    SWAP(1, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15))
    SWAP(2, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15))
    SWAP(4, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15))
}

void turn_columns(const double *const column[8], int64_t at, int n, double (*row)[8], size_t step)
{
    int i = 0;
    for (; i + CELLS <= n; i += CELLS) {
        line r[CELLS];
        for (int c = 0; c < CELLS; c++) memcpy(&r[c], column[c] + at + i, sizeof r[c]);
        turn_square(r);
        for (int k = 0; k < CELLS; k++) memcpy(row[(size_t)(i + k) * step], &r[k], sizeof r[k]);
    }
    for (; i < n; i++)
        for (int c = 0; c < CELLS; c++) row[(size_t)i * step][c] = column[c][at + i];
}

void turn_rows(const double (*row)[8], const lidx *which, int n, double *column, size_t pitch)
{
    int i = 0;
    for (; i + CELLS <= n; i += CELLS) {
        line r[CELLS];
        for (int k = 0; k < CELLS; k++)
            memcpy(&r[k], row[which ? which[i + k] : i + k], sizeof r[k]);
        turn_square(r);
        for (int c = 0; c < CELLS; c++) memcpy(column + (size_t)c * pitch + i, &r[c], sizeof r[c]);
    }
    for (; i < n; i++)
        for (int c = 0; c < CELLS; c++)
            column[(size_t)c * pitch + i] = row[which ? which[i] : i][c];
}
