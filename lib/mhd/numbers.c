/* mhd/numbers: the Courant step and totals of a level. */
#include <math.h>
#include <omp.h>

#include "base/mem.h"
#include "hydro/cell_kern.h"
#include "mhd/mhd_law.h"
#include "patch/courant.h"

/* ---- the Courant step ---- */

/* Sum over the axes of speed and fast speed of a cell; of the induction equation without waves. */
static double cell_speed(const struct mhd_law *x, const struct level *lv, lidx i, int c)
{
    const struct mhd_gas g = x->g;
    double(*const *u)[8] = lv->fld + FLD_U;
    const double r = hydro_max(u[0][i][c], g.smallr), inv = 1.0 / r;
    double v[3], b[3], b2 = 0, sum = 0;
    for (int d = 0; d < 3; d++) {
        v[d] = u[1 + d][i][c] * inv;
        b[d] = 0.5 * (level_magnetic(lv, 2 * d)[i][c] + level_magnetic(lv, 2 * d + 1)[i][c]);
        b2 += b[d] * b[d];
    }
    const double e = gas_internal_v(u[GAS_ENERGY][i][c] - 0.5 * b2, r, v[0], v[1], v[2]);
    const double p = hydro_max(g.gm1 * e, g.pmin);
    const double a2 = gas_sound2(r, p, g.gamma), half = 0.5 * (b2 * inv + a2);
    const bool waves = x->par->flow == FLOW_NONE;
    for (int d = 0; d < x->gas.gas.ndim; d++) {
        const double fast2 = half + sqrt(hydro_max(half * half - a2 * b[d] * b[d] * inv, 0.0));
        sum += fabs(v[d]) + (waves ? sqrt(fast2) : 0.0);
    }
    return sum;
}

static double signal_speed(const void *ctx, const struct level *lv, lidx i, int c)
{
    return cell_speed((const struct mhd_law *)ctx, lv, i, c);
}

/* With gravity: minus the step. */
static double signal_step(const void *ctx, const struct level *lv, lidx i, int c)
{
    const struct mhd_law *x = (const struct mhd_law *)ctx;
    return -hydro_speed_dt(cell_speed(x, lv, i, c), gas_pull(lv, i, c), x->dx,
                           x->par->gas->courant_factor);
}

double mhd_signal(const struct law *law, const struct patch_rows *r, double max)
{
    struct mhd_law x = *(const struct mhd_law *)law;
    const int cells = x.gas.gas.ndim < 3 ? 4 : 8;
    x.dx = r->dx;
    if (x.gas.gravity) return patch_rows_max(r, cells, max, &x, signal_step, NULL);
    return patch_rows_max(r, cells, max, &x, signal_speed, NULL);
}

/* ---- totals ---- */

enum { MASS, ENERGY, INTERNAL, MAGNETIC, MOMENTUM, TOTALS = MOMENTUM + 3 };

struct totals {
    const struct level *lv;
    double vol, smallr;
    struct sum *of;  /* [threads][TOTALS] */
    double *highest; /* [threads] max |div B| dx / |B| */
    int ndim;
};

static void cell_totals(const struct totals *t, lidx i, int c, double x[TOTALS][8])
{
    const struct level *lv = t->lv;
    struct gas_cell g = gas_cell_above(lv, i, c, t->smallr);
    const double energy = gas_cell_magnetic(lv, i, c);
    double sum = 0;
    for (int d = 0; d < t->ndim; d++)
        sum += level_magnetic(lv, 2 * d + 1)[i][c] - level_magnetic(lv, 2 * d)[i][c];
    x[MASS][c] = lv->fld[FLD_U][i][c] * t->vol;
    x[ENERGY][c] = level_gas(lv, GAS_ENERGY)[i][c] * t->vol;
    x[MAGNETIC][c] = energy * t->vol;
    x[INTERNAL][c] = gas_internal_by_parts(g.e, g.rho, g.m[0], g.m[1], g.m[2]) * t->vol;
    for (int d = 0; d < 3; d++) x[MOMENTUM + d][c] = g.m[d] * t->vol;
    if (sum == 0) return;
    double *highest = &t->highest[omp_get_thread_num()];
    *highest = hydro_max(fabs(sum) / sqrt(2 * energy), *highest);
}

static void totals_octs(void *ctx, lidx first, lidx n)
{
    const struct totals *t = ctx;
    struct sum *of = t->of + TOTALS * omp_get_thread_num();
    for (lidx i = first; i < first + n; i++) {
        double x[TOTALS][8] = {{0}};
        for (int c = 0; c < 8; c++)
            if (t->lv->child[i][c] < 0) cell_totals(t, i, c, x);
        for (int q = 0; q < TOTALS; q++) sum_add(&of[q], hydro_sum8(x[q]));
    }
}

double mhd_courant(const struct mesh *m, int l, const struct mhd_par *p, const struct mhd_sums *s)
{
    const struct mhd_law x = mhd_law_make(m, p);
    const int threads = omp_get_max_threads();
    if (!s) return patch_courant(m, l, &x.gas.law, NULL);
    struct totals t = {&m->lev[l], mesh_share(m, l), p->gas->smallr, NULL, NULL, m->ndim};
    struct sum *const all[TOTALS] = {s->gas.mass,        s->gas.energy,   s->gas.internal,
                                     s->magnetic,        s->gas.momentum, s->gas.momentum + 1,
                                     s->gas.momentum + 2};
    t.of = mem_new(sizeof *t.of * TOTALS * (size_t)threads, "hydro totals");
    t.highest = mem_zero(sizeof *t.highest * (size_t)threads, "hydro totals");
    for (int k = 0; k < threads * TOTALS; k++) sum_init(&t.of[k]);
    double dt = patch_courant(m, l, &x.gas.law, &(struct patch_reader){totals_octs, &t});
    for (int k = 0; k < threads; k++) {
        for (int q = 0; q < TOTALS; q++)
            if (all[q]) sum_join(all[q], &t.of[k * TOTALS + q]);
        *s->divergence = hydro_max(t.highest[k], *s->divergence);
    }
    mem_free(t.of);
    mem_free(t.highest);
    return dt;
}
