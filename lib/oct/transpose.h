/* oct/transpose: converts between columns with one value per cell, as in RAMSES files, and rows of
 * eight cells, as in a mesh. Eight octs at a time are transposed in registers. */
#pragma once
#include "oct/mesh.h"

/* Writes octs at..at+n-1 of column[c] to rows; oct i goes to row[i * step]. */
void transpose_columns(const double *const column[8], int64_t at, int n, double (*row)[8],
                       size_t step);
/* Reads oct i from row[which[i]] (which NULL: i), and writes its cell c to column[c * pitch + i].
 */
void transpose_rows(const double (*row)[8], const lidx *which, int n, double *column, size_t pitch);
