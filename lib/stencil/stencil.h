/* stencil: the solver of run_params/solver='stencil': compressible magnetohydrodynamics on a
 * uniform periodic mesh by differences of high order (fd/fd.h), forced turbulence and dynamos.
 * Private header of the module. */
#pragma once
#include "brick/brick.h"
#include "fd/fd.h"
#include "param/param.h"

struct force; /* force.h */
struct grid;
struct stencil_dev;

struct stencil {
    const struct params *par; /* lent */
    const struct comm *comm;  /* lent */
    int64_t n[3];
    double length[3];
    struct fd_par eq;
    struct brick brick;
    struct fd_arrays a;
    struct force *force;        /* NULL: none */
    struct grid *from;          /* checkpoint while it is read (grid/grid.h) */
    double dt;                  /* length of the last step; 0: none yet */
    struct stencil_dev *device; /* device.c; NULL: everything runs on the CPU */
    bool begun; /* the time series has its table, which earlier runs may have written */
};

/* Position of cell number x (of the whole mesh) along axis d: x·dx, the first cell lies at 0. */
static inline double stencil_position(const struct stencil *t, int d, int64_t x)
{
    return (double)x * t->length[d] / (double)t->n[d];
}
/* Number of own cell (x, y, z), counted from the first own cell, in the arrays of the brick. */
static inline int64_t stencil_at(const struct brick *b, int x, int y, int z)
{
    return b->start + x + y * b->stride[1] + z * b->stride[2];
}
