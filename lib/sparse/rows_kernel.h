/* sparse/rows_kernel: arguments of the kernels in rows_kernel.c, births_kernel.c and
 * small_kernel.c. All pointers are device addresses. Private to sparse. */
#pragma once
#include "dev/kernel.h"
#include "oct/mesh.h"
#include "sparse/births_kern.h"
#include "sparse/small_kern.h"

/* A list to which the threads of a kernel append octs in any order. */
struct rows_out {
    int32_t *n;
    lidx *oct;
};

/* Copies rows of octs to `pack`, [n][nfield][8], or back. */
struct rows_move_args {
    int64_t n;
    const lidx *oct;
    double *pack;
    int nfield;
    double (*fld[FLD_MAX])[8];
};

/* Adds packed rows to rows of octs, which are all different. */
struct rows_add_args {
    int64_t n;
    const lidx *oct;
    const int64_t *from;
    int64_t (*to)[8];
};

/* Lists octs 0 … n−1 with a cell, or a leaf cell, whose value is above `min`. */
struct rows_above_args {
    struct rows_out out;
    const double (*value)[8];
    const lidx (*child)[8];
    lidx n;
    double min;
    int leaf;
};

/* Lists own octs with a leaf cell where stars may form. */
struct births_find_args {
    struct rows_out out;
    const double (*density)[8];
    const lidx (*child)[8];
    const okey *key;
    lidx nown;
    struct births_law law;
};

/* Sets bits[oct]: a bit for each own cell to be refined. */
struct small_flag_args {
    const struct mesh *mesh;
    int l;
    lidx nown;
    struct small_law law;
    unsigned char *bits;
};

#ifndef __CUDACC__
extern const struct dev_kernel rows_pack, rows_unpack, rows_add_octs, rows_above_octs, births_find,
    small_flag;
#endif
