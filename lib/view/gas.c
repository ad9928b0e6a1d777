#include "view/gas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cool/rates.h"

struct gas gas_of(const struct source *r)
{
    struct gas g = {.density = -1, .pressure = -1, .metal = -1};
    g.magnetic = magnetic_of(r);
    g.units = units_of(r->head.unit_l, r->head.unit_d, r->head.unit_t);
    for (int i = 0; i < r->nhydro; i++) {
        const char *f = r->field[i].name;
        if (strcmp(f, "density") == 0) g.density = i;
        if (strcmp(f, "pressure") == 0 || strcmp(f, "thermal_pressure") == 0) g.pressure = i;
        if (strcmp(f, "metallicity") == 0) g.metal = i;
    }
    const struct ckpt_radiation *p = &r->head.radiation;
    g.photons = r->nfield - r->nphoton, g.ngroups = p->groups, g.of_group = 1 + r->head.ndim;
    g.per_photon = p->groups ? p->unit_np / (r->foreign ? p->c : 1) : 0;
    g.units.photons = g.per_photon, g.units.flux = p->groups ? p->unit_pf : 0;
    return g;
}

double gas_T2(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return o->val[8 * g->pressure + c][i] / o->val[8 * g->density + c][i] * g->units.temperature;
}

double gas_hydrogen(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return o->val[8 * g->density + c][i] * g->units.hydrogen;
}

double gas_metals(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return o->val[8 * g->metal + c][i] / COOL_SOLAR;
}

/* ---- magnetic field ---- */

static double magnetic_x(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return magnetic_centre(&g->magnetic, o, 0, c, i);
}

static double magnetic_y(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return magnetic_centre(&g->magnetic, o, 1, c, i);
}

static double magnetic_z(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return magnetic_centre(&g->magnetic, o, 2, c, i);
}

static double strength(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return magnetic_strength(&g->magnetic, o, c, i);
}

static double alfven(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return strength(g, o, c, i) / sqrt(o->val[8 * g->density + c][i]);
}

/* Thermal over magnetic pressure, infinite without a field. */
static double beta(const struct gas *g, const struct source_octs *o, int c, int i)
{
    const double b = strength(g, o, c, i);
    return o->val[8 * g->pressure + c][i] / (0.5 * b * b);
}

static double divergence(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return magnetic_divergence(&g->magnetic, o, c, i);
}

static double current_along(const struct gas *g, const struct source_octs *o, int d, int c, int i)
{
    double j[3];
    if (!curl_at(g->curl, o->level, o->key[i], c, j)) return 0; /* is not asked for */
    return d < 3 ? j[d] : sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
}

static double current(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return current_along(g, o, 3, c, i);
}

static double current_x(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return current_along(g, o, 0, c, i);
}

static double current_y(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return current_along(g, o, 1, c, i);
}

static double current_z(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return current_along(g, o, 2, c, i);
}

/* ---- photons ---- */

static double photons(const struct gas *g, const struct source_octs *o, int group, int c, int i)
{
    return o->val[8 * (g->photons + group * g->of_group) + c][i] * g->per_photon;
}

#define PHOTONS_OF(k)                                                                              \
    static double photons_##k(const struct gas *g, const struct source_octs *o, int c, int i)      \
    {                                                                                              \
        return photons(g, o, (k)-1, c, i);                                                         \
    }
PHOTONS_OF(1)
PHOTONS_OF(2)
PHOTONS_OF(3)
PHOTONS_OF(4)
PHOTONS_OF(5)
PHOTONS_OF(6)
PHOTONS_OF(7)
PHOTONS_OF(8)

/* ---- table of the computed fields ---- */

static double level(const struct gas *g, const struct source_octs *o, int c, int i)
{
    return o->level;
}

enum needs { DENSITY = 1, PRESSURE = 2, METALS = 4, FACES = 8, CURL = 16, PHOTONS = 32 };

static const struct {
    const char *name;
    unsigned needs;
    double (*value)(const struct gas *g, const struct source_octs *o, int c, int i);
} COMPUTED[GAS_COMPUTED] = {
    {"level", 0, level}, /* in the order of the enum in gas.h */
    {"temperature", DENSITY | PRESSURE, gas_T2},
    {"nH", DENSITY, gas_hydrogen},
    {"metallicity", METALS, gas_metals},
    {"B", FACES, strength},
    {"B_x", FACES, magnetic_x},
    {"B_y", FACES, magnetic_y},
    {"B_z", FACES, magnetic_z},
    {"alfven_speed", FACES | DENSITY, alfven},
    {"beta", FACES | PRESSURE, beta},
    {"div_B", FACES, divergence},
    {"current", FACES | CURL, current},
    {"current_x", FACES | CURL, current_x},
    {"current_y", FACES | CURL, current_y},
    {"current_z", FACES | CURL, current_z},
    {"N1", PHOTONS, photons_1},
    {"N2", PHOTONS, photons_2},
    {"N3", PHOTONS, photons_3},
    {"N4", PHOTONS, photons_4},
    {"N5", PHOTONS, photons_5},
    {"N6", PHOTONS, photons_6},
    {"N7", PHOTONS, photons_7},
    {"N8", PHOTONS, photons_8},
};

