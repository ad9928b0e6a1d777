/* fifth/derivative: ∇²ψ + κ ((∇²ψ)² − (∂i∂jψ)²) = S on a level.
 *
 * Split into trace and rest (Chan & Scoccimarro 2009): with L = ∇²ψ and T² = (∂i∂jψ)² − L²/3 the
 * equation is quadratic in L, and its root that becomes S without the nonlinear terms is
 *
 *     L = 2 (S + κ T²) / (1 + sqrt(1 + 8/3 κ (S + κ T²))).
 *
 * The unknown of the iteration is L: ψ follows from it by Fourier transforms, or by multigrid
 * cycles from the ψ before to a third of the last error; T² from ψ, and the next L from T². This
 * map does not expand: in the norm of L its derivative is at most T/sqrt(T² + S/κ + 3/(8κ²)). Steps
 * are those of Anderson 1965 with one earlier iterate. Where the root is complex, in deep voids of
 * small β, the nearest real L is taken, and counted. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "fifth/model.h"
#include "grav/grav_rows.h"
#include "grav/interpol.h"
#include "oct/fields.h"

/* Error of ψ for a given L, as a part of the error of L in the iteration before. */
static const double INNER = 0.3;

struct work {
    /* by own oct, in cell order */
    double (*now)[8], (*next)[8];        /* L and its image */
    double (*past)[8], (*past_image)[8]; /* those of the iteration before */
    lidx (*around)[27];    /* rows of ψ around own octs; from noct + 1 on those of missing octs */
    lidx beyond;           /* number of missing octs */
    struct mg *mg;         /* NULL: ψ by Fourier transforms */
    double (*boundary)[8]; /* terms of the boundary, in colour order */
    double norm;           /* rms of the source */
    int64_t unreal;
};

/* ---- second derivatives ---- */

/* The coarse oct and cell, as 8 times the oct plus the cell, that a missing oct covers, which is
 * beside oct i at a place among the 27; coarse: octs around the parent of i. */
static int64_t covered(const struct fifth_task *t, lidx i, int place, const lidx coarse[27])
{
    int64_t q[3];
    int at = 0, cell = 0;
    okey_coords(t->m->lev[t->l].key[i], q);
    for (int d = 0, step = 1, p = place; d < 3; d++, step *= 3, p /= 3) {
        int64_t here = q[d] >> 1, there = q[d] + p % 3 - 1;
        at += step * (int)((there >> 1) - here + 1);
        cell |= (int)(there & 1) << d;
    }
    BUG_ON(coarse[at] < 0);
    return 8 * (int64_t)coarse[at] + cell;
}

/* Octs around own octs. A missing one leads to row[] of the coarse cell that it covers, which with
 * `mark` becomes 1, and else is the number of the row. */
static void look_around(const struct fifth_task *t, struct work *w, lidx *row, bool mark)
{
    const struct level *lv = &t->m->lev[t->l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        lidx coarse[27], *cube = w->around[i];
        bool found = false;
        if (mark) mesh_cube(t->m, t->l, i, cube);
        for (int o = 0; o < 27; o++) {
            if (cube[o] >= 0) continue;
            if (!found) mesh_cube(t->m, t->l - 1, lv->parent[i], coarse);
            found = true;
            lidx *at = &row[covered(t, i, o, coarse)];
            if (!mark) cube[o] = *at;
            if (mark) {
#pragma omp atomic write
                *at = 1;
            }
        }
    }
}

/* Finds the octs around own octs, and adds rows to ψ for the missing ones, whose values, from the
 * coarser level, stay the same during the solve. */
static void rows_beyond(const struct fifth_task *t, struct work *w)
{
    struct level *lv = &t->m->lev[t->l];
    const struct grav_source from = fifth_boundary(0);
    const int64_t slots = w->mg ? 8 * (int64_t)t->m->lev[t->l - 1].noct : 0;
    lidx *row = mem_zero(sizeof *row * (size_t)slots + 1, "fifth force");
    look_around(t, w, row, true);
    for (int64_t k = 0; k < slots; k++)
        if (row[k]) row[k] = lv->noct + ++w->beyond;
    if (w->beyond) look_around(t, w, row, false);
    double(*psi)[8] = mg_rows_new(lv->noct + w->beyond, "mesh gravity");
    memset(psi[lv->noct], 0, sizeof *psi);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < slots; k++)
        if (row[k]) {
            grav_interpol_phi(t->m, t->l - 1, (lidx)(k / 8), (int)(k % 8), &from, psi[row[k]]);
            row_by_colour(psi[row[k]]);
        }
    FREE(row);
    FREE(lv->fld[FLD_PHI]);
    lv->fld[FLD_PHI] = psi;
}

