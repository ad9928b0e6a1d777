#include "patch/edges.h"

#include "patch/across_kern.h"
#include "patch/reflux.h"

/* ---- of fine octs ---- */

/* Adds n forces from `from` on, `step` apart, to a register. */
static void add(double *to, const double *from, int step, int n, double weight)
{
    for (int i = 0; i < n; i++) *to += weight * from[i * step];
}

/* Adds the forces in plane k along the edges of oct (x,y) of the row z; upper: the plane is above
 * the oct. */
static void oct_register(const struct sweep *s, double *row, int x, int y, int k, bool upper)
{
    const int w = s->in.w;
    const double weight = s->ndim > 2 ? 0.25 : 0.5;
    for (int side = 0; side < 4; side++) {
        const int a = side & 1, b = side >> 1;
        const int at = plane_at(w, 2 * x, 2 * y);
        if (!upper) add(row + reflux_edge(2, a, b), s->ez + at + 2 * a + 2 * b * w, 1, 1, weight);
        if (s->ndim < 3 || k & 1 || b != (int)upper) continue;
        add(row + reflux_edge(0, a, b), s->ex[k & 1] + at + 2 * a * w, 1, 2, weight);
        add(row + reflux_edge(1, b, a), s->ey[k & 1] + at + 2 * a, w, 2, weight);
    }
}

static void row_register(const struct sweep *s, const struct reflux *r, int y, int z, int k)
{
    if (z < 0 || z >= s->slots.tile->t[2]) return;
    for (uint32_t octs = s->slots.own[z + 1][y + 1]; octs; octs &= octs - 1) {
        const int x = __builtin_ctz(octs) - 1;
        const lidx i = s->slots.oct[z + 1][y + 1][x + 1];
        if (r->row[i] >= 0) oct_register(s, reflux_row(r, i) + 6 * r->nflux, x, y, k, z != k >> 1);
    }
}

void edges_register(const struct sweep *s, const struct reflux *r, int k)
{
    for (int y = 0; y < s->slots.tile->t[1]; y++) {
        row_register(s, r, y, k >> 1, k);
        if (s->ndim > 2 && !(k & 1)) row_register(s, r, y, (k >> 1) - 1, k);
    }
}

/* ---- of coarse cells ---- */

/* An edge of a cell: its axis, the next axes in cyclic order, and whether it is on their upper
 * sides. */
struct edge {
    int axis, b, c, upper_b, upper_c;
};

/* Cell across face f within the level; oct < 0: there is none. */
static struct patch_cell step_to(const struct level *lv, struct patch_cell p, int f)
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

static const double *register_in(const struct level *lv, const struct reflux *r,
                                 struct patch_cell p, const struct edge *e, int side)
{
    const lidx child = p.oct >= 0 ? lv->child[p.oct][p.cell] : -1;
    if (child < 0 || r->row[child] < 0) return NULL;
    /* the edge is on the lower side of a cell on its upper side */
    return reflux_row(r, child) + 6 * r->nflux + reflux_edge(e->axis, !(side & 1), !(side >> 1));
}

static struct around around_edge(const struct level *lv, const struct reflux *r, lidx i, int c,
                                 const struct edge *e)
{
    struct around x = {.own = (e->upper_b ? 0 : 1) + (e->upper_c ? 0 : 2)};
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
static double face_weight(const struct around *x, int other)
{
    return x->fine[other] ? 0.5 : 1.0;
}

/* Adds the force at an edge, which is that of the first refined cell around it in an order that
 * does not depend on the cell, to the faces of cell c that end there. */
static void edge_apply(double (*face)[8], bool kept, int c, const struct edge *e,
                       const struct around *x)
{
    int first = 0;
    while (first < 4 && !x->fine[first]) first++;
    if (first == 4) return;
    const double force = x->fine[first][kept ? REFLUX_EDGES : 0];
    const double on_b = face_weight(x, x->own ^ 1) * force,
                 on_c = face_weight(x, x->own ^ 2) * force;
    face[2 * e->b + e->upper_b][c] += e->upper_c ? on_b : -on_b;
    face[2 * e->c + e->upper_c][c] += e->upper_b ? -on_c : on_c;
}

void edges_collect(struct oct_sums *o)
{
    edges_add(o, false, o->w + law_cells(o->law));
}

void edges_add(const struct oct_sums *o, bool kept, double (*face)[8])
{
    const struct level *lv = &o->m->lev[o->l];
    const struct reflux *r = &lv[1].reflux[o->law->system];
    for (int c = 0; c < o->m->cells; c++) {
        if (lv->child[o->i][c] >= 0) continue;
        for (int axis = o->m->ndim > 2 ? 0 : 2; axis < 3; axis++)
            for (int side = 0; side < 4; side++) {
                const struct edge e = {axis, (axis + 1) % 3, (axis + 2) % 3, side & 1, side >> 1};
                const struct around x = around_edge(lv, r, o->i, c, &e);
                edge_apply(face, kept, c, &e, &x);
            }
    }
    for (int f = 0; f < LAW_FACES; f++) oct_repeat(o->m->cells, face[f]);
}
