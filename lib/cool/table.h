/* cool/table: rates of gas in ionisation equilibrium on a grid of log10 n_H and log10 T2, at one
 * expansion factor (docs/method/cooling.md). It depends on its arguments alone, not on history. */
#pragma once
#include <stdbool.h>

#include "cool/uv.h"
#include "cool/vec.h"

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

/* Parts of VEC densities are made when gas needs them: which ones are there does not change what is
 * in them. */
enum { TABLE_PARTS = (TABLE_N + VEC - 1) / VEC };

struct table_span {
    int first, last; /* parts; none if last < first */
};

struct cool_table {
    double aexp; /* 0: nothing is made yet */
    struct uv_rates light;
    double metal_measure;
    bool made[TABLE_PARTS];
    struct table_span asked, before; /* now, and at the expansion factor before */
    struct table_node node[TABLE_N][TABLE_T];
};

/* An empty table at a. */
void table_begin(struct cool_table *t, const struct uv *uv, double a);
/* Makes what gas of densities between low and high needs, and at first what was needed at the
 * expansion factor before; all threads work. */
void table_need(struct cool_table *t, double low, double high);
/* A whole table. */
void table_make(struct cool_table *t, const struct uv *uv, double a);
