/* States of the gas for tests, by position and cell, in any number of dimensions. */
#pragma once
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "hydro/hydro.h"

static uint64_t mix(uint64_t i)
{
    return rng_mix(i + 0x9e3779b97f4a7c15u);
}

static double uniform(uint64_t i)
{
    return (double)(mix(i) >> 11) * 0x1p-53;
}

/* Primitive state at x: smooth waves, a jump, and noise that makes all cells different. */
typedef void state_at(const double *x, uint64_t id, double *q);

static void rough(const double *x, uint64_t id, double *q)
{
    q[0] = 1.0 + 0.5 * sin(6.0 * x[0] + 4.0 * x[1]) + (x[2] > 0.4 ? 1.0 : 0.0) +
           0.2 * uniform(8 * id);
    for (int d = 1; d <= 3; d++)
        q[d] = 0.7 * sin(5.0 * x[d - 1] + d) + 0.3 * uniform(8 * id + (uint64_t)d);
    q[4] = 0.6 + 0.4 * cos(7.0 * x[1] - x[2]) + (x[0] > 0.5 ? 2.0 : 0.0) +
           0.1 * uniform(8 * id + 4);
    for (int v = 5; v < 8; v++) q[v] = uniform(8 * id + (uint64_t)v);
}

static void flowing(const double *x, uint64_t id, double *q)
{
    const double c[8] = {1.3, 0.4, -0.7, 0.9, 1.1, 0.3, 0.3, 0.3};
    memcpy(q, c, sizeof c);
}

static void set_cell(struct mesh *m, int l, lidx i, int c, const double *q,
                     const struct hydro_par *p)
{
    struct level *lv = &m->lev[l];
    double ekin = 0.5 * q[0] * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int v = 0; v < p->nvar; v++) lv->fld[FLD_U + v][i][c] = v == 0 ? q[0] : q[0] * q[v];
    lv->fld[FLD_U + 4][i][c] = q[4] / (p->gamma - 1.0) + ekin;
}

static void fill(struct mesh *m, state_at *f, const struct hydro_par *p)
{
    for (int l = 1; l <= m->levelmax; l++) {
        double dx = mesh_dx(m, l), q[8];
        for (lidx i = 0; i < m->lev[l].noct; i++) {
            int64_t x[3];
            okey_coords(m->lev[l].key[i], x);
            for (int k = 0; k < 8; k++) {
                double y[3];
                const int c = k % m->cells; /* the others repeat these */
                for (int d = 0; d < 3; d++) y[d] = ((double)(2 * x[d] + (c >> d & 1)) + 0.5) * dx;
                uint64_t id = (uint64_t)l << 40 | (uint64_t)m->lev[l].key[i] << 3 | (uint64_t)c;
                f(y, id, q);
                for (int d = m->ndim; d < 3; d++) q[1 + d] = 0.0;
                set_cell(m, l, i, k, q, p);
                for (int d = 0; m->gravity && d < 3; d++)
                    m->lev[l].fld[FLD_FX + d][i][k] = d < m->ndim ? sin(9 * y[d]) + 0.2 * d : 0.0;
            }
        }
    }
    for (int l = m->levelmax - 1; l >= 1; l--) hydro_restrict(m, l, p);
}
