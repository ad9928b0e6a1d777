#include "oct/gas.h"

#include <stdio.h>
#include <string.h>

static const char *const FIRST[GAS_SCALARS] = {"density", "velocity_x", "velocity_y", "velocity_z",
                                               "pressure"};
static const char *const NAME[SCALAR_COUNT] = {
#define SCALAR(symbol, name, ...) name,
#include "oct/scalars.def"
};

void gas_vars_init(struct gas_vars *g)
{
    g->n = 0;
    for (int k = 0; k < SCALAR_COUNT; k++) g->at[k] = -1;
    for (int v = 0; v < GAS_SCALARS; v++) gas_vars_add(g, FIRST[v]);
}

void gas_vars_add(struct gas_vars *g, const char *name)
{
    char usual[GAS_NAME];
    snprintf(usual, sizeof usual, "scalar_%02d", g->n - GAS_SCALARS);
    gas_vars_rename(g, g->n++, name ? name : usual);
}

void gas_vars_rename(struct gas_vars *g, int v, const char *name)
{
    snprintf(g->name[v], sizeof g->name[v], "%s", name);
    for (int k = 0; k < SCALAR_COUNT; k++) {
        if (g->at[k] == v) g->at[k] = -1;
        if (strcmp(name, NAME[k]) == 0) g->at[k] = v;
    }
}

int gas_vars_find(const struct gas_vars *g, const char *name)
{
    if (strncmp(name, "scalar_", 7) == 0 || strncmp(name, "passive_scalar_", 15) == 0) return -1;
    for (int v = GAS_SCALARS; v < g->n; v++)
        if (strcmp(g->name[v], name) == 0) return v;
    return -1;
}

const char *gas_scalar_name(enum gas_scalar s)
{
    return NAME[s];
}

bool gas_name_energy(const char *name)
{
    return strncmp(name, "non_thermal_pressure_", 21) == 0 ||
           strncmp(name, "non_thermal_energy_", 19) == 0;
}
