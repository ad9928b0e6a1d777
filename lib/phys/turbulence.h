/* phys/turbulence: star formation efficiency that depends on the turbulence of the gas: RAMSES's
 * models (sf_virial, sf_model). Method: docs/method/stars.md. */
#pragma once
#include "phys/stars.h"

/* Updates the velocity dispersion of own leaf cells of the level, the scalar of sf_virial. Gas and
 * force of the level must be valid in ghosts. Local. */
void turbulence_update(const struct term_run *r);
/* Star formation efficiency per free-fall time of a leaf cell above the threshold, in units of
 * eps_star. Local. */
double turbulence_efficiency(const struct term_run *r, const struct star_law *law, lidx i, int c);

/* State of a cell, input of the models of star formation efficiency. */
struct turbulent_cell {
    double rho, dx, G;         /* code units */
    double sigma2, cs2;        /* squared velocity dispersion, squared sound speed */
    double compressive;        /* compressive fraction of the forcing */
    double shear2;             /* sum of squares of the velocity gradient */
    double divergence2, curl2; /* squared divergence and curl of the velocity */
    double laplacian;          /* Laplacian of the density */
};
double turbulence_model(int model, const struct turbulent_cell *t);
