#include "oct/transpose.h"

#include "vec/vec4.h"

enum { CELLS = 8, SIDE = 4 };
typedef double line __attribute__((vector_size(32), aligned(8), may_alias));

void transpose_columns(const double *const column[8], int64_t at, int n, double (*row)[8],
                       size_t step)
{
    int i = 0;
    for (; i + SIDE <= n; i += SIDE) {
        for (int c = 0; c < CELLS; c += SIDE) {
            vec4 in[SIDE], out[SIDE];
            for (int k = 0; k < SIDE; k++) in[k] = *(const line *)(column[c + k] + at + i);
            vec4_transpose(in, out);
            for (int k = 0; k < SIDE; k++) *(line *)(row[(size_t)(i + k) * step] + c) = out[k];
        }
    }
    for (; i < n; i++)
        for (int c = 0; c < CELLS; c++) row[(size_t)i * step][c] = column[c][at + i];
}

void transpose_rows(const double (*row)[8], const lidx *which, int n, double *column, size_t pitch)
{
    int i = 0;
    for (; i + SIDE <= n; i += SIDE) {
        for (int c = 0; c < CELLS; c += SIDE) {
            vec4 in[SIDE], out[SIDE];
            for (int k = 0; k < SIDE; k++)
                in[k] = *(const line *)(row[which ? which[i + k] : i + k] + c);
            vec4_transpose(in, out);
            for (int k = 0; k < SIDE; k++) *(line *)(column + (size_t)(c + k) * pitch + i) = out[k];
        }
    }
    for (; i < n; i++)
        for (int c = 0; c < CELLS; c++)
            column[(size_t)c * pitch + i] = row[which ? which[i] : i][c];
}
