/* kinds/field: the magnetic field on the faces of cells, from a vector potential.
 *
 * The field of a face is the sum of the line integrals of the potential along its edges over its
 * area (Stokes), so that the sum over the faces of a cell vanishes to rounding: each edge occurs
 * twice, with opposite signs and the same bits. The mean along an edge is the value at its middle.
 * Where an edge of a cell touches finer cells it is the mean of the values of the two finer edges,
 * since the faces there become means of the finer faces (mhd_restrict). No edge of an unrefined
 * cell touches cells two levels finer, because all 26 neighbours of a split cell exist on its
 * level. Split cells need no such care: their faces become means. */
#include "kinds/kinds.h"
#include "kinds/priv.h"

/* An oct whose edges are asked for. */
struct edges {
    const struct kinds *k;
    bool formulas, potential, face; /* whether init_expr gives the field; its two parts */
    const struct mesh *m;
    const struct level *lv;
    lidx i;
    int64_t q[3]; /* its coordinates in octs */
    double dx;
};

/* Whether the cell of level l at these coordinates, in cells from the corner of the oct (−1 .. 2),
 * is split. */
static bool is_split(const struct edges *e, const int at[3])
{
    int step[3], cell = 0;
    lidx o = e->i;
    for (int d = 0; d < 3; d++) {
        step[d] = at[d] < 0 ? -1 : at[d] / 2;
        cell |= (at[d] & 1) << d;
    }
    for (int d = 0; d < 3; d++) {
        const int64_t n = (int64_t)1 << (e->lv->level - 1), x = e->q[d] + step[d];
        if (d >= e->m->ndim && step[d]) return false;
        if (x < 0 && e->m->bounded[2 * d]) return false;
        if (x >= n && e->m->bounded[2 * d + 1]) return false;
    }
    if (step[0] || step[1] || step[2])
        o = mesh_find(e->lv,
                      okey_shift(e->lv->key[e->i], e->lv->level, step[0], step[1], step[2], NULL));
    return o >= 0 && e->lv->child[o][cell] >= 0;
}

/* Whether the edge along axis d that begins at a corner (0 .. 2 along each axis) touches a split
 * cell. */
static bool touches_finer(const struct edges *e, int d, const int at[3])
{
    bool any = false;
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    for (int j = 0; j < 4 && !any; j++) {
        int cell[3] = {at[0], at[1], at[2]};
        cell[a] -= j & 1;
        cell[b] -= j >> 1;
        any = is_split(e, cell);
    }
    return any;
}

/* Component d of the potential at a point, in half cells from the corner of the oct. */
static enum err potential_at(const struct edges *e, int d, const double at[3], double *sum)
{
    double x[3], A[3];
    for (int j = 0; j < 3; j++) {
        x[j] = j < e->m->ndim ? ((double)(2 * e->q[j]) + at[j]) * e->dx : 0;
        if (x[j] >= e->m->boxlen && !e->m->bounded[2 * j + 1]) x[j] = 0;
    }
    if (e->formulas)
        TRY(kind_expr_curl(e->k->expr, x, d, &A[d]));
    else
        TRY(e->k->kind->potential(kinds_state(e->k), x, A));
    *sum += A[d];
    return OK;
}

/* The mean of the potential along an edge. */
static enum err edge_mean(const struct edges *e, int d, const int at[3], double *mean)
{
    double x[3] = {at[0], at[1], at[2]};
    *mean = 0;
    if (d >= e->m->ndim) return potential_at(e, d, x, mean);
    if (!touches_finer(e, d, at)) {
        x[d] = at[d] + 0.5;
        return potential_at(e, d, x, mean);
    }
    for (int half = 0; half < 2; half++) {
        x[d] = at[d] + (half ? 0.75 : 0.25);
        TRY(potential_at(e, d, x, mean));
    }
    *mean *= 0.5;
    return OK;
}

/* The curl through a face across d whose lower corner is `at`: differences along the two other
 * axes, of the edges along the other one. */
static enum err face_curl(const struct edges *e, int d, const int at[3], double *curl)
{
    for (int j = 1; j <= 2; j++) {
        const int along = (d + j) % 3, edge = (d + 3 - j) % 3;
        int upper[3] = {at[0], at[1], at[2]};
        double lo, hi;
        if (along >= e->m->ndim) continue;
        upper[along]++;
        TRY(edge_mean(e, edge, at, &lo));
        TRY(edge_mean(e, edge, upper, &hi));
        *curl += j == 1 ? (hi - lo) / e->dx : -(hi - lo) / e->dx;
    }
    return OK;
}

/* The part that is given at the centre of a face. */
static enum err face_given(const struct edges *e, int d, const int at[3], double *b)
{
    double x[3], value = 0;
    for (int j = 0; j < 3; j++) {
        const double in = j == d ? at[j] : at[j] + 0.5;
        x[j] = j < e->m->ndim ? ((double)(2 * e->q[j]) + in) * e->dx : 0;
        if (x[j] >= e->m->boxlen && !e->m->bounded[2 * j + 1]) x[j] = 0;
    }
    if (e->formulas)
        TRY(kind_expr_given(e->k->expr, x, d, &value));
    else
        TRY(e->k->kind->face(kinds_state(e->k), x, d, &value));
    *b += value;
    return OK;
}

static enum err face_field(const struct edges *e, int d, const int at[3], double *b)
{
    *b = 0;
    if (e->potential) TRY(face_curl(e, d, at, b));
    if (e->face) TRY(face_given(e, d, at, b));
    return OK;
}

enum err kinds_field(const struct kinds *k, struct mesh *m, int l, lidx i)
{
    const struct level *lv = &m->lev[l];
    struct edges e = {.k = k, .m = m, .lv = lv, .i = i, .dx = mesh_dx(m, l)};
    e.formulas = kind_expr_potential(k->expr) || kind_expr_face(k->expr);
    e.potential = e.formulas ? kind_expr_potential(k->expr) : k->kind->potential != NULL;
    e.face = e.formulas ? kind_expr_face(k->expr) : k->kind->face != NULL;
    okey_coords(lv->key[i], e.q);
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < m->cells; c++)
            for (int side = 0; side < 2; side++) {
                int at[3] = {c & 1, c >> 1 & 1, c >> 2};
                double *row = level_magnetic(lv, 2 * d + side)[i];
                if (d < m->ndim) at[d] += side;
                TRY(face_field(&e, d, at, &row[c]));
                for (int r = c; r < 8; r += m->cells) row[r] = row[c];
            }
    return OK;
}
