/* cool: cooling and heating of gas (docs/method/cooling.md). Its state is a table of rates, a
 * function of parameters and the expansion factor alone; it is read by all threads. */
#pragma once
#include <stdbool.h>

#include "cool/exact.h"
#include "cool/solve.h"
#include "cool/start.h"

/* COOL_ISM: another gas, without background and metallicity (cool/ism.h). */
enum cool_method { COOL_ORIGINAL, COOL_IMPLICIT, COOL_EXACT, COOL_COMPARE, COOL_ISM };

/* Parameters of cooling that a run asks for. Without cosmology `mean` stands for it where the
 * background before reionisation is concerned, and aexp_ini is not read. */
struct cool_par {
    enum cool_method method;
    double gamma, mu; /* COOL_ISM */
    bool cosmo;
    struct mean_cell mean;
    double aexp_ini;
    struct uv uv;            /* z_reion as asked for; j_floor is found here; table: unused */
    const char *uv_table;    /* path; UV_TABLE */
    const char *exact_table; /* path; COOL_EXACT, COOL_COMPARE */
};

struct cooling;

MUST_USE enum err cool_new(const struct cool_par *p, struct cooling **out);
void cool_free(struct cooling *c);
/* T2 in K of the gas at aexp_ini. Error if that is too early. */
MUST_USE enum err cool_start_T2(const struct cooling *c, double *T2);
/* The table is to be that at a (1 without cosmology). */
void cool_set(struct cooling *c, double a);
/* Makes what of the table is missing for gas that enters it at densities from low to high, with all
 * threads; to be called before cool_cells. (local) */
void cool_need(struct cooling *c, double low, double high);
const struct cool_table *cool_table_of(const struct cooling *c);
/* The file of the rates at a as RAMSES stores it beside its outputs (cool/table.h), NULL if the
 * method has others. (owner: caller, FREE) */
char *cool_file(const struct cooling *c, double a, size_t *n);
/* The background, with what was found of it. (lent) */
const struct uv *cool_uv(const struct cooling *c);
/* COOL_COMPARE advances with the original method and counts how the exact one differs: cells, those
 * of which one method cools and the other heats, the sum and the max of the relative difference.
 * Sums of integers: they do not depend on threads. */
struct cool_compared {
    int64_t cells, signs, sum, max; /* differences in 1e-9 */
};
/* Counts since the last call. */
struct cool_compared cool_take_compared(struct cooling *c);
/* Cells over dt seconds, from any thread. */
void cool_cells(struct cooling *c, double dt, struct solve_cells *cells);
