/* mhd/interp_kern: gas and field beyond boundaries, in octs that do not exist, and in split cells,
 * for hosts and for devices with a mesh in device memory. Private to mhd.
 *
 * The gas of a missing or new oct is interpolated as by hydro; with interpol_var = 1 the internal
 * energy, without kinetic and magnetic energy. Its field, in these steps:
 *
 * - On the faces that it shares with its parent cell: from the parent cell's face and the faces in
 *   the same plane of the cells beside it, with limited slopes (interpol_mag). Where the cell
 *   across the face is split, the faces of its children, which the new oct touches.
 * - On the faces inside: so that the divergence of every child is that of the parent cell (Tóth &
 *   Roe 2002).
 * - Along a missing axis it is a variable of the cell.
 *
 * Cells beside the parent that do not exist are replaced by the coarser cell in their place, whose
 * face on the same side counts. If all exist, as around octs that refinement creates, the two cells
 * of a face interpolate it to the same bits. */
#pragma once
#include "hydro/interp_kern.h"
#include "mhd/mhd.h"
#include "patch/law.h"

/* Values of a cell: the variables of the gas, then the field on its faces −x,+x,−y,+y,−z,+z. */
enum { MHD_VALUES = LAW_VARIABLES };

/* Field at the centre of a cell along an axis, from its faces. */
PTAH_HD double mhd_centre(const double *faces, int axis)
{
    return 0.5 * (faces[2 * axis] + faces[2 * axis + 1]);
}

PTAH_HD double mhd_energy(const double *faces)
{
    return gas_magnetic_faces(faces[0], faces[1], faces[2], faces[3], faces[4], faces[5]);
}

/* Sum of the values of the eight children of a cell: opposite ones first, then their sums in pairs,
 * so that a mirror image has the same sum. In fewer dimensions it is the same with all copies. */
PTAH_HD double mhd_sum8(const double x[8])
{
    return ((x[0] + x[7]) + (x[1] + x[6])) + ((x[2] + x[5]) + (x[3] + x[4]));
}

/* ---- across faces and boundaries ---- */

PTAH_HD_FN void mhd_faces_read(const struct level *lv, lidx i, int c, double *faces)
{
    for (int f = 0; f < LAW_FACES; f++) faces[f] = level_magnetic(lv, f)[i][c];
}

PTAH_HD_FN void mhd_cell_read(const struct mesh *m, struct patch_cell x, int nvar, double *u)
{
    const struct level *lv = &m->lev[x.level];
    for (int v = 0; v < nvar; v++) u[v] = level_gas(lv, v)[x.oct][x.cell];
    mhd_faces_read(lv, x.oct, x.cell, u + nvar);
}

/* State u of the ghost cell h (0: at the wall, 1: behind it) beyond boundary f, from the cell at
 * the wall (near) and the cell h within the wall (from). The normal field is continuous: on the
 * wall it is that of the cell there. A mirror makes it antisymmetric about that value, an open
 * boundary continues its slope, so that the divergence is that of the last cell, and where the
 * state is imposed it is constant. u may be neither of the two others. */
PTAH_HD_FN void mhd_beyond(const struct mhd_par *p, int f, int h, const double *near,
                           const double *from, double *u)
{
    const int n = p->gas->nvar, back = f ^ 1;
    const enum bound_type type = p->gas->bound[f];
    const double *cell = type == BOUND_REFLECT ? from : near, wall = near[n + f],
                 step = wall - near[n + back];
    double *faces = u + n;
    for (int v = 0; v < n + LAW_FACES; v++) u[v] = cell[v];
    u[GAS_ENERGY] -= mhd_energy(faces);
    hydro_boundary_state(p->gas, f, u);
    for (int k = 0; k < LAW_FACES && type == BOUND_IMPOSED; k++)
        faces[k] = k >> 1 == f >> 1 ? wall : p->bound_b[f][k >> 1];
    if (type == BOUND_REFLECT) {
        faces[back] = 2.0 * wall - from[n + f];
        faces[f] = 2.0 * wall - from[n + back];
    } else if (type == BOUND_OUTFLOW) {
        faces[back] = wall + h * step;
        faces[f] = wall + (h + 1) * step;
    }
    u[GAS_ENERGY] += mhd_energy(faces);
}

