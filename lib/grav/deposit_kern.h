/* grav/deposit_kern: point functions of the gas deposit, one cell at a time (deposit.c), for hosts
 * and devices; on a device the mesh holds device addresses. */
#pragma once
#include <math.h>

#include "oct/mesh.h"

/* Centre of mass of oct i of level l; fine: centres of mass of level l+1 (NULL: none). */
PTAH_HD void deposit_com(const struct mesh *m, int l, lidx i, const double (*fine)[3],
                         double com[3])
{
    const struct level *lv = &m->lev[l];
    const double *rho = level_gas(lv, GAS_DENSITY) ? level_gas(lv, GAS_DENSITY)[i] : NULL;
    double mass = 0, mx[3] = {0, 0, 0}, dx = mesh_dx(m, l), x[3][2];
    int64_t q[3];
    okey_coords(lv->key[i], q);
    for (int d = 0; d < 3; d++)
        for (int up = 0; up < 2; up++) x[d][up] = ((double)(2 * q[d] + up) + 0.5) * dx;
    for (int k = 0; k < 8; k++) {
        lidx j = lv->child[i][k];
        double r = rho ? rho[k] : 0;
        mass += r;
        for (int d = 0; d < 3; d++) mx[d] += r * (fine && j >= 0 ? fine[j][d] : x[d][k >> d & 1]);
    }
    for (int d = 0; d < 3; d++) com[d] = mass > 0 ? mx[d] / mass : x[d][0] + 0.5 * dx;
}

/* Mass of a cell in quanta; unit: number of quanta per density. */
PTAH_HD double deposit_quanta(double rho, double smallr, double unit)
{
    return (rho > smallr ? rho : smallr) * unit;
}

/* Cloud of a split cell along one axis: *low is its lower cell, −1..1, relative to the lower cell
 * of the oct, whose centre is x0; returns the share of the upper cell. */
PTAH_HD double deposit_cloud(double com, double x0, double dx, int *low)
{
    double at = (com - x0) / dx, below = floor(at);
    *low = (int)below;
    if (*low >= -1 && *low <= 1) return at - below;
    /* Unreachable, since the centre of mass lies in the cell. */
    *low = *low < -1 ? -1 : 1;
    return below < -1 ? 0 : 1;
}

/* Share of corner v of a cloud; bits of v select the upper cell. */
PTAH_HD double deposit_share(const double frac[3], int v)
{
    double w = 1;
    for (int d = 0; d < 3; d++) w *= v >> d & 1 ? frac[d] : 1.0 - frac[d];
    return w;
}

PTAH_HD double deposit_density(int64_t mass, double quantum, double vol)
{
    return (double)mass * quantum / vol;
}

/* Mass of cell k of oct i; 0 if the cell is no leaf. */
PTAH_HD double deposit_leaf(const struct level *lv, lidx i, int k, double vol, double smallr)
{
    double rho = level_gas(lv, GAS_DENSITY)[i][k], mass = (rho > smallr ? rho : smallr) * vol;
    return lv->child[i][k] >= 0 ? 0.0 : mass;
}

/* Mass of the leaf cells of oct i; vol: mesh_share. */
PTAH_HD double deposit_leaf_mass(const struct level *lv, lidx i, double vol, double smallr)
{
    double sum = 0;
    for (int k = 0; k < 8; k++) sum += deposit_leaf(lv, i, k, vol, smallr);
    return sum;
}

/* Mass and first moments of the leaf cells of oct i of level l. */
PTAH_HD void deposit_leaves(const struct mesh *m, int l, lidx i, double smallr, double sum[4])
{
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), vol = mesh_share(m, l), x[2][3];
    int64_t q[3];
    okey_coords(lv->key[i], q);
    for (int b = 0; b < 2; b++)
        for (int d = 0; d < 3; d++) x[b][d] = ((double)(2 * q[d] + b) + 0.5) * dx;
    for (int j = 0; j < 4; j++) sum[j] = 0;
    for (int k = 0; k < 8; k++) {
        const double at[4] = {1, x[k & 1][0], x[k >> 1 & 1][1], x[k >> 2][2]},
                     mass = deposit_leaf(lv, i, k, vol, smallr);
        for (int j = 0; j < 4; j++) sum[j] += mass * at[j];
    }
}

/* The quasi-Lagrangian refinement criterion. gas: gas density in units of `unit`; number: particle
 * number in units of number_quantum. */
PTAH_HD bool deposit_dense(double gas, int64_t number, double number_quantum, double m_refine)
{
    return gas + (double)number * number_quantum >= m_refine;
}

/* Sum of factor f² over the leaf cells of an oct, in a fixed order. */
PTAH_HD double force_energy(const struct level *lv, lidx i, double factor)
{
    double part[8][3], e = 0;
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 8; k++) {
            double f = lv->fld[FLD_FX + d][i][k];
            part[k][d] = factor * (f * f);
        }
    for (int k = 0; k < 8; k++)
        for (int d = 0; d < 3 && lv->child[i][k] < 0; d++) e += part[k][d];
    return e;
}
