/* sparse/small_kern: the tests that find cells of a level to be refined by their own gas, on hosts
 * and devices: for C, C++ and CUDA. */
#pragma once
#include <math.h>
#include <stdbool.h>

#include "oct/gas_kern.h"

/* Refinement of a level by the Jeans length and by density (sim/flag.c), code units. */
struct small_law {
    double dense;         /* density from which cells are refined; HUGE_VAL: none */
    double width;         /* of jeans_refine cells; 0: no criterion of the Jeans length */
    double pi, gravity;   /* RAMSES's pi; G */
    double least;         /* minimum density */
    double gamma, smallr; /* of the gas */
    double floor2;        /* minimum of the square of the sound speed */
};

/* Square of the isothermal sound speed, as in RAMSES. */
PTAH_HD double small_sound2(const struct small_law *w, const struct gas_cell *u)
{
    const double p = gas_pressure(gas_cell_internal_m2(u), w->gamma);
    return fmax(p / u->rho, w->floor2);
}

/* Whether the cells do not resolve the Jeans length. */
PTAH_HD bool small_jeans(const struct small_law *w, double rho, double sound2)
{
    return w->width >= sqrt(w->pi * sound2 / (w->gravity * rho));
}

/* Whether cell c of oct i is to be refined. */
PTAH_HD bool small_wants(const struct small_law *w, const struct level *lv, lidx i, int c)
{
    if (level_gas(lv, GAS_DENSITY)[i][c] >= w->dense) return true;
    if (!(w->width > 0)) return false;
    const struct gas_cell u = gas_cell_above(lv, i, c, w->smallr);
    return !(u.rho < w->least) && small_jeans(w, u.rho, small_sound2(w, &u));
}
