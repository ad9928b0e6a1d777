/* patch/kernels: arguments of the engine's kernels, and the engine's part of the arguments of a
 * law's kernels. All pointers, including pointers in the mesh, are device pointers. */
#pragma once
#include "dev/kernel.h"
#include "patch/law.h"

enum {
    DEV_DEPTH = 2,         /* log2 of the octs per side of a tile */
    DEV_SLOTS = 6 * 6 * 6, /* octs of a tile with its halo */
    DEV_CELLS = 12 * 152,  /* cells of a tile with its halo, planes padded (patch/godunov.h) */
    DEV_UNUSED = -3,       /* slot that no own cell reads */
    DEV_MISSING = -16,     /* slot of a missing oct: DEV_MISSING − row */
    DEV_OWN_CELLS = 8 << 3 * DEV_DEPTH, /* cells of a tile */
    GODUNOV_THREADS = 384 /* more threads would have fewer registers and spill (docs/gpu.md) */
};

/* Marks the own octs with which a tile begins. */
struct tile_heads_args {
    const okey *key;
    lidx nown;
    int depth;
    int32_t *head;
};

/* Sets first[tile], and nown after the last tile. index: number of tiles that begin before each
 * oct. */
struct tile_firsts_args {
    const int32_t *head, *index;
    lidx nown;
    int32_t *first;
};

/* Finds the octs in the slots of a tile and its halo: slot[tile][DEV_SLOTS], NBR_*, DEV_UNUSED;
 * counts missing octs. */
struct tile_slots_args {
    const struct mesh *mesh;
    int l, depth, corners;
    const int32_t *first;
    int32_t *slot, *missing;
};

/* Assigns rows to missing octs, from base[tile] on; stores the parent and cell of each. */
struct tile_rows_args {
    const struct mesh *mesh;
    int l, depth;
    const int32_t *first, *base;
    int32_t *slot, *parent;
};

/* Missing octs: rows [nvar + LAW_BESIDE][8], the law's variables and then the other fields; if the
 * law has the kernel, par is what it gave. */
struct patch_missing_args {
    const struct mesh *mesh;
    const void *par;
    int l;
    int32_t n;
    const int32_t *parent; /* 8 × parent oct + cell, by row */
    double *row;
    struct law law; /* its numbers; functions are the host's */
};

/* Engine's arguments of a step of all tiles (patch/godunov.h). */
struct patch_args {
    const struct mesh *mesh;
    struct level level; /* copy of level l of the mesh, which saves an indirection */
    int l, ndim, depth, nvar, nflux;
    int32_t tiles;
    const int32_t *first, *slot;
    const double *row;
    double *scratch; /* `planes` × DEV_CELLS doubles for each block */
    int planes;
    double *out; /* [nvar][nown][8] new values */
    double dt, dx;
    int reflux; /* bits: 1: own registers, 2: registers of the finer level */
};

/* out[block]: the highest signal of its leaf cells (patch/courant.h). */
struct patch_courant_args {
    const struct mesh *mesh;
    int l;
    double *out;
};

/* The variables of own octs become from[nvar][cells]; old[nvar][cells] gets their values before,
 * unless it is NULL. */
struct patch_take_args {
    const struct mesh *mesh;
    int l, nvar;
    int64_t cells;
    const double *from;
    double *old;
    int field[LAW_VARIABLES];
};

/* Finds octs that have registers, of edges too (patch/reflux.h), then assigns rows. */
struct reflux_any_args {
    const lidx (*nbr)[6];
    lidx noct;
    bool edges;
    int32_t *any;
};

struct reflux_rows_args {
    const int32_t *any, *index;
    lidx noct;
    lidx *reflux_row;
};

/* totals_join: out[i] is the sum of part[block][i] over n blocks, for `sums` exact sums
 * (dev/sums.h), which are packed as well (dev/digits_kern.h). */
struct totals_join_args {
    const int64_t *part;
    int32_t n, sums;
    int64_t *out, *packed;
};

#ifndef __CUDACC__
extern const struct dev_kernel tile_heads, tile_firsts, tile_slots, tile_rows, reflux_any,
    reflux_rows, patch_missing, patch_take, totals_join;
#endif
