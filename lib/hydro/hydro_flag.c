/* hydro/flag: what reads the gas cell by cell without advancing it: time step, kick, refinement criteria, totals.
 * (spec/numerics §3, 4, 11) */
#include <math.h>
#include <string.h>

#include "hydro/flux.h"
#include "hydro/hydro.h"
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
        const double *r = lv->fld[FLD_U][i], *fx = lv->fld[FLD_FX][i], *fy = lv->fld[FLD_FY][i],
                     *fz = lv->fld[FLD_FZ][i];
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

/* Primitive variables of an oct's eight cells, or of their neighbours across one face each; c: sound speed, at least floor_u,
 * only for the velocity criterion. */
struct prims {
    double r[8], v[3][8], p[8], c[8];
};

static void prims_of(const double (*restrict u)[8], const struct hydro_par *par, struct prims *restrict q)
{
    const double smallr = par->smallr, gamma = par->gamma, gm1 = gamma - 1.0, floor2 = par->floor_u * par->floor_u;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        double r = hydro_max(u[0][c], smallr);
        double x = u[1][c] / r, y = u[2][c] / r, z = u[3][c] / r;
        double p = gm1 * (u[4][c] - (0.5 * r * (x * x) + 0.5 * r * (y * y) + 0.5 * r * (z * z)));
        q->r[c] = r;
        q->v[0][c] = x;
        q->v[1][c] = y;
        q->v[2][c] = z;
        q->p[c] = p;
    }
    if (par->err_grad_u < 0.0) return;
#pragma omp simd
    for (int c = 0; c < 8; c++) q->c[c] = sqrt(hydro_max(gamma * q->p[c] / q->r[c], floor2));
}

/* The eight cells of an oct as one vector of the compiler. */
typedef double cells __attribute__((vector_size(64), may_alias));
typedef long long cell_mask __attribute__((vector_size(64)));

/* Conserved variables across face f of each cell of own oct i: of the level where it exists, else of the coarser cell. */
static void gather_across(const struct mesh *m, int l, lidx i, int f, const struct hydro_par *par,
                          double (*restrict u)[8])
{
    const struct level *lv = &m->lev[l];
    int bit = 1 << (f >> 1);
    lidx j = lv->nbr[i][f];
    cell_mask pick; /* 0-7: a cell of the oct itself, 8-15: of the neighbour */
    for (int c = 0; c < 8; c++) pick[c] = (c ^ bit) + (((c & bit) != 0) == (f & 1) ? 8 : 0);
    for (int v = 0; v < 5; v++) {
        const cells *own = (const cells *)lv->fld[FLD_U + v][i];
        const cells *out = j >= 0 ? (const cells *)lv->fld[FLD_U + v][j] : own;
        *(cells *)u[v] = __builtin_shuffle(*own, *out, pick);
    }
    if (j >= 0) return;
    double state[NVAR_MAX];
    for (int c = 0; c < 8; c++) {
        if (((c & bit) != 0) != (f & 1)) continue;
        hydro_state_across(m, l, i, c, f, par, state);
        for (int v = 0; v < 5; v++) u[v][c] = state[v];
    }
}

/* 2 max(|jump to the right|, |jump from the left|) > limit; s: what the difference is divided by. */
static inline bool is_steep(double left, double mid, double right, double sl, double sr, double limit)
{
    return 2.0 * hydro_max(fabs((right - mid) / sr), fabs((mid - left) / sl)) > limit;
}

/* Adds to steep[] for one direction: left (a), middle (m) and right (b) states. */
static void steep_cells(const struct prims *restrict a, const struct prims *restrict m, const struct prims *restrict b,
                        const struct hydro_par *par, int *restrict steep)
{
    const double fd = par->floor_d, fp = par->floor_p, fu = par->floor_u;
    const double ed = par->err_grad_d, ep = par->err_grad_p, eu = par->err_grad_u;
    if (ed >= 0.0)
#pragma omp simd
        for (int c = 0; c < 8; c++)
            steep[c] |= is_steep(a->r[c], m->r[c], b->r[c], m->r[c] + a->r[c] + fd, b->r[c] + m->r[c] + fd, ed);
    if (ep >= 0.0)
#pragma omp simd
        for (int c = 0; c < 8; c++)
            steep[c] |= is_steep(a->p[c], m->p[c], b->p[c], m->p[c] + a->p[c] + fp, b->p[c] + m->p[c] + fp, ep);
    for (int d = 0; eu >= 0.0 && d < 3; d++)
#pragma omp simd
        for (int c = 0; c < 8; c++) {
            double vl = a->v[d][c], vm = m->v[d][c], vr = b->v[d][c];
            steep[c] |= is_steep(vl, vm, vr, m->c[c] + a->c[c] + fabs(vm) + fabs(vl) + fu,
                                 b->c[c] + m->c[c] + fabs(vr) + fabs(vm) + fu, eu);
        }
}

void hydro_flag(const struct mesh *m, int l, const struct hydro_par *p, unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    if (p->err_grad_d < 0.0 && p->err_grad_p < 0.0 && p->err_grad_u < 0.0) return;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        _Alignas(64) double u[5][8];
        struct prims own, side[2];
        int steep[8] = {0};
        for (int v = 0; v < 5; v++) memcpy(u[v], lv->fld[FLD_U + v][i], sizeof u[v]);
        prims_of(u, p, &own);
        for (int d = 0; d < 3; d++) {
            for (int s = 0; s < 2; s++) {
                gather_across(m, l, i, 2 * d + s, p, u);
                prims_of(u, p, &side[s]);
            }
            steep_cells(&side[0], &own, &side[1], p, steep);
        }
        for (int c = 0; c < 8; c++) ok[i][c] |= steep[c] != 0;
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
