/* grid/equations: the parameters of the equations of a checkpoint, as numbers of its header, so
 * that programs derive values, such as the magnetic field, with the differences of the run. */
#pragma once
#include "fd/fd.h"
#include "grid/grid.h"

void grid_set_equations(struct grid_head *h, const struct fd_par *p);
/* An error names the number that the header lacks. Local. */
MUST_USE enum err grid_equations(const struct grid *g, struct fd_par *p);
