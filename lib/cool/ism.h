/* cool/ism: cooling and heating of the present-day interstellar medium (Audit & Hennebelle 2005):
 * fine structure and metastable lines of carbon and oxygen, Lyman α, grains in the ultraviolet
 * field of the Solar neighbourhood; above 1e4 K the cooling of ionised gas of solar metallicity.
 * The rates depend on density and temperature alone. */
#pragma once
#include "cool/solve.h"

/* Net heating, erg/s/cm³, of n hydrogen nuclei per cm³ at T in K; ionised above 10035 K. */
double ism_rate(double n, double T);
/* Advances cells over dt seconds; T = mu T2, and the energy density is n_H k T/(gamma − 1). */
void solve_ism(double mu, double gamma, double dt, struct solve_cells *c);
