/* gravdev/kernels: arguments of the kernels of gravity. Each is the struct of a kernel of the same
 * name in grav_kernel.c. Pointers are the device's; so are those of the mesh. Private to gravdev.
 */
#pragma once
#include "base/sum.h"
#include "dev/kernel.h"
#include "grav/interpol_kern.h"
#include "grav/mg.h"

enum {
    GRAV_OCTS = DEV_THREADS / 8,        /* of a block whose threads have one cell each */
    GRAV_NORM = sizeof(struct sum) / 8, /* numbers of a norm: a struct sum */
    MG_LOW_OCTS = 960,                  /* of levels that one block has for itself, */
    MG_LOW_LEVELS = 21,                 /* and how many such levels */
    MG_LOW_THREADS = 1024
};

/* A level of the hierarchy there (mg.h). */
struct mg_dev_level {
    lidx n, nhalo; /* own octs; ghosts that touch them */
    double dx2, inv_dx2;
    const lidx (*nbr)[6];
    const lidx *halo, *boundary; /* edge: or NULL */
    const struct mg_boundary *boundaries;
    double (*u)[8], (*rhs)[8];
    /* [n] 8 × oct + cell of the level below that takes the mean residual of an oct, or −1 */
    const int32_t *up;
    /* octs that the level above is corrected from, and their children there */
    const struct mg_cube *cube;
    const lidx (*child)[8];
    lidx ncube;
};

/* One colour of a level. */
struct mg_half_args {
    struct mg_dev_level g;
    bool red, safe;
};

/* Residual of a level: its mean goes to mean[n], or becomes the right-hand side of the level below,
 * and zero u there (NULL: not); Σ residual² is added to norm[GRAV_NORM] (NULL: not). */
struct mg_down_args {
    struct mg_dev_level g;
    double (*below_u)[8], (*below_rhs)[8], *mean;
    int64_t *norm;
};

/* g.rhs from the means of the level above, of own octs and of the halo. */
struct mg_restrict_args {
    struct mg_dev_level g;
    const double *mean;
};

/* fine.u += interpolated g.u */
struct mg_up_args {
    struct mg_dev_level g, fine;
};

/* A cycle by one block, from lev[n-1] down to lev[0]: MG_LOW_OCTS in all at most. first[]: how many
 * octs the levels below have. norm: of the residuals of lev[n-1] before and after the correction,
 * or NULL. Of lev[n-1] alone u and rhs are read, and u is written. */
struct mg_low_args {
    int n, first[MG_LOW_LEVELS];
    bool safe;
    int64_t *norm[2];
    struct mg_dev_level lev[MG_LOW_LEVELS];
};

/* First guess of level l: interpolated, or (far_only) the monopole. */
struct phi_guess_args {
    const struct mesh *mesh;
    int l;
    bool far_only;
    double tfrac;
    struct far_field far;
};

/* Values of the octs that are missing beyond faces: missing[2 n] oct and face. */
struct phi_beyond_args {
    const struct mesh *mesh;
    int l;
    double tfrac;
    struct far_field far;
    int32_t n;
    const int32_t *missing;
    double (*row)[8];
};

/* first[noct]: row of an oct's first missing face, or −1. */
struct phi_source_args {
    const struct mesh *mesh;
    int l;
    double fourpi, rho_tot;
    const int32_t *first;
    const double (*row)[8];
    double (*rhs)[8];
};

struct phi_force_args {
    const struct mesh *mesh;
    int l;
    const int32_t *first;
    const double (*row)[8];
};

/* Centres of mass of the first n octs of level l; fine: those of level l+1, or NULL. */
struct gas_moments_args {
    const struct mesh *mesh;
    int l;
    lidx n;
    const double (*fine)[3];
    double (*com)[3];
};

/* Adds the gas of own octs of level l; com: of level l+1, or NULL. */
struct gas_deposit_args {
    const struct mesh *mesh;
    int l;
    double smallr, unit;
    const double (*com)[3];
    int64_t (*mass)[8];
};

/* RHO from sums of gas and of all else (NULL: none); dense (NULL: not wanted): deposit_dense, a bit
 * a cell. */
struct gas_density_args {
    const struct mesh *mesh;
    int l;
    const int64_t (*gas)[8], (*mass)[8], (*number)[8];
    double quantum, vol, unit, number_quantum, m_refine;
    unsigned char *dense;
};

/* max |RHO| of each block; Σ force_energy is added to sum (NULL: not). */
struct phi_energy_args {
    const struct mesh *mesh;
    int l;
    double factor;
    double *top;
    int64_t *sum;
};

/* Mass and first moments of the leaves of level l are added to sum[4][GRAV_NORM]. */
struct gas_mass_args {
    const struct mesh *mesh;
    int l;
    double smallr;
    int64_t *sum;
};

#ifndef __CUDACC__
extern const struct dev_kernel mg_half, mg_down, mg_restrict, mg_up, mg_low, phi_guess, phi_beyond,
    phi_source, phi_force, phi_energy, gas_moments, gas_deposit, gas_density, gas_mass;
#endif
