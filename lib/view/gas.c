/* view/gas: see gas.h. */
#include "view/gas.h"

#include <string.h>

#include "cool/rates.h"

struct gas gas_of(const struct source *r)
{
    struct gas g = {.density = -1, .pressure = -1, .metal = -1};
    g.units = units_of(r->head.unit_l, r->head.unit_d, r->head.unit_t);
    for (int i = 0; i < r->nhydro; i++) {
        const char *f = r->field[i].name;
        if (strcmp(f, "density") == 0) g.density = i;
        if (strcmp(f, "pressure") == 0 || strcmp(f, "thermal_pressure") == 0) g.pressure = i;
        if (strcmp(f, "metallicity") == 0) g.metal = i;
    }
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

int gas_field(const struct source *r, const struct gas *g, const char *name)
{
    int field = -1;
    for (int i = 0; i < r->nfield; i++)
        if (strcmp(r->field[i].name, name) == 0) field = i;
    if (strcmp(name, "pressure") == 0 && g->pressure >= 0) field = g->pressure;
    if (strcmp(name, "level") == 0) field = GAS_LEVEL;
    if (strcmp(name, "temperature") == 0 && g->density >= 0 && g->pressure >= 0)
        field = GAS_TEMPERATURE;
    if (strcmp(name, "nH") == 0 && g->density >= 0) field = GAS_HYDROGEN;
    if (strcmp(name, "metallicity") == 0 && g->metal >= 0) field = GAS_METALS;
    return field;
}

double gas_value(const struct gas *g, int field, const struct source_octs *o, int c, int i)
{
    if (field == GAS_LEVEL) return o->level;
    if (field == GAS_TEMPERATURE) return gas_T2(g, o, c, i);
    if (field == GAS_HYDROGEN) return gas_hydrogen(g, o, c, i);
    if (field == GAS_METALS) return gas_metals(g, o, c, i);
    return o->val[8 * field + c][i];
}
