/* grav/cg: conjugate gradient solver of one level. Private to grav. */
#pragma once
#include "grav/interpol.h"

/* Solves level l. PHI holds the first guess, ghosts valid; on return the solution, ghosts valid.
 * `boundary` is the prototype of a thread's interpolator from level l-1. Stops when |r| < epsilon
 * |r0|. (collective) */
struct grav_report cg_solve(struct mesh *m, const struct comm *c, int l,
                            const struct grav_source *from, const struct interpol *boundary,
                            double epsilon);
