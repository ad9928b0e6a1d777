/* cooldev/kernels: arguments of the kernels of cool_kernel.c, each that of the kernel of its name.
 * Pointers are the device's; so are those of the mesh. Private to cooldev. */
#pragma once
#include "cool/net_kern.h"
#include "cooldev/cell_kern.h"
#include "dev/kernel.h"

/* out[block]: least and most density of its leaves; none: HUGE_VAL and 0. */
struct gas_range_args {
    const struct mesh *mesh;
    struct cooling_law law;
    int l;
    double (*out)[2];
};

/* Leaves of level l cool over law.dt; without a table: become as warm as the floor. */
struct gas_cool_args {
    const struct mesh *mesh;
    struct cooling_law law;
    int l, implicit; /* by which method */
    const struct table_node *node;
};

#ifndef __CUDACC__
extern const struct dev_kernel gas_range, gas_cool;
#endif
