/* cooldev/cell_kern: conversion of a cell to and from the variables of cooling, for the source term
 * of the CPU (phys/cooling.c) and for devices: C, C++ and CUDA. */
#pragma once
#include <math.h>

#include "cool/rates.h"
#include "oct/gas_kern.h"
#include "vec/power.h"

/* ---- the temperature floor (phys/floor.h) ---- */

enum floor_form {
    FLOOR_CONSTANT,  /* floor = T2 */
    FLOOR_POLYTROPE, /* floor = T2 (n_H/n)^index */
    FLOOR_DOUBLE,    /* floor = T2 (1 + (n_H/n)^index) */
    FLOOR_CUSTOM,    /* floor = T2 below n, the polytrope above */
    /* floor = T2 sqrt(1 + (n_H/n)^(2 index)) (1 + n_H/n_2)^index_2 (1 + n_H/n_3)^index_3 (Machida,
     * Inutsuka & Matsumoto 2006) */
    FLOOR_COLLAPSE
};

struct temperature_floor {
    enum floor_form form;
    double T2, n, index;             /* temperature, K; density, 1/cm³; exponent */
    double next_n[2], next_index[2]; /* of the further transitions of FLOOR_COLLAPSE */
};

/* T2 at densities nH. */
PTAH_HD vec cooling_floor(const struct temperature_floor *f, vec nH)
{
    const vec x = nH / f->n, one = vec_of(1);
    switch (f->form) {
    case FLOOR_CONSTANT:
        break;
    case FLOOR_POLYTROPE:
        return f->T2 * (f->index == 1 ? x : vec_power(x, f->index));
    case FLOOR_DOUBLE:
        return f->T2 * (1 + vec_power(x, f->index));
    case FLOOR_CUSTOM:
        return f->T2 * vec_pick((vec_bits)(x < one), one, vec_power(x, f->index));
    case FLOOR_COLLAPSE:
        return f->T2 * vec_sqrt(1 + vec_power(x, 2 * f->index)) *
               vec_power(1 + nH / f->next_n[0], f->next_index[0]) *
               vec_power(1 + nH / f->next_n[1], f->next_index[1]);
    }
    return vec_of(f->T2);
}

/* ---- cells ---- */

/* lower limit of T2, K; threshold of the delay scalar */
static const double COOLING_MIN = 1e-2, COOLING_DELAYED = 1e-3;

/* Parameters common to all cells of a level. */
struct cooling_law {
    struct temperature_floor floor;
    double smallr;
    double hydrogen;    /* hydrogen nuclei/cm³ per code density */
    double per_T2;      /* energy density per density and T2, code units */
    double dt;          /* time step, s */
    double decay;       /* decay factor of the delay scalar per step */
    double Z, max;      /* metallicity if it is no variable; maximum T2, K */
    int metal, delayed; /* variable indices of metallicity and delay scalar, -1: none */
    int shielded;       /* whether dense gas receives less radiation */
};

/* Values of a cell that stay constant while it cools, and T2 above the floor. */
struct cooling_cell {
    double rho, nH, Z, kinetic, floor, T2;
};

PTAH_HD double cooling_density(const struct cooling_law *w, const struct level *lv, lidx i, int c)
{
    double rho = level_gas(lv, GAS_DENSITY)[i][c];
    return rho > w->smallr ? rho : w->smallr;
}

/* Densities at which the table is read: self-shielded gas receives less radiation, as if it were
 * denser by exp(n_H/0.01). */
PTAH_HD vec cooling_seen(const struct cooling_law *w, vec nH)
{
    return w->shielded ? nH / vec_max(vec_exp(-nH / 0.01), vec_of(1e-20)) : nH;
}

/* The values of gas of which `metal` is the density of metals. floor: T2 of the floor at its
 * density. */
PTAH_HD struct cooling_cell cooling_begin(const struct cooling_law *w, const struct gas_cell *g,
                                          double metal, double floor)
{
    struct cooling_cell x;
    x.rho = g->rho;
    x.nH = x.rho * w->hydrogen;
    x.kinetic = gas_cell_kinetic(g);
    x.floor = floor;
    double T2 = gas_cell_internal(g) / (x.rho * w->per_T2) - x.floor;
    x.Z = w->metal >= 0 ? metal / x.rho / COOL_SOLAR : w->Z;
    T2 = T2 > COOLING_MIN ? T2 : COOLING_MIN;
    x.T2 = T2 < w->max ? T2 : w->max;
    return x;
}

/* Internal energy per volume after cooling. T2: temperature above the floor; x: result of
 * cooling_begin; delay: the delay scalar per volume, 0 without one. */
PTAH_HD double cooling_end(const struct cooling_law *w, const struct cooling_cell *x, double T2,
                           double delay)
{
    int delayed = (delay / x->rho > COOLING_DELAYED) & (T2 < x->T2);
    double total = (delayed ? x->T2 : T2) + x->floor;
    return total * (x->rho * w->per_T2);
}

/* Reads a cell. floor: T2 of the floor at its density. */
PTAH_HD struct cooling_cell cooling_enter(const struct cooling_law *w, const struct level *lv,
                                          lidx i, int c, double floor)
{
    const struct gas_cell g = gas_cell_above(lv, i, c, w->smallr);
    return cooling_begin(w, &g, w->metal >= 0 ? level_gas(lv, w->metal)[i][c] : 0, floor);
}

/* Writes a cell after cooling. T2: temperature above the floor; x: result of cooling_enter. */
PTAH_HD void cooling_leave(const struct cooling_law *w, const struct level *lv, lidx i, int c,
                           const struct cooling_cell *x, double T2)
{
    double delay = w->delayed >= 0 ? level_gas(lv, w->delayed)[i][c] : 0;
    gas_set_internal(lv, i, c, cooling_end(w, x, T2, delay), x->kinetic);
    if (w->delayed >= 0) level_gas(lv, w->delayed)[i][c] *= w->decay;
}

/* Sets the internal energy of a cell to the floor. */
PTAH_HD void cooling_set(const struct cooling_law *w, const struct level *lv, lidx i, int c,
                         double floor)
{
    const struct gas_cell g = gas_cell_above(lv, i, c, w->smallr);
    gas_set_internal(lv, i, c, floor * (g.rho * w->per_T2), gas_cell_kinetic(&g));
}
