/* hydro/interp_kern: states across the boundary of a level, and values for octs that do not exist,
 * for hosts and for devices with a mesh in device memory. Private to hydro, mhd and rt.
 *
 * A missing or new oct is interpolated in its parent cell from that cell (0) and its six face
 * neighbours: child = a0 + Σ_d ±½ w_d, with a limited slope w (interpol_type 0 none, 1 minmod, 2
 * monotonised central with one limiter for the three directions, 3 central, 4 central for
 * velocities and 2 for the rest) of the variables that interpol_var names (0 conserved, 1 internal
 * for total energy, 2 also velocity for momentum, whose sum is then corrected). Neighbours that do
 * not exist are replaced by the coarser cell in their place. */
#pragma once
#include <math.h>

#include "base/device.h"
#include "hydro/hydro.h"
#include "hydro/point_kern.h"
#include "oct/mesh.h"
#include "patch/across_kern.h"

/* Removes inflow: a normal velocity into the box is set to zero at constant internal energy. */
PTAH_HD_FN void hydro_keep_out(const struct hydro_par *p, int f, double *u)
{
    double *normal = &u[1 + (f >> 1)], d = hydro_max(u[0], p->smallr), before = *normal;
    *normal = f & 1 ? fmax(0.0, before) : fmin(0.0, before);
    u[GAS_ENERGY] += gas_kinetic_rise(d, before, *normal);
}

/* Converts the state u of the cell next to boundary f to the state beyond the boundary;
 * hydro_boundary_gas without scalars and without non-thermal energies in the total energy,
 * hydro_boundary_scalar for one of these. */
PTAH_HD_FN void hydro_boundary_gas(const struct hydro_par *p, int f, double *u)
{
    if (p->bound[f] == BOUND_REFLECT) u[1 + (f >> 1)] = -u[1 + (f >> 1)];
    if (p->bound[f] == BOUND_OUTFLOW && p->no_inflow) hydro_keep_out(p, f, u);
    if (p->bound[f] != BOUND_IMPOSED) return;
    const double *q = p->bound_state[f];
    u[0] = hydro_max(q[0], p->smallr);
    for (int d = 1; d <= 3; d++) u[d] = q[0] * q[d];
    u[GAS_ENERGY] = gas_kinetic(u[0], u[1], u[2], u[3]) +
                    gas_internal_of(q[GAS_PRESSURE], p->gamma);
}

PTAH_HD_FN double hydro_boundary_scalar(const struct hydro_par *p, int f, int v, double u)
{
    const int k = v - GAS_SCALARS;
    if (p->bound[f] != BOUND_IMPOSED) return u;
    return k < p->energy.n ? gas_internal_of(p->bound_state[f][v], p->energy.gamma[k])
                           : p->bound_state[f][0] * p->bound_state[f][v];
}

PTAH_HD_FN void hydro_boundary_state(const struct hydro_par *p, int f, double *u)
{
    hydro_boundary_gas(p, f, u);
    for (int v = GAS_SCALARS; v < p->nvar; v++) u[v] = hydro_boundary_scalar(p, f, v, u[v]);
    if (p->bound[f] == BOUND_IMPOSED)
        for (int k = 0; k < p->energy.n; k++) u[GAS_ENERGY] += u[GAS_SCALARS + k];
}

/* Reads the first n variables of the cell across face f, or, beyond a boundary, of the cell itself.
 * Returns the cell across; oct < 0: beyond a boundary. */
PTAH_HD_FN struct patch_cell hydro_vars_across(const struct mesh *m, int l, lidx i, int c, int f,
                                               int n, double *u)
{
    struct patch_cell x = patch_across(m, l, i, c, f);
    const struct patch_cell own = {l, i, c}, from = x.oct >= 0 ? x : own;
    for (int v = 0; v < n; v++) u[v] = m->lev[from.level].fld[FLD_U + v][from.oct][from.cell];
    return x;
}

/* State of the cell across face f, or of the boundary condition; hydro_gas_across without scalars
 * and without non-thermal energies in the total energy, which returns the cell as hydro_vars_across
 * does. */
