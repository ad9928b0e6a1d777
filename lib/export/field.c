#include "export/field.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* ---- what names mean ---- */

/* Rows by prefix. per_mass: quantities per mass or of the matter as such, whose mean over cells is
 * weighted by mass: velocities, temperatures, mass fractions. */
static const struct {
    const char *prefix, *text;
    bool per_mass;
} MEANING[] = {
    {"density", "mass density of the gas", false},
    {"velocity", "velocity of the gas", true},
    {"thermal_pressure", "thermal pressure of the gas", false},
    {"non_thermal_pressure", "non-thermal pressure", false},
    {"pressure", "thermal pressure of the gas", false},
    {"metallicity", "metallicity in units of 0.02", true},
    {"temperature", "temperature over mean molecular weight, T/mu", true},
    {"nH", "number density of hydrogen nuclei", false},
    {"level", "level of the cell; its side is the box over 2^level", false},
    {"B", "magnetic field at the centre of the cell", false},
    {"alfven_speed", "Alfven speed", true},
    {"beta", "thermal over magnetic pressure", false},
    {"div_B", "divergence of the magnetic field times the side over its strength", false},
    {"current", "electric current, the curl of the magnetic field", false},
    {"potential", "gravitational potential", true},
    {"phi", "gravitational potential", true},
    {"acceleration", "gravitational acceleration", true},
    {"grav_acceleration", "gravitational acceleration", true},
    {"x_H", "ionised fraction", true},
    {"photon", "photons of a group", false},
    {"dm", "mass density of dark matter particles in the cell", false},
    {"star", "mass density of star particles in the cell", false},
    {"other", "mass density of other particles in the cell", false},
    {"scalar", "passive scalar of the gas", true},
    {"N", "number density of photons of a group", false},
};
enum { MEANINGS = sizeof MEANING / sizeof *MEANING };

static int meaning(const char *name)
{
    for (int k = 0; k < MEANINGS; k++)
        if (strncmp(name, MEANING[k].prefix, strlen(MEANING[k].prefix)) == 0) return k;
    return -1;
}

const char *export_description(const char *name)
{
    const int k = meaning(name);
    return k < 0 ? "" : MEANING[k].text;
}

double export_si(const char *unit, double power[7])
{
    static const struct {
        const char *name;
        double si, power[5];
    } ROWS[] = {{"g/cm^3", 1e3, {-3, 1}},
                {"km/s", 1e3, {1, 0, -1}},
                {"erg/cm^3", 0.1, {-1, 1, -2}},
                {"(km/s)^2", 1e6, {2, 0, -2}},
                {"cm/s^2", 0.01, {1, 0, -2}},
                {"G", 1e-4, {0, 1, -2, -1}},
                {"G/cm", 1e-2, {-1, 1, -2, -1}},
                {"K", 1, {0, 0, 0, 0, 1}},
                {"1/cm^3", 1e6, {-3}},
                {"cm", 0.01, {1}},
                {"cm/s", 0.01, {1, 0, -1}},
                {"g", 1e-3, {0, 1}},
                {"s", 1, {0, 0, 1}}};
    for (int k = 0; k < 7; k++) power[k] = 0;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strcmp(unit, ROWS[i].name) == 0) {
            memcpy(power, ROWS[i].power, sizeof ROWS[i].power);
            return ROWS[i].si;
        }
    return 1;
}

bool export_is_vector(const struct export_list *l, int i, char name[48])
{
    const int n = l->s->head.ndim;
    const char *first = l->field[i].name;
    const size_t k = strlen(first) - 1;
    if (k < 2 || first[k] != 'x' || first[k - 1] != '_' || n < 2 || i + n > l->n) return false;
    for (int d = 1; d < n; d++) {
        const char *next = l->field[i + d].name;
        if (strncmp(next, first, k) != 0 || next[k] != 'x' + d || next[k + 1]) return false;
    }
    snprintf(name, 48, "%.*s", (int)k - 1, first);
    return true;
}

/* ---- lists ---- */

static enum part_species species_named(const char *name)
{
    for (int k = 0; k < SPECIES_COUNT; k++)
        if (k != SPECIES_GAS && strcmp(name, SPECIES_NAME[k]) == 0) return (enum part_species)k;
    return SPECIES_NONE;
}

