/* genzoom/shape: convex regions of the box, described by their intersections with lines along x.
 * Lengths in units of the box; coordinates of a region that crosses a face of the box may be below
 * 0 or above 1. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum shape_kind { SHAPE_NONE, SHAPE_BOX, SHAPE_ELLIPSOID, SHAPE_HULL };

struct shape {
    enum shape_kind kind;
    double lo[3], hi[3];  /* bounding box; the shape itself if it is a box */
    double c[3], a[3][3]; /* ellipsoid: (x-c) A (x-c) <= 1 */
    int nface;            /* hull: number of faces, n x <= d on all faces */
    double (*face)[4];    /* owned: normal and offset n, d of each face */
    int nvertex;          /* hull: number of corners */
    double (*vertex)[3];  /* owned: corners */
};

/* Box grown by `pad` in every direction, as all shapes; sizes are positive. */
void shape_box(struct shape *s, const double center[3], const double side[3], double pad);
/* Ellipsoid with semi-axes along x, y, z. */
void shape_ellipsoid(struct shape *s, const double center[3], const double axis[3], double pad);
/* Ellipsoid given as in MUSIC by a symmetric matrix, (x-c) A (x-c) <= 1; an error if the matrix is
 * not positive definite. */
MUST_USE enum err shape_matrix(struct shape *s, const double center[3], double a[3][3], double pad);
/* Convex hull of cubes of half side `pad` > 0 around the points. */
MUST_USE enum err shape_hull(struct shape *s, int64_t n, const double (*x)[3], double pad);
/* Minimum-volume ellipsoid around cubes of half side `pad` > 0 around the points. */
MUST_USE enum err shape_smallest_ellipsoid(struct shape *s, int64_t n, const double (*x)[3],
                                           double pad);
void shape_free(struct shape *s);

/* Intersection of the region with the line (x, y, z) for given y and z: from *x0 to *x1; false:
 * empty. */
bool shape_row(const struct shape *s, double y, double z, double *x0, double *x1);
