/* patch/kernels: arguments of the engine's kernels, and the part of those of a law that is the
 * engine's. Pointers are the device's; so are those of the mesh. */
#pragma once
#include "dev/kernel.h"
#include "patch/law.h"

enum {
    DEV_DEPTH = 2,                      /* tiles of up to 2^2 octs per side */
    DEV_SLOTS = 6 * 6 * 6,              /* places of octs of a tile with its halo */
    DEV_CELLS = 12 * 152,               /* its cells, planes apart (patch/godunov.h) */
    DEV_UNUSED = -3,                    /* slots: no own cell reads it */
    DEV_MISSING = -16,                  /* slots: this − row of a missing oct */
    DEV_OWN_CELLS = 8 << 3 * DEV_DEPTH, /* cells of a tile */
    GODUNOV_THREADS = 384               /* fewer registers, for more of them, spill (docs/gpu.md) */
};

/* One own oct after the other: whether a tile begins with it. */
struct tile_heads_args {
    const okey *key;
    lidx nown;
    int depth;
    int32_t *head;
};

/* index: number of heads before each oct. first[tile], and nown after the last. */
struct tile_firsts_args {
    const int32_t *head, *index;
    lidx nown;
    int32_t *first;
};

/* The octs at the places of a tile and its halo: slot[tile][DEV_SLOTS], NBR_*, DEV_UNUSED; number
 * of those that do not exist and are needed. */
struct tile_slots_args {
    const struct mesh *mesh;
    int l, depth, corners;
    const int32_t *first;
    int32_t *slot, *missing;
};

/* Rows for missing octs, after base[tile]; parent and cell of each. */
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
    const int32_t *parent; /* 8 × parent + cell */
    double *row;
    struct law law; /* its numbers; functions are the host's */
};

/* Arguments of a step of all tiles (patch/godunov.h). */
struct patch_args {
    const struct mesh *mesh;
    struct level level; /* level l of the mesh: nearer */
    int l, depth, nvar, nflux;
    int32_t tiles;
    const int32_t *first, *slot;
    const double *row;
    double *scratch; /* of each block `planes` × DEV_CELLS doubles */
    int planes;
    double *out; /* [nvar][nown][8] */
    double dt, dx;
    int reflux; /* 1 own registers, 2 those of the finer level */
};

/* out[block]: the highest signal of its leaf cells (patch/courant.h). */
struct patch_courant_args {
    const struct mesh *mesh;
    int l;
    double *out;
};

/* The variables of own octs become from[nvar][cells]. */
struct patch_take_args {
    const struct mesh *mesh;
    int l, nvar;
    int64_t cells;
    const double *from;
    int field[NVAR_MAX];
};

/* Whether each oct has a face without a neighbour on its level; then rows of registers. */
struct reflux_any_args {
    const lidx (*nbr)[6];
    lidx noct;
    int32_t *any;
};

struct reflux_rows_args {
    const int32_t *any, *index;
    lidx noct;
    lidx *reflux_row;
};

#ifndef __CUDACC__
extern const struct dev_kernel tile_heads, tile_firsts, tile_slots, tile_rows, reflux_any,
    reflux_rows, patch_missing, patch_take;
#endif
