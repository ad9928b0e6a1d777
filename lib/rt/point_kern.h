/* rt/point_kern: the flux of a group through a face, the state beyond a boundary, limits and
 * sources of a cell, and its numbers in thermochemistry, for hosts and devices. Private to rt. */
#pragma once
#include "cooldev/cell_kern.h"
#include "hydro/hydro.h"
#include "oct/mesh.h"
#include "rt/m1_kern.h"

/* Lowest density of photons (RAMSES's smallNp). */
#define RT_SMALL 1e-50

/* Number of the pressure between two axes, in the order of struct m1_pressure. */
PTAH_HD int rt_pressure_of(int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low + high + (low > 0 ? 1 : 0);
}

/* Flux along axis d of a state; n = 1: that of the density alone. */
PTAH_HD void rt_state_flux(const double u[PHOTON_VALUES], int d, double c, int n,
                           double f[PHOTON_VALUES])
{
    f[0] = u[1 + d];
    if (n == 1) return;
    const struct m1_pressure p = m1_pressure(u[0], u[1], u[2], u[3], c * c);
    f[1] = d == 0 ? p.xx : d == 1 ? p.xy : p.xz;
    f[2] = d == 0 ? p.xy : d == 1 ? p.yy : p.yz;
    f[3] = d == 0 ? p.xz : d == 1 ? p.yz : p.zz;
}

/* Speeds of the waves of a state along axis d. */
PTAH_HD struct m1_waves rt_state_waves(const double u[PHOTON_VALUES], int d, double c)
{
    return m1_waves(m1_shape(u[0], u[1], u[2], u[3], c), u[1 + d]);
}

/* Flux, not yet times dt/dx, through a face along axis d between the states below and above, by
 * GLF, or with their waves by HLL (waves not NULL): its first n components. */
PTAH_HD void rt_face_flux(const double *below, const double *above, const struct m1_waves *waves,
                          int d, double c, int n, double *flux)
{
    double f0[PHOTON_VALUES], f1[PHOTON_VALUES];
    rt_state_flux(below, d, c, n, f0);
    rt_state_flux(above, d, c, n, f1);
    for (int v = 0; v < n && !waves; v++) flux[v] = m1_glf(below[v], above[v], f0[v], f1[v], c);
    if (!waves) return;
    const struct m1_weights w = m1_weights(waves[0], waves[1], c);
    for (int v = 0; v < n; v++) flux[v] = m1_hll(below[v], above[v], f0[v], f1[v], w);
}

/* State of a group beyond boundary f of the box, from that within; state: that of the group where
 * the boundary imposes one. */
PTAH_HD void rt_beyond(enum bound_type bound, const double *state, int f, double u[PHOTON_VALUES])
{
    if (bound == BOUND_REFLECT) u[1 + (f >> 1)] = -u[1 + (f >> 1)];
    for (int v = 0; v < PHOTON_VALUES && bound == BOUND_IMPOSED; v++) u[v] = state[v];
}

/* Whether beyond face f of oct i of level l is no mesh; vacuum: nor beyond a periodic box. */
PTAH_HD_FN bool rt_at_edge(const struct level *lv, int l, bool vacuum, lidx i, int f)
{
    const int64_t last = ((int64_t)1 << (l - 1)) - 1;
    int64_t x[3];
    if (lv->nbr[i][f] == NBR_BOUNDARY) return true;
    if (!vacuum) return false;
    okey_coords(lv->key[i], x);
    return x[f >> 1] == (f & 1 ? last : 0);
}

/* Limits the state of a cell: N at least `small`, |F| <= cN. Returns by how much N rose. */
PTAH_HD double rt_confine_cell(double *N, double *x, double *y, double *z, double c, double small)
{
    const double before = *N, raised = before >= small ? before : small;
    const double by = m1_limit(raised, m1_flux2(*x, *y, *z), c);
    *N = raised;
    *x *= by, *y *= by, *z *= by;
    return raised - before;
}

/* ---- sources of the namelist ---- */

enum rt_shape { RT_SQUARE, RT_POINT, RT_SHELL };

/* A source for dt seconds in cells of a level: photons per second, or per second and cm^2 in a box,
 * whose direction is a fraction of the largest flux. */
struct rt_shine {
    enum rt_shape shape;
    int ndim;
    double n, direction[3];
    double per_n, volume; /* densities in cm^-3 to code units; of a cell, cm^ndim */
    double c, c_cgs, dt;
};

/* Changes the state u of a cell that the source reaches; w: its part of a point. */
PTAH_HD void rt_shine(const struct rt_shine *a, double w, double u[PHOTON_VALUES])
{
    if (a->shape == RT_POINT) {
        const double more = a->n * a->per_n * w / a->volume * a->dt;
        u[0] += more;
        for (int d = 0; d < a->ndim; d++) u[1 + d] += a->c * more * a->direction[d];
        return;
    }
    if (a->shape == RT_SHELL) {
        u[0] = a->n * a->per_n;
        return;
    }
    const double N = a->n * a->per_n / a->c_cgs;
    u[0] = N;
    for (int d = 0; d < a->ndim; d++) u[1 + d] = a->c * N * a->direction[d];
}

/* ---- cells in thermochemistry (lib/chem), which has cgs units ---- */

/* T/μ above the floor. */
PTAH_HD double cell_T2(double internal, double rho, double per_T2)
{
    return internal / (rho * per_T2);
}

PTAH_HD double cell_T2_above(double T2, double floor, double most)
{
    return m1_min(m1_max(T2 - floor, COOLING_MIN), most);
}

/* Internal energy per volume of the new T/μ above the floor; gas in which cooling is delayed may
 * only be heated, from `begun`. */
PTAH_HD double cell_internal(double T2, double begun, double cools, double floor, double rho,
                             double per_T2)
{
    const double to = cools != 0 ? T2 : m1_max(T2, begun);
    return (to + floor) * (rho * per_T2);
}
