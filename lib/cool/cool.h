/* cool: cooling and heating of gas (docs/method/cooling.md). The state is a table of rates, a
 * function of parameters and the expansion factor alone, read by all threads. */
#pragma once
#include <stdbool.h>

#include "cool/exact.h"
#include "cool/solve.h"
#include "cool/start.h"

/* COOL_ISM has no ultraviolet background and no metallicity (cool/ism.h). */
enum cool_method { COOL_ORIGINAL, COOL_IMPLICIT, COOL_EXACT, COOL_COMPARE, COOL_ISM };

/* Parameters of cooling of a run. Without cosmology, `mean` represents the gas for the background
 * before reionisation, and aexp_ini is not read. */
struct cool_par {
    enum cool_method method;
    double gamma, mu; /* adiabatic index; mean molecular weight (COOL_ISM) */
    bool cosmo;
    struct mean_cell mean;
    double aexp_ini;
    struct uv uv; /* background with requested z_reion; j_floor is computed; table is unused */
    const char *uv_table;    /* path of the table of UV_TABLE */
    const char *exact_table; /* path of the table of COOL_EXACT, COOL_COMPARE */
};

struct cooling;

MUST_USE enum err cool_new(const struct cool_par *p, struct cooling **out);
void cool_free(struct cooling *c);
/* T2 in K of the gas at aexp_ini. An error if aexp_ini is too early. */
MUST_USE enum err cool_start_T2(const struct cooling *c, double *T2);
/* Sets the expansion factor of the table (1 without cosmology). */
void cool_set(struct cooling *c, double a);
/* Computes, with all threads, the missing parts of the table for gas with table densities from low
 * to high; call before cool_cells. (local) */
void cool_need(struct cooling *c, double low, double high);
/* For methods that fill the table as cells read it: computes, with all threads, what cells read at
 * the previous expansion factor. False: the method needs cool_need. Call before cool_cells. (local)
 */
bool cool_recall(struct cooling *c);
/* The table whose rows ranks may share after cool_set (cool/table.h); NULL: none, or not by rows.
 * (lent) */
struct cool_table *cool_rows_of(struct cooling *c);
const struct cool_table *cool_table_of(const struct cooling *c);
/* Contents of RAMSES's file of the rates at a (cool/table.h), NULL for a method with other rates.
 * (owner: caller, FREE) */
char *cool_file(const struct cooling *c, double a, size_t *n);
/* The ultraviolet background, with its derived parameters. (lent) */
const struct uv *cool_uv(const struct cooling *c);
/* Comparison by COOL_COMPARE, which advances cells with the original method: number of cells,
 * number of cells cooled by one method and heated by the other, sum and maximum of the relative
 * difference. Sums of integers, independent of threads. */
struct cool_compared {
    int64_t cells, signs, sum, max; /* differences in units of 1e-9 */
};
/* Returns the counts since the last call. */
struct cool_compared cool_take_compared(struct cooling *c);
/* Advances cells over dt seconds; callable from any thread. */
void cool_cells(struct cooling *c, double dt, struct solve_cells *cells);
