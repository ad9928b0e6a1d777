#include "patch/edges.h"

#include "patch/edges_kern.h"

/* ---- of fine octs ---- */

/* Adds the forces in plane k along the edges of oct (x,y) of the row z; upper: the plane is above
 * the oct. Both halves of an edge are added to each other first, so that a mirror image has the
 * same sums; halves of edges in z are in two planes. */
static void oct_register(const struct sweep *s, const struct reflux *r, lidx i, const int at[2],
                         int k, bool upper)
{
    const int w = s->in.w;
    double *row = reflux_row(r, i) + 6 * r->nflux;
    double *lower = s->ndim > 2 ? reflux_lower(r, i) + 4 * r->nflux : NULL;
    for (int side = 0; side < 4; side++) {
        const int a = side & 1, b = side >> 1, place = plane_at(w, 2 * at[0], 2 * at[1]);
        const double z = s->ez[place + 2 * a + 2 * b * w];
        if (s->ndim < 3) row[reflux_edge(2, a, b)] += 0.5 * z;
        if (s->ndim < 3) continue;
        if (!upper && !(k & 1)) lower[side] = z;
        if (!upper && k & 1) row[reflux_edge(2, a, b)] += 0.25 * (lower[side] + z);
        if (k & 1 || b != (int)upper) continue;
        const double *ex = s->ex[k & 1] + place + 2 * a * w, *ey = s->ey[k & 1] + place + 2 * a;
        row[reflux_edge(0, a, b)] += 0.25 * (ex[0] + ex[1]);
        row[reflux_edge(1, b, a)] += 0.25 * (ey[0] + ey[w]);
    }
}

static void row_register(const struct sweep *s, const struct reflux *r, int y, int z, int k)
{
    if (z < 0 || z >= s->slots.tile->t[2]) return;
    for (uint32_t octs = s->slots.own[z + 1][y + 1]; octs; octs &= octs - 1) {
        const int x = __builtin_ctz(octs) - 1;
        const lidx i = slot_row(&s->slots, y, z)[x + 1];
        if (r->row[i] >= 0) oct_register(s, r, i, (int[2]){x, y}, k, z != k >> 1);
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

void edges_collect(struct oct_sums *o)
{
    edges_add(o, false, o->w + law_cells(o->law));
}

/* Bits of the refined cells of an oct and of the octs across its faces, and across two of them. */
struct refined {
    unsigned own, face[6], edge[6][6];
};

static unsigned refined_in(const struct level *lv, lidx i, int cells)
{
    return i >= 0 ? refined_cells(lv, i, cells) : 0;
}

/* Returns whether there are any. */
static bool refined_find(const struct mesh *m, const struct level *lv, lidx i, struct refined *x)
{
    unsigned any = x->own = refined_in(lv, i, m->cells);
    for (int f = 0; f < 2 * m->ndim; f++) {
        const lidx j = lv->nbr[i][f];
        any |= x->face[f] = refined_in(lv, j, m->cells);
        /* by way of axis b, as step_to goes: the second axis is the next in cyclic order */
        const int c = ((f >> 1) + 1) % 3;
        for (int h = 2 * c; h < 2 * c + 2 && c < m->ndim; h++)
            any |= x->edge[f][h] = refined_in(lv, j >= 0 ? lv->nbr[j][h] : -1, m->cells);
    }
    return any != 0;
}

/* Bits of the cells with another refined cell at an edge along an axis. */
static unsigned refined_around(const struct refined *x, int axis)
{
    const int b = 2 * ((axis + 1) % 3), c = 2 * ((axis + 2) % 3);
    unsigned bits = 0;
    for (int f = b; f < b + 2; f++)
        for (int h = c; h < c + 2; h++) {
            const unsigned across_c = refined_across(x->own, x->face[h], h);
            bits |= refined_across(x->own, x->face[f], f) | across_c |
                    refined_across(across_c, refined_across(x->face[f], x->edge[f][h], h), f);
        }
    return bits;
}

/* Bits of the unrefined cells that may receive registers. */
static unsigned cells_receive(const struct mesh *m, const struct level *lv, lidx i)
{
    struct refined x;
    unsigned bits = 0;
    if (!refined_find(m, lv, i, &x)) return 0;
    for (int axis = m->ndim > 2 ? 0 : 2; axis < 3; axis++) bits |= refined_around(&x, axis);
    return bits & ~x.own & ((1u << m->cells) - 1);
}

void edges_add(const struct oct_sums *o, bool kept, double (*face)[8])
{
    const struct level *lv = &o->m->lev[o->l];
    const struct reflux *r = &lv[1].reflux[o->law->system];
    const unsigned receive = cells_receive(o->m, lv, o->i);
    for (int c = 0; c < o->m->cells; c++) {
        if (!(receive >> c & 1)) continue;
        double one[LAW_FACES];
        for (int f = 0; f < LAW_FACES; f++) one[f] = face[f][c];
        edges_add_cell(lv, r, o->m->ndim, (struct patch_cell){o->l, o->i, c}, kept, one);
        for (int f = 0; f < LAW_FACES; f++) face[f][c] = one[f];
    }
    for (int f = 0; f < LAW_FACES; f++) oct_repeat(o->m->cells, face[f]);
}
