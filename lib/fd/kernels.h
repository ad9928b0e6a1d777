/* fd/kernels: arguments of the kernels of fd_kernel.c. All pointers are device addresses. */
#pragma once
#include "dev/kernel.h"
#include "fd/law.h"

/* A block advances 16 × 4 × 4 cells: half of the numbers that its differences read are its own, and
 * those of three fields fit into the first cache of a multiprocessor. */
enum { FD_TILE_X = 16, FD_TILE_Y = 4, FD_TILE_Z = 4, FD_THREADS = 256 };

struct fd_step_args {
    struct fd_law law;
    struct fd_stage stage;
    const double *now[FD_FIELDS];
    double *next[FD_FIELDS], *change[FD_FIELDS];
    int64_t start, stride[3];
    int lo[3], hi[3], tiles[3];
};

struct fd_speed_args {
    struct fd_step_args box; /* next and change are not used */
    double *max;             /* [blocks] */
};

#ifndef __CUDACC__
extern const struct dev_kernel fd_step_2, fd_step_4, fd_step_6, fd_step_8, fd_speed;
#endif
