/* fifth/reaction: ∇²ψ = source + h(ψ), dh/dψ ≥ 0, on a level.
 *
 * Newton's method: with D = h'(ψ_k) the next iterate solves ∇²ψ − Dψ = source + h(ψ_k) − D ψ_k, by
 * the cycles of lib/grav, whose diagonals become 6 + D dx² on all levels (D of a coarse cell: the
 * mean over its part inside). Where h is concave, as of f(R), every iterate after the first lies
 * below the solution and the next one above it: F(ψ) = −∇²ψ + h + source is concave, and the
 * inverse of its derivative positive. The first may be negative in deep wells: no value falls to
 * less than a tenth in an iteration. So the method converges from any start, and at the end
 * quadratically. The start is the mean field on the base level, and the interpolated field of the
 * coarser level on others; nothing of earlier solves is used. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "dom/ghost.h"
#include "fifth/model.h"
#include "grav/grav_rows.h"
#include "grav/interpol.h"
#include "grav/mg.h"
#include "oct/fields.h"

static const double LEAST = 0.1; /* least ratio of successive iterates */
/* a step of Newton's method ends with this error of the linear equation, or so many cycles */
static const double LINEAR = 0.02;
enum { CYCLES = 12 };

/* Arrays of the level, in colour order. */
struct rows {
    double (*source)[8]; /* with the terms of the boundary */
    double (*before)[8]; /* the last iterate */
    double (*slope[LEVEL_MAX + 2])[8];
    double (*diag[LEVEL_MAX + 2])[8]; /* of the Laplacian, 0 outside */
    double norm;                      /* rms of the source */
};

static void fill(const struct comm *c, const struct mg_level *g, void *arr)
{
    size_t stride = sizeof(double[8]);
    ghost_fill_rows(c, COMM_MULTIGRID, g->plan, 1, &arr, &stride);
}

/* ---- the hierarchy ---- */

/* Keeps the diagonals of a level and gives each oct a row of its own for those of the equation. */
static void level_open(struct mg_level *g, double (**diag)[8])
{
    lidx *row = mem_new(sizeof *row * (size_t)g->noct + 1, MG_TABLES);
    struct mg_boundary *all = mem_new(sizeof *all * (size_t)g->noct + 1, MG_TABLES);
    *diag = mem_new(sizeof **diag * (size_t)g->noct + 1, MG_TABLES);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++) {
        row[i] = i;
        for (int k = 0; k < 8; k++) (*diag)[i][k] = 6;
        if (g->boundary) memcpy((*diag)[i], g->boundaries[g->boundary[i]].diag, sizeof **diag);
        for (int k = 0; k < 8; k++)
            all[i].safe[k] = g->boundary ? g->boundaries[g->boundary[i]].safe[k] : 6;
    }
    FREE(g->own_boundary);
    FREE(g->boundaries);
    g->boundary = g->own_boundary = row;
    g->boundaries = all;
}

/* Diagonals of the equation from the slopes of the level. */
static void level_diagonal(struct mg_level *g, const double (*diag)[8], const double (*slope)[8])
{
    const double dx2 = ldexp(1, -2 * g->level);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++)
        for (int k = 0; k < 8; k++) {
            struct mg_boundary *e = &g->boundaries[i];
            e->diag[k] = diag[i][k] > 0 ? diag[i][k] + dx2 * slope[i][k] : 0;
        }
}

/* Mean slope of the cells of an oct that are inside. */
static double mean_slope(const double diag[8], const double slope[8])
{
    double sum = 0;
    int n = 0;
    for (int k = 0; k < 8; k++)
        if (diag[k] > 0) sum += slope[k], n++;
    return n > 0 ? sum / n : 0;
}

static void restrict_slope(const struct comm *c, const struct mg *g, int k, struct rows *r)
{
    const struct mg_level *fine = &g->lev[k + 1], *lev = &g->lev[k];
    double *mean = mem_new(sizeof *mean * (size_t)fine->noct + 1, "multigrid");
    size_t stride = sizeof *mean;
    for (lidx i = 0; i < fine->nown; i++)
        mean[i] = mean_slope(r->diag[k + 1][i], r->slope[k + 1][i]);
    ghost_fill_rows(c, COMM_MULTIGRID, fine->plan, 1, (void *[]){mean}, &stride);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lev->nown; i++)
        for (int j = 0; j < 8; j++) {
            lidx child = lev->child[i][j];
            r->slope[k][i][ROW_ORDER[j]] = child >= 0 ? mean[child] : 0;
        }
    FREE(mean);
    fill(c, lev, r->slope[k]);
}

static void hierarchy_open(const struct fifth_task *t, struct mg *g, struct rows *r)
{
    mg_build(g, t->m, t->c, t->l, NULL);
    for (int k = g->bottom; k <= t->l; k++) {
        level_open(&g->lev[k], &r->diag[k]);
        fill(t->c, &g->lev[k], r->diag[k]);
        r->slope[k] = mem_new(sizeof(double[8]) * (size_t)g->lev[k].noct + 1, "multigrid");
    }
}

static void rows_close(struct rows *r)
{
    FREE(r->source);
    FREE(r->before);
    for (int k = 0; k < LEVEL_MAX + 2; k++) {
        FREE(r->slope[k]);
        FREE(r->diag[k]);
    }
}

/* ---- source and first guess ---- */

static void guess_oct(const struct fifth_task *t, struct interpol *here, lidx i, double psi[8])
{
    if (t->l > t->m->levelmin)
        interpol_oct(here, i, psi);
    else
        for (int k = 0; k < 8; k++) psi[k] = t->law.mean;
}