static bool can_compute(const struct gas *g, int k)
{
    unsigned has = (g->density >= 0 ? DENSITY : 0) | (g->pressure >= 0 ? PRESSURE : 0) |
                   (g->metal >= 0 ? METALS : 0) | (g->magnetic.there ? FACES | CURL : 0);
    if (COMPUTED[k].needs & PHOTONS) return k - (GAS_COMPUTED - PHOTON_GROUPS) < g->ngroups;
    return (COMPUTED[k].needs & ~has) == 0;
}

int gas_computed(const struct gas *g, const char *name[GAS_COMPUTED])
{
    int n = 0;
    for (int k = 0; k < GAS_COMPUTED; k++)
        if (COMPUTED[k].needs != METALS && can_compute(g, k)) name[n++] = COMPUTED[k].name;
    return n;
}

int gas_field(const struct source *r, const struct gas *g, const char *name)
{
    int field = -1;
    for (int i = 0; i < r->nfield; i++)
        if (strcmp(r->field[i].name, name) == 0) field = i;
    if (strcmp(name, "pressure") == 0 && g->pressure >= 0) field = g->pressure;
    for (int k = 0; k < GAS_COMPUTED; k++)
        if (strcmp(name, COMPUTED[k].name) == 0 && can_compute(g, k)) field = CKPT_FIELDS + k;
    return field;
}

bool gas_needs_curl(int field)
{
    return field >= CKPT_FIELDS && COMPUTED[field - CKPT_FIELDS].needs & CURL;
}

double gas_value(const struct gas *g, int field, const struct source_octs *o, int c, int i)
{
    if (field >= CKPT_FIELDS) return COMPUTED[field - CKPT_FIELDS].value(g, o, c, i);
    return o->val[8 * field + c][i];
}

/* ---- names that do not exist ---- */

/* Names used by other programs, for suggestions. Case is ignored. */
static const struct {
    const char *word, *name;
} SYNONYMS[] = {{"rho", "density"},
                {"dens", "density"},
                {"gas", "density"},
                {"vx", "velocity_x"},
                {"vy", "velocity_y"},
                {"vz", "velocity_z"},
                {"velx", "velocity_x"},
                {"vely", "velocity_y"},
                {"velz", "velocity_z"},
                {"x-velocity", "velocity_x"},
                {"y-velocity", "velocity_y"},
                {"z-velocity", "velocity_z"},
                {"p", "pressure"},
                {"pres", "pressure"},
                {"press", "pressure"},
                {"thermal_pressure", "pressure"},
                {"T", "temperature"},
                {"temp", "temperature"},
                {"n_H", "nH"},
                {"number_density", "nH"},
                {"Z", "metallicity"},
                {"metal", "metallicity"},
                {"metals", "metallicity"},
                {"phi", "potential"},
                {"J", "current"},
                {"curl_B", "current"},
                {"lvl", "level"},
                {"grid_level", "level"},
                {"cdm", "dm"},
                {"dark_matter", "dm"},
                {"particles", "dm"},
                {"stars", "star"},
                {"stellar", "star"}};
enum { OTHERS = 8, NAMES = CKPT_FIELDS + GAS_COMPUTED + OTHERS };

/* Suggestion for a mistyped name: a synonym, or a name with similar spelling; NULL: none. */
static const char *meant(const char *word, const char *const *name, int n)
{
    const char *best = NULL;
    int min = near_max(word) + 1;
    for (size_t k = 0; k < sizeof SYNONYMS / sizeof *SYNONYMS; k++)
        if (strcasecmp(word, SYNONYMS[k].word) == 0) word = SYNONYMS[k].name;
    for (int i = 0; i < n; i++) {
        int d = near_distance(word, name[i]);
        if (d < min) min = d, best = name[i];
    }
    return best;
}

enum err gas_unknown(const struct source *r, const struct gas *g, const char *word, int more,
                     const char *const *other)
{
    const char *name[NAMES];
    char list[4096] = "", hint[120] = "";
    size_t at = 0;
    int n = 0;
    for (int i = 0; i < r->nfield && n < CKPT_FIELDS; i++) name[n++] = r->field[i].name;
    n += gas_computed(g, name + n);
    for (int i = 0; i < more && i < OTHERS; i++) name[n++] = other[i];
    for (int i = 0; i < n && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, " %s", name[i]);
    const char *best = meant(word, name, n);
    if (best) snprintf(hint, sizeof hint, " (did you mean %.80s?)", best);
    FAIL(ERR_PARAM, "%s: has no field %s%s; there are:%.3000s", r->path, word, hint, list);
}
