/* dom/ghost_kernel: arguments of the kernels that pack, unpack and add rows. Private to dom. */
#pragma once
#include "dev/kernel.h"
#include "dom/ghost_dev.h"

enum { GHOST_BLOCK_ROWS = 8 };

/* Arrays and buffer consist of 8-byte words (unit 8) or bytes (unit 1). For each peer the buffer
 * holds array after array, row after row. */
struct ghost_pack_args {
    const lidx *oct;   /* [n] rows of the plan */
    const lidx *first; /* [npeer+1] first row of each peer */
    const lidx *row;   /* row of an oct in the arrays, −1: none (sends zeros); NULL: the oct */
    int32_t n, npeer;
    int unit, narr;
    int cells; /* true if rows of 8 units carry only the four cells `cell` */
    int cell[4];
    int at[GHOST_DEV_ARRAYS + 1]; /* first unit of each array within a row */
    void *arr[GHOST_DEV_ARRAYS];
    void *buffer;
};

#ifndef __CUDACC__
extern const struct dev_kernel ghost_pack, ghost_unpack, ghost_add;
#endif
