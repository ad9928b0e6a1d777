/* hydro/kernels: arguments of the gas's kernels. Each is the struct of a kernel of the same name in
 * slots_kernel.c or gas_kernel.c; godunov_args that of all in godunov_kernel.c. Pointers are the
 * device's; so are those of the mesh. Private to hydro. */
#pragma once
#include "dev/kernel.h"
#include "dev/sums.h"
#include "hydro/hydro.h"
#include "hydro/hydro_kern.h"

enum {
    DEV_DEPTH = 2,                      /* tiles of up to 2^2 octs per side */
    DEV_SLOTS = 6 * 6 * 6,              /* places of octs of a tile with its halo */
    DEV_CELLS = 12 * 152,               /* its cells, planes apart (godunov_kernel.c) */
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

/* Missing octs: gas interpolated, acceleration of the parent cell; rows [nvar + 3][8]. */
struct gas_missing_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    int32_t n;
    const int32_t *parent; /* 8 × parent + cell */
    double *row;
};

/* Octs to be created in cells 8 × oct + cell of level l: gas in rows [width][8]. */
struct gas_created_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    int32_t n;
    const int32_t *place;
    double *row;
    int width;
};

struct godunov_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    struct level level; /* level l of the mesh: nearer */
    struct hydro_gas gas;
    enum riemann riemann;
    int l, depth, nvar, nflux; /* nflux: with pressure_fix two more than nvar */
    int32_t tiles;
    const int32_t *first, *slot;
    const double *row;
    double *scratch; /* of each block GODUNOV_PLANES × DEV_CELLS doubles */
    double *out;     /* [nvar][nown][8] */
    double dt, hexp, dx;
    int gravity, pfix, reflux; /* reflux: 1 own registers, 2 those of the finer level */
};

/* Planes of a block's scratch: fluxes, passive scalars, old velocities. */
#define GODUNOV_PLANES(nvar, pfix) (2 * (nvar)-GAS_SCALARS + ((pfix) ? 5 : 0))

/* Whether each oct has a face without a neighbour on its level; then rows of registers. */
struct edge_any_args {
    const lidx (*nbr)[6];
    lidx noct;
    int32_t *any;
};

struct edge_rows_args {
    const int32_t *any, *index;
    lidx noct;
    lidx *edge;
};

/* The gas of own octs becomes from[nvar][cells]. */
struct gas_take_args {
    const struct mesh *mesh;
    int l, nvar;
    int64_t cells;
    const double *from;
};

struct gas_restrict_args {
    const struct mesh *mesh;
    int l, nvar, interpol_var;
    double smallr;
};

/* out[oct]: own cells with a steep jump of density, velocity or pressure, a bit each. */
struct gas_steep_args {
    const struct mesh *mesh;
    const struct hydro_par *par;
    int l;
    lidx nown;
    unsigned char *out;
};

/* Exact sums over leaves (base/sum.h): of the octs that a block meets, [block][GAS_TOTALS]
 * [DEV_SUM], then of all blocks. The last digit counts what is not finite. */
enum { GAS_TOTALS = 6, GAS_TOTALS_OCTS = DEV_THREADS };

struct gas_totals_args {
    const struct mesh *mesh;
    int l;
    double vol, smallr;
    int64_t *out;
};

struct gas_totals_join_args {
    const int64_t *part;
    int32_t n;
    int64_t *out;
};

struct gas_kick_args {
    const struct mesh *mesh;
    int l;
    lidx n;
    double dt, smallr;
};

/* out[block]: max speed of its leaves; with gravity −(shortest step). */
struct gas_courant_args {
    const struct mesh *mesh;
    struct hydro_gas gas;
    int l, gravity;
    double dx, courant;
    double *out;
};

#ifndef __CUDACC__
extern const struct dev_kernel tile_heads, tile_firsts, tile_slots, tile_rows, gas_missing,
    godunov_none, godunov_minmod, godunov_moncen, godunov_positive, godunov_vanleer, godunov_theta,
    gas_kick, gas_courant, gas_steep, edge_any, edge_rows, gas_take, gas_restrict, gas_totals,
    gas_totals_join, gas_created;
#endif
