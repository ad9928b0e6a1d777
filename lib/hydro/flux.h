/* hydro/flux: the Godunov scheme on a tile, by pairs of rows. Private to hydro.
 *
 * Planes of constant z pass through the tile. Within a plane, the two rows of cells through a row
 * of octs are limited, traced to their faces and the Riemann problems there are solved at once, so
 * that the states between these stages stay in the first-level cache. From plane to plane pass
 * primitive variables, the states at the upper faces, fluxes in z and sums. Only rows with own
 * cells are visited, from the first of these to the last; loops run over multiples of four
 * cells, and what they compute beyond falls into halos and is not used. */
#pragma once
#include "hydro/gather.h"
#include "hydro/hydro_kern.h"

enum { STRIP = 2 * (2 * TILE_WIDTH + ROW_GAP) + 16 }; /* two rows, a vector beyond, a shift */

/* Scratch of one thread. From variable to variable are PLANE_STRIDE doubles, also in strips, the
 * values of two rows: several of them lie side by side. */
struct sweep {
    const struct hydro_par *par;
    struct hydro_gas gas;
    int nvar, nflux; /* variables; with pressure_fix plus face velocity and internal energy */
    int nout;        /* with pressure_fix plus the divergence of the old velocities */
    bool gravity;
    double dt, dx, dtdx;
    struct places places;
    struct gathered in;
    /* planes, ring by plane & 3: primitive variables; velocities without the gravity predictor [3]
     * (pressure_fix) */
    double *q[4], *v_old[4];
    /* planes, by plane & 1: states at the upper faces in z of the plane's cells, seen from within;
     * dt/dx × flux through the lower ones; sums of old values and fluxes, at last new values
     * [nout] */
    double *mz[2], *fz[2], *sum[2];
    double *div[2]; /* velocity divergence at the lower corners of the plane (difmag) */
    /* strips: states at the upper and lower faces, seen from within; y by row of octs & 1 */
    double *mx, *px, *my[2], *py, *pz;
    double *fx[2], *fy[2]; /* fluxes, by row of octs & 1 */
    double *left;          /* part of the mass flux that carries the left state's scalars */
    void *block;
};

/* The cells or faces that a loop visits: from position `at` of a plane, `r` of a strip; cells by
 * fours. */
struct run {
    int at, r, fours;
};

/* trace.c: the states at all faces of the cells of a run, in rows 2y and 2y+1 of plane k. */
void trace_cells(struct sweep *s, int y, int k, struct run at);

/* s: zeros, or used before; then its memory serves again. */
void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt,
                const struct hydro_par *par);
void sweep_fini(struct sweep *s);
struct hydro_gas hydro_gas_of(const struct hydro_par *par);

/* All stages for tile t. */
struct sweep_user {
    /* May be NULL. Fluxes through faces f (−x,+x,…) of the own octs (y,z), as many as lie in plane
     * k: that of oct x = 0 is flux[0], the next is two further, the second row w. */
    void (*faces)(struct sweep *s, void *ctx, int f, int y, int z, const double *flux);
    /* A part (places_part) of the own octs (y,z), which will be ready soon. */
    void (*reserve)(struct sweep *s, void *ctx, int y, int z, int part);
    /* sum holds the new values of the own octs (y,z). */
    void (*ready)(struct sweep *s, void *ctx, int y, int z);
    void *ctx;
};
void sweep_run(struct sweep *s, const struct mesh *m, int l, const struct tile *t, bool corners,
               const struct sweep_user *user);
