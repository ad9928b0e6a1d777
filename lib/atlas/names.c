/* atlas/names: plain names of what maps show. */
#include <stdio.h>
#include <string.h>

#include "atlas/atlas.h"

/* Fields by their names, or, with a trailing _, by the beginning of their names, to which the axis
 * is added. column: name of the integral along the line of sight; NULL: the name, "integrated". */
static const struct name {
    const char *field, *name, *column;
} NAMES[] = {{"density", "gas density", "gas column density"},
             {"rho_poisson", "matter density", "matter column density"},
             {"dm", "dark matter", "dark matter, column density"},
             {"star", "stars", "stars, column density"},
             {"other", "other particles", "other particles, column density"},
             {"tracers", "tracers", "tracers, column density"},
             {"nH", "hydrogen nuclei", "hydrogen nuclei, column density"},
             {"phi", "potential", NULL},
             {"temperature", "T/μ", NULL},
             {"velocity_", "velocity along ", NULL},
             {"acc_", "acceleration along ", NULL},
             {"grav_acceleration_", "acceleration along ", NULL},
             {"B_", "magnetic field along ", NULL},
             {"B", "magnetic field", NULL},
             {"thermal_pressure", "thermal pressure", NULL},
             {"non_thermal_pressure", "non-thermal pressure", NULL},
             {"alfven_speed", "Alfvén speed", NULL},
             {"beta", "plasma beta", NULL},
             {"div_B", "div B", NULL}};

static const struct name *find_name(const char *field)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *known = NAMES[i].field;
        const size_t n = strlen(known);
        const bool axis = n > 1 && known[n - 1] == '_';
        if (axis ? strncmp(field, known, n) == 0 && field[n] && !field[n + 1]
                 : strcmp(field, known) == 0)
            return &NAMES[i];
    }
    return NULL;
}

void atlas_name(const struct map *m, char *text, size_t n)
{
    const char *field = m->o->field;
    const struct name *a = find_name(field);
    const size_t k = a ? strlen(a->field) : 0;
    if (m->rate)
        snprintf(text, n, "star formation rate");
    else if (a)
        snprintf(text, n, "%s%s", a->name, k > 1 && a->field[k - 1] == '_' ? field + k : "");
    else
        snprintf(text, n, "%.60s", field);
}

void atlas_label(const struct map *m, char *text, size_t n)
{
    static const char *const HOW[] = {"", ", integrated", " (mass-weighted)", " (volume-weighted)",
                                      " (maximum)"};
    const struct name *a = find_name(m->o->field);
    const bool column = m->weight == COLUMN && !m->rate && a && a->column;
    const char *how = m->rate || m->field == GAS_LEVEL || column ? "" : HOW[m->weight];
    char name[80];
    atlas_name(m, name, sizeof name);
    snprintf(text, n, "%s%s%s%.30s%s", column ? a->column : name, how, *m->unit ? " [" : "",
             m->unit, *m->unit ? "]" : "");
}
