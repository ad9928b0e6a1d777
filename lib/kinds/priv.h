/* kinds/priv: what the files of kinds share. Private to kinds. */
#pragma once
#include "kinds/kinds.h"

/* The magnetic field on the faces of own oct i of level l, from the vector potential. */
MUST_USE enum err kinds_field(const struct kinds *k, struct mesh *m, int l, lidx i);
static inline const void *kinds_state(const struct kinds *k)
{
    return k->kind->open ? k->state : (const void *)&k->setup;
}

/* ---- init_expr (expression.c) ---- */

/* NULL in *out: the namelist has none. */
MUST_USE enum err kind_expr_open(const struct kind_setup *s, struct kind_expr **out);
void kind_expr_close(struct kind_expr *k);
/* Whether formulas set the gas, a vector potential, a field; with k = NULL there are none. */
bool kind_expr_cell(const struct kind_expr *k);
bool kind_expr_potential(const struct kind_expr *k);
bool kind_expr_face(const struct kind_expr *k);
/* Changes the gas of a cell; component d of the potential; of the field at the centre of a face. */
MUST_USE enum err kind_expr_gas(const struct kind_expr *k, const double x[3], double *q);
MUST_USE enum err kind_expr_curl(const struct kind_expr *k, const double x[3], int d, double *a);
MUST_USE enum err kind_expr_given(const struct kind_expr *k, const double x[3], int d, double *b);

/* ---- velocities of a file (turbulence.c) ---- */

struct kind_turbulence {
    int n;         /* points along an axis */
    double boxlen; /* that they cover */
    double *v;     /* [n³][3], x fastest; NULL: none */
};

/* Reads init_turb.data; the velocities become those around the mean of a sphere in the middle of
 * the box, within which they have the dispersion `speed`. The caller frees t->v. Each rank reads
 * the file. */
MUST_USE enum err kind_turbulence_read(struct kind_turbulence *t, const struct kind_setup *s,
                                       double radius, double speed);
void kind_turbulence_add(const struct kind_turbulence *t, const double x[3], double *v);
