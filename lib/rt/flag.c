/* rt/flag: refinement by the relative jumps of photon densities and of fractions of hydrogen: twice
 * the difference of two cells beside each other over their sum and a floor, as for the gas. */
#include <math.h>
#include <string.h>

#include "oct/gas_kern.h"
#include "patch/across_kern.h"
#include "rt/m1_kern.h"
#include "rt/rt.h"

/* A quantity whose jumps refine: number of a value of photons, or of a scalar of the gas, which is
 * taken per density, with `rest` as 1 less that. */
struct jump {
    double limit, floor;
    int number;
    bool scalar, rest;
};

bool rt_flags(const struct rt *rt, double aexp)
{
    const struct param_rt *p = &rt->par->rt;
    bool photons = rt->ngroups > 0 && p->rt_err_grad_n >= 0;
    for (int g = 0; g < rt->ngroups; g++) photons |= p->rt_err_grad_cn[g] >= 0;
    return (photons || p->rt_err_grad_xhi >= 0 || p->rt_err_grad_xhii >= 0) &&
           aexp >= p->rt_refine_aexp;
}

static double value_at(const struct mesh *m, const struct jump *q, struct patch_cell at)
{
    const struct level *lv = &m->lev[at.level];
    if (!q->scalar) return level_photons(lv, q->number)[at.oct][at.cell];
    const double x = level_gas(lv, q->number)[at.oct][at.cell] /
                     m1_max(level_gas(lv, GAS_DENSITY)[at.oct][at.cell], 1e-300);
    return q->rest ? 1.0 - x : x;
}

/* Whether a jump between the cell and one beside it is steep; beyond a boundary is the cell
 * itself. */
static bool is_steep(const struct mesh *m, const struct jump *q, struct patch_cell own)
{
    const double x = value_at(m, q, own);
    for (int f = 0; f < 2 * m->ndim; f++) {
        const struct patch_cell at = patch_across(m, own.level, own.oct, own.cell, f);
        if (at.oct < 0) continue;
        const double y = value_at(m, q, at);
        if (2.0 * fabs(x - y) > q->limit * (x + y + q->floor)) return true;
    }
    return false;
}

/* ---- octs with neighbours of their own level on all sides: all cells at once ---- */

/* Cells of an oct, as in memory. */
typedef double row8 __attribute__((vector_size(64)));
typedef int64_t mask8 __attribute__((vector_size(64)));

INLINE row8 row_values(const struct level *lv, const struct jump *q, lidx i)
{
    double x[8];
    row8 row;
    if (!q->scalar)
        memcpy(x, level_photons(lv, q->number)[i], sizeof x);
    else
        for (int c = 0; c < 8; c++) {
            x[c] = level_gas(lv, q->number)[i][c] /
                   m1_max(level_gas(lv, GAS_DENSITY)[i][c], 1e-300);
            x[c] = q->rest ? 1.0 - x[c] : x[c];
        }
    memcpy(&row, x, sizeof row);
    return row;
}

/* Values beside the cells of an oct along axis d, below and above. */
struct beside {
    row8 below, above;
};

INLINE struct beside beside_of(int d, row8 own, row8 low, row8 high)
{
    if (d == 0)
        return (struct beside){__builtin_shufflevector(own, low, 9, 0, 11, 2, 13, 4, 15, 6),
                               __builtin_shufflevector(own, high, 1, 8, 3, 10, 5, 12, 7, 14)};
    if (d == 1)
        return (struct beside){__builtin_shufflevector(own, low, 10, 11, 0, 1, 14, 15, 4, 5),
                               __builtin_shufflevector(own, high, 2, 3, 8, 9, 6, 7, 12, 13)};
    return (struct beside){__builtin_shufflevector(own, low, 12, 13, 14, 15, 0, 1, 2, 3),
                           __builtin_shufflevector(own, high, 4, 5, 6, 7, 8, 9, 10, 11)};
}

INLINE mask8 row_steep(const struct jump *q, row8 x, row8 y)
{
    const row8 twice = 2.0 * (x - y), most = q->limit * (x + y + q->floor);
    return (twice > most) | (-twice > most);
}

/* Values of the oct across face f of oct i; beyond a boundary those of its own cells across the
 * oct, so that values across the face are equal. */
INLINE row8 row_across(const struct level *lv, const struct jump *q, lidx i, int f, row8 own)
{
    const lidx j = lv->nbr[i][f];
    if (j >= 0) return row_values(lv, q, j);
    const struct beside turned = beside_of(f >> 1, own, own, own);
    return turned.below;
}

static void mark_row(const struct mesh *m, const struct level *lv, const struct jump *q, lidx i,
                     unsigned char ok[8])
{
    const row8 own = row_values(lv, q, i);
    mask8 steep = own != own;
    for (int d = 0; d < m->ndim; d++) {
        const row8 low = row_across(lv, q, i, 2 * d, own),
                   high = row_across(lv, q, i, 2 * d + 1, own);
        const struct beside y = beside_of(d, own, low, high);
        steep |= row_steep(q, own, y.below) | row_steep(q, own, y.above);
    }
    for (int c = 0; c < m->cells; c++) ok[c] |= steep[c] != 0;
}

/* ---- a level ---- */

static bool is_complete(const struct mesh *m, const struct level *lv, lidx i)
{
    bool all = true;
    for (int f = 0; f < 2 * m->ndim; f++) all &= lv->nbr[i][f] != NBR_NONE;
    return all;
}

static void mark(const struct mesh *m, int l, const struct jump *q, unsigned char (*ok)[8])
{
    const struct level *lv = &m->lev[l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        if (is_complete(m, lv, i)) {
            mark_row(m, lv, q, i, ok[i]);
            continue;
        }
        for (int c = 0; c < m->cells; c++)
            if (!ok[i][c]) ok[i][c] = is_steep(m, q, (struct patch_cell){l, i, c});
    }
}

void rt_flag(const struct rt *rt, const struct gas_vars *vars, const struct mesh *m, int l,
             unsigned char (*ok)[8])
{
    const struct param_rt *p = &rt->par->rt;
    const int xhi = vars->at[SCALAR_X_HI], xhii = vars->at[SCALAR_X_HII];
    for (int g = 0; g < rt->ngroups && p->rt_err_grad_n >= 0; g++)
        mark(m, l, &(struct jump){p->rt_err_grad_n, p->rt_floor_n, .number = RT_COMPONENTS * g},
             ok);
    for (int g = 0; g < rt->ngroups; g++)
        if (p->rt_err_grad_cn[g] >= 0)
            mark(m, l,
                 &(struct jump){p->rt_err_grad_cn[g], p->rt_floor_cn[g] / rt->c,
                                .number = RT_COMPONENTS * g},
                 ok);
    if (p->rt_err_grad_xhi >= 0)
        mark(m, l,
             &(struct jump){p->rt_err_grad_xhi, p->rt_floor_xhi, .number = rt->h2 ? xhi : xhii,
                            .scalar = true, .rest = !rt->h2},
             ok);
    if (p->rt_err_grad_xhii >= 0)
        mark(m, l,
             &(struct jump){p->rt_err_grad_xhii, p->rt_floor_xhii, .number = xhii, .scalar = true},
             ok);
}
