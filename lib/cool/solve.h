/* cool/solve: integrates d(T2)/dt of cells at constant density. All arrays have n elements; the
 * result of a cell depends on that cell alone. */
#pragma once
#include <stdint.h>

#include "cool/table.h"

enum { SOLVE_BLOCK = 64 }; /* maximum cells per call */

/* n ≤ SOLVE_BLOCK cells: n_H in 1/cm³; density used in the table; metallicity in solar units; T2 in
 * K, before and after; *steps counts sub-steps. */
struct solve_cells {
    int n;
    double nH[SOLVE_BLOCK], seen[SOLVE_BLOCK], Z[SOLVE_BLOCK], T2[SOLVE_BLOCK];
    int64_t steps;
};

/* Over dt seconds. original: semi-implicit sub-steps as in RAMSES, with `finer` times as many as
 * its accuracy asks for (1: as RAMSES). implicit: backward Euler with a bracketed root. */
void solve_original(const struct cool_table *t, double dt, double finer, struct solve_cells *c);
void solve_implicit(const struct cool_table *t, double dt, double finer, struct solve_cells *c);
