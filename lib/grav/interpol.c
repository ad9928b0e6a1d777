/* grav/interpol: see interpol.h.
 *
 * A child's value is Σ w φ over its parent cell and the seven neighbours of the parent cell on the
 * child's side, w = 27, 9, 9, 3, 9, 3, 3, 1 /64 (products of 3/4 and 1/4). Parent cells are
 * addressed in the 6³ cells of the 27 octs around a parent oct. A parent cell that does not exist
 * counts with the central value. */
#include "grav/interpol.h"

#include <string.h>

#include "base/err.h"
#include "grav/grav_rows.h"

void interpol_init(struct interpol *p, const struct mesh *m, int coarse_level,
                   const struct grav_source *from)
{
    *p = (struct interpol){.m = m,
                           .level = coarse_level,
                           .tfrac = from->tfrac,
                           .far = {from->far, from->far_old},
                           .parent = -1};
}

void grav_cell_centre(const struct mesh *m, int l, lidx i, int c, double x[3])
{
    int64_t pos[3];
    okey_coords(m->lev[l].key[i], pos);
    for (int d = 0; d < 3; d++) pos[d] = 2 * pos[d] + (c >> d & 1);
    cell_centre(m, l, pos, x);
}

/* Finds the octs around a parent oct. Along missing axes they are the same: so are the weights of
 * their cells together. */
static void cube_find(struct interpol *p, lidx parent)
{
    const int ndim = p->m->ndim;
    mesh_cube(p->m, p->level, parent, p->cube);
    for (int o = 0; ndim < 3 && o < 27; o++)
        p->cube[o] = p->cube[9 + 3 * (ndim < 2 ? 1 : o / 3 % 3) + o % 3];
    p->parent = parent;
}

/* Fills in the values of the 6³ cells at the time of the step. A missing oct leaves a hole. */
static void patch_fill(struct interpol *p)
{
    const struct level *lv = &p->m->lev[p->level];
    const double(*phi)[8] = (const double(*)[8])lv->fld[FLD_PHI],
          (*old)[8] = (const double(*)[8])lv->fld[FLD_PHI_OLD];
    p->holes = 0;
    for (int o = 0; o < 27; o++) {
        lidx i = p->cube[o];
        double *to = p->patch + 2 * (o % 3) + 6 * 2 * (o / 3 % 3) + 36 * 2 * (o / 9);
        p->holes |= (uint32_t)(i < 0) << o;
        for (int z = 0; z < 2 && i >= 0; z++, to += 36) {
            row4 v = row_load(phi[i] + 4 * z);
            if (p->tfrac != 0) /* time interpolation of interpol_in_time */
                v += (v - row_load(old[i] + 4 * z)) * p->tfrac;
            memcpy(to, &v, sizeof(double[2]));
            memcpy(to + 6, (double *)&v + 2, sizeof(double[2]));
        }
    }
}

static void parent_set(struct interpol *p, lidx parent)
{
    if (p->parent == parent) return;
    cube_find(p, parent);
    patch_fill(p);
}

/* Bit mask of the 27 octs that contain some of the 27 cells around cell x of the 6³. */
static uint32_t octs_around(const int x[3])
{
    static const uint32_t lowest[3] = {0x1249249, 0x1c0e07, 0x1ff}; /* lowest octs by axis */
    uint32_t all = ~0u;
    for (int d = 0, step = 1; d < 3; d++, step *= 3) {
        uint32_t first = lowest[d] << step * ((x[d] - 1) >> 1);
        all &= first | first << step;
    }
    return all;
}

/* Value of cell (x,y,z) of the 6³; `central` if the cell does not exist. */
static double cell_value(const struct interpol *p, const int x[3], double central)
{
    const struct level *lv = &p->m->lev[p->level];
    lidx o = p->cube[(x[0] >> 1) + 3 * (x[1] >> 1) + 9 * (x[2] >> 1)];
    int c = (x[0] & 1) + 2 * (x[1] & 1) + 4 * (x[2] & 1);
    if (o >= 0)
        return interpol_in_time(lv->fld[FLD_PHI][o][c], &lv->fld[FLD_PHI_OLD][o][c], p->tfrac);
    if (o == NBR_NONE) return central;
    int64_t q[3];
    okey_coords(lv->key[p->parent], q);
    for (int d = 0; d < 3; d++) q[d] += (x[d] >> 1) - 1;
    return far_in_time(p->m, p->level, q, c, p->tfrac, p->far);
}

