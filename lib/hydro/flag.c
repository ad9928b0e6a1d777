/* hydro/flag: the kick of the gas, and refinement by its gradients. */
#include <string.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "hydro/hydro.h"
#include "hydro/interp_kern.h"
#include "hydro/steep_kern.h"
#include "hydro/vec4_load.h"

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
    /* FLD_U: density; FLD_U + 1, …: velocity; FLD_U + GAS_ENERGY: pressure; then a non-thermal
     * energy */
    int field;
    double floor, limit;
    double (*x)[8], (*c)[8];
};

/* Values of eight cells; c: sound speed, at least floor_u, for velocities only. */
struct values {
    double x[8], c[8];
};

/* Cells whose values are wanted: the variables of the gas. */
struct states {
    const double *u[GAS_SCALARS];
};

/* n: of the cells, a constant. */
INLINE void values_of(const struct jump *q, int n, struct states in, const struct hydro_par *par,
                      double *restrict x, double *restrict c)
{
    const double smallr = par->smallr, gamma = par->gamma, floor2 = par->floor_u * par->floor_u;
    double p[8], r[8];
    for (int k = 0; k < n; k++) r[k] = hydro_max(in.u[0][k], smallr);
    for (int k = 0; k < n; k++)
        p[k] = steep_pressure(r[k], in.u[1][k], in.u[2][k], in.u[3][k], in.u[GAS_ENERGY][k], gamma);
    const int v = q->field - FLD_U;
    for (int k = 0; k < n; k++) x[k] = steep_quantity(v, r[k], in.u[v][k], p[k]);
    for (int k = 0; k < n && q->c; k++) c[k] = steep_sound(r[k], p[k], gamma, floor2);
}

/* Energy of the cells of an oct without the non-thermal energies. */
static const double *thermal_energy(const struct level *lv, lidx i, double e[8])
{
    for (int c = 0; c < 8; c++)
        e[c] = lv->fld[FLD_U + GAS_ENERGY][i][c] - gas_cell_energies(lv, i, c);
    return e;
}

/* Variable v of an oct. Momenta along missing axes are 0 and not read. */
static const double *gas_row(const struct mesh *m, const struct level *lv, int v, lidx i)
{
    static const double none[8] = {0};
    return v > m->ndim && v < GAS_ENERGY ? none : lv->fld[FLD_U + v][i];
}

