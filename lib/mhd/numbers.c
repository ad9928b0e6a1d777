/* mhd/numbers: the Courant step and totals of a level. */
#include <omp.h>

#include "base/mem.h"
#include "mhd/mhd_law.h"
#include "mhd/number_kern.h"
#include "patch/courant.h"

/* ---- the Courant step ---- */

struct mhd_signal mhd_signal_of(const struct mhd_law *x, double dx)
{
    struct mhd_signal s = {.g = x->g,
                           .ndim = x->gas.gas.ndim,
                           .waves = x->par->flow == FLOW_NONE,
                           .dx = dx,
                           .courant = x->par->gas->courant_factor,
                           .energy = x->par->gas->energy,
                           .gravity = x->gas.gravity};
    if (x->par->gas->drive) s.drive = *x->par->gas->drive;
    return s;
}

/* Whether certainly no cell of an oct allows a shorter step than -max: its speed and gravity decide
 * for most octs, with the highest acceleration that turbulence has anywhere. */
static bool driven_steps_are_longer(void *ctx, const struct level *lv, lidx i, double max)
{
    const struct mhd_signal *x = ctx;
    const int cells = x->ndim < 3 ? 4 : 8;
    bool longer = true;
    for (int c = 0; c < cells; c++) {
        const double pull = x->drive.most + (x->gravity ? gas_pull(lv, i, c) : 0.0),
                     speed = mhd_speed_of_cell(x->energy.n > 0, x, lv, i, c);
        longer &= gas_step_is_longer(speed, pull, x->dx, x->courant, max);
    }
    return longer;
}

double mhd_signal(const struct law *law, const struct patch_rows *r, double max)
{
    const struct mhd_law *x = (const struct mhd_law *)law;
    struct mhd_signal s = mhd_signal_of(x, r->dx);
    const int cells = s.ndim < 3 ? 4 : 8;
    if (s.drive.a)
        return patch_rows_max(r, cells, max, &s, mhd_signal_driven, driven_steps_are_longer);
    if (s.energy.n > 0 && x->gas.gravity)
        return patch_rows_max(r, cells, max, &s, mhd_signal_mixed_step, NULL);
    if (s.energy.n > 0) return patch_rows_max(r, cells, max, &s, mhd_signal_mixed, NULL);
    if (x->gas.gravity) return patch_rows_max(r, cells, max, &s, mhd_signal_step, NULL);
    return patch_rows_max(r, cells, max, &s, mhd_signal_speed, NULL);
}

/* ---- totals ---- */

struct totals {
    const struct level *lv;
    double vol, smallr;
    struct sum *of;  /* [threads][MHD_TOTALS] */
    double *highest; /* [threads] max |div B| dx / |B| */
    int ndim;
};

static void totals_octs(void *ctx, lidx first, lidx n)
{
    const struct totals *t = ctx;
    struct sum *of = t->of + MHD_TOTALS * omp_get_thread_num();
    double *highest = &t->highest[omp_get_thread_num()];
    for (lidx i = first; i < first + n; i++) {
        double x[MHD_TOTALS];
        mhd_oct_totals(t->lv, i, t->vol, t->smallr, x);
        for (int q = 0; q < MHD_TOTALS; q++) sum_add(&of[q], x[q]);
        for (int c = 0; c < 8; c++)
            if (t->lv->child[i][c] < 0)
                *highest = hydro_max(mhd_cell_divergence(t->lv, i, c, t->ndim), *highest);
    }
}

double mhd_courant(const struct mesh *m, int l, const struct mhd_par *p, const struct mhd_sums *s)
{
    const struct mhd_law x = mhd_law_make(m, p);
    const int threads = omp_get_max_threads();
    double *last = p->gas->fresh ? &p->gas->fresh->last[l] : NULL;
    if (!s) return patch_courant(m, l, &x.gas.law, last, NULL);
    struct totals t = {&m->lev[l], mesh_share(m, l), p->gas->smallr, NULL, NULL, m->ndim};
    struct sum *const all[MHD_TOTALS] = {s->gas.mass,        s->gas.energy,   s->gas.internal,
                                         s->magnetic,        s->gas.momentum, s->gas.momentum + 1,
                                         s->gas.momentum + 2};
    t.of = mem_new(sizeof *t.of * MHD_TOTALS * (size_t)threads, "hydro totals");
    t.highest = mem_zero(sizeof *t.highest * (size_t)threads, "hydro totals");
    for (int k = 0; k < threads * MHD_TOTALS; k++) sum_init(&t.of[k]);
    double dt = patch_courant(m, l, &x.gas.law, last, &(struct patch_reader){totals_octs, &t});
    for (int k = 0; k < threads; k++) {
        for (int q = 0; q < MHD_TOTALS; q++)
            if (all[q]) sum_join(all[q], &t.of[k * MHD_TOTALS + q]);
        *s->divergence = hydro_max(t.highest[k], *s->divergence);
    }
    mem_free(t.of);
    mem_free(t.highest);
    return dt;
}
