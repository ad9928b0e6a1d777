/* oct/transpose: values of octs from columns, one a cell, as RAMSES files have them, into rows of
 * eight cells, as a mesh has them, and back. Eight octs at a time are a square that is turned in
 * registers. */
#pragma once
#include "oct/mesh.h"

/* Octs at..at+n-1 of column[c]; the i-th goes to row[i * step]. */
void transpose_columns(const double *const column[8], int64_t at, int n, double (*row)[8],
                       size_t step);
/* The i-th oct is row[which[i]] (which NULL: i); cell c of it goes to column[c * pitch + i]. */
void transpose_rows(const double (*row)[8], const lidx *which, int n, double *column, size_t pitch);