static void source_oct(const struct fifth_task *t, struct interpol *here, lidx i, double source[8])
{
    const struct level *lv = &t->m->lev[t->l];
    const double *psi = lv->fld[FLD_PHI][i], inv_dx2 = ldexp(1, 2 * t->l);
    for (int k = 0; k < 8; k++) source[k] = fifth_source(t, lv->fld[FLD_RHO][i][k]);
    for (int f = 0; f < 6; f++) {
        double beyond[8];
        if (lv->nbr[i][f] >= 0) continue;
        interpol_face(here, i, f, beyond);
        for (int k = 0, bit = 1 << f / 2; k < 8; k++)
            if (((k & bit) != 0) == (f & 1))
                source[k] -= kern_frozen(beyond[k ^ bit], psi[k], inv_dx2);
    }
}

static double rms(const struct fifth_task *t, struct sum *sum)
{
    comm_sum(t->c, sum);
    return sqrt(sum_get(sum) / (8.0 * (double)t->m->lev[t->l].total));
}

/* ψ is in the place of φ. */
static void begin(const struct fifth_task *t, struct rows *r)
{
    struct level *lv = &t->m->lev[t->l];
    const struct grav_source from = fifth_boundary(0);
    struct sum all;
    sum_init(&all);
#pragma omp parallel
    {
        struct interpol here;
        struct sum_batch part;
        interpol_init(&here, t->m, t->l - 1, &from);
        sum_batch_begin(&part);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            double rho[8];
            guess_oct(t, &here, i, lv->fld[FLD_PHI][i]);
            source_oct(t, &here, i, r->source[i]);
            for (int k = 0; k < 8; k++) rho[k] = fifth_source(t, lv->fld[FLD_RHO][i][k]);
            sum_batch_add(&part, kern_dot8(rho, rho));
            row_by_colour(r->source[i]);
            row_by_colour(lv->fld[FLD_PHI][i]);
        }
        sum_batch_end(&part);
#pragma omp critical(fifth_norm)
        sum_join(&all, &part.sum);
    }
    r->norm = rms(t, &all);
}

/* ---- the iteration ---- */

/* Linearises at u: diagonals of all levels, and the right-hand side. */
static void linearise(const struct fifth_task *t, struct mg *g, struct rows *r)
{
    struct mg_level *top = &g->lev[t->l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < top->noct; i++)
        for (int k = 0; k < 8; k++) {
            double h, *slope = &r->slope[t->l][i][k], u = top->u[i][k];
            t->f->model->react(&t->law, u, &h, slope);
            top->rhs[i][k] = r->source[i][k] + h - *slope * u;
            r->before[i][k] = u;
        }
    for (int k = t->l - 1; k >= g->bottom; k--) restrict_slope(t->c, g, k, r);
    for (int k = t->l; k >= g->bottom; k--)
        level_diagonal(&g->lev[k], (const double(*)[8])r->diag[k], (const double(*)[8])r->slope[k]);
}

static double residual(const struct fifth_task *t, struct mg_level *top)
{
    struct sum norm;
    sum_init(&norm);
    mg_residual(top, &norm);
    return rms(t, &norm);
}

/* Cycles of the linear equation from an error on; returns their number. */
static int solve_linear(const struct fifth_task *t, struct mg *g, double first)
{
    struct mg_level *top = &g->lev[t->l];
    bool safe = false;
    double last = first;
    for (int n = 1;; n++) {
        mg_sweeps(t->c, top, safe, MG_SWEEPS, false);
        mg_residual(top, NULL);
        mg_correct(g, t->c, safe, NULL);
        mg_sweeps(t->c, top, safe, MG_SWEEPS, true);
        double now = residual(t, top);
        if (now <= LINEAR * first || n == CYCLES) return n;
        safe |= now > 0.5 * last;
        last = now;
    }
}

static void keep_positive(const struct rows *r, struct mg_level *top)
{
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < top->noct; i++)
        for (int k = 0; k < 8; k++) top->u[i][k] = fmax(top->u[i][k], LEAST * r->before[i][k]);
}

static void iterate(const struct fifth_task *t, struct mg *g, struct rows *r,
                    struct fifth_report *rep)
{
    struct mg_level *top = &g->lev[t->l];
    for (rep->iterations = 0;; rep->iterations++) {
        linearise(t, g, r);
        double error = residual(t, top);
        rep->error = r->norm > 0 ? error / r->norm : 0;
        rep->converged = rep->error <= t->f->eps;
        if (rep->converged || rep->iterations == t->f->most) return;
        rep->cycles += solve_linear(t, g, error);
        keep_positive(r, top);
    }
}

void reaction_solve(const struct fifth_task *t, struct fifth_report *rep)
{
    struct level *lv = &t->m->lev[t->l];
    struct mg g = {0};
    struct rows r = {0};
    const size_t bytes = sizeof(double[8]) * (size_t)lv->noct + 1;
    FREE(lv->fld[FLD_SCALAR]);
    lv->fld[FLD_SCALAR] = mg_rows_new(lv->noct, "mesh gravity");
    r.source = mem_new(bytes, "multigrid");
    r.before = mem_new(bytes, "multigrid");
    fifth_lend(t->m, t->l);
    begin(t, &r);
    hierarchy_open(t, &g, &r);
    struct mg_level *top = &g.lev[t->l];
    top->u = lv->fld[FLD_PHI];
    fill(t->c, top, r.source);
    fill(t->c, top, top->u);
    iterate(t, &g, &r, rep);
    mg_in_order(top->u, lv->noct);
    mg_release(&g);
    fifth_lend(t->m, t->l);
    mg_free(&g);
    rows_close(&r);
}