/* T² of the four cells from p on along x, in units of 1/dx⁴. */
static inline row4 traceless(const double *p)
{
    static const int STEP[3] = {1, 4, 16};
    row4 second[3], sum = {0}, cross = {0};
    for (int d = 0; d < 3; d++)
        second[d] = row_load(p + STEP[d]) + row_load(p - STEP[d]) - 2 * row_load(p);
    for (int d = 0; d < 3; d++) {
        int a = STEP[d], b = STEP[(d + 1) % 3];
        row4 mixed = 0.25 * ((row_load(p + a + b) + row_load(p - a - b)) -
                             (row_load(p + a - b) + row_load(p - a + b))),
             difference = second[d] - second[(d + 1) % 3];
        sum += difference * difference;
        cross += mixed * mixed;
    }
    return sum / 3 + 2 * cross;
}

/* L of eight cells; returns the number of those where it is complex. */
static inline int roots(const struct fifth_task *t, const double rho[8], const double t2[8],
                        double root[8])
{
    const struct fifth_task here = *t; /* stores to root[] cannot alias it */
    const double kappa = here.law.kappa;
    int unreal = 0;
    for (int k = 0; k < 8; k++) {
        double s = fifth_source(&here, rho[k]) + kappa * t2[k], under = 1 + 8. / 3 * kappa * s;
        unreal += under < 0;
        root[k] = 2 * s / (1 + sqrt(under > 0 ? under : 0));
    }
    return unreal;
}

/* Image of the iterate whose ψ is in the place of φ, in colour order. */
static void image(const struct fifth_task *t, struct work *w)
{
    const struct level *lv = &t->m->lev[t->l];
    const double inv_dx4 = ldexp(1, 4 * t->l);
    int64_t unreal = 0;
#pragma omp parallel for schedule(static) reduction(+ : unreal)
    for (lidx i = 0; i < lv->nown; i++) {
        double patch[64 + 4], t2[8];
        row_patch((const double(*)[8])lv->fld[FLD_PHI], w->around[i], patch);
        for (int k = 0; k < 4; k++) {
            row4 x = inv_dx4 * traceless(patch + 20 + 4 * (k & 1) + 16 * (k >> 1));
            t2[2 * k] = x[1], t2[2 * k + 1] = x[2];
        }
        unreal += roots(t, lv->fld[FLD_RHO][i], t2, w->next[i]);
    }
    w->unreal = unreal;
}

/* ---- sums over the level ---- */

enum pair { RR, RD, DD, PAIRS }; /* r: residual; d: its change */

static void dots(const struct fifth_task *t, const struct work *w, bool past, double dot[PAIRS])
{
    const lidx n = t->m->lev[t->l].nown;
    struct sum sum[PAIRS];
    for (int k = 0; k < PAIRS; k++) sum_init(&sum[k]);
#pragma omp parallel
    {
        struct sum_batch part[PAIRS];
        for (int k = 0; k < PAIRS; k++) sum_batch_begin(&part[k]);
#pragma omp for schedule(static)
        for (lidx i = 0; i < n; i++) {
            double r[8], d[8];
            for (int k = 0; k < 8; k++) {
                r[k] = w->next[i][k] - w->now[i][k];
                d[k] = past ? r[k] - (w->past_image[i][k] - w->past[i][k]) : 0;
            }
            sum_batch_add(&part[RR], kern_dot8(r, r));
            sum_batch_add(&part[RD], kern_dot8(r, d));
            sum_batch_add(&part[DD], kern_dot8(d, d));
        }
        for (int k = 0; k < PAIRS; k++) {
            sum_batch_end(&part[k]);
#pragma omp critical(fifth_dots)
            sum_join(&sum[k], &part[k].sum);
        }
    }
    comm_sums(t->c, sum, PAIRS);
    for (int k = 0; k < PAIRS; k++) dot[k] = sum_get(&sum[k]);
}

/* In a periodic box the mean of ∇²ψ is zero. */
static void subtract_mean(const struct fifth_task *t, double (*a)[8])
{
    const lidx n = t->m->lev[t->l].nown;
    struct sum sum;
    if (t->l > t->m->levelmin) return;
    sum_init(&sum);
#pragma omp parallel
    {
        struct sum_batch part;
        sum_batch_begin(&part);
#pragma omp for schedule(static)
        for (lidx i = 0; i < n; i++) sum_batch_add(&part, kern_sum8(a[i]));
        sum_batch_end(&part);
#pragma omp critical(fifth_dots)
        sum_join(&sum, &part.sum);
    }
    comm_sum(t->c, &sum);
    double mean = sum_get(&sum) / (8.0 * (double)t->m->lev[t->l].total);
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) a[i][k] -= mean;
}

/* ---- the iteration ---- */

/* ψ of L by Fourier transforms; both are in the places of φ and ρ. */
static void invert_fourier(const struct fifth_task *t, double (*laplacian)[8])
{
    struct level *lv = &t->m->lev[t->l];
    const struct grav_source from = fifth_boundary(1);
    double(*rho)[8] = lv->fld[FLD_RHO];
    lv->fld[FLD_RHO] = laplacian;
    grav_solve(t->m, t->c, t->l, &from, &t->f->newton);
    lv->fld[FLD_RHO] = rho;
    mg_by_colour(lv->fld[FLD_PHI], lv->noct);
}

