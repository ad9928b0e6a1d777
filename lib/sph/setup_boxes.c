/* sph/setup_boxes: uniform gas, the blast wave of Sedov (1959), and the shock tube of Sod (1978),
 * in boxes. */
#include <math.h>

#include "sph/setup.h"

/* ---- lattice, advect ---- */

static bool uniform_at(const struct setup *k, int64_t i, struct setup_point *q)
{
    setup_at(k, i, q->x);
    q->rho = k->par->rho0;
    q->u = setup_energy(k, k->par->p0, q->rho);
    for (int d = 0; d < 3; d++) q->v[d] = k->par->v0[d];
    return true;
}

enum err setup_lattice(struct setup *k)
{
    double side[3];
    for (int d = 0; d < 3; d++) side[d] = k->par->xmax[d] - k->par->xmin[d];
    setup_whole(k, k->par->xmin, side);
    k->mass = k->par->rho0 * side[0] * side[1] * side[2];
    k->place = uniform_at;
    return OK;
}

/* A lattice that moves: its particles keep their distances, so random places are none. */
enum err setup_advect(struct setup *k)
{
    const double *v = k->par->v0;
    if (v[0] == 0 && v[1] == 0 && v[2] == 0)
        FAIL(ERR_PARAM, "setup='advect' in &SPH_PARAMS moves a lattice: set its velocity v0");
    if (k->lattice == SETUP_RANDOM)
        FAIL(ERR_PARAM, "setup='advect' in &SPH_PARAMS moves a lattice: set lattice='hcp' or "
                        "'cubic'");
    return setup_lattice(k);
}

/* ---- sedov ---- */

/* The cubic spline (Monaghan & Lattanzio 1985), but for a factor, for 0 ≤ q; 0 from 2 on. */
static double spline(double q)
{
    const double s = fmax(2 - q, 0), t = fmax(1 - q, 0);
    return s * s * s / 4 - t * t * t;
}

/* The energy has the shape of the cubic spline with the smoothing length 2η dx, where dx is the
 * distance of particles in a row (Price et al. 2018, section 5.1.3); the rest of the gas is cold.
 */
static bool sedov_at(const struct setup *k, int64_t i, struct setup_point *q)
{
    setup_at(k, i, q->x);
    q->rho = k->par->rho0;
    const double h = 2 * k->s->eq.eta * k->block[0].side[0] / (double)k->block[0].n[0],
                 r = sqrt(q->x[0] * q->x[0] + q->x[1] * q->x[1] + q->x[2] * q->x[2]);
    q->u = spline(r / h);
    return true;
}

enum err setup_sedov(struct setup *k)
{
    setup_whole(k, (const double[]){-0.5, -0.5, -0.5}, (const double[]){1, 1, 1});
    k->mass = k->par->rho0;
    k->energy = 1;
    k->place = sedov_at;
    return OK;
}

/* ---- sod ---- */

/* x < 0: density rho0, pressure 1; x > 0: an eighth of the density, pressure 0.1, particles at
 * twice the distance. */
static bool sod_at(const struct setup *k, int64_t i, struct setup_point *q)
{
    const int right = setup_at(k, i, q->x);
    q->rho = right ? k->par->rho0 / 8 : k->par->rho0;
    q->u = setup_energy(k, right ? 0.1 : 1, q->rho);
    return true;
}

/* Rows or planes of the thin half: 12 with npx=128, and at least so many that no kernel meets its
 * image. */
static int64_t sod_thickness(const struct setup *k, int axis, const double step[3], double dx)
{
    const double least = setup_thickness(k, dx * dx * dx * step[1] * step[2]) / (step[axis] * dx);
    int64_t n = setup_count(k->lattice, axis, 12 * k->par->npx / 128.0, 1);
    return n > least ? n : 2 * (int64_t)ceil(least / 2);
}

/* The box is periodic along x too, so a second shock runs from its ends. */
enum err setup_sod(struct setup *k)
{
    const int64_t npx = k->par->npx;
    if (npx % 2)
        FAIL(ERR_PARAM,
             "npx=%d in &SPH_PARAMS must be even with setup='sod': the thin half of the "
             "tube has half as many particles along x",
             k->par->npx);
    double step[3];
    setup_steps(k->lattice, step);
    const double dx = 2 / (double)npx; /* of the thin half */
    k->nblock = 2;
    for (int d = 0; d < 3; d++) {
        const int64_t n = d == 0 ? npx / 2 : sod_thickness(k, d, step, dx);
        const double side = d == 0 ? 1 : (double)n * step[d] * dx;
        k->block[0].n[d] = 2 * n, k->block[1].n[d] = n;
        k->block[0].side[d] = k->block[1].side[d] = side;
        k->block[0].lo[d] = k->block[1].lo[d] = d == 0 ? -1 : -side / 2;
        k->lo[d] = k->block[0].lo[d];
        k->side[d] = d == 0 ? 2 : side;
    }
    k->block[1].lo[0] = 0;
    k->n = setup_places(&k->block[0]) + setup_places(&k->block[1]);
    k->mass = k->par->rho0 * k->side[1] * k->side[2] * (1 + 1 / 8.0);
    k->least = k->par->rho0 / 8;
    k->place = sod_at;
    return OK;
}
