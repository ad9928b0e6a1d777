/* cooldev/kernels: arguments of the kernels in cool_kernel.c, one struct per kernel. All pointers,
 * including those of the mesh, are device addresses. Private to cooldev. */
#pragma once
#include "cool/net_kern.h"
#include "cooldev/cell_kern.h"
#include "dev/kernel.h"

/* out[block]: minimum and maximum density of its leaves; HUGE_VAL and 0 without leaves. */
struct gas_range_args {
    const struct mesh *mesh;
    struct cooling_law law;
    int l;
    double (*out)[2];
};

/* Cools leaves over law.dt; without a table, sets them to the floor. */
struct gas_cool_args {
    const struct mesh *mesh;
    struct cooling_law law;
    int l, implicit; /* level; true for the implicit method */
    const struct table_node *node;
};

#ifndef __CUDACC__
extern const struct dev_kernel gas_range, gas_cool;
#endif