PTAH_HD_FN void hydro_state_across(const struct mesh *m, int l, lidx i, int c, int f,
                                   const struct hydro_par *p, double *u)
{
    if (hydro_vars_across(m, l, i, c, f, p->nvar, u).oct < 0) hydro_boundary_state(p, f, u);
}

PTAH_HD_FN struct patch_cell hydro_gas_across(const struct mesh *m, int l, lidx i, int c, int f,
                                              const struct hydro_par *p, double u[GAS_SCALARS])
{
    struct patch_cell x = hydro_vars_across(m, l, i, c, f, GAS_SCALARS, u);
    const struct patch_cell own = {l, i, c}, from = x.oct >= 0 ? x : own;
    if (p->energy.n > 0)
        u[GAS_ENERGY] -= gas_cell_energies(&m->lev[from.level], from.oct, from.cell);
    if (x.oct < 0) hydro_boundary_gas(p, f, u);
    return x;
}

/* Scalar v, or non-thermal energy, of the cell across face f. */
PTAH_HD_FN double hydro_scalar_across(const struct mesh *m, int l, lidx i, int c, int f,
                                      const struct hydro_par *p, int v)
{
    struct patch_cell x = patch_across(m, l, i, c, f);
    if (x.oct < 0) return hydro_boundary_scalar(p, f, v, m->lev[l].fld[FLD_U + v][i][c]);
    return m->lev[x.level].fld[FLD_U + v][x.oct][x.cell];
}

/* ---- interpolation ---- */

PTAH_HD_FN void hydro_interp_vars(const struct hydro_par *p, double *u)
{
    double r = hydro_max(u[0], p->smallr);
    u[GAS_ENERGY] = gas_internal(u[GAS_ENERGY], r, u[1], u[2], u[3]);
    if (p->energy.n > 0) u[GAS_ENERGY] -= gas_energies(p->energy.n, u);
    if (p->interpol_var == 2)
        for (int d = 1; d <= 3; d++) u[d] /= r;
}

PTAH_HD_FN double hydro_interp_minmod(double a0, double al, double ar)
{
    double dr = 0.5 * (ar - a0), dl = 0.5 * (a0 - al);
    double s = fabs(dl) < fabs(dr) ? dl : dr;
    return dl * dr > 0.0 ? s : 0.0;
}

/* Fraction of the distance from a0 to an extreme corner value that stays within the neighbours'
 * extreme. */
PTAH_HD_FN double hydro_interp_limit(double a0, double neighbour, double corner)
{
    double dn = a0 - neighbour, dc = a0 - corner, q = dn / dc;
    q = q < 1.0 ? q : 1.0;
    return dn * dc > 0.0 ? q : 0.0;
}

/* Limited slopes w of a variable along the three axes from its values in the cell and in its
 * neighbours; type: interpol_type 0 to 3. */
PTAH_HD_FN void hydro_interp_slope(int type, const double a[7], double w[3])
{
    for (int d = 0; d < 3; d++) w[d] = 0.0;
    for (int d = 0; d < 3 && type != 0; d++) {
        double al = a[1 + 2 * d], ar = a[2 + 2 * d];
        w[d] = type == 1 ? hydro_interp_minmod(a[0], al, ar) : 0.25 * (ar - al);
    }
    if (type != 2) return;
    double hi = a[1], lo = a[1], a0 = a[0];
    for (int j = 2; j < 7; j++) {
        hi = a[j] > hi ? a[j] : hi;
        lo = a[j] < lo ? a[j] : lo;
    }
    double wx = fabs(w[0]), wy = fabs(w[1]), wz = fabs(w[2]);
    double qmax = hydro_interp_limit(a0, hi, a0 + wx + wy + wz),
           qmin = hydro_interp_limit(a0, lo, a0 - wx - wy - wz);
    double q = qmin < qmax ? qmin : qmax;
    for (int d = 0; d < 3; d++) w[d] *= q;
}

