/* observe/series: a text table to which a run appends a row in some of its steps. The first column
 * is the number of the step. Rank 0 calls these functions. */
#pragma once
#include <stdint.h>

#include "base/err.h"

/* Begins the table with its line of names: a new one, or, from step `it` > 0 on, an earlier one
 * whose rows of steps before `it` are kept. The file is replaced at once or stays as it was. */
MUST_USE enum err series_begin(const char *path, const char *names, int64_t it);
/* Appends the step and n numbers, with ten digits. */
MUST_USE enum err series_append(const char *path, int64_t it, int n, const double *x);
