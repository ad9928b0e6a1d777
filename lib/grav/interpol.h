/* grav/interpol: potential at the boundary of a level. Private to grav and fifth.
 *
 * Interpolation from level-1 in space (trilinear) and time (φ + (φ − φ_old) tfrac), and the
 * monopole beyond physical boundaries. A struct interpol belongs to one thread and caches the
 * neighbourhood of the last parent, with the values of its cells. */
#pragma once
#include "grav/grav.h"
#include "grav/interpol_kern.h"

struct interpol {
    const struct mesh *m;
    int level; /* level of the coarse cells */
    double tfrac;
    struct far_field far[2]; /* now, and the one of φ_old */
    lidx parent, cube[27];
    uint32_t holes;        /* bit mask of missing octs: bit k for cube[k] */
    double patch[216 + 1]; /* values of 6³ cells, padded for a row of four at the end */
};

void interpol_init(struct interpol *p, const struct mesh *m, int coarse_level,
                   const struct grav_source *from);
/* Interpolates the 8 values of oct i of level+1 (present) from its parent cell's neighbourhood. */
void interpol_oct(struct interpol *p, lidx i, double out[8]);
/* Interpolates the 8 values of the missing oct across face f of oct i of level+1. */
void interpol_face(struct interpol *p, lidx i, int f, double out[8]);

/* Centre of cell c of oct i, code units. */
void grav_cell_centre(const struct mesh *m, int l, lidx i, int c, double x[3]);
