/* ics/ics_region: analytic initial conditions, RAMSES's regions.
 *
 * The state starts as (rho, v, P) = (smallr, 0, smallr smallc²/gamma), scalars 0. A square region
 * replaces it at cell centres with r < 1, r = (Σ_d (2|x_d - c_d|/length_d)^e)^(1/e), the largest
 * term if e >= 10. A point region adds d w/vol, v w, P w/vol, w being the cloud-in-cell weight of
 * the point in the cell, and sets the scalars everywhere. Regions are not periodic, and values are
 * not averaged over a cell. */
#include <math.h>
#include <string.h>

#include "ics/ics.h"
#include "oct/gas_kern.h"

struct regions {
    const struct ics_region *region;
    int n;
    const struct ics_gas *gas;
    double dx, vol; /* size of a cell, and its volume */
    int ndim;
    const struct mesh *mesh;
};

static void oct_state(const struct regions *r, okey key, double (*out)[8]);
static void oct_field(const struct regions *r, okey key, double (*b)[8]);
static void add_magnetic(const double (*b)[8], double (*u)[8]);

void ics_regions(struct mesh *m, int l, const struct ics_region *r, int nregion,
                 const struct ics_gas *g)
{
    struct level *lv = &m->lev[l];
    const struct regions all = {r, nregion, g, mesh_dx(m, l), mesh_volume(m, l), m->ndim, m};
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        double u[NVAR_MAX][8], b[6][8];
        oct_state(&all, lv->key[i], u);
        if (m->magnetic) {
            oct_field(&all, lv->key[i], b);
            add_magnetic((const double(*)[8])b, u);
            for (int f = 0; f < 6; f++) memcpy(level_magnetic(lv, f)[i], b[f], sizeof b[f]);
        }
        for (int v = 0; v < g->nvar; v++) memcpy(level_gas(lv, v)[i], u[v], sizeof u[v]);
    }
}

static bool region_even(const struct ics_region *r, double x[3][2], double dx);
static void cell_state(const struct regions *r, const double x[3], double *q);

/* State of an oct. Most octs lie wholly inside or outside of each region, and one cell stands for
 * all. */
static void oct_state(const struct regions *r, okey key, double (*out)[8])
{
    int64_t k[3];
    double at[3][2];
    bool same = true;
    okey_coords(key, k);
    for (int d = 0; d < 3; d++)
        for (int b = 0; b < 2; b++)
            at[d][b] = d < r->ndim ? ((double)(2 * k[d] + b) + 0.5) * r->dx : 0;
    for (int n = 0; n < r->n; n++) same &= region_even(&r->region[n], at, r->dx);
    for (int c = 0; c < (same ? 1 : 8); c++) {
        double x[3], q[NVAR_MAX], u[NVAR_MAX];
        for (int d = 0; d < 3; d++) x[d] = at[d][c >> d & 1];
        cell_state(r, x, q);
        ics_conserved(r->gas, q, u);
        for (int v = 0; v < r->gas->nvar; v++)
            for (int j = c; j < (same ? 8 : c + 1); j++) out[v][j] = u[v];
    }
}

static void region_apply(const struct ics_region *r, const double x[3], const struct regions *all,
                         double *q);

static void cell_state(const struct regions *r, const double x[3], double *q)
{
    for (int v = 0; v < r->gas->nvar; v++) q[v] = 0;
    q[0] = r->gas->smallr;
    q[GAS_PRESSURE] = r->gas->smallr * (r->gas->smallc * r->gas->smallc) / r->gas->gamma;
    for (int n = 0; n < r->n; n++) region_apply(&r->region[n], x, r, q);
}

void ics_region_cell(const struct mesh *m, int l, const struct ics_region *r, int nregion,
                     const struct ics_gas *g, const double x[3], double *q)
{
    const struct regions all = {r, nregion, g, mesh_dx(m, l), mesh_volume(m, l), m->ndim, m};
    cell_state(&all, x, q);
}

static bool square_holds(const struct ics_region *r, const double x[3]);

static void region_apply(const struct ics_region *r, const double x[3], const struct regions *all,
                         double *q)
{
    double point = 0; /* factor of what a point region adds per volume */
    if (r->shape == ICS_SQUARE) {
        if (!square_holds(r, x)) return;
        q[0] = r->d;
        for (int d = 0; d < 3; d++) q[1 + d] = r->v[d];
        q[GAS_PRESSURE] = r->p;
    } else {
        double w = 1, dx = all->dx, vol = all->vol;
        for (int d = 0; d < 3; d++) w *= fmax(1 - fabs(x[d] - r->center[d]) / dx, 0);
        q[0] += r->d * w / vol;
        for (int d = 0; d < 3; d++) q[1 + d] += r->v[d] * w;
        q[GAS_PRESSURE] += r->p * w / vol;
        point = w / vol;
    }
    const int passive = GAS_SCALARS + all->gas->energy.n;
    for (int v = GAS_SCALARS; v < passive; v++)
        q[v] = r->shape == ICS_SQUARE ? r->var[v - GAS_SCALARS]
                                      : q[v] + point * r->var[v - GAS_SCALARS];
    for (int v = passive; v < all->gas->nvar; v++) q[v] = r->var[v - GAS_SCALARS];
}