static enum err unknown_field(const struct export_list *l, const char *name)
{
    const struct source *s = l->s;
    const char *all[CKPT_FIELDS + GAS_COMPUTED + SPECIES_COUNT], *best = NULL;
    char text[4096] = "", hint[120] = "";
    int n = 0, least = near_max(name) + 1;
    size_t at = 0;
    for (int i = 0; i < s->nfield; i++) all[n++] = s->field[i].name;
    n += gas_computed(&l->gas, all + n);
    for (int k = 0; k < SPECIES_COUNT && s->head.particles; k++)
        if (k != SPECIES_GAS) all[n++] = SPECIES_NAME[k];
    for (int i = 0; i < n && at < sizeof text; i++) {
        const int far = near_distance(name, all[i]);
        if (far < least) least = far, best = all[i];
        at += (size_t)snprintf(text + at, sizeof text - at, " %s", all[i]);
    }
    if (best) snprintf(hint, sizeof hint, " (did you mean %.80s?)", best);
    FAIL(ERR_PARAM, "%s: has no field %.60s%s; there are:%.3000s", s->path, name, hint, text);
}

static enum err add(struct export_list *l, const char *name)
{
    if (l->n == EXPORT_FIELDS)
        FAIL(ERR_LIMIT, "%s: more than %d fields are asked for", l->s->path, EXPORT_FIELDS);
    struct export_field *f = &l->field[l->n];
    const int k = meaning(name);
    *f = (struct export_field){.number = gas_field(l->s, &l->gas, name), .species = SPECIES_NONE};
    snprintf(f->name, sizeof f->name, "%s", name);
    if (f->number < 0 && l->s->head.particles) f->species = species_named(name);
    if (f->number < 0 && f->species == SPECIES_NONE) return unknown_field(l, name);
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->field[i].name, name) == 0)
            FAIL(ERR_PARAM, "the field %s is asked for twice", name);
    f->per_mass = k >= 0 && MEANING[k].per_mass && f->number >= 0 && l->gas.density >= 0;
    f->unit = unit_of(f->number < 0 ? "density" : name, &l->gas.units, true);
    l->cells |= f->number >= 0, l->parts |= f->number < 0;
    l->n++;
    return OK;
}

static enum err begin(struct export_list *l, struct source *s)
{
    *l = (struct export_list){.s = s};
    l->gas = gas_of(s);
    if (s->coarse[0] * s->coarse[1] * s->coarse[2] != 1)
        FAIL(ERR_LIMIT,
             "%s: has %ld x %ld x %ld coarse cells; only checkpoints with one are "
             "exported",
             s->path, (long)s->coarse[0], (long)s->coarse[1], (long)s->coarse[2]);
    return OK;
}

enum err export_find(struct export_list *l, struct source *s, const char *names)
{
    TRY(begin(l, s));
    if (!names) return add(l, l->gas.density >= 0 ? "density" : "dm");
    for (const char *at = names; *at;) {
        char name[64];
        const size_t k = strcspn(at, ",");
        if (k == 0 || k >= sizeof(l->field->name))
            FAIL(ERR_PARAM, "--fields needs names with commas between them, not %.80s", names);
        snprintf(name, sizeof name, "%.*s", (int)k, at);
        TRY(add(l, name));
        at += k + (at[k] == ',');
    }
    if (l->n == 0) FAIL(ERR_PARAM, "--fields needs names of fields");
    return OK;
}

enum err export_find_stored(struct export_list *l, struct source *s)
{
    TRY(begin(l, s));
    for (int i = 0; i < s->nfield; i++) {
        const char *name = s->field[i].name;
        const bool face = strncmp(name, "B_", 2) == 0 &&
                          (strstr(name, "_left") || strstr(name, "_right"));
        if (!(face && l->gas.magnetic.there)) TRY(add(l, name));
    }
    for (int d = 0; d < 3 && l->gas.magnetic.there; d++)
        TRY(add(l, (const char *const[]){"B_x", "B_y", "B_z"}[d]));
    return OK;
}

enum err export_prepare(struct export_list *l, const double lo[3], const double hi[3])
{
    bool curl = false;
    for (int i = 0; i < l->n; i++) curl |= gas_needs_curl(l->field[i].number);
    if (!curl || l->curl) return OK;
    TRY(curl_read(l->s, lo, hi, &l->curl));
    l->gas.curl = l->curl;
    return OK;
}

void export_free(struct export_list *l)
{
    curl_free(&l->curl);
}
