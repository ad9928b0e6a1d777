/* mhd/kernels: arguments of the kernels of gas with a magnetic field. Each struct belongs to the
 * kernel of the same name in step_kernel.c or field_kernel.c. All pointers, including pointers in
 * the mesh, are device pointers. Private to mhd. */
#pragma once
#include "dev/kernel.h"
#include "dev/sums.h"
#include "mhd/mhd.h"
#include "mhd/number_kern.h"
#include "patch/kernels.h"

enum { MHD_THREADS = 256 }; /* with more the Riemann problem at an edge spills (docs/gpu.md) */

struct mhd_step_args {
    struct patch_args p; /* arguments of the engine; must be first */
    const struct mhd_par *par;
    struct mhd_gas g;
    enum mhd_solver riemann;
    enum mhd_edge_solver riemann2d;
    enum slope slope, slope_mag;
    double theta, hexp;
    int cells, nfield; /* number of variables of the gas, of fields */
    bool gravity, pfix;
};

/* Number of planes of a block's scratch memory, after which the fluxes are (step_kernel.c). */
#define MHD_PLANES(cells, nfield, pfix)                                                            \
    ((nfield) + 4 * ((cells) + 3) + 3 + 3 + 6 + ((pfix) ? 3 : 0))

struct mhd_created_args {
    const struct mesh *mesh;
    const struct mhd_par *par;
    int l;
    int32_t n;
    const int32_t *slot; /* cells 8 × oct + cell of level l */
    double *row;         /* [width][8] of each: the field and then the gas from here on */
    int width;
};

struct mhd_restrict_args {
    const struct mesh *mesh;
    const struct mhd_par *par;
    int l;
};

struct mhd_courant_args {
    struct patch_courant_args p; /* the engine's, first */
    struct mhd_signal signal;
    int gravity;
};

struct mhd_divergence_args {
    struct patch_courant_args p; /* the engine's, first */
};

struct mhd_totals_args {
    const struct mesh *mesh;
    int l;
    double vol, smallr;
    int64_t *out;
};

/* Refinement flags out[oct]: a bit for each own cell with a steep jump (mhd/steep_kern.h). */
struct mhd_steep_args {
    const struct mesh *mesh;
    const struct mhd_par *par;
    int l;
    lidx nown;
    unsigned char *out;
};

#ifndef __CUDACC__
extern const struct dev_kernel mhd_step, mhd_step_roe, mhd_steep, mhd_missing, mhd_created,
    mhd_restricted, mhd_speeds, mhd_divergence, mhd_totals;
#endif
