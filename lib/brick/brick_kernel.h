/* brick/brick_kernel: arguments of the kernels that pack, unpack and copy halos. Private to brick.
 */
#pragma once
#include "brick/brick_dev.h"
#include "dev/kernel.h"

/* A box of cells of the halo, or of own cells that are sent. Its numbers are field after field, row
 * after row. */
struct brick_box {
    int at[3], len[3];
    int64_t first;  /* numbers of the boxes before it */
    int64_t buffer; /* its first number in the buffer */
};

struct brick_kernel_args {
    int nbox, nfield;
    int64_t count;             /* numbers of all boxes */
    int64_t start, row, plane; /* of struct brick */
    int axis, halo, own; /* brick_wrap: boxes are the halo beyond this axis of so many cells */
    struct brick_box box[BRICK_SEGMENTS];
    double *field[BRICK_DEV_FIELDS];
    double *buffer;
};

#ifndef __CUDACC__
extern const struct dev_kernel brick_pack, brick_unpack, brick_wrap;
#endif