/* ---- magnetic field ---- */

/* Component d at a point. */
static double field_at(const struct regions *r, const double x[3], int d)
{
    double b = 0;
    for (int n = 0; n < r->n; n++) {
        const struct ics_region *q = &r->region[n];
        if (q->shape == ICS_SQUARE && square_holds(q, x)) b = q->b[d];
    }
    return b;
}

/* Fields of the faces of an oct. Both cells of a face must give it the same value, also where the
 * regions do not agree. */
static void oct_field(const struct regions *r, okey key, double (*b)[8])
{
    int64_t k[3];
    okey_coords(key, k);
    for (int c = 0; c < 8; c++) {
        double x[3];
        for (int d = 0; d < 3; d++)
            x[d] = d < r->ndim ? ((double)(2 * k[d] + (c >> d & 1)) + 0.5) * r->dx : 0;
        for (int d = 0; d < 3; d++) {
            const double here = x[d], length = r->mesh->boxlen;
            b[2 * d][c] = b[2 * d + 1][c] = field_at(r, x, d);
            if (d >= r->ndim) continue;
            const bool last = here + r->dx > length;
            if (last && r->mesh->bounded[2 * d + 1]) continue;
            x[d] = last ? 0.5 * r->dx : here + r->dx;
            b[2 * d + 1][c] = field_at(r, x, d);
            x[d] = here;
        }
    }
}

static void add_magnetic(const double (*b)[8], double (*u)[8])
{
    for (int c = 0; c < 8; c++)
        u[GAS_ENERGY][c] += gas_magnetic_faces(b[0][c], b[1][c], b[2][c], b[3][c], b[4][c],
                                               b[5][c]);
}

/* ---- shapes ---- */

static double square_distance(const struct ics_region *r, int d, double x)
{
    return 2 * fabs(x - r->center[d]) / r->length[d];
}

static bool square_holds(const struct ics_region *r, const double x[3])
{
    double t[3], e = r->exponent;
    for (int d = 0; d < 3; d++) t[d] = square_distance(r, d, x[d]);
    if (e >= 10) return t[0] < 1 && t[1] < 1 && t[2] < 1;
    return pow(pow(t[0], e) + pow(t[1], e) + pow(t[2], e), 1 / e) < 1;
}

/* r^e, up to rounding. */
static double square_power(double e, const double t[3])
{
    if (e == 2) return t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
    return pow(t[0], e) + pow(t[1], e) + pow(t[2], e);
}

/* Whether the nearest and the farthest corner are on the same side of the surface by more than
 * rounding. */
static bool square_even(const struct ics_region *r, double x[3][2])
{
    double lo[3], hi[3], e = r->exponent;
    for (int d = 0; d < 3; d++) {
        double a = square_distance(r, d, x[d][0]), b = square_distance(r, d, x[d][1]);
        if (!(a >= 0 && b >= 0)) return false; /* zero or negative length */
        lo[d] = fmin(a, b);
        hi[d] = fmax(a, b);
    }
    if (e > 0 && (lo[0] > 1.001 || lo[1] > 1.001 || lo[2] > 1.001)) return true;
    if (e >= 10) return hi[0] < 1 && hi[1] < 1 && hi[2] < 1;
    return e > 0.01 && (square_power(e, hi) < 1 - 1e-9 || square_power(e, lo) > 1 + 1e-9);
}

/* Whether the region treats all cells of an oct alike; cell centres at x[d][0] or x[d][1]. */
static bool region_even(const struct ics_region *r, double x[3][2], double dx)
{
    if (r->shape == ICS_SQUARE) return square_even(r, x);
    for (int d = 0; d < 3; d++)
        if (fabs(x[d][0] - r->center[d]) >= 1.001 * dx &&
            fabs(x[d][1] - r->center[d]) >= 1.001 * dx)
            return true;
    return false;
}

void ics_conserved(const struct ics_gas *g, const double *q, double *u)
{
    double kinetic = gas_kinetic_state(q[0], q[1], q[2], q[3]);
    for (int v = 1; v < g->nvar; v++) u[v] = q[0] * q[v];
    u[0] = q[0];
    u[GAS_ENERGY] = kinetic + gas_internal_of(q[GAS_PRESSURE], g->gamma);
    for (int k = 0; k < g->energy.n; k++) {
        u[GAS_SCALARS + k] = gas_internal_of(q[GAS_SCALARS + k], g->energy.gamma[k]);
        u[GAS_ENERGY] += u[GAS_SCALARS + k];
    }
}
