/* patch/sweep: the Godunov scheme on a tile, by pairs of rows.
 *
 * The sweep passes through the tile in planes of constant z. Within a plane, the two rows of cells
 * in a row of octs are limited, traced to their faces and the Riemann problems there are solved at
 * once, so that the states between these stages stay in the first-level cache. Primitive variables,
 * the states at the upper faces, fluxes in z and sums pass from plane to plane. Only rows with own
 * cells are visited, from the first of these to the last; loops run over multiples of four cells,
 * and excess results fall into halos and are not used. */
#pragma once
#include "patch/gather.h"

/* values of a strip: two rows, one vector beyond, an alignment shift */
enum { STRIP = 2 * (2 * TILE_WIDTH + ROW_GAP) + 16 };

/* Scratch memory of one thread. The stride between variables is PLANE_STRIDE doubles, also in
 * strips, which hold two rows: several strips share a plane. */
struct sweep {
    const struct law *law;
    int nvar, nflux, nsum, nscratch; /* numbers of the law */
    const struct law_edges *edges;   /* of the law */
    uint64_t zero;                   /* of the law: variables whose planes stay 0 */
    int ndim;                        /* dimensions: one plane in 2-D, one row in 1-D */
    double dt, dx, dtdx;
    struct slots slots;
    struct gathered in;
    double *q[4]; /* [nvar] planes of primitive variables, by plane & 3 */
    /* Planes, by plane & 1: states at the upper faces in z of the plane's cells, on their lower
     * side; dt/dx × flux through the lower faces; sums of old values and fluxes, finally new values
     * [nsum]. */
    double *mz[2], *fz[2], *sum[2];
    /* Strips: states at the upper and lower faces of cells; y by row of octs & 1. */
    double *mx, *px, *my[2], *py, *pz;
    double *fx[2], *fy[2]; /* strips of fluxes, by row of octs & 1 */
    /* Of a law with edges: fx[0], fy[0] are planes, and so are dt/dx × electromotive forces at
     * lower edges along x and y (by plane & 1) and z. */
    double *ex[2], *ey[2], *ez;
    bool upper;  /* of such a law: whether the plane that sweep_user.faces is told of, is the upper
                  * one of its octs */
    double *own; /* [law.nscratch][PLANE_STRIDE] planes of the law */
    struct law_row late;           /* the next that law.after gets; no octs: none */
    const struct patch_flow *flow; /* receives fluxes (patch/patch.h); NULL: none */
    void *block;
};

/* Range of cells or faces of a loop: position `at` in a plane, `r` in a strip; number of groups of
 * four cells. */
struct run {
    int at, r, fours;
};

/* Lower faces in direction dir of a run of cells: states below and above, destination of the
 * fluxes. */
struct face_job {
    int dir, at, fours; /* at, fours: as in struct run */
    int first;          /* index of its first vector among the vectors of all jobs */
    const double *L, *R;
    double *F;
};

/* Faces of rows 2y and 2y+1 of plane k that are solved together, stage after stage: each stage
 * waits for a root or a division, more faces overlap more of these, and runs in small tiles have
 * one or two vectors. */
enum { JOBS = 6, VECTORS = STRIP / LANES + 1 };
struct face_jobs {
    int y, k, n, vectors;
    struct face_job job[JOBS];
};

static inline int vectors_of(const struct face_job *j)
{
    return (j->fours + LANES / 4 - 1) >> (LANES == 8);
}

/* Plane of the cells below the faces; step_below: distance to the cells above. */
static inline int plane_below(const struct face_job *j, int k)
{
    return j->dir == 2 ? (k - 1) & 3 : k & 3;
}

/* Distance, in its plane, of a cell to the next along axis d. */
static inline int sweep_step(const struct sweep *s, int d)
{
    return d == 0 ? 1 : d == 1 ? s->in.w : 0;
}

static inline int step_below(const struct sweep *s, const struct face_job *j)
{
    return sweep_step(s, j->dir);
}

/* Initialises a zeroed sweep, or one used before, whose memory is reused. */
void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt, const struct law *law);
void sweep_fini(struct sweep *s);

/* Callbacks of a sweep over tile t. */
struct sweep_user {
    /* Receives the fluxes through faces f (−x,+x,…) of the own octs (y,z) that lie in plane k; may
     * be NULL. flux[0] is at oct x = 0, with stride 2 between octs and w between rows. */
    void (*faces)(struct sweep *s, void *ctx, int f, int y, int z, const double *flux);
    /* Of a law with edges: the electromotive forces of plane k are known; may be NULL. */
    void (*edges)(struct sweep *s, void *ctx, int k);
    /* Announces a part (slots_part) of the own octs (y,z), which will be ready soon. */
    void (*reserve)(struct sweep *s, void *ctx, int y, int z, int part);
    /* Announces that `faces` is called next for the own octs (y,z); may be NULL. */
    void (*soon)(struct sweep *s, void *ctx, int y, int z);
    /* Called when sum holds the new values of the own octs (y,z). */
    void (*ready)(struct sweep *s, void *ctx, int y, int z);
    void *ctx;
};
/* Computes the primitive variables of the octs z of the tile. */
void sweep_primitive(struct sweep *s, int z);
/* Hands sweep.flow the fluxes of rows of octs along an axis: through the lower faces of the first
 * cells of both rows, and through their upper ones. */
void sweep_flow(const struct sweep *s, int axis, int y, int k, const double *const lo[2],
                const double *const hi[2]);
void sweep_run(struct sweep *s, const struct mesh *m, int l, const struct tile *t,
               const struct sweep_user *user);
