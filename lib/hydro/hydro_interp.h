/* hydro/interp: states across the boundary of a level, and values for octs that do not exist.
 * Private to hydro. */
#pragma once
#include "hydro/hydro.h"
#include "oct/mesh.h"

/* A cell of some level; oct < 0: NBR_BOUNDARY. */
struct hydro_cell {
    int level;
    lidx oct;
    int cell;
};

/* The cell across face f (−x,+x,…) of cell c of oct i of level l, or, where its oct does not exist,
 * the coarser cell that contains it. */
struct hydro_cell hydro_cell_across(const struct mesh *m, int l, lidx i, int c, int f);
/* The state of the cell across face f; beyond a boundary the one that the boundary condition
 * gives. */
void hydro_state_across(const struct mesh *m, int l, lidx i, int c, int f,
                        const struct hydro_par *p, double *u);
/* Turns the state u of the cell next to boundary f into that of the cell beyond it. */
void hydro_boundary_state(const struct hydro_par *p, int f, double *u);
/* Conserved variables of the eight cells that a child oct of cell c of oct i of level l would have.
 */
void hydro_interp_oct(const struct mesh *m, int l, lidx i, int c, const struct hydro_par *p,
                      double (*out)[8]);
