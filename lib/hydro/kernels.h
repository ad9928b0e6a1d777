/* hydro/kernels: arguments of the gas kernels. Each struct belongs to the kernel of the same name
 * in gas_kernel.c or created_kernel.c; godunov_args to all kernels of godunov_kernel.c. All
 * pointers, including pointers in the mesh, are device pointers. Private to hydro. */
#pragma once
#include "dev/kernel.h"
#include "dev/sums.h"
#include "hydro/cell_kern.h"
#include "hydro/point_kern.h"
#include "patch/kernels.h"

/* Gas of octs to be created in cells 8 × oct + cell (slot) of level l, in rows [width][8]. */
struct gas_created_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    int32_t n;
    const int32_t *slot;
    double *row;
    int width;
};

/* Photons of octs to be created; row: the first value of photons in the first of the rows. */
struct photons_created_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    int32_t n;
    const int32_t *slot;
    double *row;
    int width;
};

struct godunov_args {
    struct patch_args p; /* arguments of the engine; must be first */
    const struct hydro_par *par;
    struct hydro_gas gas;
    enum riemann riemann;
    double hexp;
    int gravity, pfix;
    int nener; /* number of non-thermal energies */
    /* changes by sources (struct hydro_change): row of each own oct, -1: none; NULL: no rows */
    const int32_t *changed;
    const double *change; /* [][nvar][8] */
};

/* row[oct[k]] = k. */
struct change_rows_args {
    int64_t n;
    const int32_t *oct;
    int32_t *row;
};

/* Number of planes of a block's scratch memory: fluxes, scalars, old velocities with pressure_fix
 * or non-thermal energies. */
#define GODUNOV_PLANES(nvar, pfix, nener)                                                          \
    (2 * (nvar)-GAS_SCALARS + ((pfix) ? 2 : 0) + ((pfix) || (nener) ? 3 : 0))

struct gas_restrict_args {
    const struct mesh *mesh;
    int l, nvar, interpol_var;
    double smallr;
};

/* Refinement flags out[oct]: a bit for each own cell with a steep jump of density, velocity or
 * pressure. */
struct gas_steep_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    lidx nown;
    unsigned char *out;
};

/* Exact sums over leaf cells (base/sum.h): first of the octs of each block, [block][GAS_TOTALS]
 * [DEV_SUM], then of all blocks (totals_join). The last digit counts values that are not finite. */
enum { GAS_TOTALS = 6 };

struct gas_totals_args {
    const struct mesh *mesh;
    int l;
    double vol, smallr;
    int64_t *out;
};

struct gas_kick_args {
    const struct mesh *mesh;
    int l;
    lidx n;
    double dt, smallr;
};

struct gas_drive_args {
    const struct mesh *mesh;
    int l;
    lidx n;
    double dt, smallr;
    struct turb_force force;
};

struct gas_courant_args {
    struct patch_courant_args p; /* the engine's, first */
    struct gas_signal signal;
    int gravity;
};

#ifndef __CUDACC__
extern const struct dev_kernel change_rows, gas_missing, godunov_none, godunov_minmod,
    godunov_moncen, godunov_positive, godunov_vanleer, godunov_theta, gas_kick, gas_drive,
    gas_courant, gas_steep, gas_restrict, gas_totals, gas_created, photons_created;
#endif
