/* ics_region: analytic initial conditions, RAMSES's regions.
 *
 * Start from (rho, v, P) = (smallr, 0, smallr smallc²/gamma), scalars 0. A square region replaces
 * these at cell centres with r < 1, r = (Σ_d (2|x_d - c_d|/length_d)^e)^(1/e), the largest term if
 * e >= 10. A point region adds d w/vol, v w, P w/vol, w being the cloud-in-cell weight of the point
 * in the cell, and sets the scalars everywhere. Not periodic, and cell centres are not averaged
 * over the cell. */
#include <math.h>

#include "ics/ics.h"

static void region_apply(const struct ics_region *r, int nvar, const double x[3], double dx,
                         double *q);
static bool square_holds(const struct ics_region *r, const double x[3]);
static void to_conserved(const struct ics_gas *g, const double *q, double *u);

void ics_regions(struct mesh *m, int l, const struct ics_region *r, int nregion,
                 const struct ics_gas *g)
{
    struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l);
#pragma omp parallel for
    for (lidx i = 0; i < lv->noct; i++) {
        int64_t k[3];
        okey_coords(lv->key[i], k);
        for (int c = 0; c < 8; c++) {
            double x[3], q[NVAR_MAX] = {0}, u[NVAR_MAX];
            for (int d = 0; d < 3; d++) x[d] = ((double)(2 * k[d] + (c >> d & 1)) + 0.5) * dx;
            q[0] = g->smallr;
            q[GAS_ENERGY] = g->smallr * (g->smallc * g->smallc) / g->gamma;
            for (int n = 0; n < nregion; n++) region_apply(&r[n], g->nvar, x, dx, q);
            to_conserved(g, q, u);
            for (int v = 0; v < g->nvar; v++) lv->fld[FLD_U + v][i][c] = u[v];
        }
    }
}

static void region_apply(const struct ics_region *r, int nvar, const double x[3], double dx,
                         double *q)
{
    if (r->shape == ICS_SQUARE) {
        if (!square_holds(r, x)) return;
        q[0] = r->d;
        for (int d = 0; d < 3; d++) q[1 + d] = r->v[d];
        q[GAS_ENERGY] = r->p;
    } else {
        double w = 1, vol = dx * dx * dx;
        for (int d = 0; d < 3; d++) w *= fmax(1 - fabs(x[d] - r->center[d]) / dx, 0);
        q[0] += r->d * w / vol;
        for (int d = 0; d < 3; d++) q[1 + d] += r->v[d] * w;
        q[GAS_ENERGY] += r->p * w / vol;
    }
    for (int v = GAS_SCALARS; v < nvar; v++) q[v] = r->var[v - GAS_SCALARS];
}

static bool square_holds(const struct ics_region *r, const double x[3])
{
    double t[3], e = r->exponent;
    for (int d = 0; d < 3; d++) t[d] = 2 * fabs(x[d] - r->center[d]) / r->length[d];
    if (e >= 10) return t[0] < 1 && t[1] < 1 && t[2] < 1;
    return pow(pow(t[0], e) + pow(t[1], e) + pow(t[2], e), 1 / e) < 1;
}

static void to_conserved(const struct ics_gas *g, const double *q, double *u)
{
    double kinetic = 0;
    for (int d = 1; d < 4; d++) {
        u[d] = q[0] * q[d];
        kinetic += 0.5 * q[0] * (q[d] * q[d]);
    }
    u[0] = q[0];
    u[GAS_ENERGY] = kinetic + q[GAS_ENERGY] / (g->gamma - 1);
    for (int v = GAS_SCALARS; v < g->nvar; v++) u[v] = q[0] * q[v];
}
