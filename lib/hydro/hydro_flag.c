/* hydro/flag: functions that read the gas cell by cell without advancing it: time step, kick,
 * refinement criteria, totals. */
#include <math.h>
#include <string.h>

#include "hydro/cell_kern.h"
#include "hydro/flux.h"
#include "hydro/hydro.h"
#include "hydro/interp_kern.h"

/* The eight cells of an oct as one vector of the compiler. */
typedef double cells __attribute__((vector_size(64), may_alias));
typedef long long cell_mask __attribute__((vector_size(64)));

static inline cells cells_of(const struct level *lv, int field, lidx i)
{
    return *(const cells *)lv->fld[field][i];
}

/* All bits set in the cells that are leaves. */
static inline cell_mask leaves_of(const struct level *lv, lidx i)
{
    typedef lidx links
        __attribute__((vector_size(8 * sizeof(lidx)), may_alias, aligned(sizeof(lidx))));
    return __builtin_convertvector(*(const links *)lv->child[i], cell_mask) < 0;
}

/* Shortest step of the leaves of own octs [begin, end); without gravity the speed of the fastest
 * decides. */
static double courant_still(const struct level *lv, lidx nown, double dx, double courant,
                            struct hydro_gas g)
{
    double fastest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : fastest)
    for (lidx i = 0; i < nown; i++) {
        const double *r = lv->fld[FLD_U][i], *mx = lv->fld[FLD_U + 1][i],
                     *my = lv->fld[FLD_U + 2][i], *mz = lv->fld[FLD_U + 3][i],
                     *e = lv->fld[FLD_U + GAS_ENERGY][i];
        const lidx *child = lv->child[i];
        double most = 0.0;
#pragma omp simd reduction(max : most)
        for (int c = 0; c < 8; c++) {
            double x = hydro_cell_speed(r[c], mx[c], my[c], mz[c], e[c], g);
            most = hydro_max(child[c] < 0 ? x : 0.0, most);
        }
        fastest = hydro_max(most, fastest);
    }
    return fastest > 0.0 ? hydro_speed_dt(fastest, 0.0, dx, courant) : HUGE_VAL;
}

static double courant_pulled(const struct level *lv, lidx nown, double dx, double courant,
                             struct hydro_gas g)
{
    double dt = HUGE_VAL;
#pragma omp parallel for schedule(static) reduction(min : dt)
    for (lidx i = 0; i < nown; i++) {
        const double *r = lv->fld[FLD_U][i], *mx = lv->fld[FLD_U + 1][i],
                     *my = lv->fld[FLD_U + 2][i], *mz = lv->fld[FLD_U + 3][i],
                     *e = lv->fld[FLD_U + GAS_ENERGY][i];
        const double *fx = lv->fld[FLD_FX][i], *fy = lv->fld[FLD_FY][i], *fz = lv->fld[FLD_FZ][i];
        const lidx *child = lv->child[i];
        double least = HUGE_VAL;
#pragma omp simd reduction(min : least)
        for (int c = 0; c < 8; c++) {
            double speed = hydro_cell_speed(r[c], mx[c], my[c], mz[c], e[c], g);
            double x = hydro_speed_dt(speed, fabs(fx[c]) + fabs(fy[c]) + fabs(fz[c]), dx, courant);
            least = hydro_min(child[c] < 0 ? x : HUGE_VAL, least);
        }
        dt = hydro_min(least, dt);
    }
    return dt;
}

double hydro_courant(const struct mesh *m, int l, const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
    const double dx = mesh_dx(m, l), cap = p->courant_factor * dx / p->smallc;
    double (*of)(const struct level *, lidx, double, double,
                 struct hydro_gas) = m->gravity ? courant_pulled : courant_still;
    double dt = of(lv, lv->nown, dx, p->courant_factor, hydro_gas_of(p));
    return dt < HUGE_VAL ? hydro_min(dt, cap) : dt;
}

void hydro_kick(struct mesh *m, int l, bool ghosts, double dt, const struct hydro_par *p)
{
    struct level *lv = &m->lev[l];
    if (!m->gravity) return;
    const double smallr = p->smallr;
    const lidx n = ghosts ? lv->noct : lv->nown;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < n; i++) {
        const double *r = lv->fld[FLD_U][i], *fx = lv->fld[FLD_FX][i], *fy = lv->fld[FLD_FY][i],
                     *fz = lv->fld[FLD_FZ][i];
        double *mx = lv->fld[FLD_U + 1][i], *my = lv->fld[FLD_U + 2][i],
               *mz = lv->fld[FLD_U + 3][i], *e = lv->fld[FLD_U + GAS_ENERGY][i];
#pragma omp simd
        for (int c = 0; c < 8; c++) {
            hydro_kick_cell(r[c], &mx[c], &my[c], &mz[c], &e[c], fx[c], fy[c], fz[c], smallr, dt);
        }
    }
}

/* ---- refinement by gradients ---- */

/* Primitive variables of an oct's eight cells, or of their neighbours across one face each; c:
 * sound speed, at least floor_u, only for the velocity criterion. */
struct prims {
    double r[8], v[3][8], p[8], c[8];
};

