/* hydro/kernels: arguments of the gas's kernels. Each is the struct of a kernel of the same name in
 * gas_kernel.c or created_kernel.c; godunov_args that of all in godunov_kernel.c. Pointers are the
 * device's; so are those of the mesh. Private to hydro. */
#pragma once
#include "dev/kernel.h"
#include "dev/sums.h"
#include "hydro/cell_kern.h"
#include "hydro/point_kern.h"
#include "patch/kernels.h"

/* Octs to be created in cells 8 × oct + cell of level l: gas in rows [width][8]. */
struct gas_created_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    int32_t n;
    const int32_t *slot;
    double *row;
    int width;
};

struct godunov_args {
    struct patch_args p; /* the engine's, first */
    const struct hydro_par *par;
    struct hydro_gas gas;
    enum riemann riemann;
    double hexp;
    int gravity, pfix;
};

/* Planes of a block's scratch: fluxes, passive scalars, old velocities. */
#define GODUNOV_PLANES(nvar, pfix) (2 * (nvar)-GAS_SCALARS + ((pfix) ? 5 : 0))

struct gas_restrict_args {
    const struct mesh *mesh;
    int l, nvar, interpol_var;
    double smallr;
};

/* out[oct]: own cells with a steep jump of density, velocity or pressure, a bit each. */
struct gas_steep_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    lidx nown;
    unsigned char *out;
};

/* Exact sums over leaves (base/sum.h): of the octs that a block meets, [block][GAS_TOTALS]
 * [DEV_SUM], then of all blocks. The last digit counts what is not finite. */
enum { GAS_TOTALS = 6, GAS_TOTALS_OCTS = DEV_THREADS };

struct gas_totals_args {
    const struct mesh *mesh;
    int l;
    double vol, smallr;
    int64_t *out;
};

struct gas_totals_join_args {
    const int64_t *part;
    int32_t n;
    int64_t *out;
};

struct gas_kick_args {
    const struct mesh *mesh;
    int l;
    lidx n;
    double dt, smallr;
};

struct gas_courant_args {
    struct patch_courant_args p; /* the engine's, first */
    struct gas_signal signal;
    int gravity;
};

#ifndef __CUDACC__
extern const struct dev_kernel gas_missing, godunov_none, godunov_minmod, godunov_moncen,
    godunov_positive, godunov_vanleer, godunov_theta, gas_kick, gas_courant, gas_steep,
    gas_restrict, gas_totals, gas_totals_join, gas_created;
#endif
