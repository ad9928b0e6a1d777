/* ckpt/asis: see asis.h. Both directions work value by value, so cells may come in any batches. */
#include "ckpt/asis.h"

#include <math.h>
#include <string.h>

#include "oct/gas_kern.h"

void asis_of_fields(struct asis *a, const struct ckpt_field *field, int nvar,
                    const struct ckpt_head *h)
{
    static const char *const times[] = {"scalar_", "passive_scalar", "metallicity"};
    *a = (struct asis){.nvar = nvar, .gamma = h->gamma, .smallr = h->smallr, .energy = h->energy};
    /* without a leading density the conserved variables cannot be computed */
    if (nvar < 1 || strcmp(field[0].name, "density") != 0) return;
    for (int v = 1; v < nvar; v++) {
        const char *name = field[v].name;
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            if (strncmp(name, times[k], strlen(times[k])) == 0) a->kind[v] = ASIS_TIMES_DENSITY;
        if (strncmp(name, "velocity_", 9) == 0) a->kind[v] = ASIS_VELOCITY;
        if (gas_name_energy(name)) a->kind[v] = ASIS_ENERGY;
        if (strcmp(name, "pressure") == 0 || strcmp(name, "thermal_pressure") == 0)
            a->kind[v] = ASIS_PRESSURE;
    }
}

/* Whether a variable is not a product with the density. */
static bool is_plain(const struct asis *a, int v)
{
    return a->kind[v] == ASIS_SAME || a->kind[v] == ASIS_PRESSURE || a->kind[v] == ASIS_ENERGY;
}

/* The adiabatic index of pressure v. */
static double index_of(const struct asis *a, int v)
{
    int k = 0;
    for (int i = 0; i < v; i++) k += a->kind[i] == ASIS_ENERGY;
    return a->kind[v] == ASIS_ENERGY && k < a->energy.n ? a->energy.gamma[k] : a->gamma;
}

static double density(const struct asis *a, double rho)
{
    return rho > a->smallr ? rho : a->smallr;
}

void asis_conserved(const struct asis *a, int n, const double *const *stored, double *const *u)
{
    for (int v = 0; v < a->nvar; v++)
        for (int i = 0; i < n; i++) {
            double q = stored[v][i];
            u[v][i] = is_plain(a, v) ? q : q * density(a, stored[0][i]);
            if (a->kind[v] == ASIS_ENERGY) u[v][i] = gas_internal_of(q, index_of(a, v));
        }
    for (int v = 0; v < a->nvar; v++) {
        if (a->kind[v] != ASIS_PRESSURE) continue;
        for (int i = 0; i < n; i++) u[v][i] = gas_internal_of(stored[v][i], a->gamma);
        for (int k = 0; k < a->nvar; k++)
            for (int i = 0; a->kind[k] == ASIS_VELOCITY && i < n; i++) {
                double q = stored[k][i];
                u[v][i] += gas_kinetic_flux_part(density(a, stored[0][i]), q);
            }
        for (int k = 0; k < a->nvar; k++)
            for (int i = 0; a->kind[k] == ASIS_ENERGY && i < n; i++)
                u[v][i] += gas_internal_of(stored[k][i], index_of(a, k));
    }
}

void asis_stored(const struct asis *a, int n, const double *const *u, double *const *stored)
{
    for (int v = 0; v < a->nvar; v++)
        for (int i = 0; i < n; i++) {
            stored[v][i] = is_plain(a, v) ? u[v][i] : u[v][i] / density(a, u[0][i]);
            if (a->kind[v] == ASIS_ENERGY) stored[v][i] = gas_pressure(u[v][i], index_of(a, v));
        }
    for (int v = 0; v < a->nvar; v++) {
        if (a->kind[v] != ASIS_PRESSURE) continue;
        for (int k = 0; k < a->nvar; k++)
            for (int i = 0; a->kind[k] == ASIS_VELOCITY && i < n; i++) {
                double m = u[k][i];
                stored[v][i] = stored[v][i] - gas_kinetic_part(density(a, u[0][i]), m);
            }
        for (int k = 0; k < a->nvar; k++)
            for (int i = 0; a->kind[k] == ASIS_ENERGY && i < n; i++)
                stored[v][i] = stored[v][i] - u[k][i];
        for (int i = 0; i < n; i++) stored[v][i] = gas_pressure(stored[v][i], a->gamma);
    }
}

/* The bits of a double, with one pattern for all NaNs, whose bits depend on the compiler. */
static uint64_t bits_of(double x)
{
    uint64_t y = 0x7ff8000000000000u;
    if (!isnan(x)) memcpy(&y, &x, sizeof y);
    return y;
}

void asis_differ(int n, const double *is, const double *made, uint64_t *word)
{
    for (int i = 0; i < n; i++) {
        uint64_t x;
        memcpy(&x, &is[i], sizeof x);
        int64_t d = (int64_t)(x - bits_of(made[i]));
        word[i] = (uint64_t)d << 1 ^ (uint64_t)(d >> 63);
    }
}

void asis_mend(int n, const uint64_t *word, double *made)
{
    for (int i = 0; i < n; i++) {
        uint64_t x = bits_of(made[i]) + (word[i] >> 1 ^ -(word[i] & 1));
        memcpy(&made[i], &x, sizeof x);
    }
}

void asis_oct(const struct asis *a, const double (*stored)[8], double (*u)[8], uint64_t (*word)[8])
{
    const double *is[CKPT_FIELDS];
    double *to[CKPT_FIELDS], made[CKPT_FIELDS][8], *back[CKPT_FIELDS];
    for (int v = 0; v < a->nvar; v++) is[v] = stored[v], to[v] = u[v], back[v] = made[v];
    asis_conserved(a, 8, is, to);
    asis_stored(a, 8, (const double *const *)to, back);
    for (int v = 0; v < a->nvar; v++)
        if (a->kind[v] == ASIS_SAME)
            memset(word[v], 0, sizeof word[v]);
        else
            asis_differ(8, is[v], made[v], word[v]);
}
