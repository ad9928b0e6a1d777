/* hydro/flag: what reads the gas cell by cell without advancing it: time step, kick, refinement criteria, totals.
 * (spec/numerics §3, 4, 11) */
#include <math.h>
#include <string.h>

#include "hydro/hydro.h"
#include "hydro/flux.h"
#include "hydro/hydro_interp.h"

double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
    const struct hydro_gas g = hydro_gas_of(p);
    const double dx = mesh_dx(m, l), courant = p->courant_factor, cap = courant * dx / p->smallc;
    double dt = HUGE_VAL;
#pragma omp parallel for schedule(static) reduction(min : dt)
    for (lidx i = 0; i < lv->nown; i++) {
        const double *r = lv->fld[FLD_U][i], *mx = lv->fld[FLD_U + 1][i], *my = lv->fld[FLD_U + 2][i],
                     *mz = lv->fld[FLD_U + 3][i], *e = lv->fld[FLD_U + 4][i];
        const lidx *child = lv->child[i];
        double f[8] = {0}, t[8];
        if (m->gravity)
            for (int c = 0; c < 8; c++)
                f[c] = fabs(lv->fld[FLD_FX][i][c]) + fabs(lv->fld[FLD_FY][i][c]) + fabs(lv->fld[FLD_FZ][i][c]);
#pragma omp simd
        for (int c = 0; c < 8; c++) {
            double x = hydro_cell_dt(r[c], mx[c], my[c], mz[c], e[c], f[c], dx, courant, g);
            t[c] = child[c] < 0 ? hydro_min(x, cap) : HUGE_VAL;
        }
        for (int c = 0; c < 8; c++) dt = hydro_min(t[c], dt);
    }
    return dt;
}

void hydro_kick(struct mesh *m, int l, double dt, const struct hydro_par *p)
{
    struct level *lv = &m->lev[l];
    if (!m->gravity) return;
    const double smallr = p->smallr;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        const double *r = lv->fld[FLD_U][i], *fx = lv->fld[FLD_FX][i], *fy = lv->fld[FLD_FY][i], *fz = lv->fld[FLD_FZ][i];
        double *mx = lv->fld[FLD_U + 1][i], *my = lv->fld[FLD_U + 2][i], *mz = lv->fld[FLD_U + 3][i],
               *e = lv->fld[FLD_U + 4][i];
#pragma omp simd
        for (int c = 0; c < 8; c++) {
            double d = hydro_max(r[c], smallr);
            double x = mx[c], y = my[c], z = mz[c];
            double eint = e[c] - 0.5 * x * x / d - 0.5 * y * y / d - 0.5 * z * z / d;
            x += d * fx[c] * dt;
            y += d * fy[c] * dt;
            z += d * fz[c] * dt;
            mx[c] = x;
            my[c] = y;
            mz[c] = z;
            e[c] = eint + 0.5 * x * x / d + 0.5 * y * y / d + 0.5 * z * z / d;
        }
    }
}

/* ---- refinement by gradients ---- */

/* Primitive variables without scalars; c is the sound speed with floor_u. */
struct prim {
    double r, v[3], p, c;
};

static struct prim prim_of(const double *u, const struct hydro_par *par)
{
    struct prim q;
    double ekin = 0.0;
    q.r = hydro_max(u[0], par->smallr);
    for (int d = 0; d < 3; d++) {
        q.v[d] = u[1 + d] / q.r;
        ekin += 0.5 * q.r * (q.v[d] * q.v[d]);
    }
    q.p = (par->gamma - 1.0) * (u[4] - ekin);
    q.c = sqrt(hydro_max(par->gamma * q.p / q.r, par->floor_u * par->floor_u));
    return q;
}

static inline double jump(double a, double b, double floor)
{
    return fabs((a - b) / (a + b + floor));
}

/* Is the jump from the left (g) or to the right (d) of the middle cell above a limit? */
static bool is_steep(const struct prim *g, const struct prim *m, const struct prim *d, const struct hydro_par *p)
{
    if (p->err_grad_d >= 0.0 && 2.0 * hydro_max(jump(d->r, m->r, p->floor_d), jump(m->r, g->r, p->floor_d)) > p->err_grad_d)
        return true;
    if (p->err_grad_p >= 0.0 && 2.0 * hydro_max(jump(d->p, m->p, p->floor_p), jump(m->p, g->p, p->floor_p)) > p->err_grad_p)
        return true;
    if (p->err_grad_u < 0.0) return false;
    for (int k = 0; k < 3; k++) {
        double vg = g->v[k], vm = m->v[k], vd = d->v[k];
        double right = fabs((vd - vm) / (d->c + m->c + fabs(vd) + fabs(vm) + p->floor_u));
        double left = fabs((vm - vg) / (m->c + g->c + fabs(vm) + fabs(vg) + p->floor_u));
        if (2.0 * hydro_max(right, left) > p->err_grad_u) return true;
    }
    return false;
}

void hydro_flag(const struct mesh *m, int l, const struct hydro_par *p, unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    if (p->err_grad_d < 0.0 && p->err_grad_p < 0.0 && p->err_grad_u < 0.0) return;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        struct prim own[8];
        double u[NVAR_MAX];
        for (int c = 0; c < 8; c++) {
            for (int v = 0; v < 5; v++) u[v] = lv->fld[FLD_U + v][i][c];
            own[c] = prim_of(u, p);
        }
        for (int c = 0; c < 8; c++) {
            for (int d = 0; d < 3 && !ok[i][c]; d++) {
                struct prim side[2];
                for (int s = 0; s < 2; s++) {
                    bool inside = (c >> d & 1) != s;
                    if (!inside) hydro_state_across(m, l, i, c, 2 * d + s, p, u);
                    side[s] = inside ? own[c ^ 1 << d] : prim_of(u, p);
                }
                ok[i][c] |= is_steep(&side[0], &own[c], &side[1], p);
            }
        }
    }
}

/* ---- totals ---- */

/* Sums over the leaf cells of one oct, in the order of its cells. */
struct oct_sum {
    double mass, energy, internal, momentum[3];
};

static struct oct_sum oct_total(const struct level *lv, lidx i, double vol, double smallr)
{
    struct oct_sum s = {0};
    for (int c = 0; c < 8; c++) {
        if (lv->child[i][c] >= 0) continue;
        double r = lv->fld[FLD_U][i][c], e = lv->fld[FLD_U + 4][i][c], eint = e;
        for (int d = 0; d < 3; d++) {
            double mom = lv->fld[FLD_U + 1 + d][i][c];
            eint -= 0.5 * mom * mom / hydro_max(r, smallr);
            s.momentum[d] += mom * vol;
        }
        s.mass += r * vol;
        s.energy += e * vol;
        s.internal += eint * vol;
    }
    return s;
}

void hydro_totals(const struct mesh *m, int l, const struct hydro_par *p, struct sum *mass, struct sum *energy,
                  struct sum *internal, struct sum momentum[3])
{
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), vol = dx * dx * dx;
    struct sum *all[6] = {mass, energy, internal, &momentum[0], &momentum[1], &momentum[2]};
#pragma omp parallel
    {
        struct sum part[6];
        for (int k = 0; k < 6; k++) sum_init(&part[k]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            struct oct_sum s = oct_total(lv, i, vol, p->smallr);
            double x[6] = {s.mass, s.energy, s.internal, s.momentum[0], s.momentum[1], s.momentum[2]};
            for (int k = 0; k < 6; k++) sum_add(&part[k], x[k]);
        }
#pragma omp critical(hydro_totals)
        for (int k = 0; k < 6; k++) sum_join(all[k], &part[k]);
    }
}
