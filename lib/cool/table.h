/* cool/table: rates of gas in ionisation equilibrium on a grid of log10 n_H and log10 T2, at one
 * expansion factor (docs/method/cooling.md). It depends on its arguments alone, not on history. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "cool/net_kern.h"
#include "cool/uv.h"

/* Parts of so many densities are made when gas needs them: which ones are there does not change
 * what is in them. */
enum { TABLE_PART = 8, TABLE_PARTS = (TABLE_N + TABLE_PART - 1) / TABLE_PART };

/* Derivatives are differences over so much of log10 T2, as in RAMSES. */
static const double TABLE_DEX = 0.01;

/* The axes. */
static inline double table_log_nH(int i)
{
    return TABLE_N_MIN + i * ((TABLE_N_MAX - TABLE_N_MIN) / (TABLE_N - 1));
}

static inline double table_log_T2(int k)
{
    return TABLE_T_MIN + k * ((TABLE_T_MAX - TABLE_T_MIN) / (TABLE_T - 1));
}

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

/* The bytes of a file cooling_NNNNN.out, which RAMSES has beside its outputs: the table at a, the
 * mean molecular weight and the densities of ions, with which programs of analysis find the
 * temperature of the gas; made by all threads. It depends on the arguments alone. (owner: caller,
 * FREE) */
char *table_file(const struct uv *uv, double a, size_t *n);
