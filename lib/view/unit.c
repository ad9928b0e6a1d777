#include "view/unit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"

/* 1/√(4π): the magnetic pressure is B²/2 in code units, B²/8π in Gauss. */
static const double GAUSS = 0.28209479177387814;

/* Units by the prefix of a field name: density^d length^l time^t, or radiation's own, and the unit
 * in cgs. */
static const struct row {
    const char *field, *name;
    double d, l, t;
    double cgs;
    enum { MECHANICAL, PHOTONS, FLUX } kind;
} ROWS[] = {{"density", "g/cm^3", 1, 0, 0, 1, MECHANICAL},
            {"rho_poisson", "g/cm^3", 1, 0, 0, 1, MECHANICAL},
            {"velocity_", "km/s", 0, 1, -1, CGS_KM, MECHANICAL},
            {"pressure", "erg/cm^3", 1, 2, -2, 1, MECHANICAL},
            {"thermal_pressure", "erg/cm^3", 1, 2, -2, 1, MECHANICAL},
            {"non_thermal_pressure", "erg/cm^3", 1, 2, -2, 1, MECHANICAL},
            {"phi", "(km/s)^2", 0, 2, -2, 1e10, MECHANICAL},
            {"potential", "(km/s)^2", 0, 2, -2, 1e10, MECHANICAL},
            {"acc_", "cm/s^2", 0, 1, -2, 1, MECHANICAL},
            {"grav_acceleration_", "cm/s^2", 0, 1, -2, 1, MECHANICAL},
            {"B_", "G", 0.5, 1, -1, GAUSS, MECHANICAL},
            {"alfven_speed", "km/s", 0, 1, -1, CGS_KM, MECHANICAL},
            {"current", "G/cm", 0.5, 0, -1, GAUSS, MECHANICAL},
            {"beta", "", 0, 0, 0, 1, MECHANICAL},
            {"div_B", "", 0, 0, 0, 1, MECHANICAL},
            {"temperature", "K", 0, 0, 0, 1, MECHANICAL},
            {"nH", "1/cm^3", 0, 0, 0, 1, MECHANICAL},
            {"metallicity", "solar", 0, 0, 0, 1, MECHANICAL},
            {"level", "", 0, 0, 0, 1, MECHANICAL},
            {"N", "1/cm^3", 0, 0, 0, 1, MECHANICAL}, /* photons */
            {"x_H", "", 0, 0, 0, 1, MECHANICAL},
            {"photon_density_", "1/cm^3", 0, 0, 0, 1, PHOTONS},
            {"photon_flux_", "1/cm^2/s", 0, 0, 0, 1, FLUX},
            {NULL, NULL, 0, 0, 0, 1, MECHANICAL}};

struct unit unit_of(const char *field, const struct units *u, bool physical)
{
    const struct row *r = ROWS;
    if (strcmp(field, "B") == 0) field = "B_";
    while (r->field && strncmp(field, r->field, strlen(r->field)) != 0) r++;
    const double photons = r->kind == PHOTONS ? u->photons : r->kind == FLUX ? u->flux : 1;
    bool always = r->field && r->kind == MECHANICAL && !r->d && !r->l && !r->t; /* without -u too */
    if (!r->field || !(physical || always) || !(photons > 0)) return (struct unit){1, "code"};
    return (struct unit){photons * pow(u->density, r->d) * pow(u->length, r->l) *
                             pow(u->time, r->t) / r->cgs,
                         r->name};
}

struct unit unit_mass(const struct ckpt_head *h)
{
    double solar = h->unit_d * pow(h->unit_l, 3) / CGS_MSUN;
    return h->cosmo ? (struct unit){solar * h->h0 / 100, "Msun/h"} : (struct unit){solar, "Msun"};
}

/* Units from the largest to the smallest, each for sizes of at least `from` units; 0 for the
 * last. */
struct scale {
    const char *name;
    double cgs, from;
};

static struct unit by_size(const struct scale *s, double size)
{
    while (s->from > 0 && !(size >= s->from * s->cgs)) s++;
    return (struct unit){1 / s->cgs, s->name};
}

struct unit unit_length(const struct ckpt_head *h, double size, bool physical)
{
    static const struct scale SCALES[] = {{"Mpc", CGS_MPC, 3}, {"kpc", CGS_KPC, 1},
                                          {"pc", CGS_PC, 0.1}, {"AU", CGS_AU, 1},
                                          {"km", CGS_KM, 1},   {"cm", 1, 0}};
    if (!physical) return (struct unit){1, "box"};
    if (h->unit_l == 1) return (struct unit){h->boxlen, "code units"};
    double box = h->boxlen * h->unit_l;
    struct unit u = by_size(SCALES, size * box);
    u.worth *= box;
    return u;
}

/* Unit that fits a time in code units. */
static struct unit unit_time(const struct ckpt_head *h, double time)
{
    static const struct scale SCALES[] = {{"Gyr", CGS_GYR, 0.1},
                                          {"Myr", CGS_MYR, 0.1},
                                          {"kyr", 1e3 * CGS_YEAR, 1},
                                          {"yr", CGS_YEAR, 1},
                                          {"s", 1, 0}};
    if (h->unit_t == 1) return (struct unit){1, "code units"};
    struct unit u = by_size(SCALES, fabs(time) * h->unit_t);
    u.worth *= h->unit_t;
    return u;
}

void unit_axis(const struct ckpt_head *h, const char *what, struct unit u, char *text, size_t n)
{
    bool length = strcmp(u.name, "box") != 0 && strcmp(u.name, "code units") != 0;
    snprintf(text, n, "%s [%s%s]", what, u.name, h->cosmo && length ? ", proper" : "");
}

void unit_when(const struct ckpt_head *h, bool physical, char *text, size_t n)
{
    double z = 1 / h->aexp - 1;
    struct unit u = unit_time(h, h->t);
    if (h->cosmo)
        snprintf(text, n, "z = %.4g", fabs(z) < 5e-5 ? 0 : z);
    else if (physical)
        snprintf(text, n, "t = %.4g %s", h->t * u.worth, u.name);
    else
        snprintf(text, n, "t = %.4g", h->t);
}

/* Name of the directory that contains the checkpoint, shortened; empty: none. */
static void run_of(const char *path, char *text, size_t n)
{
    enum { LONGEST = 40 };
    char whole[PATH_MAX], *end = realpath(path, whole) ? strrchr(whole, '/') : NULL;
    *text = 0;
    if (end) {
        *end = 0;
        const char *slash = strrchr(whole, '/'), *name = slash ? slash + 1 : whole;
        size_t k = strlen(name);
        bool cut = k > LONGEST;
        /* cut at a character boundary (UTF-8) */
        for (k = cut ? LONGEST : k; cut && k && (name[k] & 0xc0) == 0x80;) k--;
        if (k) snprintf(text, n, "%.*s%s, ", (int)k, name, cut ? "…" : "");
    }
}

void unit_title(const struct source *r, bool physical, char *text, size_t n)
{
    char when[48], run[64];
    unit_when(&r->head, physical, when, sizeof when);
    run_of(r->path, run, sizeof run);
    snprintf(text, n, "%soutput %d, %s", run, r->number, when);
}
