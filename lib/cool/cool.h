/* cool: cooling and heating of gas (docs/method/cooling.md). Its state is a table of rates, a
 * function of parameters and the expansion factor alone; it is read by all threads. */
#pragma once
#include <stdbool.h>

#include "cool/solve.h"
#include "cool/start.h"

enum cool_method { COOL_ORIGINAL, COOL_IMPLICIT };

/* What a run asks for. Without cosmology `mean` stands for it where the background before
 * reionisation is concerned, and aexp_ini is not read. */
struct cool_par {
    enum cool_method method;
    bool cosmo;
    struct mean_cell mean;
    double aexp_ini;
    struct uv uv;         /* z_reion as asked for; j_floor is found here; table: unused */
    const char *uv_table; /* path; UV_TABLE */
};

struct cooling;

MUST_USE enum err cool_new(const struct cool_par *p, struct cooling **out);
void cool_free(struct cooling *c);
/* T2 in K of the gas at aexp_ini. Error if that is too early. */
MUST_USE enum err cool_start_T2(const struct cooling *c, double *T2);
/* The table is to be that at a (1 without cosmology). */
void cool_set(struct cooling *c, double a);
const struct cool_table *cool_table_of(const struct cooling *c);
/* Cells over dt seconds, from any thread. */
void cool_cells(const struct cooling *c, double dt, struct solve_cells *cells);
