/* stencil/waves: sums of plane waves Re Σ a exp(i k·x) on the cells of a brick. Private to stencil.
 *
 * A wave k has k[d] whole waves along axis d of the box, so its phase at a cell is a product of
 * three factors, one an axis, of which tables are short. The sum over waves with equal k_x and k_y
 * is taken once for a plane of cells, the sum over those with equal k_x once for a row: each cell
 * adds a term for each k_x. */
#pragma once
#include "stencil/stencil.h"

struct waves {
    int n;
    int (*k)[3];         /* [n] waves along each axis of the box, ascending by k_x, k_y, k_z */
    double *kappa;       /* [n] |k| in units of 2π/lx */
    double (*amp)[3][2]; /* [n] a: real and imaginary parts of three components */
    /* First waves of columns, which have equal k_x and k_y, and first columns of groups, which have
     * equal k_x; one number more than there are columns and groups. */
    int ncolumn, ngroup, *column, *group;
};

/* Weight of waves of this |k|, in units of 2π/lx; there are no waves where it is 0. */
typedef double waves_weight(double kappa, double parameter);

/* All waves of |k| up to `highest`, in units of 2π/lx, that have a weight and that the mesh
 * resolves by more than two cells; of k and −k the second only, if half. Amplitudes are 0. An error
 * begins with `what`, a parameter. w must be freed in any case. Local. */
MUST_USE enum err waves_list(struct waves *w, const struct stencil *t, waves_weight *weight,
                             double parameter, double highest, bool half, const char *what);
void waves_one(struct waves *w); /* one wave; the caller sets k and amp */
void waves_free(struct waves *w);
/* Wave vector in code units. */
void waves_vector(const struct stencil *t, const int n[3], double k[3]);
/* Adds dt times the sum to the velocities of own cells with lnρ of `lowest` or more. Local. */
void waves_add(const struct waves *w, const struct stencil *t, double dt, double lowest,
               double *const u[3]);
