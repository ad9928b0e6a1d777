/* oct/turn: see turn.h. */
#include "oct/turn.h"

/* Squares of four: longer vectors than the processor has are shuffled number by number (gcc 12). */
enum { CELLS = 8, SIDE = 4 };
typedef double line __attribute__((vector_size(32), aligned(8), may_alias));

/* Lines 0 and 2, 1 and 3 change halves, then 0 and 1, 2 and 3 each second number. */
static inline void turn_square(const line in[SIDE], line out[SIDE])
{
    line a = __builtin_shufflevector(in[0], in[2], 0, 1, 4, 5),
         b = __builtin_shufflevector(in[1], in[3], 0, 1, 4, 5),
         c = __builtin_shufflevector(in[0], in[2], 2, 3, 6, 7),
         d = __builtin_shufflevector(in[1], in[3], 2, 3, 6, 7);
    out[0] = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    out[1] = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    out[2] = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    out[3] = __builtin_shufflevector(c, d, 1, 5, 3, 7);
}

void turn_columns(const double *const column[8], int64_t at, int n, double (*row)[8], size_t step)
{
    int i = 0;
    for (; i + SIDE <= n; i += SIDE) {
        for (int c = 0; c < CELLS; c += SIDE) {
            line in[SIDE], out[SIDE];
            for (int k = 0; k < SIDE; k++) in[k] = *(const line *)(column[c + k] + at + i);
            turn_square(in, out);
            for (int k = 0; k < SIDE; k++) *(line *)(row[(size_t)(i + k) * step] + c) = out[k];
        }
    }
    for (; i < n; i++)
        for (int c = 0; c < CELLS; c++) row[(size_t)i * step][c] = column[c][at + i];
}

void turn_rows(const double (*row)[8], const lidx *which, int n, double *column, size_t pitch)
{
    int i = 0;
    for (; i + SIDE <= n; i += SIDE) {
        for (int c = 0; c < CELLS; c += SIDE) {
            line in[SIDE], out[SIDE];
            for (int k = 0; k < SIDE; k++)
                in[k] = *(const line *)(row[which ? which[i + k] : i + k] + c);
            turn_square(in, out);
            for (int k = 0; k < SIDE; k++) *(line *)(column + (size_t)(c + k) * pitch + i) = out[k];
        }
    }
    for (; i < n; i++)
        for (int c = 0; c < CELLS; c++)
            column[(size_t)c * pitch + i] = row[which ? which[i] : i][c];
}
