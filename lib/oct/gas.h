/* oct/gas: the variables of the gas: indices and names.
 *
 * Variable v is field FLD_U + v of a level; files and parameters (ivar_refine) count from 1, as
 * RAMSES does. First come density, momenta and total energy (in files: density, velocities and
 * pressure), then passive scalars as density times value: named scalars of scalars.def that the run
 * has, then unnamed ones. */
#pragma once
#include <stdbool.h>

enum { GAS_DENSITY, GAS_MOMENTUM, GAS_ENERGY = GAS_MOMENTUM + 3, GAS_SCALARS };
/* meaning of the same indices in files */
enum { GAS_VELOCITY = GAS_MOMENTUM, GAS_PRESSURE = GAS_ENERGY };

/* Files of gas have fewer velocities than the three of memory: as many as dimensions, unless the
 * gas has a magnetic field. */
static inline int gas_velocities(int ndim, bool magnetic)
{
    return magnetic ? 3 : ndim;
}

/* The place of variable v among those of a file with this number of velocities, −1: none; and how
 * many of nvar variables a file has. */
static inline int gas_in_file(int velocities, int v)
{
    return v <= velocities ? v : v < GAS_ENERGY ? -1 : v - (3 - velocities);
}

static inline int gas_count_in_file(int velocities, int nvar)
{
    return nvar - (3 - velocities);
}

enum gas_scalar {
#define SCALAR(symbol, ...) SCALAR_##symbol,
#include "oct/scalars.def"
    SCALAR_COUNT
};

enum { GAS_VARS = 128, GAS_NAME = 48 };

/* Non-thermal energies per volume E_i, variables GAS_SCALARS … GAS_SCALARS + n − 1, with pressures
 * (gamma_i − 1) E_i: parts of the total energy. */
enum { GAS_ENERGIES = SCALAR_ENERGY_8 - SCALAR_ENERGY_1 + 1 };
struct gas_energies {
    int n;
    double gamma[GAS_ENERGIES];
};

/* Variables of a run or of a checkpoint. */
struct gas_vars {
    int n;
    char name[GAS_VARS][GAS_NAME];
    int at[SCALAR_COUNT]; /* variable of each scalar of scalars.def; −1: absent */
};

void gas_vars_init(struct gas_vars *g); /* density … pressure */
/* Appends a scalar; name NULL: scalar_NN. */
void gas_vars_add(struct gas_vars *g, const char *name);
void gas_vars_rename(struct gas_vars *g, int v, const char *name);
/* Variable of the scalar of this name; −1: absent, or the name of an unnamed one (scalar_NN,
 * passive_scalar_N). */
int gas_vars_find(const struct gas_vars *g, const char *name);
const char *gas_scalar_name(enum gas_scalar s);
/* Whether a name is that of a non-thermal energy: of its pressure, as RAMSES of 2026 calls it, or
 * of an energy, as older versions call the same pressure. */
bool gas_name_energy(const char *name);
