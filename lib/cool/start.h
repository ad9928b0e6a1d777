/* cool/start: the thermal history of a cell of mean density, from a = 1e-4 on: the initial
 * temperature of a cosmological run, and the background that maintains the residual ionisation
 * after recombination (docs/method/cooling.md). */
#pragma once
#include "cool/uv.h"

struct mean_cell {
    double h, omega_b, omega_m, omega_l;
};

/* uv->j_floor such that n_e/n_H = 1.2e-5 sqrt(Ω_m)/(h Ω_b) before reionisation (Peebles 1993). */
double start_floor(const struct mean_cell *m, const struct uv *uv);
/* T2 of the gas at a, in K. An error if a is not above 1e-4. */
MUST_USE enum err start_temperature(const struct mean_cell *m, const struct uv *uv, double a,
                                    double *T2);
