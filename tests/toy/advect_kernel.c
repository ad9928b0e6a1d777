/* advect_kernel: the conservation law on a device. */
#include "advect.h"
#include "patch/courant.h"

struct advect_args {
    struct patch_args p;
};
#define LAW_ARGS struct advect_args
#define LAW_CORE ADVECTED
#define LAW_FIELD(v) (ADVECT_FIELD + (v))
#define LAW_SYSTEM REFLUX_SECOND
#define LAW_MIRRORED(a, f) ((f) < 2)
#define LAW_LIMITER int
#define LAW_SOLVER int
#include "patch/godunov.h"

DEV_FN void law_primitive(const struct advect_args *a, const struct work *k,
                          struct godunov_shared *s, struct origin o, int at)
{
    if (o.beyond & ADVECT_MIRRORED) s->q[1][at] = -s->q[1][at];
}

DEV_FN void law_rates(const struct advect_args *a, const struct work *k, struct godunov_shared *s,
                      int type, int at, int to)
{
    const double h = 0.5 * (a->p.dt / a->p.dx);
    for (int v = 0; v < ADVECTED; v++)
        s->rate[v][to] = advect_rate(&s->q[v][at], &s->q[v][at - P], &s->q[v][at + P], W, h);
}

DEV_FN void law_flux(const struct advect_args *a, const struct work *k,
                     const struct godunov_shared *s, const struct face *f, int type, int solver)
{
    for (int v = 0; v < ADVECTED; v++) {
        const double *r = &s->q[v][f->at], *l = r - f->step;
        double below = *l + s->rate[v][f->lower] + 0.5 * patch_minmod(l[-f->step], *l, *r),
               above = *r + s->rate[v][f->upper] - 0.5 * patch_minmod(*l, *r, r[f->step]);
        k->flux[v * ALL + f->i] = advect_flux(f->dir, below, above, a->p.dt / a->p.dx);
    }
}

DEV_FN void law_fluxes(const struct advect_args *a, const struct work *k, struct godunov_shared *s,
                       struct dev_block *b, int type)
{
    fluxes(a, k, s, b, type, 0);
}

DEV_FN void law_finish(const struct advect_args *a, const struct work *k, struct own_cell *o)
{
    for (int v = 0; v < ADVECTED; v++)
        *new_of(a, o, v) = cell_next(a, k, o, v, a->p.level.fld[ADVECT_FIELD + v][o->oct][o->c]);
}

KERNEL(advect_step, struct advect_args, struct godunov_shared, GODUNOV_THREADS)
{
    tiles(a, s, b, 0);
}

PATCH_COURANT(advect_courant, struct patch_courant_args, advect_signal)