PTAH_HD_FN void hydro_interp_slopes(const struct hydro_par *p, const double (*a)[NVAR_MAX],
                                    double (*w)[NVAR_MAX])
{
    for (int v = 0; v < p->nvar; v++) {
        int type = p->interpol_type;
        double q[7], slope[3];
        if (type == 4) type = v >= 1 && v <= 3 ? 3 : 2;
        for (int j = 0; j < 7 && type != 0; j++) q[j] = a[j][v];
        hydro_interp_slope(type, q, slope);
        for (int d = 0; d < 3; d++) w[d][v] = slope[d];
    }
}

/* Value in child k of a cell with these slopes. */
PTAH_HD double hydro_interp_child(double a, double wx, double wy, double wz, int k)
{
    return a + wx * ((k & 1) - 0.5) + wy * ((k >> 1 & 1) - 0.5) + wz * ((k >> 2) - 0.5);
}

/* Converts velocities to momenta, and adds a constant so that the children's mean momentum is the
 * parent cell's. */
PTAH_HD_FN void hydro_interp_momentum(const struct hydro_par *p, const double *a0, double (*out)[8])
{
    for (int d = 1; d <= 3; d++) {
        double mom = 0.0;
        for (int k = 0; k < 8; k++) {
            out[d][k] *= out[0][k];
            mom += out[d][k] * 0.125;
        }
        mom -= a0[d] * a0[0];
        for (int k = 0; k < 8; k++) out[d][k] -= mom;
    }
}

/* Whether all children of a cell have its state: interpolation without slopes, and of momenta.
 * hydro_interp_flat returns that state u[nvar] of cell c of oct i of level l; a −0 is kept in the
 * first child only. */
PTAH_HD bool hydro_interp_same(const struct hydro_par *p)
{
    return p->interpol_type == 0 && p->interpol_var < 2;
}

PTAH_HD_FN void hydro_interp_flat(const struct mesh *m, int l, lidx i, int c,
                                  const struct hydro_par *p, double *u)
{
    double(*const *fld)[8] = m->lev[l].fld + FLD_U;
    double r = fld[0][i][c], x = fld[1][i][c], y = fld[2][i][c], z = fld[3][i][c],
           e = fld[GAS_ENERGY][i][c];
    u[0] = r, u[1] = x, u[2] = y, u[3] = z;
    for (int v = GAS_SCALARS; v < p->nvar; v++) u[v] = fld[v][i][c];
    r = hydro_max(r, p->smallr);
    double ekin = gas_kinetic(r, x, y, z), more = gas_energies(p->energy.n, u);
    u[GAS_ENERGY] = p->interpol_var > 0 ? ((e - ekin) - more) + ekin : e;
    for (int n = 0; p->interpol_var > 0 && n < p->energy.n; n++)
        u[GAS_ENERGY] += u[GAS_SCALARS + n];
}

/* Conserved variables of the eight cells of a child oct of cell c of oct i of level l. */
PTAH_HD_FN void hydro_interp_oct(const struct mesh *m, int l, lidx i, int c,
                                 const struct hydro_par *p, double (*out)[8])
{
    double a[7][NVAR_MAX], w[3][NVAR_MAX];
    /* number of neighbours that slopes need */
    int nv = p->nvar, near = p->interpol_type == 0 ? 0 : 6;
    for (int v = 0; v < nv; v++) a[0][v] = m->lev[l].fld[FLD_U + v][i][c];
    for (int f = 0; f < near; f++) hydro_state_across(m, l, i, c, f, p, a[1 + f]);
    if (p->interpol_var > 0)
        for (int j = 0; j <= near; j++) hydro_interp_vars(p, a[j]);
    hydro_interp_slopes(p, a, w);
    for (int v = 0; v < nv; v++)
        for (int k = 0; k < 8; k++)
            out[v][k] = hydro_interp_child(a[0][v], w[0][v], w[1][v], w[2][v], k);
    if (p->interpol_var == 2) hydro_interp_momentum(p, a[0], out);
    if (p->interpol_var > 0)
        for (int k = 0; k < 8; k++) {
            double r = hydro_max(out[0][k], p->smallr);
            out[GAS_ENERGY][k] += gas_kinetic(r, out[1][k], out[2][k], out[3][k]);
        }
    for (int n = 0; p->interpol_var > 0 && n < p->energy.n; n++)
        for (int k = 0; k < 8; k++) out[GAS_ENERGY][k] += out[GAS_SCALARS + n][k];
}

