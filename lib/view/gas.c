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
