/* patch/across_kern: the cell across a face, the reflux registers across it, the flux balance of a
 * cell and that of a face, for hosts and for devices with a mesh in device memory. */
#pragma once
#include <math.h>

#include "base/device.h"
#include "oct/mesh.h"

/* A cell of any level; oct < 0: NBR_BOUNDARY. */
struct patch_cell {
    int level;
    lidx oct;
    int cell;
};

/* Cell across face f (−x,+x,…) of cell c of oct i of level l, or, where its oct does not exist, the
 * coarser cell that contains it. */
PTAH_HD_FN struct patch_cell patch_across(const struct mesh *m, int l, lidx i, int c, int f)
{
    int bit = 1 << (f >> 1);
    for (;; l--) {
        const struct level *lv = &m->lev[l];
        if (((c & bit) != 0) != (f & 1)) break;
        lidx j = lv->nbr[i][f];
        if (j != NBR_NONE) {
            i = j;
            break;
        }
        c = oct_slot(lv, i);
        i = lv->parent[i];
    }
    struct patch_cell x = {l, i, c ^ bit};
    return x;
}

/* The smaller of two differences if they have the same sign, otherwise 0. */
PTAH_HD double patch_minmod(double left, double mid, double right)
{
    double l = mid - left, r = right - mid, s = fabs(l) < fabs(r) ? l : r;
    return l * r > 0.0 ? s : 0.0;
}

/* A field across face f of a cell; beyond a boundary of the box the cell's own value, with another
 * sign if `odd` has the bit of f. */
PTAH_HD_FN double patch_value_across(const struct mesh *m, struct patch_cell p, int f, int field,
                                     int odd)
{
    struct patch_cell x = patch_across(m, p.level, p.oct, p.cell, f);
    if (x.oct >= 0) return m->lev[x.level].fld[field][x.oct][x.cell];
    double own = m->lev[p.level].fld[field][p.oct][p.cell];
    return odd >> f & 1 ? -own : own;
}

/* A field in the children that a cell would have, by slopes of minmod. */
PTAH_HD_FN void patch_children(const struct mesh *m, struct patch_cell p, int field, int odd,
                               double out[8])
{
    double q = m->lev[p.level].fld[field][p.oct][p.cell], half[3];
    for (int d = 0; d < 3; d++)
        half[d] = 0.5 * patch_minmod(patch_value_across(m, p, 2 * d, field, odd), q,
                                     patch_value_across(m, p, 2 * d + 1, field, odd));
    for (int k = 0; k < 8; k++)
        out[k] = q + ((k & 1) - 0.5) * half[0] + ((k >> 1 & 1) - 0.5) * half[1] +
                 ((k >> 2) - 0.5) * half[2];
}

/* Registers [nflux] of a system (struct level.reflux) of the fine oct across face f of the
 * unrefined cell c of oct i of lv, for its face towards the cell; NULL: no registers. */
PTAH_HD_FN const double *reflux_across(const struct level *lv, const struct level *fine, lidx i,
                                       int c, int f, int system, int nflux)
{
    const struct reflux *r = &fine->reflux[system];
    int bit = 1 << (f >> 1);
    lidx j = ((c & bit) != 0) == (f & 1) ? lv->nbr[i][f] : i;
    lidx ch = j >= 0 ? lv->child[j][c ^ bit] : -1;
    if (ch < 0 || r->row[ch] < 0) return 0;
    return r->flux + (size_t)r->row[ch] * (size_t)(6 * nflux + r->nedge) +
           (size_t)((f ^ 1) * nflux);
}

/* Value u + flux in − flux out, for two opposite faces. */
PTAH_HD double patch_add_faces(double u, double in, double out)
{
    return u + (in - out);
}

/* Value u + flux in − flux out, for the faces below and above in x, y and z. */
PTAH_HD double patch_add_fluxes(double u, double x0, double x1, double y0, double y1, double z0,
                                double z1)
{
    return patch_add_faces(patch_add_faces(patch_add_faces(u, x0, x1), y0, y1), z0, z1);
}

/* Field u on a face, plus or minus the difference of the electromotive forces at two opposite edges
 * of it. */
PTAH_HD double patch_add_edges(double u, double lo, double hi)
{
    return u + (hi - lo);
}

PTAH_HD double patch_take_edges(double u, double lo, double hi)
{
    return u - (hi - lo);
}
