/* hydro/flag: the kick of the gas, and refinement by its gradients. */
#include <string.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "hydro/hydro.h"
#include "hydro/interp_kern.h"
#include "hydro/steep_kern.h"
#include "hydro/vec4_load.h"

#define INLINE static inline __attribute__((always_inline))

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
 * Each quantity is treated in turn: first its value in every cell of the level, then the
 * differences across the six faces of each cell, from which one division would give the relative
 * jump. For most octs a product shows that no jump is steep. */

/* Relative jumps of x in all octs of the level, divided by the sum of both cells and a floor; for
 * velocities by the sum of both sound speeds c, both speeds and the floor. */
struct jump {
    int field; /* FLD_U: density; FLD_U + 1, …: velocity; FLD_U + GAS_ENERGY: pressure */
    double floor, limit;
    double (*x)[8], (*c)[8];
};

/* Values of eight cells; c: sound speed, at least floor_u, for velocities only. */
struct values {
    double x[8], c[8];
};

/* n: 8, or 4 where the others repeat these. */
INLINE void values_of(const struct jump *q, int n, const double (*restrict u)[8],
                      const struct hydro_par *par, double *restrict x, double *restrict c)
{
    const double smallr = par->smallr, gamma = par->gamma, floor2 = par->floor_u * par->floor_u;
    double p[8], r[8];
    for (int k = 0; k < n; k++) r[k] = hydro_max(u[0][k], smallr);
    for (int k = 0; k < n; k++)
        p[k] = steep_pressure(r[k], u[1][k], u[2][k], u[3][k], u[GAS_ENERGY][k], gamma);
    const int v = q->field - FLD_U;
    for (int k = 0; k < n; k++) x[k] = steep_quantity(v, r[k], u[v][k], p[k]);
    for (int k = 0; k < n && q->c; k++) c[k] = steep_sound(r[k], p[k], gamma, floor2);
}

static void level_values(const struct mesh *m, const struct level *lv, const struct jump *q,
                         const struct hydro_par *par)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        double u[GAS_SCALARS][8];
        for (int v = 0; v < GAS_SCALARS; v++) memcpy(u[v], lv->fld[FLD_U + v][i], sizeof u[v]);
        if (m->ndim < 3)
            values_of(q, 4, u, par, q->x[i], q->c ? q->c[i] : NULL);
        else
            values_of(q, 8, u, par, q->x[i], q->c ? q->c[i] : NULL);
    }
}

/* Values across face f of each cell of half h of an oct, from the oct itself or its neighbour. */
static inline vec4 across(const double own[8], const double out[8], int f, int h)
{
    vec4 a = vec4_load(own + 4 * h), b = vec4_load(out + 4 * h);
    switch (f) {
    case 0:
        return __builtin_shufflevector(a, b, 5, 0, 7, 2);
    case 1:
        return __builtin_shufflevector(a, b, 1, 4, 3, 6);
    case 2:
        return __builtin_shufflevector(a, b, 6, 7, 0, 1);
    case 3:
        return __builtin_shufflevector(a, b, 2, 3, 4, 5);
    }
    return vec4_load((f & 1) == h ? out + 4 * (1 - h) : own + 4 * (1 - h));
}

/* Values across face f of own oct i without a neighbour, from coarser cells or the boundary
 * condition, stored like the cells of a neighbour oct. */
static void values_beyond(const struct mesh *m, int l, lidx i, int f, const struct jump *q,
                          const struct hydro_par *par, struct values *out)
{
    double u[GAS_SCALARS][8], state[GAS_SCALARS];
    int bit = 1 << (f >> 1);
    for (int c = 0; c < (m->ndim < 3 ? 4 : 8); c++) {
        if (((c & bit) != 0) == (f & 1)) hydro_gas_across(m, l, i, c, f, par, state);
        for (int v = 0; v < GAS_SCALARS; v++)
            u[v][c ^ bit] = ((c & bit) != 0) == (f & 1) ? state[v] : m->lev[l].fld[FLD_U + v][i][c];
    }
    values_of(q, m->ndim < 3 ? 4 : 8, u, par, out->x, out->c);
}

