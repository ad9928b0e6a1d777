/* patch/edges_kern: what registers of electromotive forces at edges (patch/edges.h) change in a
 * cell, for hosts and for devices with a mesh in device memory. Private to patch and mhd. */
#pragma once
#include "patch/across_kern.h"
#include "patch/law.h"
#include "patch/reflux.h"

/* An edge of a cell: its axis, the next axes in cyclic order, and whether it is on their upper
 * sides. */
struct edge {
    int axis, b, c, upper_b, upper_c;
};

/* Cell across face f within the level; oct < 0: there is none. */
PTAH_HD_FN struct patch_cell step_to(const struct level *lv, struct patch_cell p, int f)
{
    const int bit = 1 << (f >> 1);
    if (p.oct >= 0 && ((p.cell & bit) != 0) == (f & 1)) p.oct = lv->nbr[p.oct][f];
    p.cell ^= bit;
    return p;
}

/* Cells around an edge of a cell by the sides of the edge on which they are, along b (bit 0) and c
 * (bit 1): the register of their fine octs for the edge, NULL: not refined. */
struct around {
    const double *fine[4];
    int own; /* the cell itself */
};

PTAH_HD_FN const double *register_in(const struct level *lv, const struct reflux *r,
                                     struct patch_cell p, const struct edge *e, int side)
{
    const lidx child = p.oct >= 0 ? lv->child[p.oct][p.cell] : -1;
    if (child < 0 || r->row[child] < 0) return NULL;
    /* the edge is on the lower side of a cell on its upper side */
    return reflux_row(r, child) + 6 * r->nflux + reflux_edge(e->axis, !(side & 1), !(side >> 1));
}

PTAH_HD_FN struct around around_edge(const struct level *lv, const struct reflux *r, lidx i, int c,
                                     const struct edge *e)
{
    struct around x;
    x.own = (e->upper_b ? 0 : 1) + (e->upper_c ? 0 : 2);
    for (int side = 0; side < 4; side++) {
        struct patch_cell p = {lv->level, i, c};
        const int across = side ^ x.own;
        if (across & 1) p = step_to(lv, p, 2 * e->b + e->upper_b);
        if (across & 2) p = step_to(lv, p, 2 * e->c + e->upper_c);
        x.fine[side] = across ? register_in(lv, r, p, e, side) : NULL;
    }
    return x;
}

/* Weight of the force at an edge for the face of the cell across which is the cell `other`. Faces
 * of refined cells get their field by the law's restriction. What they have before, a half as in
 * RAMSES, matters only where restriction keeps the internal energy. */
PTAH_HD_FN double face_weight(const struct around *x, int other)
{
    return x->fine[other] ? 0.5 : 1.0;
}

/* Forces of finer octs at the edges of the faces of a cell: the edges across each of the two axes
 * within a face, on the lower and the upper side. Sums of opposite edges do not change in a mirror
 * image. */
struct at_edges {
    double of[LAW_FACES][2][2];
};

/* Adds the force at an edge, which is that of the first refined cell around it in an order that
 * does not depend on the cell, for the faces that end there. Returns whether there is one. */
PTAH_HD_FN bool edge_apply(struct at_edges *to, bool kept, const struct edge *e,
                           const struct around *x)
{
    int first = 0;
    while (first < 4 && !x->fine[first]) first++;
    if (first == 4) return false;
    const double force = x->fine[first][kept ? REFLUX_EDGES : 0];
    const double on_b = face_weight(x, x->own ^ 1) * force,
                 on_c = face_weight(x, x->own ^ 2) * force;
    to->of[2 * e->b + e->upper_b][0][e->upper_c] = e->upper_c ? on_b : -on_b;
    to->of[2 * e->c + e->upper_c][1][e->upper_b] = e->upper_b ? -on_c : on_c;
    return true;
}

/* Adds to the field on the faces of a cell, if it is not refined, the registers r of the refined
 * cells around it, or with kept, what reflux_keep kept. */
PTAH_HD_FN void edges_add_cell(const struct level *lv, const struct reflux *r, int ndim,
                               struct patch_cell p, bool kept, double *face)
{
    struct at_edges to;
    bool any = false;
    if (lv->child[p.oct][p.cell] >= 0) return;
    for (int f = 0; f < LAW_FACES; f++)
        to.of[f][0][0] = to.of[f][0][1] = to.of[f][1][0] = to.of[f][1][1] = 0;
    for (int axis = ndim > 2 ? 0 : 2; axis < 3; axis++)
        for (int side = 0; side < 4; side++) {
            const struct edge e = {axis, (axis + 1) % 3, (axis + 2) % 3, side & 1, side >> 1};
            const struct around x = around_edge(lv, r, p.oct, p.cell, &e);
            any |= edge_apply(&to, kept, &e, &x);
        }
    for (int f = 0; f < LAW_FACES && any; f++)
        face[f] += (to.of[f][0][0] + to.of[f][0][1]) + (to.of[f][1][0] + to.of[f][1][1]);
}
