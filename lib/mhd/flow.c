/* mhd/flow: the velocities of scheme='induction', of which the field is carried along but which it
 * does not change (docs/method/mhd.md). */
#include <math.h>

#include "hydro/cell_kern.h"
#include "mhd/mhd.h"

/* Arnold, Beltrami and Childress; positions in units of the code, with the period 1. */
static void abc(const double x[3], double v[3])
{
    const double t = 2 * M_PI;
    v[0] = cos(t * x[1]) + sin(t * x[2]);
    v[1] = sin(t * x[0]) + cos(t * x[2]);
    v[2] = cos(t * x[0]) + sin(t * x[1]);
}

/* A screw of radius 1 around the axis of the box, along z, in gas at rest (Ponomarenko 1973): at
 * its surface the speed is 1, along z 1.3 times that around the axis, which has the lowest critical
 * magnetic Reynolds number. */
static void ponomarenko(const double x[3], double boxlen, double v[3])
{
    static const double TURNS = 0.609711, RISE = 0.792624;
    const double a = x[0] - 0.5 * boxlen, b = x[1] - 0.5 * boxlen;
    const bool within = a * a + b * b < 1;
    v[0] = within ? -TURNS * b : 0;
    v[1] = within ? TURNS * a : 0;
    v[2] = within ? RISE : 0;
}

void mhd_velocity(enum mhd_flow flow, const double x[3], double boxlen, double v[3])
{
    v[0] = v[1] = v[2] = 0;
    if (flow == FLOW_ABC) abc(x, v);
    if (flow == FLOW_PONOMARENKO) ponomarenko(x, boxlen, v);
}

static void impose_cell(const struct mesh *m, const struct level *lv, lidx i, int c,
                        const struct mhd_par *p)
{
    double(*const *u)[8] = lv->fld + FLD_U;
    const double dx = mesh_dx(m, lv->level);
    double x[3] = {0}, v[3];
    int64_t at[3];
    okey_coords(lv->key[i], at);
    for (int d = 0; d < m->ndim; d++) x[d] = ((double)(2 * at[d] + (c >> d & 1)) + 0.5) * dx;
    mhd_velocity(p->flow, x, m->boxlen, v);
    for (int d = 0; d < 3; d++) {
        if (d >= m->ndim) v[d] = 0; /* as in RAMSES: the flow is within the axes of the mesh */
        u[1 + d][i][c] = v[d];
    }
    u[0][i][c] = 1;
    u[GAS_ENERGY][i][c] = gas_kinetic(1.0, v[0], v[1], v[2]) + 1.0 + gas_cell_magnetic(lv, i, c);
}

void mhd_impose(struct mesh *m, int l, bool ghosts, const struct mhd_par *p)
{
    const struct level *lv = &m->lev[l];
    const lidx n = ghosts ? lv->noct : lv->nown;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < n; i++) {
        for (int c = 0; c < m->cells; c++) impose_cell(m, lv, i, c, p);
        for (int v = 0; v < GAS_SCALARS; v++) oct_repeat(m->cells, level_gas(lv, v)[i]);
    }
}
