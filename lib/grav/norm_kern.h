/* grav/norm_kern: exact sums (base/sum) by the threads of a block, for kernels. The digits of a
 * block are those of a struct sum, of which its count stays 0. Private to grav. */
#pragma once
#include "dev/kernel.h"
#include "grav/kernels.h"

/* Residuals of an oct; then a term of the sum, as sum_split has it. */
union norm_row {
    double r[8];
    struct {
        int at; /* < 0: infinite or NaN */
        int64_t digit[3];
    } term;
};

PTAH_HD void norm_term(union norm_row *row, double x)
{
    if (!sum_split(x, &row->term.at, row->term.digit)) row->term.at = -1;
}

DEV_FN void norm_clear(int64_t norm[GRAV_NORM], struct dev_block *b)
{
    PHASE (d, GRAV_NORM) {
        norm[d] = 0;
    }
}

/* The terms of n rows. Each digit has a thread. */
DEV_FN void norm_add(int64_t norm[GRAV_NORM], const union norm_row *row, int n, struct dev_block *b)
{
    PHASE (d, SUM_DIGITS + 1) {
        int64_t sum = 0;
        for (int o = 0; o < n; o++) {
            int at = row[o].term.at, k = d - at;
            if (at < 0)
                sum += d == SUM_DIGITS;
            else if (d < SUM_DIGITS && k >= 0 && k < 3)
                sum += row[o].term.digit[k];
        }
        norm[d] += sum;
    }
}

/* All blocks add to the same sum. */
DEV_FN void norm_flush(int64_t *to, const int64_t norm[GRAV_NORM], struct dev_block *b)
{
    PHASE (d, GRAV_NORM) {
        if (norm[d] != 0) dev_add_i64(&to[d], norm[d]);
    }
}