static void level_values(const struct mesh *m, const struct level *lv, const struct jump *q,
                         const struct hydro_par *par)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->noct; i++) {
        struct states in;
        double thermal[8];
        if (q->field >= FLD_U + GAS_SCALARS) {
            memcpy(q->x[i], lv->fld[q->field][i], sizeof q->x[i]);
            continue;
        }
        if (q->field == FLD_U) { /* nothing else is read */
            for (int k = 0; k < 8; k++) q->x[i][k] = hydro_max(lv->fld[FLD_U][i][k], par->smallr);
            continue;
        }
        for (int v = 0; v < GAS_SCALARS; v++) in.u[v] = gas_row(m, lv, v, i);
        if (lv->nener > 0) in.u[GAS_ENERGY] = thermal_energy(lv, i, thermal);
        if (m->ndim < 3)
            values_of(q, 4, in, par, q->x[i], q->c ? q->c[i] : NULL);
        else
            values_of(q, 8, in, par, q->x[i], q->c ? q->c[i] : NULL);
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
 * condition, stored like the cells of a neighbour oct. Other cells of that are not read. */
static void values_beyond(const struct mesh *m, int l, lidx i, int f, const struct jump *q,
                          const struct hydro_par *par, struct values *out)
{
    double u[GAS_SCALARS][1], state[GAS_SCALARS];
    struct states in;
    const int bit = 1 << (f >> 1);
    bool coarse = false; /* all cells of the face have the same cell across */
    for (int v = 0; v < GAS_SCALARS; v++) in.u[v] = u[v];
    memset(out, 0, sizeof *out);
    for (int c = f & 1 ? bit : 0, first = c; c < m->cells; c++) {
        if (((c & bit) != 0) != (f & 1)) continue;
        if (q->field >= FLD_U + GAS_SCALARS) {
            out->x[c ^ bit] = hydro_scalar_across(m, l, i, c, f, par, q->field - FLD_U);
        } else if (!coarse) {
            coarse = hydro_gas_across(m, l, i, c, f, par, state).oct >= 0;
            for (int v = 0; v < GAS_SCALARS; v++) u[v][0] = state[v];
            values_of(q, 1, in, par, &out->x[c ^ bit], &out->c[c ^ bit]);
        } else {
            out->x[c ^ bit] = out->x[first ^ bit];
            out->c[c ^ bit] = out->c[first ^ bit];
        }
    }
    oct_repeat(m->cells, out->x);
    oct_repeat(m->cells, out->c);
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
INLINE vec4 jump_scale(bool velocity, const struct jump *q, vec4 xl, vec4 cl, vec4 xu, vec4 cu)
{
    vec4 s;
    for (int k = 0; k < 4; k++) s[k] = steep_scale(velocity, xl[k], cl[k], xu[k], cu[k], q->floor);
    return s;
}

/* Jumps from and to the cells of half h of an oct along d, and their denominators; a, b: values
 * below and above. */
struct jumps {
    vec4 left, right, sl, sr;
};

INLINE struct jumps jumps_of(bool velocity, const struct jump *q, int d, int h, struct around o,
                             struct around a, struct around b)
{
    vec4 mid = vec4_load(o.x + 4 * h), c = mid, cl = c, cr = c;
    vec4 lo = across(o.x, a.x, 2 * d, h), hi = across(o.x, b.x, 2 * d + 1, h);
    if (velocity) {
        c = vec4_load(o.c + 4 * h);
        cl = across(o.c, a.c, 2 * d, h);
        cr = across(o.c, b.c, 2 * d + 1, h);
    }
    return (struct jumps){mid - lo, hi - mid, jump_scale(velocity, q, lo, cl, mid, c),
                          jump_scale(velocity, q, mid, c, hi, cr)};
}

/* Lanes whose jump may be steep. */
INLINE vec4_mask steep_near(const struct jump *q, struct jumps j)
{
    /* Rounded |2 d / s| > limit implies rounded |2 d| >= below |s|. */
    const double below = q->limit * (1.0 - 1e-12);
    return (2.0 * vec4_abs(j.left) >= below * vec4_abs(j.sl)) |
           (2.0 * vec4_abs(j.right) >= below * vec4_abs(j.sr));
}

INLINE unsigned steep_half(const struct jump *q, int h, struct jumps j)
{
    unsigned steep = 0;
    for (int k = 0; k < 4; k++)
        steep |= (unsigned)steep_exceeds(j.left[k], j.right[k], j.sl[k], j.sr[k], q->limit) << k;
    return steep << 4 * h;
}

/* Mask of the cells of own oct i with a steep jump; ndim, velocity: constants. Below three
 * dimensions the upper half repeats the lower one. */
INLINE unsigned steep_cells(int ndim, bool velocity, const struct mesh *m, int l, lidx i,
                            const struct jump *q, const struct hydro_par *par)
{
    const int halves = ndim < 3 ? 1 : 2;
    const struct around own = around_of(q, i);
    struct values beyond[6];
    struct around near[6];
    vec4_mask some = {0};
    unsigned steep = 0;
    for (int f = 0; f < 2 * ndim; f++) {
        lidx j = m->lev[l].nbr[i][f];
        near[f] = j >= 0 ? around_of(q, j) : (struct around){beyond[f].x, beyond[f].c};
        if (j < 0) values_beyond(m, l, i, f, q, par, &beyond[f]);
    }
    for (int h = 0; h < halves; h++)
        for (int d = 0; d < ndim; d++)
            some |= steep_near(q, jumps_of(velocity, q, d, h, own, near[2 * d], near[2 * d + 1]));
    if (!vec4_any_of(some)) return 0;
    for (int h = 0; h < halves; h++)
        for (int d = 0; d < ndim; d++)
            steep |= steep_half(q, h,
                                jumps_of(velocity, q, d, h, own, near[2 * d], near[2 * d + 1]));
    return ndim < 3 ? steep | steep << 4 : steep;
}

INLINE unsigned steep_of(bool velocity, const struct mesh *m, int l, lidx i, const struct jump *q,
                         const struct hydro_par *par)
{
    return m->ndim > 2   ? steep_cells(3, velocity, m, l, i, q, par)
           : m->ndim > 1 ? steep_cells(2, velocity, m, l, i, q, par)
                         : steep_cells(1, velocity, m, l, i, q, par);
}

static void flag_slope(const struct mesh *m, int l, struct jump q, const struct hydro_par *par,
                       unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    if (q.limit < 0.0) return;
    level_values(m, lv, &q, par);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        const unsigned steep = q.c ? steep_of(true, m, l, i, &q, par)
                                   : steep_of(false, m, l, i, &q, par);
        for (int c = 0; steep && c < 8; c++) ok[i][c] |= steep >> c & 1;
    }
}

bool hydro_flags(const struct hydro_par *p)
{
    bool any = p->err_grad_d >= 0.0 || p->err_grad_p >= 0.0 || p->err_grad_u >= 0.0;
    for (int k = 0; k < p->energy.n; k++) any |= p->err_grad_energy[k] >= 0.0;
    return any;
}

void hydro_flag(const struct mesh *m, int l, const struct hydro_par *p, unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
    bool speeds = p->err_grad_u >= 0.0;
    if (!hydro_flags(p)) return;
    size_t bytes = sizeof(double[8]) * (size_t)lv->noct + 1;
    double(*x)[8] = mem_new(bytes, "flag scratch");
    double(*c)[8] = speeds ? mem_new(bytes, "flag scratch") : NULL;
    flag_slope(m, l, (struct jump){FLD_U, p->floor_d, p->err_grad_d, x, NULL}, p, ok);
    flag_slope(m, l, (struct jump){FLD_U + GAS_ENERGY, p->floor_p, p->err_grad_p, x, NULL}, p, ok);
    for (int k = 0; k < p->energy.n; k++)
        flag_slope(m, l,
                   (struct jump){FLD_U + GAS_SCALARS + k, steep_energy_floor(p, k),
                                 p->err_grad_energy[k], x, NULL},
                   p, ok);
    for (int d = 1; d <= m->ndim; d++)
        flag_slope(m, l, (struct jump){FLD_U + d, p->floor_u, p->err_grad_u, x, c}, p, ok);
    FREE(c);
    FREE(x);
}
