/* hydro/flag: functions that read the gas cell by cell without advancing it: time step, kick,
 * refinement criteria, totals. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "hydro/flux.h"
#include "hydro/hydro.h"
#include "hydro/interp_kern.h"
#include "hydro/steep_kern.h"

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

/* ---- refinement by gradients ----
 *
 * One quantity after the other: its value in every cell of the level first, then the differences
 * across the six faces of each cell, from which one division would give the relative jump. Most
 * octs are told from a product to have no steep one. */

/* Relative jumps of x, divided by the sum of both cells and a floor; for velocities of both sound
 * speeds c, both speeds and the floor. Of all octs of the level. */
struct jump {
    int field; /* FLD_U: density, FLD_U + 1, …: velocity, FLD_U + GAS_ENERGY: pressure */
    double floor, limit;
    double (*x)[8], (*c)[8];
};

/* Values of eight cells; c: sound speed, at least floor_u, only for velocities. */
struct values {
    cells x, c;
};

static inline cells cells_abs(cells x)
{
    return (cells)((cell_mask)x & ~((cell_mask){0} + LLONG_MIN));
}

static struct values values_of(const struct jump *q, const double (*restrict u)[8],
                               const struct hydro_par *par)
{
    const double smallr = par->smallr, gamma = par->gamma, gm1 = gamma - 1.0,
                 floor2 = par->floor_u * par->floor_u;
    struct values out;
    double x[8], c[8] = {0}, p[8], r[8];
    for (int k = 0; k < 8; k++) r[k] = hydro_max(u[0][k], smallr);
    for (int k = 0; k < 8; k++)
        p[k] = steep_pressure(r[k], u[1][k], u[2][k], u[3][k], u[GAS_ENERGY][k], gm1);
    const int v = q->field - FLD_U;
    for (int k = 0; k < 8; k++) x[k] = steep_quantity(v, r[k], u[v][k], p[k]);
    for (int k = 0; k < 8 && q->c; k++) c[k] = steep_sound(r[k], p[k], gamma, floor2);
    memcpy(&out.x, x, sizeof x);
    memcpy(&out.c, c, sizeof c);
    return out;
}

static void level_values(const struct level *lv, const struct jump *q, const struct hydro_par *par)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        double u[GAS_SCALARS][8];
        for (int v = 0; v < GAS_SCALARS; v++) memcpy(u[v], lv->fld[FLD_U + v][i], sizeof u[v]);
        struct values x = values_of(q, u, par);
        memcpy(q->x[i], &x.x, sizeof x.x);
        if (q->c) memcpy(q->c[i], &x.c, sizeof x.c);
    }
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

/* Values across face f of own oct i where there is no neighbour: of coarser cells, or beyond a
 * boundary; in the places of a neighbour's cells. */
static struct values values_beyond(const struct mesh *m, int l, lidx i, int f, const struct jump *q,
                                   const struct hydro_par *par)
{
    double u[GAS_SCALARS][8], state[GAS_SCALARS];
    int bit = 1 << (f >> 1);
    for (int c = 0; c < 8; c++) {
        if (((c & bit) != 0) == (f & 1)) hydro_gas_across(m, l, i, c, f, par, state);
        for (int v = 0; v < GAS_SCALARS; v++)
            u[v][c ^ bit] = ((c & bit) != 0) == (f & 1) ? state[v] : m->lev[l].fld[FLD_U + v][i][c];
    }
    return values_of(q, u, par);
}

static inline struct values values_across(const struct mesh *m, int l, lidx i, int f,
                                          const struct jump *q, const struct hydro_par *par,
                                          struct values own)
{
    lidx j = m->lev[l].nbr[i][f];
    struct values out = {{0}, {0}};
    if (j < 0) {
        out = values_beyond(m, l, i, f, q, par);
    } else {
        out.x = *(const cells *)q->x[j];
        if (q->c) out.c = *(const cells *)q->c[j];
    }
    out.x = across(own.x, out.x, f);
    out.c = across(own.c, out.c, f);
    return out;
}

/* What the difference across an upper face is divided by. */
static inline cells jump_scale(const struct jump *q, struct values lower, struct values upper)
{
    cells s;
    for (int k = 0; k < 8; k++)
        s[k] = steep_scale(q->c != NULL, lower.x[k], lower.c[k], upper.x[k], upper.c[k], q->floor);
    return s;
}

/* The cells of own oct i with a steep jump, a bit each. */
static unsigned steep_cells(const struct mesh *m, int l, lidx i, const struct jump *q,
                            const struct hydro_par *par)
{
    struct values mid = {*(const cells *)q->x[i], {0}};
    if (q->c) mid.c = *(const cells *)q->c[i];
    /* |2 d / s| > limit as rounded implies this, rounded */
    const double below = q->limit * (1.0 - 1e-12);
    unsigned steep = 0;
    for (int d = 0; d < 3; d++) {
        struct values a = values_across(m, l, i, 2 * d, q, par, mid),
                      b = values_across(m, l, i, 2 * d + 1, q, par, mid);
        cells left = mid.x - a.x, right = b.x - mid.x;
        cells sl = jump_scale(q, a, mid), sr = jump_scale(q, mid, b);
        cell_mask near = (2.0 * cells_abs(left) >= below * cells_abs(sl)) |
                         (2.0 * cells_abs(right) >= below * cells_abs(sr));
        long long any = 0;
        for (int k = 0; k < 8; k++) any |= near[k];
        for (int k = 0; k < 8 && any; k++)
            steep |= (unsigned)steep_exceeds(left[k], right[k], sl[k], sr[k], q->limit) << k;
    }
    return steep;
}

static void flag_slope(const struct mesh *m, int l, struct jump q, const struct hydro_par *par,
                       unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    if (q.limit < 0.0) return;
    level_values(lv, &q, par);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        unsigned steep = steep_cells(m, l, i, &q, par);
        for (int c = 0; steep && c < 8; c++) ok[i][c] |= steep >> c & 1;
    }
}

void hydro_flag(const struct mesh *m, int l, const struct hydro_par *p, unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    bool speeds = p->err_grad_u >= 0.0;
    if (p->err_grad_d < 0.0 && p->err_grad_p < 0.0 && !speeds) return;
    size_t bytes = sizeof(double[8]) * (size_t)lv->noct + 1;
    double(*x)[8] = mem_new(bytes, "flag scratch");
    double(*c)[8] = speeds ? mem_new(bytes, "flag scratch") : NULL;
    flag_slope(m, l, (struct jump){FLD_U, p->floor_d, p->err_grad_d, x, NULL}, p, ok);
    flag_slope(m, l, (struct jump){FLD_U + GAS_ENERGY, p->floor_p, p->err_grad_p, x, NULL}, p, ok);
    for (int d = 1; d <= 3; d++)
        flag_slope(m, l, (struct jump){FLD_U + d, p->floor_u, p->err_grad_u, x, c}, p, ok);
    FREE(c);
    FREE(x);
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

/* As hydro_oct_totals, by vectors: the same operations. */
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