/* Reads the state of cell `own` and of the cells across its faces, in the order of faces: the
 * cells, and in a[1 + f] the states, which are a[0] along missing axes. */
PTAH_HD_FN void mhd_cells_around(const struct mesh *m, struct patch_cell own,
                                 const struct mhd_par *p, struct patch_cell across[6],
                                 double (*a)[MHD_VALUES])
{
    const int n = p->gas->nvar;
    mhd_cell_read(m, own, n, a[0]);
    for (int f = 0; f < 6; f++) {
        across[f] = patch_across(m, own.level, own.oct, own.cell, f);
        if (f >= 2 * m->ndim)
            mhd_cell_read(m, own, n, a[1 + f]);
        else if (across[f].oct >= 0)
            mhd_cell_read(m, across[f], n, a[1 + f]);
        else
            mhd_beyond(p, f, 0, a[0], a[0], a[1 + f]);
    }
}

/* ---- interpolation of the field ---- */

/* Change of the field on a face over half a cell beside it, from the faces below and above. */
PTAH_HD double mhd_interp_slope(int type, double below, double b, double above)
{
    double dl = b - below, dr = above - b;
    if (type <= 0) return 0.0;
    return 0.5 * (type == 3 ? 0.5 * (dl + dr) : hydro_slope_theta(dl, dr, type));
}

/* Field on the finer faces of face f of a cell, by the children at the face and, with the same
 * values, by those opposite. */
PTAH_HD_FN void mhd_interp_face(const struct mesh *m, int l, struct patch_cell across, int f,
                                int type, const double (*faces)[LAW_FACES], double out[8])
{
    const int axis = f >> 1, bit = 1 << axis, side = f & 1 ? 0 : bit;
    const lidx fine = across.oct >= 0 && across.level == l
                          ? m->lev[l].child[across.oct][across.cell]
                          : -1;
    const double b = faces[0][f];
    double slope[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < m->ndim && fine < 0; d++)
        if (d != axis)
            slope[d] = mhd_interp_slope(type, faces[1 + 2 * d][f], b, faces[2 + 2 * d][f]);
    for (int k = 0; k < 8; k++) {
        out[k] = b;
        for (int d = 0; d < m->ndim; d++)
            if (d != axis) out[k] += slope[d] * ((k >> d & 1) - 0.5);
        if (fine >= 0) out[k] = level_magnetic(&m->lev[l + 1], f ^ 1)[fine][(k & ~bit) | side];
    }
}

/* Sums over the outer faces that give the faces inside: second differences along each axis, and
 * mixed third differences of each component. */
struct mhd_inside {
    double second[3], third[3];
};

/* Terms of child k. */
PTAH_HD_FN struct mhd_inside mhd_inside_part(int ndim, const double (*out)[8], int k)
{
    struct mhd_inside s = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    double b[3], sign[3] = {0.0, 0.0, 0.0};
    for (int d = 0; d < ndim; d++) {
        sign[d] = (k >> d & 1) ? 0.125 : -0.125;
        b[d] = out[2 * d + (k >> d & 1)][k];
    }
    for (int d = 0; d < ndim; d++)
        for (int e = 0; e < ndim; e++)
            if (e != d) s.second[d] += 8.0 * sign[d] * sign[e] * b[e];
    for (int d = 0; d < ndim && ndim == 3; d++)
        s.third[d] += 64.0 * sign[0] * sign[1] * sign[2] * b[d];
    return s;
}

PTAH_HD_FN struct mhd_inside mhd_inside_of(int ndim, const double (*out)[8])
{
    struct mhd_inside part[8], s;
    for (int k = 0; k < 8; k++) part[k] = mhd_inside_part(ndim, out, k);
    for (int d = 0; d < 3; d++) {
        double second[8], third[8];
        for (int k = 0; k < 8; k++) second[k] = part[k].second[d], third[k] = part[k].third[d];
        s.second[d] = mhd_sum8(second);
        s.third[d] = mhd_sum8(third);
    }
    return s;
}

/* Field on the face inside across axis d, by child k. */
PTAH_HD double mhd_face_inside(int ndim, struct mhd_inside s, int d, int k, const double (*out)[8])
{
    double b = 0.5 * (out[2 * d][k] + out[2 * d + 1][k]) + s.second[d];
    if (ndim < 3) return b;
    const int x = (d + 1) % 3, y = (d + 2) % 3;
    return b + s.third[x] * ((k >> y & 1) - 0.5) + s.third[y] * ((k >> x & 1) - 0.5);
}

