/* fifth/reaction: ∇²ψ = source + h(ψ), dh/dψ ≥ 0, on a level.
 *
 * Newton's method: with D = h'(ψ_k) the next iterate solves ∇²ψ − Dψ = source + h(ψ_k) − D ψ_k, by
 * the cycles of lib/grav, whose diagonals become 6 + D dx² on all levels (D of a coarse cell: the
 * mean over its part inside). Where h is concave, as of f(R), every iterate after the first lies
 * below the solution and the next one above it: F(ψ) = −∇²ψ + h + source is concave, and the
 * inverse of its derivative positive. The first may be negative in deep wells: no value falls to
 * less than a tenth in an iteration. So the method converges from any start, and at the end
 * quadratically.
 *
 * From above it needs many steps down to deep wells, where ψ̄/ψ is large: there h decides, which is
 * linear in y = (ψ/ψ̄)^(−p). So the step of a cell is a mean of Newton's, δ, and of the one that
 * changes y as much to first order, ψ (1 − p δ/ψ)^(−1/p), with the weight of D dx² in the diagonal.
 * Both agree at the end. Should an error grow, all later steps are Newton's. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "fifth/model.h"
#include "grav/grav_rows.h"
#include "oct/fields.h"

/* least ratio of successive iterates; its root */
static const double LEAST = 0.1, SQRT_LEAST = 0.31622776601683794;
/* a step of Newton's method ends with this error of the linear equation */
static const double LINEAR = 0.1;

/* Arrays of the level, in colour order. */
struct rows {
    double (*source)[8]; /* with the terms of the boundary */
    double (*before)[8]; /* the last iterate */
    double norm;         /* rms of the source */
    double (*slope[LEVEL_MAX + 2])[8];
    /* the tables of the Laplacian, whose place those of the equation take during the solve */
    struct table {
        const lidx *row;
        void *own_row;
        struct mg_boundary *diag; /* NULL: 6 everywhere */
    } laplacian[LEVEL_MAX + 2];
};

/* ---- the hierarchy ---- */

/* Diagonals of ∇² of oct i of level k, 0 outside. */
static inline const double *laplacian(const struct rows *r, int k, lidx i)
{
    static const double whole[8] = {6, 6, 6, 6, 6, 6, 6, 6};
    const struct table *e = &r->laplacian[k];
    return e->diag ? e->diag[e->row[i]].diag : whole;
}

/* Gives each oct of a level a row of its own for the diagonals of the equation. */
static void level_open(struct mg_level *g, struct table *was)
{
    lidx *row = mem_new(sizeof *row * (size_t)g->noct + 1, "multigrid");
    struct mg_boundary *all = mem_new(sizeof *all * (size_t)g->noct + 1, "multigrid");
    *was = (struct table){g->boundary, g->own_boundary, g->boundary ? g->boundaries : NULL};
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++) {
        row[i] = i;
        for (int k = 0; k < 8; k++) all[i].safe[k] = was->diag ? was->diag[was->row[i]].safe[k] : 6;
    }
    g->boundary = g->own_boundary = row;
    g->boundaries = all;
}

static void level_close(struct mg_level *g, const struct table *was)
{
    FREE(g->own_boundary);
    FREE(g->boundaries);
    g->boundary = was->row, g->own_boundary = was->own_row, g->boundaries = was->diag;
}

/* Diagonals of the equation from the slopes of the level. */
static void level_diagonal(struct mg_level *g, const struct rows *r, int k)
{
    const double dx2 = ldexp(1, -2 * g->level);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < g->noct; i++) {
        const double *diag = laplacian(r, k, i), *slope = r->slope[k][i];
        double *sum = g->boundaries[i].diag;
        for (int j = 0; j < 8; j++) sum[j] = diag[j] > 0 ? diag[j] + dx2 * slope[j] : 0;
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
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < fine->nown; i++)
        mean[i] = mean_slope(laplacian(r, k + 1, i), r->slope[k + 1][i]);
    ghost_fill_rows(c, COMM_MULTIGRID, fine->plan, 1, (void *[]){mean}, &stride);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lev->nown; i++)
        for (int j = 0; j < 8; j++) {
            lidx child = lev->child[i][j];
            r->slope[k][i][ROW_ORDER[j]] = child >= 0 ? mean[child] : 0;
        }
    FREE(mean);
    fifth_fill(c, lev, r->slope[k]);
}

static struct mg *hierarchy_open(const struct fifth_task *t, struct rows *r)
{
    struct mg *g = fifth_hierarchy(t);
    for (int k = g->bottom; k <= t->l; k++) {
        level_open(&g->lev[k], &r->laplacian[k]);
        r->slope[k] = mem_new(sizeof(double[8]) * (size_t)g->lev[k].noct + 1, "multigrid");
    }
    return g;
}

