/* grav/interpol: see interpol.h.
 *
 * A child's value is Σ w φ over its parent cell and the seven neighbours of the parent cell on the
 * child's side, w = 27, 9, 9, 3, 9, 3, 3, 1 /64 (products of 3/4 and 1/4). Parent cells are
 * addressed in the 6³ cells of the 27 octs around a parent oct. A parent cell that does not exist
 * counts with the central value. */
#include "grav/interpol.h"

#include "base/err.h"
#include "grav/grav.h"

void interpol_init(struct interpol *p, const struct mesh *m, int coarse_level, double tfrac,
                   double mass, const double com[3])
{
    *p = (struct interpol){
        .m = m, .level = coarse_level, .tfrac = tfrac, .parent = -1, .far.mass = mass};
    for (int d = 0; d < 3; d++) p->far.com[d] = com ? com[d] : 0;
}

void grav_cell_centre(const struct mesh *m, int l, lidx i, int c, double x[3])
{
    int64_t pos[3];
    okey_coords(m->lev[l].key[i], pos);
    for (int d = 0; d < 3; d++) pos[d] = 2 * pos[d] + (c >> d & 1);
    cell_centre(m, l, pos, x);
}

static void parent_set(struct interpol *p, lidx parent)
{
    if (p->parent == parent) return;
    mesh_cube(p->m, p->level, parent, p->cube);
    p->parent = parent;
}

/* Value of cell (x,y,z) of the 6³; `central` if there is no such cell. */
static double cell_value(const struct interpol *p, const int x[3], double central)
{
    const struct level *lv = &p->m->lev[p->level];
    lidx o = p->cube[(x[0] >> 1) + 3 * (x[1] >> 1) + 9 * (x[2] >> 1)];
    int c = (x[0] & 1) + 2 * (x[1] & 1) + 4 * (x[2] & 1);
    if (o >= 0)
        return interpol_later(lv->fld[FLD_PHI][o][c], &lv->fld[FLD_PHI_OLD][o][c], p->tfrac);
    if (o == NBR_NONE) return central;
    int64_t q[3];
    okey_coords(lv->key[p->parent], q);
    for (int d = 0; d < 3; d++) q[d] += (x[d] >> 1) - 1;
    return far_cell(p->m, p->level, q, c, &p->far, 0);
}

/* The 27 cells around cell x of the 6³. Where their octs are all here, none is asked for alone. */
static void cell_values(const struct interpol *p, const int x[3], double v[27])
{
    const struct level *lv = &p->m->lev[p->level];
    const double(*phi)[8] = (const double(*)[8])lv->fld[FLD_PHI],
          (*old)[8] = (const double(*)[8])lv->fld[FLD_PHI_OLD];
    bool here = true;
    double *to = v;
    for (int z = x[2] - 1; z < x[2] + 2; z++)
        for (int y = x[1] - 1; y < x[1] + 2; y++) {
            const lidx *row = p->cube + 3 * (y >> 1) + 9 * (z >> 1);
            int cell = (y & 1) << 1 | (z & 1) << 2;
            for (int k = x[0] - 1; k < x[0] + 2; k++) {
                lidx i = row[k >> 1];
                here &= i >= 0;
                if (i < 0) i = p->parent;
                *to++ = interpol_later(phi[i][cell | (k & 1)], &old[i][cell | (k & 1)], p->tfrac);
            }
        }
    for (int k = 0; k < 27 && !here; k++)
        v[k] = cell_value(p, (int[3]){x[0] + k % 3 - 1, x[1] + k / 3 % 3 - 1, x[2] + k / 9 - 1},
                          v[13]);
}

/* The children of parent cell x of the 6³: interpol_sum of each. A cell has the same weight for all
 * of them that it counts for, and is multiplied once. */
static void interpol_children(const struct interpol *p, const int x[3], double out[8])
{
    double v[27];
    cell_values(p, x, v);
    for (int k = 0; k < 27; k++)
        v[k] *= interpol_weight((k % 3 == 1) | (k / 3 % 3 == 1) << 1 | (k / 9 == 1) << 2);
    for (int c = 0; c < 8; c++) {
        int sx = c & 1 ? 1 : -1, sy = c & 2 ? 3 : -3, sz = c & 4 ? 9 : -9;
        out[c] = 0;
        for (int k = 0; k < 8; k++)
            out[c] += v[13 + (k & 1 ? 0 : sx) + (k & 2 ? 0 : sy) + (k & 4 ? 0 : sz)];
    }
}

void interpol_oct(struct interpol *p, lidx i, double out[8])
{
    const struct level *fine = &p->m->lev[p->level + 1];
    int x[3], dir[3];
    parent_set(p, fine->parent[i]);
    interpol_place(fine, i, -1, x, dir);
    interpol_children(p, x, out);
}

static void far_oct(const struct interpol *p, lidx i, int f, double out[8])
{
    int l = p->level + 1;
    int64_t q[3];
    okey_coords(p->m->lev[l].key[i], q);
    q[f / 2] += f & 1 ? 1 : -1;
    for (int c = 0; c < 8; c++) out[c] = far_cell(p->m, l, q, c, &p->far, 0);
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
    interpol_place(fine, i, f, x, dir);
    /* levels differ by one at most */
    BUG_ON(p->cube[(x[0] >> 1) + 3 * (x[1] >> 1) + 9 * (x[2] >> 1)] < 0);
    interpol_children(p, x, out);
}

void grav_interpol_phi(const struct mesh *m, int l, lidx i, int cell, double tfrac, double mass,
                       const double com[3], double out[8])
{
    struct interpol p;
    interpol_init(&p, m, l, tfrac, mass, com);
    parent_set(&p, i);
    interpol_children(&p, (int[3]){2 + (cell & 1), 2 + (cell >> 1 & 1), 2 + (cell >> 2)}, out);
}
