/* patch/children: the eight cells of an oct that does not exist, by vectors: its parent cell with
 * minmod slopes. */
#pragma once
#include "oct/mesh.h"
#include "vec/vec4.h"

/* Indices in the fields of the coarser level of a cell, and of the cells below and above it along
 * each axis. */
struct crossing {
    size_t own, below[3], above[3];
};

/* Finds the neighbours of cell c of oct i of level up; along a missing axis that is the cell
 * itself, so that its slope is 0. Returns whether all are on that level. */
VEC4_INLINE bool crossing_find(struct crossing *x, int ndim, const struct level *up, lidx i, int c)
{
    x->own = 8 * (size_t)i + (size_t)c;
    for (int d = ndim; d < 3; d++) x->below[d] = x->above[d] = x->own;
    for (int d = 0; d < ndim; d++) {
        const int bit = 1 << d, upper = c >> d & 1;
        const lidx j = up->nbr[i][2 * d + upper];
        const size_t across = (size_t)(c ^ bit), in = 8 * (size_t)i + across;
        if (j < 0) return false;
        const size_t out = 8 * (size_t)j + across;
        x->below[d] = upper ? in : out;
        x->above[d] = upper ? out : in;
    }
    return true;
}

/* Values of a field in these cells; vectors by axis, lane 3: the cell itself. */
struct crossed {
    vec4 own, below, above;
};

static inline struct crossed crossed_of(double (*const fld)[8], const struct crossing *x)
{
    const double *u = fld[0], a = u[x->own];
    return (struct crossed){{a, a, a, a},
                            {u[x->below[0]], u[x->below[1]], u[x->below[2]], a},
                            {u[x->above[0]], u[x->above[1]], u[x->above[2]], a}};
}

/* Values of the children, four of each layer. */
struct children {
    vec4 lower, upper;
};

/* Values of the children of a cell with minmod slopes. */
static inline struct children children_of(struct crossed x)
{
    static const vec4 sx = {-0.5, 0.5, -0.5, 0.5}, sy = {-0.5, -0.5, 0.5, 0.5};
    const vec4 r = 0.5 * (x.above - x.own), l = 0.5 * (x.own - x.below);
    const vec4_mask smaller = vec4_abs(l) < vec4_abs(r);
    const vec4_mask alike = l * r > 0.0;
    const vec4 w = (vec4)((vec4_mask)vec4_pick(smaller, l, r) & alike);
    const vec4 flat = x.own + __builtin_shufflevector(w, w, 0, 0, 0, 0) * sx +
                      __builtin_shufflevector(w, w, 1, 1, 1, 1) * sy;
    const vec4 z = __builtin_shufflevector(w, w, 2, 2, 2, 2) * 0.5;
    return (struct children){flat - z, flat + z};
}
