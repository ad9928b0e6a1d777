/* gravdev/kernels: arguments of the kernels in grav_kernel.c, one struct per kernel. All pointers,
 * including those of the mesh, are device addresses. Private to gravdev. */
#pragma once
#include "base/sum.h"
#include "dev/stages.h"
#include "grav/interpol_kern.h"
#include "grav/mg.h"

enum {
    GRAV_OCTS = DEV_THREADS / 8,        /* octs per block with one cell per thread */
    GRAV_NORM = sizeof(struct sum) / 8, /* numbers in a norm, a struct sum */
    MG_LOW_OCTS = 960,                  /* maximum octs, over all levels, of a cycle in one block */
    MG_LOW_LEVELS = 21,                 /* maximum levels of a cycle in one block */
    MG_LOW_THREADS = 1024,
    MG_CYCLE_OCTS = 1 << 16 /* maximum octs of the finest level of cycles in one launch */
};

/* A level of the hierarchy on the device (mg.h). */
struct mg_dev_level {
    lidx n, nhalo; /* own octs; ghosts that touch them */
    double dx2, inv_dx2;
    const lidx (*nbr)[6];
    const lidx *halo, *boundary; /* halo; row in boundaries, or NULL */
    const struct mg_boundary *boundaries;
    double (*u)[8], (*rhs)[8];
    /* [n] 8 × oct + cell of the coarser level that receives the mean residual of an oct, or −1 */
    const int32_t *up;
    /* Octs from which the finer level is corrected, and their children. */
    const struct mg_cube *cube;
    const lidx (*child)[8];
    lidx ncube;
    int ndim; /* dimensions; cells from 2^ndim on are outside, as in mg.h */
};

/* Half sweep: one colour of a level. */
struct mg_half_args {
    struct mg_dev_level g;
    bool red, safe;
};

/* Residual of a level: means go to mean[n], or become the right-hand side of the coarser level,
 * whose u is zeroed (NULL: not); the sum of residual² is added to norm[GRAV_NORM] (NULL: not). */
struct mg_down_args {
    struct mg_dev_level g;
    double (*below_u)[8], (*below_rhs)[8], *mean;
    int64_t *norm;
};

/* Restriction: g.rhs of own octs and halo from the means of the finer level. */
struct mg_restrict_args {
    struct mg_dev_level g;
    const double *mean;
};

/* Prolongation: fine.u += interpolated g.u. */
struct mg_up_args {
    struct mg_dev_level g, fine;
};

/* A cycle in one block, from lev[n-1] to lev[0], with at most MG_LOW_OCTS octs in all. first[k]:
 * number of octs of coarser levels. norm: sums of residual² of lev[n-1] before and after the
 * correction, or NULL. u and rhs are read for lev[n-1] only, and its u is written. */
struct mg_low_args {
    int n, first[MG_LOW_LEVELS];
    bool safe;
    int64_t *norm[2];
    struct mg_dev_level lev[MG_LOW_LEVELS];
};

/* Cycles of levels 0 … levels-1 in one launch. low: as above, for the levels that one block
 * processes, at least one; low.lev has all levels, and its norms are not used. norm: sums of
 * residual² before the first cycle (NULL: not) and after[GRAV_NORM] of each. */
struct mg_cycles_args {
    struct dev_stages each;
    int levels;
    int64_t *before, *after;
    struct mg_low_args low;
};

/* Stages of a cycle of which k levels are processed by all blocks: for each level, on the way down,
 * half sweeps and a residual, on the way up a correction and half sweeps; the levels of one block;
 * the last residual. */
PTAH_HD int mg_stages(int k)
{
    return 2 * (2 * MG_SWEEPS + 1) * k + 2;
}

/* First guess of level l: interpolated, or (far_only) the monopole. far: now, and the one of φ_old
 * of level l-1. */
struct phi_guess_args {
    const struct mesh *mesh;
    int l;
    bool far_only;
    double tfrac;
    struct far_field far[2];
};

/* Values of missing octs beyond faces: missing[2 n] lists oct and face. */
struct phi_beyond_args {
    const struct mesh *mesh;
    int l;
    double tfrac;
    struct far_field far[2];
    int32_t n;
    const int32_t *missing;
    double (*row)[8];
};

/* Right-hand side. first[noct]: row of an oct's first missing face, or −1. */
struct phi_source_args {
    const struct mesh *mesh;
    int l;
    double fourpi, rho_tot;
    const int32_t *first;
    const double (*row)[8];
    double (*rhs)[8];
};

/* Copies the potential of all octs of level l to the cells that repeat others. */
struct phi_repeat_args {
    const struct mesh *mesh;
    int l;
};

struct phi_force_args {
    const struct mesh *mesh;
    int l;
    const int32_t *first;
    const double (*row)[8];
};

/* Centres of mass of the first n octs of level l; fine: centres of mass of level l+1, or NULL. */
struct gas_moments_args {
    const struct mesh *mesh;
    int l;
    lidx n;
    const double (*fine)[3];
    double (*com)[3];
};

/* Deposit of the gas of own octs of level l; com: centres of mass of level l+1, or NULL. */
struct gas_deposit_args {
    const struct mesh *mesh;
    int l;
    double smallr, unit;
    const double (*com)[3];
    int64_t (*mass)[8];
};

/* RHO from sums of gas and of other mass (NULL: none); dense (NULL: not computed): deposit_dense,
 * one bit per cell. */
struct gas_density_args {
    const struct mesh *mesh;
    int l;
    const int64_t (*gas)[8], (*mass)[8], (*number)[8];
    double quantum, vol, unit, number_quantum, m_refine;
    unsigned char *dense;
};

/* Maximum |RHO| of each block; force_energy is added to sum (NULL: not). */
struct phi_energy_args {
    const struct mesh *mesh;
    int l;
    double factor;
    double *top;
    int64_t *sum;
};

/* Mass and first moments of the leaves of level l, added to sum[4][GRAV_NORM]. */
struct gas_mass_args {
    const struct mesh *mesh;
    int l;
    double smallr;
    int64_t *sum;
};

#ifndef __CUDACC__
extern const struct dev_kernel mg_half, mg_down, mg_restrict, mg_up, mg_low, mg_cycles, phi_guess,
    phi_beyond, phi_source, phi_repeat, phi_force, phi_energy, gas_moments, gas_deposit,
    gas_density, gas_mass;
#endif
