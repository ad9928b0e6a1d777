/* fifth/multigrid: what both solvers need of a level with a multigrid hierarchy: the hierarchy,
 * which is kept while the octs are the same, the first guess, the terms of the boundary, and cycles
 * up to a given residual. ψ is in the place of φ, and rows are in colour order. */
#include <math.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "fifth/model.h"
#include "grav/cached.h"
#include "grav/grav_rows.h"
#include "grav/interpol.h"
#include "oct/fields.h"

/* of a call, at most */
enum { CYCLES = 12 };

void fifth_fill(const struct comm *c, const struct mg_level *g, void *arr)
{
    size_t stride = sizeof(double[8]);
    ghost_fill_rows(c, COMM_MULTIGRID, g->plan, 1, &arr, &stride);
}

struct mg *fifth_hierarchy(const struct fifth_task *t)
{
    struct grav_par *p = &t->f->newton;
    struct cached *k = cached_get(&p->cached[t->l], t->m, t->l);
    if (k->made) {
        mg_allocate(&k->mg);
        return &k->mg;
    }
    /* levels that every rank solves have the operator ∇² */
    k->mg.shared_max = t->f->model->react ? 0 : 2 * (int64_t)p->mg_shared_octs;
    k->mg.try_shared = p->shared_level[t->l];
    mg_build(&k->mg, t->m, t->c, t->l, NULL);
    p->shared_level[t->l] = k->mg.try_shared;
    k->made = true;
    return &k->mg;
}

/* The mean field on the base level, and the interpolated one of the coarser level on others. */
static void guess_oct(const struct fifth_task *t, struct interpol *here, lidx i, double psi[8])
{
    if (t->l > t->m->levelmin)
        interpol_oct(here, i, psi);
    else
        for (int k = 0; k < 8; k++) psi[k] = t->law.mean;
}

/* Subtracts from the right-hand side the values beyond missing faces. */
static void boundary_oct(const struct fifth_task *t, struct interpol *here, lidx i, double rhs[8])
{
    const struct level *lv = &t->m->lev[t->l];
    const double *psi = lv->fld[FLD_PHI][i], inv_dx2 = ldexp(1, 2 * t->l);
    for (int f = 0; f < 6; f++) {
        double beyond[8];
        if (lv->nbr[i][f] >= 0) continue;
        interpol_face(here, i, f, beyond);
        for (int k = 0, bit = 1 << f / 2; k < 8; k++)
            if (((k & bit) != 0) == (f & 1))
                rhs[k] -= kern_frozen(beyond[k ^ bit], psi[k], inv_dx2);
    }
}

void fifth_guess(const struct fifth_task *t, double (*rhs)[8])
{
    struct level *lv = &t->m->lev[t->l];
    const struct grav_source from = fifth_boundary(0);
#pragma omp parallel
    {
        struct interpol here;
        interpol_init(&here, t->m, t->l - 1, &from);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            guess_oct(t, &here, i, lv->fld[FLD_PHI][i]);
            boundary_oct(t, &here, i, rhs[i]);
            row_by_colour(rhs[i]);
            row_by_colour(lv->fld[FLD_PHI][i]);
        }
    }
}

double fifth_rms(const struct fifth_task *t, struct sum *sum)
{
    comm_sum(t->c, sum);
    return sqrt(sum_get(sum) / (8.0 * (double)t->m->lev[t->l].total));
}

double fifth_source_rms(const struct fifth_task *t)
{
    const struct level *lv = &t->m->lev[t->l];
    struct sum all;
    sum_init(&all);
#pragma omp parallel
    {
        struct sum_batch part;
        sum_batch_begin(&part);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            double s[8];
            for (int k = 0; k < 8; k++) s[k] = fifth_source(t, lv->fld[FLD_RHO][i][k]);
            sum_batch_add(&part, kern_dot8(s, s));
        }
        sum_batch_end(&part);
#pragma omp critical(fifth_norm)
        sum_join(&all, &part.sum);
    }
    return fifth_rms(t, &all);
}

double fifth_residual(const struct fifth_task *t, struct mg_level *top)
{
    struct sum norm;
    sum_init(&norm);
    mg_residual(top, &norm);
    return fifth_rms(t, &norm);
}

int fifth_cycles(const struct fifth_task *t, struct mg *g, double target, double *now)
{
    struct mg_level *top = &g->lev[t->l];
    bool safe = false;
    for (int n = 1;; n++) {
        const double last = *now;
        mg_sweeps(t->c, top, safe, MG_SWEEPS, false);
        mg_residual(top, NULL);
        mg_correct(g, t->c, safe, NULL);
        mg_sweeps(t->c, top, safe, MG_SWEEPS, true);
        *now = fifth_residual(t, top);
        if (*now <= target || n == CYCLES) return n;
        safe |= *now > 0.5 * last;
    }
}