/* Values of an oct, or of the cells that stand for a missing neighbour; c is used for velocities
 * only. */
struct around {
    const double *x, *c;
};

static inline struct around around_of(const struct jump *q, lidx i)
{
    return (struct around){q->x[i], q->c ? q->c[i] : q->x[i]};
}

/* Denominator of the relative difference across an upper face; l: cell below it, u: cell above. */
static inline vec4 jump_scale(const struct jump *q, vec4 xl, vec4 cl, vec4 xu, vec4 cu)
{
    vec4 s;
    for (int k = 0; k < 4; k++)
        s[k] = steep_scale(q->c != NULL, xl[k], cl[k], xu[k], cu[k], q->floor);
    return s;
}

/* Mask of the cells of half h of an oct with a steep jump along d; a, b: values below and above. */
INLINE unsigned steep_half(const struct jump *q, int d, int h, struct around o, struct around a,
                           struct around b)
{
    /* Rounded |2 d / s| > limit implies rounded |2 d| >= below |s|. */
    const double below = q->limit * (1.0 - 1e-12);
    vec4 mid = vec4_load(o.x + 4 * h), c = vec4_load(o.c + 4 * h);
    vec4 lo = across(o.x, a.x, 2 * d, h), hi = across(o.x, b.x, 2 * d + 1, h);
    vec4 left = mid - lo, right = hi - mid, cl = c, cr = c;
    if (q->c) {
        cl = across(o.c, a.c, 2 * d, h);
        cr = across(o.c, b.c, 2 * d + 1, h);
    }
    vec4 sl = jump_scale(q, lo, cl, mid, c), sr = jump_scale(q, mid, c, hi, cr);
    vec4_mask near = (2.0 * vec4_abs(left) >= below * vec4_abs(sl)) |
                     (2.0 * vec4_abs(right) >= below * vec4_abs(sr));
    if (!(near[0] | near[1] | near[2] | near[3])) return 0;
    unsigned steep = 0;
    for (int k = 0; k < 4; k++)
        steep |= (unsigned)steep_exceeds(left[k], right[k], sl[k], sr[k], q->limit) << k;
    return steep << 4 * h;
}

/* Mask of the cells of own oct i with a steep jump; ndim: a constant. Below three dimensions the
 * upper half repeats the lower one. */
INLINE unsigned steep_cells(int ndim, const struct mesh *m, int l, lidx i, const struct jump *q,
                            const struct hydro_par *par)
{
    const struct around own = around_of(q, i);
    struct values beyond[6];
    struct around near[6];
    for (int f = 0; f < 2 * ndim; f++) {
        lidx j = m->lev[l].nbr[i][f];
        near[f] = j >= 0 ? around_of(q, j) : (struct around){beyond[f].x, beyond[f].c};
        if (j < 0) values_beyond(m, l, i, f, q, par, &beyond[f]);
    }
    unsigned steep = 0;
    for (int h = 0; h < (ndim < 3 ? 1 : 2); h++) {
        steep |= steep_half(q, 0, h, own, near[0], near[1]);
        if (ndim > 1) steep |= steep_half(q, 1, h, own, near[2], near[3]);
        if (ndim > 2) steep |= steep_half(q, 2, h, own, near[4], near[5]);
    }
    return ndim < 3 ? steep | steep << 4 : steep;
}

static void flag_slope(const struct mesh *m, int l, struct jump q, const struct hydro_par *par,
                       unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    if (q.limit < 0.0) return;
    level_values(m, lv, &q, par);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        unsigned steep = m->ndim > 2   ? steep_cells(3, m, l, i, &q, par)
                         : m->ndim > 1 ? steep_cells(2, m, l, i, &q, par)
                                       : steep_cells(1, m, l, i, &q, par);
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
    for (int d = 1; d <= m->ndim; d++)
        flag_slope(m, l, (struct jump){FLD_U + d, p->floor_u, p->err_grad_u, x, c}, p, ok);
    FREE(c);
    FREE(x);
}
