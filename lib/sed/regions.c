/* sed/regions: regions of ionised gas around stars that the mesh does not resolve; see stars.h. */
#include <math.h>

#include "base/cgs.h"
#include "phys/stars.h"
#include "sed/stars.h"

static const double RECOMBINATION = 2.6e-13; /* cm³/s, case B at 10 000 K */
static const double IONISED = 1.8e4;         /* T/μ of ionised gas, K */
static const double NEUTRAL = 1e-3;          /* fraction of HI in it */

struct job {
    const struct term_run *r;
    const struct sed_regions *h;
    struct temperature_floor floor;
    double photons; /* photons per second of a density of 1 in code units */
    double half;    /* half a cell, cm */
};

/* T/μ in K at the floor of a cell. */
static double floor_of(const struct job *j, double rho)
{
    return floor_T2(&j->floor, rho * j->r->units.hydrogen);
}

/* Whether a cell holds an unresolved region. */
static bool unresolved(const struct job *j, const struct level *lv, const struct sed_shine *s)
{
    double rho = level_gas(lv, GAS_DENSITY)[s->oct][s->cell], n = rho * j->r->units.hydrogen;
    double T2 = fmax(star_T2(j->r, lv, s->oct, s->cell) - floor_of(j, rho), COOLING_MIN);
    double light = 0;
    for (int g = 0; g < SED_GROUPS; g++)
        if (j->h->ionises[g]) light += s->N[g] * j->photons;
    double radius = cbrt(3 / (4 * M_PI) * light / (RECOMBINATION * n * n));
    return T2 < IONISED && radius < j->half && radius * pow(IONISED / T2, 4.0 / 3) >= j->half;
}

static void heat_cell(const struct job *j, const struct level *lv, lidx i, int c)
{
    const struct gas_cell g = gas_cell_read(lv, i, c);
    double T2 = IONISED + floor_of(j, g.rho), rho = level_gas(lv, GAS_DENSITY)[i][c];
    double pressure = rho * T2 / j->r->units.temperature;
    gas_set_internal(lv, i, c, gas_internal_of(pressure, j->r->hydro->gamma), gas_cell_kinetic(&g));
    if (j->h->x_hi >= 0) level_gas(lv, j->h->x_hi)[i][c] = NEUTRAL * rho;
    if (j->h->x_hii >= 0) level_gas(lv, j->h->x_hii)[i][c] = (1 - NEUTRAL) * rho;
}

/* Replaces the non-thermal energy of a cell. */
static void set_energy(const struct job *j, const struct level *lv, lidx i, int c, double energy)
{
    double *e = &level_gas(lv, j->h->energy)[i][c];
    gas_add_energy(lv, i, c, energy - *e);
    *e = energy;
}

static void push_cell(const struct job *j, const struct level *lv, lidx i, int c)
{
    double rho = level_gas(lv, GAS_DENSITY)[i][c];
    double pressure = rho * IONISED / j->r->units.temperature;
    set_energy(j, lv, i, c, gas_internal_of(pressure, j->h->gamma));
}

/* Removes the energy of regions of the step before. */
static void clear(const struct job *j, const struct level *lv)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (lv->child[i][c] < 0 && level_gas(lv, j->h->energy)[i][c] != 0)
                set_energy(j, lv, i, c, 0);
}

void sed_regions_heat(const struct term_run *r, const struct sed_regions *h, double unit_np,
                      double dt, const struct sed_shines *shines)
{
    const struct level *lv = &r->mesh->lev[r->level];
    double dx = mesh_dx(r->mesh, r->level) * r->units.length;
    struct job j = {.r = r,
                    .h = h,
                    .floor = floor_at(r->par, r->cosmo, &r->units, r->aexp),
                    .photons = unit_np * dx * dx * dx / (dt * r->units.time),
                    .half = 0.5 * dx};
    if (!h->thermal) clear(&j, lv);
    for (int64_t k = 0; k < shines->n; k++) {
        const struct sed_shine *s = &shines->at[k];
        if (!unresolved(&j, lv, s)) continue;
        for (int c = s->cell; c < 8; c += r->mesh->cells)
            h->thermal ? heat_cell(&j, lv, s->oct, c) : push_cell(&j, lv, s->oct, c);
    }
}