/* ψ of L by cycles from the present ψ on, to a residual of at most `target`; *error: the residual.
 * Returns the number of cycles. */
static int invert(const struct fifth_task *t, struct work *w, double target, double *error)
{
    const struct level *lv = &t->m->lev[t->l];
    *error = 0;
    if (!w->mg) {
        invert_fourier(t, w->now);
        return 0;
    }
    struct mg_level *top = &w->mg->lev[t->l];
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < lv->nown; i++) {
        memcpy(top->rhs[i], w->now[i], sizeof top->rhs[i]);
        row_by_colour(top->rhs[i]);
        for (int k = 0; k < 8; k++) top->rhs[i][k] += w->boundary[i][k];
    }
    fifth_fill(t->c, top, top->rhs);
    *error = fifth_residual(t, top);
    return *error > target ? fifth_cycles(t, w->mg, target, error) : 0;
}

/* The next iterate: the image, less a part of its change that makes the residual least. */
static void advance(const struct fifth_task *t, struct work *w, const double dot[PAIRS])
{
    double theta = dot[DD] > 0 ? dot[RD] / dot[DD] : 0;
    theta = fmin(fmax(theta, -2), 0.8);
    double(*oldest)[8] = w->past, (*oldest_image)[8] = w->past_image;
    w->past = w->now, w->past_image = w->next;
    w->now = oldest, w->next = oldest_image;
#pragma omp parallel for schedule(static)
    for (lidx i = 0; i < t->m->lev[t->l].nown; i++)
        for (int k = 0; k < 8; k++) {
            double g = w->past_image[i][k], before = w->next[i][k];
            w->now[i][k] = theta == 0 ? g : g - theta * (g - before);
        }
}

static void iterate(const struct fifth_task *t, struct work *w, struct fifth_report *rep)
{
    const double least = INNER * t->f->eps;
    for (rep->iterations = 1, rep->error = 1;; rep->iterations++) {
        double dot[PAIRS], target = fmax(INNER * rep->error, least) * w->norm, inner;
        rep->cycles += invert(t, w, target, &inner);
        image(t, w);
        subtract_mean(t, w->next);
        dots(t, w, rep->iterations > 1, dot);
        double outer = sqrt(dot[RR] / (8.0 * (double)t->m->lev[t->l].total));
        rep->error = w->norm > 0 ? (outer + inner) / w->norm : 0;
        rep->converged = rep->error <= t->f->eps;
        if (rep->converged || rep->iterations >= t->f->most) break;
        advance(t, w, dot);
    }
    rep->unreal = w->unreal;
}

/* ψ is in the place of φ. */
static void begin(const struct fifth_task *t, struct work *w)
{
    struct level *lv = &t->m->lev[t->l];
    static const double none[8] = {0};
    const size_t bytes = sizeof(double[8]) * (size_t)lv->nown + 1;
    double(**all[])[8] = {&w->now, &w->next, &w->past, &w->past_image, &w->boundary};
    for (int k = 0; k < 5; k++) *all[k] = mem_zero(bytes, "fifth force");
    w->around = mem_new(sizeof *w->around * (size_t)lv->nown + 1, "fifth force");
    w->norm = fifth_source_rms(t);
    w->mg = grav_by_fourier(t->m, t->l, &t->f->newton) ? NULL : fifth_hierarchy(t);
    rows_beyond(t, w);
    for (lidx i = 0; i < lv->nown; i++) roots(t, lv->fld[FLD_RHO][i], none, w->now[i]);
    subtract_mean(t, w->now);
    if (!w->mg) return;
    w->mg->lev[t->l].u = lv->fld[FLD_PHI];
    fifth_guess(t, w->boundary);
    fifth_fill(t->c, &w->mg->lev[t->l], lv->fld[FLD_PHI]);
}

/* ψ in cell order, and without the rows of missing octs. */
static void end(const struct fifth_task *t, struct work *w)
{
    struct level *lv = &t->m->lev[t->l];
    double(**all[])[8] = {&w->now, &w->next, &w->past, &w->past_image, &w->boundary};
    if (w->mg) mg_release(w->mg);
    if (w->beyond)
        lv->fld[FLD_PHI] = mem_grow(lv->fld[FLD_PHI], sizeof(double[8]) * ((size_t)lv->noct + 1),
                                    "mesh gravity");
    mg_in_order(lv->fld[FLD_PHI], lv->noct);
    for (int k = 0; k < 5; k++) FREE(*all[k]);
    FREE(w->around);
}

void derivative_solve(const struct fifth_task *t, struct fifth_report *rep)
{
    struct work w = {0};
    fifth_lend(t->m, t->l);
    begin(t, &w);
    iterate(t, &w, rep);
    end(t, &w);
    fifth_lend(t->m, t->l);
}