/* Field on the faces of the eight children of a cell; a: states of the cell and its neighbours. */
PTAH_HD_FN void mhd_interp_faces(const struct mesh *m, int l, const struct patch_cell *across,
                                 const struct mhd_par *p, const double (*faces)[LAW_FACES],
                                 double (*face)[8])
{
    double out[LAW_FACES][8];
    for (int f = 0; f < 2 * m->ndim; f++)
        mhd_interp_face(m, l, across[f], f, p->interpol_mag, faces, out[f]);
    const struct mhd_inside s = mhd_inside_of(m->ndim, out);
    for (int d = 0; d < m->ndim; d++)
        for (int k = 0; k < 8; k++) {
            /* the child below has the face, and so gives both children their bits */
            double inside = mhd_face_inside(m->ndim, s, d, k & ~(1 << d), out);
            face[2 * d][k] = k >> d & 1 ? inside : out[2 * d][k];
            face[2 * d + 1][k] = k >> d & 1 ? out[2 * d + 1][k] : inside;
        }
}

/* ---- interpolation ---- */

PTAH_HD_FN void mhd_interp_variable(const struct mhd_par *p, const double q[7], double out[8])
{
    double w[3];
    const int type = p->gas->interpol_type;
    hydro_interp_slope(type < 4 ? type : 0, q, w);
    /* unlimited, as RAMSES with a magnetic field has them: twice as steep as without */
    for (int d = 0; d < 3 && type == 3; d++) w[d] *= 2.0;
    for (int k = 0; k < 8; k++) out[k] = hydro_interp_child(q[0], w[0], w[1], w[2], k);
}

/* Whether the internal energy is interpolated and restricted in place of the total energy. */
PTAH_HD bool mhd_internal(const struct mhd_par *p)
{
    return p->gas->interpol_var == 1;
}

/* Sum of the non-thermal energies of child k of a cell. */
PTAH_HD double mhd_child_energies(const struct mhd_par *p, const double (*gas)[8], int k)
{
    double sum = 0.0;
    for (int n = 0; n < p->gas->energy.n; n++) sum += gas[GAS_SCALARS + n][k];
    return sum;
}

/* Kinetic and magnetic energy of a cell. */
PTAH_HD double mhd_not_internal(double rho, double mx, double my, double mz, const double *faces)
{
    return gas_kinetic(rho, mx, my, mz) + mhd_energy(faces);
}

/* Variables of the gas in the eight children of a cell whose faces are known. */
PTAH_HD_FN void mhd_interp_gas(const struct mhd_par *p, double (*a)[MHD_VALUES],
                               const double (*face)[8], double (*gas)[8])
{
    const int n = p->gas->nvar;
    const double smallr = p->gas->smallr;
    const bool mixed = p->gas->energy.n > 0;
    double q[7];
    for (int j = 0; j < 7 && mhd_internal(p); j++) {
        a[j][GAS_ENERGY] -= mhd_not_internal(hydro_max(a[j][0], smallr), a[j][1], a[j][2], a[j][3],
                                             a[j] + n);
        if (mixed) a[j][GAS_ENERGY] -= gas_energies(p->gas->energy.n, a[j]);
    }
    for (int v = 0; v < n; v++) {
        for (int j = 0; j < 7; j++) q[j] = a[j][v];
        mhd_interp_variable(p, q, gas[v]);
    }
    for (int k = 0; k < 8 && mhd_internal(p); k++) {
        double b[LAW_FACES];
        for (int f = 0; f < LAW_FACES; f++) b[f] = face[f][k];
        gas[GAS_ENERGY][k] += mhd_not_internal(hydro_max(gas[0][k], smallr), gas[1][k], gas[2][k],
                                               gas[3][k], b);
        if (mixed) gas[GAS_ENERGY][k] += mhd_child_energies(p, (const double(*)[8])gas, k);
    }
}

/* Variables of the gas, and field on the faces, of the eight cells of a child oct of cell c of oct
 * i of level l. */
