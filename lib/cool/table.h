/* cool/table: rates of gas in ionisation equilibrium on a grid of log10 n_H and log10 T2, at one
 * expansion factor (docs/method/cooling.md). It depends on its arguments alone, not on history. */
#pragma once
#include <stdint.h>

#include "cool/uv.h"

enum { TABLE_N = 161, TABLE_T = 101 };
static const double TABLE_N_MIN = -10, TABLE_N_MAX = 6, TABLE_T_MIN = -2, TABLE_T_MAX = 9;

enum table_rate {
    RATE_COOL,         /* per n_H² */
    RATE_HEAT,         /* per n_H² */
    RATE_COMPTON,      /* cooling, per n_H */
    RATE_COMPTON_HEAT, /* per n_H */
    RATE_METAL,        /* solar metallicity, per n_H² */
    RATE_COUNT,
    RATE_LANES = 8 /* those beyond RATE_COUNT fill a vector */
};

/* log2 of the rates, then their derivatives by the place in the interval of temperature (0..1). */
struct table_node {
    double value[RATE_LANES], slope[RATE_LANES];
};

struct cool_table {
    double aexp; /* 0: not made yet */
    struct table_node node[TABLE_T][TABLE_N];
};

/* One of the `parts` parts of the table at a, the others all zeros, so that integer sums of their
 * words put it together (table_words); all threads work. */
void table_make(struct cool_table *t, const struct uv *uv, double a, int part, int parts);
int64_t *table_words(struct cool_table *t, int *n);
