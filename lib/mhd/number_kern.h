/* mhd/number_kern: the Courant condition and totals of a cell, for the loops of the CPU (numbers.c)
 * and for devices. Private to mhd. */
#pragma once
#include "hydro/cell_kern.h"
#include "mhd/face_kern.h"

/* ---- the Courant condition ---- */

/* waves: whether the gas has waves, or a given flow. */
struct mhd_signal {
    struct mhd_gas g;
    int ndim;
    bool waves;
    double dx, courant;
    struct gas_energies energy;
    struct turb_force drive; /* driven turbulence; a NULL: none */
    bool gravity;
};

/* Sum over the axes of speed and fast speed of a cell; of the induction equation without waves.
 * mixed: whether there are non-thermal energies, a constant. */
PTAH_HD double mhd_speed_of_cell(bool mixed, const struct mhd_signal *x, const struct level *lv,
                                 lidx i, int c)
{
    const struct mhd_gas g = x->g;
    double(*const *u)[8] = lv->fld + FLD_U;
    const double r = hydro_max(u[0][i][c], g.smallr), inv = 1.0 / r;
    double v[3], b[3], b2 = 0, sum = 0;
    for (int d = 0; d < 3; d++) {
        v[d] = u[1 + d][i][c] * inv;
        b[d] = 0.5 * (level_magnetic(lv, 2 * d)[i][c] + level_magnetic(lv, 2 * d + 1)[i][c]);
        b2 += b[d] * b[d];
    }
    double e = gas_internal_v(u[GAS_ENERGY][i][c] - 0.5 * b2, r, v[0], v[1], v[2]);
    if (mixed) e -= gas_cell_energies(lv, i, c);
    const double p = hydro_max(g.gm1 * e, g.pmin);
    double a2 = gas_sound2(r, p, g.gamma);
    if (mixed) a2 += gas_cell_stiffness(lv, i, c, &x->energy) / r;
    const double half = 0.5 * (b2 * inv + a2);
    for (int d = 0; d < x->ndim; d++) {
        const double fast2 = half + sqrt(hydro_max(half * half - a2 * b[d] * b[d] * inv, 0.0));
        sum += fabs(v[d]) + (x->waves ? sqrt(fast2) : 0.0);
    }
    return sum;
}

PTAH_HD double mhd_signal_speed(const void *ctx, const struct level *lv, lidx i, int c)
{
    return mhd_speed_of_cell(false, (const struct mhd_signal *)ctx, lv, i, c);
}

PTAH_HD double mhd_signal_mixed(const void *ctx, const struct level *lv, lidx i, int c)
{
    return mhd_speed_of_cell(true, (const struct mhd_signal *)ctx, lv, i, c);
}

/* With gravity: minus the step. */
PTAH_HD double mhd_signal_step(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct mhd_signal *x = (const struct mhd_signal *)ctx;
    return -hydro_speed_dt(mhd_signal_speed(x, lv, i, c), gas_pull(lv, i, c), x->dx, x->courant);
}

PTAH_HD double mhd_signal_mixed_step(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct mhd_signal *x = (const struct mhd_signal *)ctx;
    return -hydro_speed_dt(mhd_signal_mixed(x, lv, i, c), gas_pull(lv, i, c), x->dx, x->courant);
}

/* With driven turbulence, and gravity and non-thermal energies if there are any. */
PTAH_HD double mhd_signal_driven(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct mhd_signal *x = (const struct mhd_signal *)ctx;
    return -hydro_speed_dt(mhd_speed_of_cell(x->energy.n > 0, x, lv, i, c),
                           gas_pull_driven(&x->drive, x->gravity, lv, i, c), x->dx, x->courant);
}

/* ---- totals ---- */

enum {
    MHD_MASS,
    MHD_TOTAL_ENERGY,
    MHD_INTERNAL,
    MHD_MAGNETIC,
    MHD_MOMENTUM,
    MHD_TOTALS = MHD_MOMENTUM + 3
};

/* Totals x of a cell of volume vol. */
PTAH_HD void mhd_cell_totals(const struct level *lv, lidx i, int c, double vol, double smallr,
                             double x[MHD_TOTALS])
{
    const struct gas_cell g = gas_cell_above(lv, i, c, smallr);
    x[MHD_MASS] = lv->fld[FLD_U][i][c] * vol;
    x[MHD_TOTAL_ENERGY] = level_gas(lv, GAS_ENERGY)[i][c] * vol;
    x[MHD_MAGNETIC] = gas_cell_magnetic(lv, i, c) * vol;
    x[MHD_INTERNAL] = gas_internal_by_parts(g.e, g.rho, g.m[0], g.m[1], g.m[2]) * vol;
    for (int d = 0; d < 3; d++) x[MHD_MOMENTUM + d] = g.m[d] * vol;
}

/* Totals of the leaf cells of an oct. */
PTAH_HD void mhd_oct_totals(const struct level *lv, lidx i, double vol, double smallr,
                            double sum[MHD_TOTALS])
{
    double all[MHD_TOTALS][8];
    for (int c = 0; c < 8; c++) {
        double x[MHD_TOTALS] = {0};
        if (lv->child[i][c] < 0) mhd_cell_totals(lv, i, c, vol, smallr, x);
        for (int q = 0; q < MHD_TOTALS; q++) all[q][c] = x[q];
    }
    for (int q = 0; q < MHD_TOTALS; q++) sum[q] = hydro_sum8(all[q]);
}

/* |div B| dx / |B| of a cell. */
PTAH_HD double mhd_cell_divergence(const struct level *lv, lidx i, int c, int ndim)
{
    double sum = 0;
    for (int d = 0; d < ndim; d++)
        sum += level_magnetic(lv, 2 * d + 1)[i][c] - level_magnetic(lv, 2 * d)[i][c];
    return sum == 0 ? 0.0 : fabs(sum) / sqrt(2 * gas_cell_magnetic(lv, i, c));
}
