/* patch/sweep: the Godunov scheme on a tile, by pairs of rows.
 *
 * Planes of constant z pass through the tile. Within a plane, the two rows of cells through a row
 * of octs are limited, traced to their faces and the Riemann problems there are solved at once, so
 * that the states between these stages stay in the first-level cache. From plane to plane pass
 * primitive variables, the states at the upper faces, fluxes in z and sums. Only rows with own
 * cells are visited, from the first of these to the last; loops run over multiples of four
 * cells, and what they compute beyond falls into halos and is not used. */
#pragma once
#include "patch/gather.h"

enum { STRIP = 2 * (2 * TILE_WIDTH + ROW_GAP) + 16 }; /* two rows, a vector beyond, a shift */

/* Scratch of one thread. From variable to variable are PLANE_STRIDE doubles, also in strips, the
 * values of two rows: several of them lie side by side. */
struct sweep {
    const struct law *law;
    int nvar, nflux, nscratch; /* as in the law */
    double dt, dx, dtdx;
    struct slots slots;
    struct gathered in;
    double *q[4]; /* planes, ring by plane & 3: primitive variables */
    /* planes, by plane & 1: states at the upper faces in z of the plane's cells, seen from within;
     * dt/dx × flux through the lower ones; sums of old values and fluxes, at last new values
     * [nsum] */
    double *mz[2], *fz[2], *sum[2];
    /* strips: states at the upper and lower faces, seen from within; y by row of octs & 1 */
    double *mx, *px, *my[2], *py, *pz;
    double *fx[2], *fy[2]; /* fluxes, by row of octs & 1 */
    double *own;           /* [law.nscratch][PLANE_STRIDE] */
    void *block;
};

/* The cells or faces that a loop visits: from position `at` of a plane, `r` of a strip; cells by
 * fours. */
struct run {
    int at, r, fours;
};

/* The lower faces in direction dir of a run of cells: states below and above them, and where their
 * fluxes go. */
struct face_job {
    int dir, at, fours; /* as in a run */
    int first;          /* of its vectors, among those of all jobs */
    const double *L, *R;
    double *F;
};

/* Faces of rows 2y and 2y+1 of plane k that are solved together, stage after stage: each stage
 * waits for a root or a division, of which more are under way the more faces it has, and runs in
 * small tiles have one or two vectors. */
enum { JOBS = 6, VECTORS = STRIP / LANES + 1 };
struct face_jobs {
    int y, k, n, vectors;
    struct face_job job[JOBS];
};

static inline int vectors_of(const struct face_job *j)
{
    return (4 * j->fours + LANES - 1) / LANES;
}

/* The planes of the cells below the faces, and where they are relative to those above. */
static inline int plane_below(const struct face_job *j, int k)
{
    return j->dir == 2 ? (k - 1) & 3 : k & 3;
}

static inline int step_below(const struct sweep *s, const struct face_job *j)
{
    return j->dir == 0 ? 1 : j->dir == 1 ? s->in.w : 0;
}

/* s: zeros, or used before; then its memory serves again. */
void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt, const struct law *law);
void sweep_fini(struct sweep *s);

/* All stages for tile t. */
struct sweep_user {
    /* May be NULL. Fluxes through faces f (−x,+x,…) of the own octs (y,z), as many as lie in plane
     * k: that of oct x = 0 is flux[0], the next is two further, the second row w. */
    void (*faces)(struct sweep *s, void *ctx, int f, int y, int z, const double *flux);
    /* A part (slots_part) of the own octs (y,z), which will be ready soon. */
    void (*reserve)(struct sweep *s, void *ctx, int y, int z, int part);
    /* sum holds the new values of the own octs (y,z). */
    void (*ready)(struct sweep *s, void *ctx, int y, int z);
    void *ctx;
};
void sweep_run(struct sweep *s, const struct mesh *m, int l, const struct tile *t,
               const struct sweep_user *user);
