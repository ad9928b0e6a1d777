/* view/unit: see unit.h. */
#include "view/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* By the beginning of the name of a field: density^d length^l time^t, in so many cgs units. */
static const struct row {
    const char *field, *name;
    int d, l, t;
    double cgs;
} ROWS[] = {{"density", "g/cm^3", 1, 0, 0, 1},
            {"rho_poisson", "g/cm^3", 1, 0, 0, 1},
            {"velocity_", "km/s", 0, 1, -1, 1e5},
            {"pressure", "erg/cm^3", 1, 2, -2, 1},
            {"thermal_pressure", "erg/cm^3", 1, 2, -2, 1},
            {"non_thermal_pressure", "erg/cm^3", 1, 2, -2, 1},
            {"phi", "(km/s)^2", 0, 2, -2, 1e10},
            {"potential", "(km/s)^2", 0, 2, -2, 1e10},
            {"acc_", "cm/s^2", 0, 1, -2, 1},
            {"grav_acceleration_", "cm/s^2", 0, 1, -2, 1},
            {"temperature", "K", 0, 0, 0, 1},
            {"nH", "1/cm^3", 0, 0, 0, 1},
            {"metallicity", "solar", 0, 0, 0, 1},
            {"level", "", 0, 0, 0, 1},
            {NULL, NULL, 0, 0, 0, 1}};

struct unit unit_of(const char *field, const struct units *u, bool physical)
{
    const struct row *r = ROWS;
    while (r->field && strncmp(field, r->field, strlen(r->field)) != 0) r++;
    bool always = r->field && !r->d && !r->l && !r->t; /* the same without -u */
    if (!r->field || !(physical || always)) return (struct unit){1, "code"};
    return (struct unit){pow(u->density, r->d) * pow(u->length, r->l) * pow(u->time, r->t) / r->cgs,
                         r->name};
}

struct unit unit_mass(const struct ckpt_head *h)
{
    double solar = h->unit_d * pow(h->unit_l, 3) / SOLAR_MASS;
    return h->cosmo ? (struct unit){solar * h->h0 / 100, "Msun/h"} : (struct unit){solar, "Msun"};
}

/* "z = 1.2", or "t = 3.4 Gyr" (in code units if not physical). */
static void when_of(const struct ckpt_head *h, bool physical, char *text, size_t n)
{
    const double gyr = 3.15576e16;
    double z = 1 / h->aexp - 1;
    if (h->cosmo)
        snprintf(text, n, "z = %.4g", fabs(z) < 5e-5 ? 0 : z);
    else if (physical)
        snprintf(text, n, "t = %.4g Gyr", h->t * h->unit_t / gyr);
    else
        snprintf(text, n, "t = %.4g", h->t);
}

void unit_title(const struct source *r, bool physical, char *text, size_t n)
{
    char when[48];
    when_of(&r->head, physical, when, sizeof when);
    snprintf(text, n, "output %d, %s", r->number, when);
}
