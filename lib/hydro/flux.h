/* hydro/flux: the Godunov scheme on a gathered patch, plane by plane. Private to hydro.
 *
 * A plane of constant z is converted to primitive variables, limited and traced to its faces while
 * the planes around it are in the first-level cache; then the Riemann problems of its faces are
 * solved. Loops run over whole planes (rows with their halo one after the other), so that they are
 * long and branch-free; what they compute in the halo columns is not used. */
#pragma once
#include "hydro/hydro_kern.h"
#include "hydro/tile.h"

/* Scratch of one thread. Planes of variables have PLANE_STRIDE doubles from variable to variable.
 */
struct sweep {
    const struct hydro_par *par;
    struct hydro_gas gas;
    int nvar, nflux; /* variables; with pressure_fix plus face velocity and internal energy */
    int nout;        /* with pressure_fix plus the divergence of the old velocities */
    bool gravity;
    double dt, dx, dtdx;
    struct patch patch;
    double *q[4]; /* primitive variables of the last planes, ring by plane & 3 */
    /* velocities without the gravity predictor [3], the same ring (pressure_fix) */
    double *v_old[4];
    double *m[2];       /* x, y: states at the upper faces of the plane's cells, seen from within */
    double *p[2];       /* x, y: the same at the lower faces */
    double *mz[2], *pz; /* the same for z; mz by plane & 1 */
    double *flux[2];    /* x, y: dt/dx × flux through the lower face of each cell of the plane */
    double *fz[2];      /* z, by plane & 1 */
    double *left;       /* part of the mass flux that carries the left state's scalars */
    /* velocity divergence at the lower corners of the plane (difmag), by plane & 1 */
    double *div[2];
    /* new values [nout] of the plane, by plane & 1; then those of an oct plane are complete */
    double *out[2];
    void *block;
};

void sweep_init(struct sweep *s, const struct mesh *m, int l, double dt,
                const struct hydro_par *par);
void sweep_fini(struct sweep *s);
struct hydro_gas hydro_gas_of(const struct hydro_par *par);

/* All stages for a gathered patch. `faces` (may be NULL) is called with the fluxes through the
 * lower faces of direction dir (0 x, 1 y, 2 z) of the cells of interior plane k (0…n−1, z: …n);
 * `ready` when out holds the new values of oct plane z. */
struct sweep_user {
    void (*faces)(struct sweep *s, void *ctx, int dir, int k, const double *flux);
    void (*ready)(struct sweep *s, void *ctx, int z);
    void *ctx;
};
void sweep_run(struct sweep *s, const struct sweep_user *user);
