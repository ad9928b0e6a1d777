/* grav/interpol_kern: potential at the boundary of a level, one value at a time (interpol.h). For
 * hosts and devices; on a device the mesh holds device addresses. Private to grav and gravdev. */
#pragma once
#include <math.h>

#include "base/cgs.h"
#include "grav/far.h"
#include "oct/find_kern.h"
#include "oct/mesh.h"
#include "vec/vec.h"

/* Monopole potential in solver units (φ/boxlen) at x, not closer than rmin: of a point, a line or a
 * sheet. */
PTAH_HD double far_phi(const struct mesh *m, const struct far_field *far, const double x[3],
                       double rmin)
{
    if (far->mass == 0) return 0;
    double r2 = 0;
    for (int d = 0; d < 3; d++) /* a constant bound: devices hold x in registers */
        if (d < m->ndim) r2 += (x[d] - far->com[d]) * (x[d] - far->com[d]);
    const double r = fmax(sqrt(r2), rmin);
    if (m->ndim == 1) return RAMSES_TWOPI * far->mass * r / m->boxlen;
    if (m->ndim == 2) /* log of libraries has other bits on a device */
        return 2 * far->mass * (vec_first(vec_log2(vec_of(r))) * M_LN2) / m->boxlen;
    return -far->mass / r / m->boxlen;
}

/* Centre of the cell at integer position pos on level l, wrapped along periodic axes. */
PTAH_HD void cell_centre(const struct mesh *m, int l, const int64_t pos[3], double x[3])
{
    int64_t n = (int64_t)1 << l;
    for (int d = 0; d < 3; d++) {
        bool bounded = m->bounded[2 * d] || m->bounded[2 * d + 1];
        x[d] = ((double)(bounded ? pos[d] : pos[d] & (n - 1)) + 0.5) * mesh_dx(m, l);
    }
}

/* Monopole potential of cell c of the oct at coordinates q (octs of level l) beyond a boundary. */
PTAH_HD double far_cell(const struct mesh *m, int l, const int64_t q[3], int c,
                        const struct far_field *far, double rmin)
{
    int64_t pos[3];
    double x[3];
    for (int d = 0; d < 3; d++) pos[d] = 2 * q[d] + (c >> d & 1);
    cell_centre(m, l, pos, x);
    return far_phi(m, far, x, rmin);
}

/* Potential at the time of the step. */
PTAH_HD double interpol_in_time(double phi, const double *old, double tfrac)
{
    return tfrac == 0 ? phi : phi + (phi - *old) * tfrac;
}

/* Weight of a parent cell (k = 7) or of its neighbour on the child's side in the directions whose
 * bits of k are not set: a product of 3/4 and 1/4. */
PTAH_HD double interpol_weight(int k)
{
    return (k & 1 ? 3 : 1) * (k & 2 ? 3 : 1) * (k & 4 ? 3 : 1) / 64.;
}

/* Weighted sum of the parent cell and its seven neighbours. */
PTAH_HD double interpol_sum(const double v[8])
{
    double sum = 0;
    for (int k = 0; k < 8; k++) sum += interpol_weight(k) * v[k];
    return sum;
}

/* Acceleration at cell c of an oct along direction d by the 5-point gradient. o: cells of the oct;
 * lo and hi: cells of the octs before and after it. */
PTAH_HD double force_cell(const double o[8], const double *lo, const double *hi, int d, int c,
                          double dx)
{
    double a = 0.5 * 4.0 / 3.0 / dx, b = 0.25 * 1.0 / 3.0 / dx;
    int bit = 1 << d;
    bool right = c & bit;
    double m1 = right ? o[c ^ bit] : lo[c ^ bit], p1 = right ? hi[c ^ bit] : o[c ^ bit];
    return a * (m1 - p1) - b * (lo[c] - hi[c]);
}

/* ---- one value per thread ---- */

/* Octs around an oct of the coarser level on which a value can depend: oct[k] lies in direction
 * dir[d] for the bits d of k. */
struct interpol_near {
    int dir[3];
    lidx oct[8];
};

PTAH_HD lidx interpol_beside(const struct mesh *m, int l, lidx i, const int dir[3], int k)
{
    int64_t q[3];
    okey key;
    if (k == 0) return i;
    okey_coords(m->lev[l].key[i], q);
    for (int d = 0; d < 3; d++) q[d] += k >> d & 1 ? dir[d] : 0;
    return level_key_at(m->bounded, l, q, &key) ? level_find(&m->lev[l], key) : NBR_BOUNDARY;
}

/* Monopole potential of cell c of the oct at q beyond a boundary, of which far has the monopole now
 * and the one of φ_old. In three dimensions it is the one of now at all times. */
PTAH_HD double far_in_time(const struct mesh *m, int l, const int64_t q[3], int c, double tfrac,
                           const struct far_field far[2])
{
    const double now = far_cell(m, l, q, c, &far[0], 0);
    if (m->ndim == 3 || tfrac == 0) return now;
    const double old = far_cell(m, l, q, c, &far[1], 0);
    return interpol_in_time(now, &old, tfrac);
}

/* Value of the cell at y[] of the 6³ around a parent (interpol.c). */
PTAH_HD double interpol_at(const struct mesh *m, int l, const lidx oct[8], const int y[3],
                           double central, double tfrac, const struct far_field far[2])
{
    const struct level *lv = &m->lev[l];
    int k = 0, c = 0;
    for (int d = 0; d < 3; d++) {
        k |= y[d] >> 1 == 1 ? 0 : 1 << d;
        c |= (y[d] & 1) << d;
    }
    lidx j = oct[k];
    if (j >= 0) return interpol_in_time(lv->fld[FLD_PHI][j][c], &lv->fld[FLD_PHI_OLD][j][c], tfrac);
    if (j == NBR_NONE) return central;
    int64_t q[3];
    okey_coords(lv->key[oct[0]], q);
    for (int d = 0; d < 3; d++) q[d] += (y[d] >> 1) - 1;
    return far_in_time(m, l, q, c, tfrac, far);
}

/* Value of child c of the cell at x[] of the 6³. */
PTAH_HD double interpol_value(const struct mesh *m, int l, const lidx oct[8], const int x[3], int c,
                              double tfrac, const struct far_field far[2])
{
    double v[8];
    v[7] = interpol_at(m, l, oct, x, 0, tfrac, far);
    for (int k = 0; k < 7; k++) {
        int y[3];
        for (int d = 0; d < 3; d++)
            y[d] = x[d] + (k >> d & 1 || d >= m->ndim ? 0 : c >> d & 1 ? 1 : -1);
        v[k] = interpol_at(m, l, oct, y, v[7], tfrac, far);
    }
    return interpol_sum(v);
}

/* Position, in the 6³ around its parent, of oct i of level l+1, or with a face f (else −1) of the
 * cell across this face; dir[]: the side of the octs on which its cells depend. */
PTAH_HD void interpol_position(const struct level *fine, lidx i, int f, int x[3], int dir[3])
{
    int slot = oct_slot(fine, i);
    for (int d = 0; d < 3; d++) {
        bool here = f >> 1 == d;
        int side = here ? f & 1 : slot >> d & 1;
        dir[d] = side ? 1 : -1;
        x[d] = 2 + (slot >> d & 1) + (here ? dir[d] : 0);
    }
}