/* A value of photons in the eight cells of a child oct of cell c of oct i of level l: by the same
 * slopes as the gas. Beyond a boundary is the value of the cell, a flux across a reflecting one
 * with the other sign; which: the number of the value. */
PTAH_HD_FN void hydro_interp_photon(const struct mesh *m, int l, lidx i, int c,
                                    const struct hydro_par *p, int which, double out[8])
{
    const int f = FLD_PHOTONS + which, axis = which % PHOTON_VALUES - 1;
    const int type = p->interpol_type == 4 ? 2 : p->interpol_type;
    const struct patch_cell own = {l, i, c};
    double a[7], w[3];
    int odd = 0;
    for (int d = 0; d < 2 && axis >= 0; d++)
        if (p->bound[2 * axis + d] == BOUND_REFLECT) odd |= 1 << (2 * axis + d);
    a[0] = m->lev[l].fld[f][i][c];
    for (int n = 0; n < 6 && type != 0; n++) a[1 + n] = patch_value_across(m, own, n, f, odd);
    hydro_interp_slope(type, a, w);
    for (int k = 0; k < 8; k++) out[k] = hydro_interp_child(a[0], w[0], w[1], w[2], k);
}

/* Likewise, with fluxes of at most photon_speed N: in a dark cell between beams that part from each
 * other a flux has slopes, but the density has none. */
PTAH_HD_FN void hydro_interp_photons(const struct mesh *m, int l, lidx i, int c,
                                     const struct hydro_par *p, int which, double out[8])
{
    const int axis = which % PHOTON_VALUES - 1, first = which - 1 - axis;
    double u[PHOTON_VALUES][8];
    hydro_interp_photon(m, l, i, c, p, which, out);
    if (axis < 0 || p->interpol_type == 0 || !(p->photon_speed > 0)) return;
    for (int v = 0; v <= m->ndim; v++) hydro_interp_photon(m, l, i, c, p, first + v, u[v]);
    for (int k = 0; k < 8; k++) {
        double F2 = 0.0, most = p->photon_speed * u[0][k];
        for (int v = 1; v <= m->ndim; v++) F2 += u[v][k] * u[v][k];
        if (F2 > most * most) out[k] *= most / sqrt(F2);
    }
}

/* ---- restriction ---- */

/* Mean of the children of one cell; with interpol_var > 0 internal energy is averaged instead of
 * total energy. */
PTAH_HD_FN void hydro_restrict_cell(const struct mesh *m, int l, lidx i, int c, int nvar,
                                    int interpol_var, double smallr)
{
    const struct level *lv = &m->lev[l], *fine = &m->lev[l + 1];
    lidx o = lv->child[i][c];
    double r[8], mean[4];
    for (int k = 0; k < 8; k++) r[k] = hydro_max(fine->fld[FLD_U][o][k], smallr);
    for (int v = 0; v < nvar; v++) {
        const double *u = fine->fld[FLD_U + v][o];
        double s = 0.0;
        for (int k = 0; k < 8; k++) s += v == 0 ? r[k] : u[k];
        if (v < 4) mean[v] = s / 8.0;
        lv->fld[FLD_U + v][i][c] = s / 8.0;
    }
    if (interpol_var <= 0) return;
    double s = 0.0, d = hydro_max(mean[0], smallr);
    double energy[8];
    for (int k = 0; k < 8; k++) energy[k] = fine->fld[FLD_U + GAS_ENERGY][o][k];
    for (int k = 0; fine->nener > 0 && k < 8; k++) energy[k] -= gas_cell_energies(fine, o, k);
    for (int k = 0; k < 8; k++)
        s += gas_internal(energy[k], r[k], fine->fld[FLD_U + 1][o][k], fine->fld[FLD_U + 2][o][k],
                          fine->fld[FLD_U + 3][o][k]);
    double e = s / 8.0 + gas_kinetic(d, mean[1], mean[2], mean[3]);
    if (lv->nener > 0) e += gas_cell_energies(lv, i, c);
    lv->fld[FLD_U + GAS_ENERGY][i][c] = e;
}