PTAH_HD_FN void mhd_interp_oct(const struct mesh *m, int l, lidx i, int c, const struct mhd_par *p,
                               double (*gas)[8], double (*face)[8])
{
    const struct patch_cell own = {l, i, c};
    struct patch_cell across[6];
    double a[7][MHD_VALUES], faces[7][LAW_FACES];
    mhd_cells_around(m, own, p, across, a);
    for (int j = 0; j < 7; j++)
        for (int f = 0; f < LAW_FACES; f++) faces[j][f] = a[j][p->gas->nvar + f];
    mhd_interp_faces(m, l, across, p, faces, face);
    for (int f = 2 * m->ndim; f < LAW_FACES; f++) {
        double q[7];
        for (int j = 0; j < 7; j++) q[j] = faces[j][f];
        mhd_interp_variable(p, q, face[f]);
    }
    mhd_interp_gas(p, a, face, gas);
    for (int v = 0; v < p->gas->nvar; v++) oct_repeat(m->cells, gas[v]);
    for (int f = 0; f < LAW_FACES; f++) oct_repeat(m->cells, face[f]);
}

/* ---- restriction ---- */

/* Mean over the finer faces of face f of oct o, which both cells of the face take. */
PTAH_HD_FN double mhd_face_mean(const struct level *fine, lidx o, int f)
{
    const double *b = level_magnetic(fine, f)[o];
    const int u = 1 << ((f >> 1) + 1) % 3, v = 1 << ((f >> 1) + 2) % 3,
              at = f & 1 ? 1 << (f >> 1) : 0;
    return ((b[at] + b[at + u + v]) + (b[at + u] + b[at + v])) / 4.0;
}

/* Gives cell c of oct i of level l, which is split, the means of its children. */
PTAH_HD_FN void mhd_restrict_split(const struct mesh *m, int l, lidx i, int c,
                                   const struct mhd_par *p)
{
    const struct level *lv = &m->lev[l], *fine = &m->lev[l + 1];
    const lidx o = lv->child[i][c];
    const double smallr = p->gas->smallr;
    double faces[LAW_FACES], part[8];
    for (int k = 0; k < 8; k++) part[k] = hydro_max(level_gas(fine, 0)[o][k], smallr);
    level_gas(lv, 0)[i][c] = mhd_sum8(part) / 8.0;
    for (int v = 1; v < p->gas->nvar; v++)
        level_gas(lv, v)[i][c] = mhd_sum8(level_gas(fine, v)[o]) / 8.0;
    for (int f = 0; f < LAW_FACES; f++) {
        faces[f] = f < 2 * m->ndim ? mhd_face_mean(fine, o, f)
                                   : mhd_sum8(level_magnetic(fine, f)[o]) / 8.0;
        level_magnetic(lv, f)[i][c] = faces[f];
    }
    if (!mhd_internal(p)) return;
    for (int k = 0; k < 8; k++) {
        const struct gas_cell g = gas_cell_above(fine, o, k, smallr);
        part[k] = gas_cell_internal(&g);
    }
    const struct gas_cell g = gas_cell_above(lv, i, c, smallr);
    double e = mhd_sum8(part) / 8.0 + mhd_not_internal(g.rho, g.m[0], g.m[1], g.m[2], faces);
    if (lv->nener > 0) e += gas_cell_energies(lv, i, c);
    level_gas(lv, GAS_ENERGY)[i][c] = e;
}

/* Gives the leaf cell c the field of the children of its neighbours on the faces that it shares
 * with them. */
PTAH_HD_FN void mhd_restrict_leaf(const struct mesh *m, int l, lidx i, int c,
                                  const struct mhd_par *p)
{
    const struct level *lv = &m->lev[l];
    double was[LAW_FACES], faces[LAW_FACES];
    bool any = false;
    mhd_faces_read(lv, i, c, was);
    for (int f = 0; f < 2 * m->ndim; f++) {
        const int bit = 1 << (f >> 1);
        const lidx j = ((c & bit) != 0) == (f & 1) ? lv->nbr[i][f] : i,
                   o = j >= 0 ? lv->child[j][c ^ bit] : -1;
        if (o < 0) continue;
        level_magnetic(lv, f)[i][c] = mhd_face_mean(&m->lev[l + 1], o, f ^ 1);
        any = true;
    }
    if (!any || !mhd_internal(p)) return;
    mhd_faces_read(lv, i, c, faces);
    gas_add_energy(lv, i, c, mhd_energy(faces) - mhd_energy(was));
}