static void hierarchy_close(const struct fifth_task *t, struct mg *g, struct rows *r)
{
    for (int k = g->bottom; k <= t->l; k++) {
        level_close(&g->lev[k], &r->laplacian[k]);
        FREE(r->slope[k]);
    }
    mg_release(g);
}

/* ψ is in the place of φ. */
static void begin(const struct fifth_task *t, struct rows *r)
{
    const struct level *lv = &t->m->lev[t->l];
    r->norm = fifth_source_rms(t);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) r->source[i][k] = fifth_source(t, lv->fld[FLD_RHO][i][k]);
    fifth_guess(t, r->source);
}

/* ---- the iteration ---- */

/* Linearises at u: diagonals of all levels, and the right-hand side. */
static void linearise(const struct fifth_task *t, struct mg *g, struct rows *r)
{
    struct mg_level *top = &g->lev[t->l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < top->noct; i++) {
        double h[8], slope[8];
        memcpy(r->before[i], top->u[i], sizeof r->before[i]);
        t->f->model->react(&t->law, r->before[i], h, slope);
        for (int k = 0; k < 8; k++)
            top->rhs[i][k] = r->source[i][k] + h[k] - slope[k] * r->before[i][k];
        memcpy(r->slope[t->l][i], slope, sizeof slope);
    }
    for (int k = t->l - 1; k >= g->bottom; k--) restrict_slope(t->c, g, k, r);
    for (int k = t->l; k >= g->bottom; k--) level_diagonal(&g->lev[k], r, k);
}

/* The next iterate of eight cells, in place of that of Newton's method, from the one before and the
 * weights of the local step. */
static inline void next_of(const double before[8], const double weight[8], double power,
                           double u[8])
{
    const double nearest = power == 0.5 ? SQRT_LEAST : pow(LEAST, power);
    double step[8], limited[8];
    for (int k = 0; k < 8; k++) {
        double x = 1 - power * (u[k] / before[k] - 1), least = LEAST * before[k];
        step[k] = x > nearest ? x : nearest;
        limited[k] = u[k] > least ? u[k] : least;
    }
    if (power == 0.5)
        for (int k = 0; k < 8; k++) step[k] = 1 / (step[k] * step[k]);
    else
        for (int k = 0; k < 8; k++) step[k] = pow(step[k], -1 / power);
    for (int k = 0; k < 8; k++) u[k] = limited[k] + weight[k] * (before[k] * step[k] - limited[k]);
}

static void advance(const struct fifth_task *t, const struct rows *r, struct mg_level *top,
                    bool plain)
{
    const double dx2 = ldexp(1, -2 * t->l), power = t->law.power;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < top->noct; i++) {
        const double *slope = r->slope[t->l][i];
        double weight[8];
        for (int k = 0; k < 8; k++) weight[k] = plain ? 0 : dx2 * slope[k] / (6 + dx2 * slope[k]);
        next_of(r->before[i], weight, power, top->u[i]);
    }
}

static void iterate(const struct fifth_task *t, struct mg *g, struct rows *r,
                    struct fifth_report *rep)
{
    struct mg_level *top = &g->lev[t->l];
    const double least = 0.3 * t->f->eps * r->norm;
    bool plain = false;
    for (rep->iterations = 0;; rep->iterations++) {
        linearise(t, g, r);
        double error = fifth_residual(t, top), last = rep->error;
        rep->error = r->norm > 0 ? error / r->norm : 0;
        rep->converged = rep->error <= t->f->eps;
        if (rep->converged || rep->iterations == t->f->most) return;
        plain |= rep->iterations > 1 && rep->error > last;
        rep->cycles += fifth_cycles(t, g, fmax(LINEAR * error, least), &error);
        advance(t, r, top, plain);
    }
}

void reaction_solve(const struct fifth_task *t, struct fifth_report *rep)
{
    struct level *lv = &t->m->lev[t->l];
    struct rows r = {0};
    const size_t bytes = sizeof(double[8]) * (size_t)lv->noct + 1;
    FREE(lv->fld[FLD_SCALAR]);
    lv->fld[FLD_SCALAR] = mg_rows_new(lv->noct, "mesh gravity");
    r.source = mem_zero(bytes, "multigrid");
    r.before = mem_new(bytes, "multigrid");
    fifth_lend(t->m, t->l);
    begin(t, &r);
    struct mg *g = hierarchy_open(t, &r);
    struct mg_level *top = &g->lev[t->l];
    top->u = lv->fld[FLD_PHI];
    fifth_fill(t->c, top, r.source);
    fifth_fill(t->c, top, top->u);
    iterate(t, g, &r, rep);
    mg_in_order(top->u, lv->noct);
    hierarchy_close(t, g, &r);
    fifth_lend(t->m, t->l);
    FREE(r.source);
    FREE(r.before);
}
