/* phys/turbulence: star formation that depends on the turbulence of the gas: the models of RAMSES
 * (sf_virial, sf_model). Method: docs/method/stars.md. */
#pragma once
#include "phys/stars.h"

/* Velocity dispersion of own leaf cells of the level, as the scalar of sf_virial. Gas and force of
 * the level are valid in ghosts. Local. */
void turbulence_update(const struct term_run *r);
/* Star formation efficiency per free-fall time of a leaf cell above the threshold, over eps_star.
 * Local. */
double turbulence_efficiency(const struct term_run *r, const struct star_law *law, lidx i, int c);

/* State of a cell, the input of the models of star formation efficiency. */
struct turbulent_cell {
    double rho, dx, G;         /* code units */
    double sigma2, cs2;        /* squares of velocity dispersion and sound speed */
    double compressive;        /* share of the forcing */
    double shear2;             /* sum of squares of the velocity gradient */
    double divergence2, curl2; /* of the velocity */
    double laplacian;          /* of the density */
};
double turbulence_model(int model, const struct turbulent_cell *t);