/* The 27 cells around cell x of the 6³. */
static void cell_values(const struct interpol *p, const int x[3], double v[27])
{
    double central = cell_value(p, x, 0);
    for (int k = 0; k < 27; k++)
        v[k] = cell_value(p, (int[3]){x[0] + k % 3 - 1, x[1] + k / 3 % 3 - 1, x[2] + k / 9 - 1},
                          central);
}

/* Computes interpol_sum for each child of the parent cell at v, whose neighbours are 1, y and z
 * apart. Rows of four are loaded, of which three count. A vector lane is a child in x and y. */
static inline void sum_children(const double *v, int y, int z, double out[8])
{
    row4 term[3][4]; /* terms of interpol_sum by plane, without the z direction */
    for (int k = 0; k < 3; k++) {
        const double *at = v + (k - 1) * z - 1;
        row4 lo = row_load(at - y), mid = row_load(at), hi = row_load(at + y);
        int w = k == 1 ? 4 : 0;
        term[k][0] = interpol_weight(w) * __builtin_shufflevector(lo, hi, 0, 2, 4, 6);
        term[k][1] = interpol_weight(w + 1) * __builtin_shufflevector(lo, hi, 1, 1, 5, 5);
        term[k][2] = interpol_weight(w + 2) * __builtin_shufflevector(mid, mid, 0, 2, 0, 2);
        term[k][3] = interpol_weight(w + 3) * __builtin_shufflevector(mid, mid, 1, 1, 1, 1);
    }
    for (int side = 0; side < 2; side++) {
        row4 sum = {0, 0, 0, 0};
        for (int k = 0; k < 4; k++) sum += term[2 * side][k];
        for (int k = 0; k < 4; k++) sum += term[1][k];
        memcpy(out + 4 * side, &sum, sizeof sum);
    }
}

static void sum_alone(const struct interpol *p, const int x[3], double out[8])
{
    double v[28] = {0};
    cell_values(p, x, v);
    sum_children(v + 13, 3, 9, out);
}

/* Values of the children of parent cell x of the 6³. */
static inline void interpol_children(const struct interpol *p, const int x[3], double out[8])
{
    if (p->holes & octs_around(x))
        sum_alone(p, x, out);
    else
        sum_children(p->patch + x[0] + 6 * x[1] + 36 * x[2], 6, 36, out);
}

void interpol_oct(struct interpol *p, lidx i, double out[8])
{
    const struct level *fine = &p->m->lev[p->level + 1];
    int x[3], dir[3];
    parent_set(p, fine->parent[i]);
    interpol_position(fine, i, -1, x, dir);
    interpol_children(p, x, out);
}

static void far_oct(const struct interpol *p, lidx i, int f, double out[8])
{
    int l = p->level + 1;
    int64_t q[3];
    okey_coords(p->m->lev[l].key[i], q);
    q[f / 2] += f & 1 ? 1 : -1;
    for (int c = 0; c < 8; c++) out[c] = far_cell(p->m, l, q, c, p->far, 0);
}

void interpol_face(struct interpol *p, lidx i, int f, double out[8])
{
    const struct level *fine = &p->m->lev[p->level + 1];
    if (fine->nbr[i][f] == NBR_BOUNDARY) {
        far_oct(p, i, f, out);
        return;
    }
    int x[3], dir[3];
    parent_set(p, fine->parent[i]);
    interpol_position(fine, i, f, x, dir);
    /* The parent exists, since levels of touching cells differ by at most one. */
    BUG_ON(p->cube[(x[0] >> 1) + 3 * (x[1] >> 1) + 9 * (x[2] >> 1)] < 0);
    interpol_children(p, x, out);
}

void grav_interpol_phi(const struct mesh *m, int l, lidx i, int cell,
                       const struct grav_source *from, double out[8])
{
    struct interpol p;
    interpol_init(&p, m, l, from);
    cube_find(&p, i);
    sum_alone(&p, (int[3]){2 + (cell & 1), 2 + (cell >> 1 & 1), 2 + (cell >> 2)}, out);
}
