/* cool/table: rates of gas in ionisation equilibrium on a grid of log10 n_H and log10 T2, at one
 * expansion factor (docs/method/cooling.md). The table is a pure function of its arguments. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cool/net_kern.h"
#include "cool/uv.h"

/* The table is divided into parts of TABLE_PART densities, and these into rows, one for each T2.
 * Parts are computed on demand, or rows when a cell first reads them; contents do not depend on
 * which exist. */
enum { TABLE_PART = 8, TABLE_PARTS = (TABLE_N + TABLE_PART - 1) / TABLE_PART };

/* Difference in log10 T2 for numerical derivatives, as in RAMSES. */
static const double TABLE_DEX = 0.01;

/* Coordinates of the nodes. */
static inline double table_log_nH(int i)
{
    return TABLE_N_MIN + i * ((TABLE_N_MAX - TABLE_N_MIN) / (TABLE_N - 1));
}

static inline double table_log_T2(int k)
{
    return TABLE_T_MIN + k * ((TABLE_T_MAX - TABLE_T_MIN) / (TABLE_T - 1));
}

struct table_span {
    int first, last; /* range of parts; empty if last < first */
};

struct cool_table {
    double aexp; /* expansion factor; 0: not set */
    struct uv_rates light;
    double metal_measure;
    bool made[TABLE_PARTS];          /* all rows of the part exist */
    struct table_span asked, before; /* requested parts now, and at the previous expansion factor */
    struct table_rows *rows;         /* (table.c) */
    /* 1: this node and those one density and one T2 above exist; written by table_fill */
    unsigned char *have; /* [TABLE_N * TABLE_T] */
    struct table_node node[TABLE_N][TABLE_T];
};

/* Starts an empty table at expansion factor a. */
void table_begin(struct cool_table *t, const struct uv *uv, double a);
void table_free(struct cool_table **t);
/* Computes, with all threads, the rows that cells read at the previous expansion factor, on the
 * first call at this one. */
void table_recall(struct cool_table *t);
/* Like table_recall, with other ranks whose tables have an equal head. Row `at` is that of T2
 * at / TABLE_PARTS and part at % TABLE_PARTS; a row has TABLE_ROW numbers, and those beyond the
 * last density are unset. table_wanted: want[at] becomes 1 for rows that table_recall would
 * compute, else 0. table_rows_make computes rows at[n] with all threads, and copies them to row[n];
 * table_rows_take takes rows, also of other ranks, and ends the recall. Local. */
enum { TABLE_ROWS = TABLE_T * TABLE_PARTS, TABLE_ROW = TABLE_PART * 2 * RATE_COUNT };
void table_wanted(const struct cool_table *t, int64_t want[TABLE_ROWS]);
void table_rows_make(struct cool_table *t, int n, const int at[], double (*row)[TABLE_ROW]);
void table_rows_take(struct cool_table *t, int n, const int at[], double (*row)[TABLE_ROW]);
/* Computes node `at` (density times TABLE_T plus T2) and those one density and one T2 above.
 * Callable from any thread: the table is a cache of a function of its head. */
void table_fill(const struct cool_table *t, int at);
static inline void table_want(const struct cool_table *t, int at)
{
    if (!__atomic_load_n(&t->have[at], __ATOMIC_ACQUIRE)) table_fill(t, at);
}
/* Computes all rows of the part of density i, and of the next density. Callable from any thread. */
void table_fill_part(const struct cool_table *t, int i);
/* Computes, with all threads, the parts for gas of densities between low and high, and on the first
 * call also the parts needed at the previous expansion factor. */
void table_need(struct cool_table *t, double low, double high);

/* Contents of a file cooling_NNNNN.out, which RAMSES writes with its outputs: the table at a, the
 * mean molecular weight and ion densities, from which analysis programs compute the gas
 * temperature. Uses all threads; depends on the arguments alone. (owner: caller, FREE) */
char *table_file(const struct uv *uv, double a, size_t *n);
