/* rt/kernels: arguments of the kernels of photons, one struct per kernel. All pointers, including
 * those of the mesh, are device addresses. Private to rt. */
#pragma once
#include "chem/par.h"
#include "dev/kernel.h"
#include "dev/sums.h"
#include "patch/kernels.h"
#include "rt/point_kern.h"

/* Numbers of a run that kernels need; they change with the units. */
struct rt_numbers {
    double c;               /* reduced speed of light */
    int interpol, confines; /* of cells of octs that do not exist */
    enum bound_type bound[6];
    double state[6][NPHOTON_MAX]; /* of imposed boundaries */
};

/* A step of a level by photons_glf or photons_hll. */
struct rt_tile_args {
    struct patch_args p;
    const struct rt_numbers *num;
    int groups, vacuum; /* vacuum: beyond the faces of a periodic box is nothing */
    double c;
};
/* Planes of scratch memory of a block: fluxes of a group, and with HLL speeds of waves. */
enum { RT_GLF_PLANES = 4, RT_HLL_PLANES = 7 };

/* to[group][6 oct + face]: photons that leave the box in a step of dt of level l. */
struct rt_left_args {
    const struct mesh *mesh;
    const struct rt_numbers *num;
    int l, groups, vacuum, hll;
    double dt;
    double *to;
};

/* Photons that fine octs sent into nothing have left the box: their registers become empty. */
struct rt_drop_args {
    const struct mesh *mesh;
    int l;
};

/* N >= small and |F| <= cN in own cells of level l; to[group][oct]: by how many photons N rose. */
struct rt_confine_args {
    const struct mesh *mesh;
    int l, groups;
    double c, small;
    double *to;
};

/* Adds the numbers x[group][n] of each group, or without them the photons in leaf cells of level l,
 * to the exact sums to[group]. Blocks share the groups in turn. */
struct rt_count_args {
    const double *x;
    const struct mesh *mesh;
    int l, groups;
    int64_t n;
    int64_t (*to)[DEV_SUM];
};

/* A cell that a source reaches, and its part of a point. */
struct rt_reached {
    int32_t oct, cell;
    double part;
};

/* The source changes the n cells that it reaches; to[2n] receives their photons after and, with a
 * negative sign, before. */
struct rt_shine_args {
    const struct mesh *mesh;
    struct rt_shine source;
    const struct rt_reached *cell;
    int64_t n;
    int l, group;
    double *to;
};

/* Own cells of level l get the fluxes of the finer level across their faces. */
struct rt_receive_args {
    const struct mesh *mesh;
    int l;
};

/* Split cells of own octs of level l get the means of their children. */
struct rt_restrict_args {
    const struct mesh *mesh;
    int l;
};

/* ---- chemistry ---- */

/* Numbers common to the cells of a call; see struct rt_job (rt/batch.h). */
struct rt_cell_law {
    struct temperature_floor floor; /* straight */
    double smallr, dt, hydrogen, per_T2, unit_n, unit_f, unit_m, volume, decay;
    double Z, T2_max;      /* metallicity if it is no variable; maximum of T/μ */
    int metal, delayed;    /* variables; −1: none */
    int x[CHEM_FRACTIONS]; /* variables of the fractions; −1: none */
    bool pushes, smooth, advect;
};

/* Sums of chemistry. most: sub-steps of a cell; failed: cells that have not reached the end; stuck:
 * own octs of the level from the first oct with such a cell to the last oct, 0 if there is none. */
struct rt_cell_stats {
    int64_t cells, steps, failed, refused[CHEM_REASONS];
    int32_t most, stuck;
};

/* Chemistry of the leaf cells of level l over law.dt. cells_try_…: the whole step of every cell;
 * those for which it is too long are listed: rest[0 … *nrest−1] has 8 oct + cell. cells_rest_…:
 * these cells, by their own sub-steps. */
struct rt_cells_args {
    const struct mesh *mesh;
    int l;
    struct rt_cell_law law;
    struct chem_par chem; /* tables: on the device */
    const double *old;    /* smooth: photons before transport, [nphoton][own octs][8] */
    int64_t *rest;
    int32_t *nrest;
    double *absorbed, *emitted; /* [group][own octs][8]: photons in units of the ledger */
    struct rt_cell_stats *stats;
};
enum { RT_CELL_THREADS = 128 };

#ifndef __CUDACC__
extern const struct dev_kernel cells_try_exact, cells_try_ramses, cells_rest_exact,
    cells_rest_ramses;
extern const struct dev_kernel photons_glf, photons_hll, photons_missing, photons_left,
    photons_drop, photons_confine, photons_sum, photons_shine, photons_receive, photons_means;
#endif
