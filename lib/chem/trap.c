/* chem/trap: infrared photons that dust keeps in a cell as a pressure (Rosdahl & Teyssier 2015,
 * their section 2.4): of the optical depth τ = 3/2 κ ρ dx of a cell, the part e^(-1/τ). */
#include <math.h>

#include "chem/chem.h"
#include "chem/species_kern.h"

void chem_release(const struct chem_par *p, struct chem_cells *c, const double trapped[CHEM_BATCH])
{
    for (int k = 0; k < c->n; k++) c->N[0][k] += trapped[k] / (p->law.erg[0] * p->press_boost);
}

static double scattering(const struct chem_par *p, const struct chem_cells *c, int k)
{
    vec N[CHEM_GROUPS];
    if (!p->kappa_T) return p->group[0].kappa_sc;
    for (int g = 0; g < p->groups; g++) N[g] = vec_of(fmax(c->N[g][k], CHEM_N_MIN));
    double T = vec_first(chem_warm(p, N));
    return p->group[0].kappa_sc * (T / 10) * (T / 10) * exp(-T / 1000);
}

void chem_trap(const struct chem_par *p, struct chem_cells *c, double dx,
               double trapped[CHEM_BATCH])
{
    for (int k = 0; k < c->n; k++) {
        double dust = c->Z[k] * (1 - c->x[CHEM_XHII][k]), N = fmax(c->N[0][k], CHEM_N_MIN);
        double tau = 1.5 * dx * c->nH[k] * p->law.rho_per_h * dust * scattering(p, c, k);
        double part = tau > 0 ? exp(-1 / tau) : 0, flow = fmax((1 - part) * N, CHEM_N_MIN);
        double F2 = 0;
        for (int i = 0; i < 3; i++) {
            c->F[0][i][k] *= 1 - part;
            F2 += c->F[0][i][k] * c->F[0][i][k];
        }
        double f = sqrt(F2) / (p->law.c * flow);
        for (int i = 0; i < 3 && f > 1; i++) c->F[0][i][k] /= f;
        c->N[0][k] = flow;
        trapped[k] = fmax(N - flow, 0) * p->law.erg[0] * p->press_boost;
    }
}