static void prims_of(const double (*restrict u)[8], const struct hydro_par *par,
                     struct prims *restrict q)
{
    const double smallr = par->smallr, gamma = par->gamma, gm1 = gamma - 1.0,
                 floor2 = par->floor_u * par->floor_u;
#pragma omp simd
    for (int c = 0; c < 8; c++) {
        double r = hydro_max(u[0][c], smallr);
        double x = u[1][c] / r, y = u[2][c] / r, z = u[3][c] / r;
        double p = gm1 *
                   (u[GAS_ENERGY][c] - (0.5 * r * (x * x) + 0.5 * r * (y * y) + 0.5 * r * (z * z)));
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

/* What is across face f of each cell: 0-7 are cells of the oct itself, 8-15 of its neighbour. */
static inline cells across(cells own, cells out, int f)
{
    switch (f) {
    case 0:
        return __builtin_shufflevector(own, out, 9, 0, 11, 2, 13, 4, 15, 6);
    case 1:
        return __builtin_shufflevector(own, out, 1, 8, 3, 10, 5, 12, 7, 14);
    case 2:
        return __builtin_shufflevector(own, out, 10, 11, 0, 1, 14, 15, 4, 5);
    case 3:
        return __builtin_shufflevector(own, out, 2, 3, 8, 9, 6, 7, 12, 13);
    case 4:
        return __builtin_shufflevector(own, out, 12, 13, 14, 15, 0, 1, 2, 3);
    }
    return __builtin_shufflevector(own, out, 4, 5, 6, 7, 8, 9, 10, 11);
}

/* Conserved variables across face f of each cell of own oct i: of the level where it exists, else
 * of the coarser cell. */
static void gather_across(const struct mesh *m, int l, lidx i, int f, const struct hydro_par *par,
                          double (*restrict u)[8])
{
    const struct level *lv = &m->lev[l];
    int bit = 1 << (f >> 1);
    lidx j = lv->nbr[i][f];
    for (int v = 0; v < GAS_SCALARS; v++) {
        cells own = *(const cells *)lv->fld[FLD_U + v][i];
        cells out = j >= 0 ? *(const cells *)lv->fld[FLD_U + v][j] : own;
        *(cells *)u[v] = across(own, out, f);
    }
    if (j >= 0) return;
    double state[NVAR_MAX];
    for (int c = 0; c < 8; c++) {
        if (((c & bit) != 0) != (f & 1)) continue;
        hydro_state_across(m, l, i, c, f, par, state);
        for (int v = 0; v < GAS_SCALARS; v++) u[v][c] = state[v];
    }
}

/* 2 max(|jump to the right|, |jump from the left|) > limit; s: what the difference is divided by.
 */
static inline bool is_steep(double left, double mid, double right, double sl, double sr,
                            double limit)
{
    return 2.0 * hydro_max(fabs((right - mid) / sr), fabs((mid - left) / sl)) > limit;
}

/* Adds to steep[] for one direction: left (a), middle (m) and right (b) states. */
static void steep_cells(const struct prims *restrict a, const struct prims *restrict m,
                        const struct prims *restrict b, const struct hydro_par *par,
                        int *restrict steep)
{
    const double fd = par->floor_d, fp = par->floor_p, fu = par->floor_u;
    const double ed = par->err_grad_d, ep = par->err_grad_p, eu = par->err_grad_u;
    if (ed >= 0.0)
#pragma omp simd
        for (int c = 0; c < 8; c++)
            steep[c] |= is_steep(a->r[c], m->r[c], b->r[c], m->r[c] + a->r[c] + fd,
                                 b->r[c] + m->r[c] + fd, ed);
    if (ep >= 0.0)
#pragma omp simd
        for (int c = 0; c < 8; c++)
            steep[c] |= is_steep(a->p[c], m->p[c], b->p[c], m->p[c] + a->p[c] + fp,
                                 b->p[c] + m->p[c] + fp, ep);
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
        _Alignas(64) double u[GAS_SCALARS][8];
        struct prims own, side[2];
        int steep[8] = {0};
        for (int v = 0; v < GAS_SCALARS; v++) memcpy(u[v], lv->fld[FLD_U + v][i], sizeof u[v]);
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

/* Sum over the cells that are leaves, by halves. */
static inline double sum_leaves(cells x, cell_mask leaf)
{
    x = (cells)((cell_mask)x & leaf);
    x += __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
    x += __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
    return x[0] + x[1];
}

enum { TOTALS = 6 };

/* Mass, energy, internal energy and momentum of the leaves of one oct. */
static void oct_total(const struct level *lv, lidx i, double vol, double smallr, double x[TOTALS])
{
    cell_mask leaf = leaves_of(lv, i);
    cells r = cells_of(lv, FLD_U, i), e = cells_of(lv, FLD_U + GAS_ENERGY, i), eint = e, d;
    for (int c = 0; c < 8; c++) d[c] = hydro_max(r[c], smallr);
    for (int k = 0; k < 3; k++) {
        cells mom = cells_of(lv, FLD_U + 1 + k, i);
        eint -= 0.5 * mom * mom / d;
        x[3 + k] = sum_leaves(mom * vol, leaf);
    }
    x[0] = sum_leaves(r * vol, leaf);
    x[1] = sum_leaves(e * vol, leaf);
    x[2] = sum_leaves(eint * vol, leaf);
}

void hydro_totals(const struct mesh *m, int l, const struct hydro_par *p, struct sum *mass,
                  struct sum *energy, struct sum *internal, struct sum momentum[3])
{
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), vol = dx * dx * dx;
    struct sum *all[TOTALS] = {mass, energy, internal, &momentum[0], &momentum[1], &momentum[2]};
#pragma omp parallel
    {
        struct sum_batch part[TOTALS];
        for (int k = 0; k < TOTALS; k++) sum_batch_begin(&part[k]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            double x[TOTALS];
            oct_total(lv, i, vol, p->smallr, x);
            for (int k = 0; k < TOTALS; k++) sum_batch_add(&part[k], x[k]);
        }
        for (int k = 0; k < TOTALS; k++) sum_batch_end(&part[k]);
#pragma omp critical(hydro_totals)
        for (int k = 0; k < TOTALS; k++) sum_join(all[k], &part[k].sum);
    }
}
