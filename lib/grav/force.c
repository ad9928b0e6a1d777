/* grav/force: acceleration, f = −∇φ with the 5-point gradient
 * f_d = [ (2/3)(φ_{i−1} − φ_{i+1}) − (1/12)(φ_{i−2} − φ_{i+2}) ]/dx, and analytic fields. */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "dom/ghost.h"
#include "grav/grav.h"
#include "grav/interpol.h"
#include "oct/fields.h"

/* Gradient along direction d. lo, hi: the octs before and after o along d. */
static inline void gradient(const double o[8], const double *lo, const double *hi, int d, double dx,
                            double f[8])
{
    for (int c = 0; c < 8; c++) f[c] = force_cell(o, lo, hi, d, c, dx);
}

static void force_self(struct mesh *m, int l, const struct grav_source *from)
{
    struct level *lv = &m->lev[l];
    double(*phi)[8] = lv->fld[FLD_PHI], dx = 1.0 / (double)((int64_t)1 << l);
#pragma omp parallel
    {
        struct interpol here;
        double beyond[6][8];
        interpol_init(&here, m, l - 1, from);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            const double *n[6];
            for (int f = 0; f < 6; f++) {
                lidx j = lv->nbr[i][f];
                if (j < 0 && f < 2 * m->ndim) interpol_face(&here, i, f, beyond[f]);
                n[f] = j < 0 ? beyond[f] : phi[j];
            }
            gradient(phi[i], n[0], n[1], 0, dx, lv->fld[FLD_FX][i]);
            if (m->ndim > 1) gradient(phi[i], n[2], n[3], 1, dx, lv->fld[FLD_FY][i]);
            if (m->ndim > 2) gradient(phi[i], n[4], n[5], 2, dx, lv->fld[FLD_FZ][i]);
            for (int d = m->ndim; d < 3; d++) memset(level_force(lv, d)[i], 0, sizeof(double[8]));
        }
    }
}

/* Acceleration by force_type: 1 constant vector; 2 point mass (GM, softening, x, y, z); 3
 * vertical field of a disc, Kuijken & Gilmore 1989 (a1 [kpc/Myr²], a2 [1/Myr²], z0 [pc]),
 * centred, along the last dimension. */
static void analytic_force(const struct grav_par *p, int ndim, const double x[3], double f[3])
{
    const double *q = p->force_params;
    f[0] = f[1] = f[2] = 0;
    if (p->force_type == 1) {
        memcpy(f, q, sizeof *f * (size_t)ndim);
    } else if (p->force_type == 2) {
        double r2 = q[1] * q[1];
        for (int d = 0; d < ndim; d++) r2 += (x[d] - q[2 + d]) * (x[d] - q[2 + d]);
        double r = sqrt(r2);
        for (int d = 0; d < ndim; d++) f[d] = -q[0] * (x[d] - q[2 + d]) / (r * r * r);
    } else if (p->force_type == 3) {
        double a1 = q[0] * CGS_KPC / (CGS_MYR * CGS_MYR) / p->unit_l * (p->unit_t * p->unit_t);
        double a2 = q[1] / (CGS_MYR * CGS_MYR) * (p->unit_t * p->unit_t),
               z0 = q[2] * CGS_PC / p->unit_l, z = x[ndim - 1] - 0.5 * p->boxlen;
        f[ndim - 1] = -a1 * z / sqrt(z * z + z0 * z0) - a2 * z;
    }
}

/* Sets the force of the first n octs to the analytic one, or adds it. */
static void force_analytic(struct mesh *m, int l, lidx n, const struct grav_par *p)
{
    struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < n; i++)
        for (int c = 0; c < 8; c++) {
            double x[3], f[3];
            grav_cell_centre(m, l, i, c, x);
            analytic_force(p, m->ndim, x, f);
            for (int d = 0; d < 3; d++) {
                double *to = &lv->fld[FLD_FX + d][i][c];
                *to = p->analytic ? f[d] : *to + f[d];
            }
        }
}

void grav_force(struct mesh *m, const struct comm *c, int l, const struct grav_source *from,
                const struct grav_par *p)
{
    if (p->analytic) {
        force_analytic(m, l, m->lev[l].noct, p);
        ghosts_set(m, l, SET_FORCE, true);
        return;
    }
    force_self(m, l, from);
    if (p->force_type > 0) force_analytic(m, l, m->lev[l].nown, p);
    ghost_fill(c, m, l, 3, (int[]){FLD_FX, FLD_FY, FLD_FZ});
}

/* Density by density_type: 2 cusp min(1/(r(1+r)²), its value at the softening) (softening, x, y,
 * z); 3 the density of the disc whose acceleration is type 3. */
double grav_analytic_density(const struct grav_par *p, int ndim, const double x[3])
{
    const double *q = p->density_params;
    if (p->density_type == 2) {
        double r2 = 0;
        for (int d = 0; d < ndim; d++) r2 += (x[d] - q[1 + d]) * (x[d] - q[1 + d]);
        double r = sqrt(r2), top = 1.0 / (q[0] * (1.0 + q[0]) * (1.0 + q[0]));
        return fmin(1.0 / (r * (1.0 + r) * (1.0 + r)), top);
    }
    if (p->density_type == 3) {
        double a1 = q[0] * 1e3 / q[2] / (CGS_MYR * CGS_MYR) / (4 * M_PI * RAMSES_G) / p->unit_d;
        double a2 = q[1] / (CGS_MYR * CGS_MYR) / (4 * M_PI * RAMSES_G) / p->unit_d,
               z0 = q[2] * CGS_PC / p->unit_l, z = x[ndim - 1] - 0.5 * p->boxlen;
        return a1 / pow(1.0 + (z / z0) * (z / z0), 1.5) + a2;
    }
    return 0;
}
