/* genzoom/shape: convex regions of the box, given by the interval that they cut out of a line along
 * x. Lengths in units of the box; a region may extend across a face of the box (its coordinates are
 * then below 0 or above 1). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum shape_kind { SHAPE_NONE, SHAPE_BOX, SHAPE_ELLIPSOID, SHAPE_HULL };

struct shape {
    enum shape_kind kind;
    double lo[3], hi[3];  /* the box around it; a box is all of that */
    double c[3], a[3][3]; /* ellipsoid: (x-c) A (x-c) <= 1 */
    int nface;            /* hull: n x <= d on all faces */
    double (*face)[4];    /* owned: n, d */
    int nvertex;          /* hull: its corners */
    double (*vertex)[3];  /* owned */
};

/* Each shape grown by `pad` in every direction; sizes are positive. */
void shape_box(struct shape *s, const double center[3], const double side[3], double pad);
/* Semi-axes along x, y, z. */
void shape_ellipsoid(struct shape *s, const double center[3], const double axis[3], double pad);
/* As in MUSIC: a symmetric matrix, (x-c) A (x-c) <= 1; an error if that is no ellipsoid. */
MUST_USE enum err shape_matrix(struct shape *s, const double center[3], double a[3][3], double pad);
/* Convex hull of cubes of half side `pad` > 0 around the points. */
MUST_USE enum err shape_hull(struct shape *s, int64_t n, const double (*x)[3], double pad);
/* The ellipsoid of minimum volume around the same cubes. */
MUST_USE enum err shape_smallest_ellipsoid(struct shape *s, int64_t n, const double (*x)[3],
                                           double pad);
void shape_free(struct shape *s);

/* The line (x, y, z) with y and z given enters at *x0 and leaves at *x1; false: it does not meet
 * the region. */
bool shape_row(const struct shape *s, double y, double z, double *x0, double *x1);
