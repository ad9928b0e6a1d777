/* fifth/derivative: ∇²ψ + κ ((∇²ψ)² − (∂i∂jψ)²) = S on a level.
 *
 * Split into trace and rest (Chan & Scoccimarro 2009): with L = ∇²ψ and T² = (∂i∂jψ)² − L²/3 the
 * equation is quadratic in L, and its root that becomes S without the nonlinear terms is
 *
 *     L = 2 (S + κ T²) / (1 + sqrt(1 + 8/3 κ (S + κ T²))).
 *
 * The unknown of the iteration is L: ψ follows from it by lib/grav's solver, T² from ψ, and the
 * next L from T². This map does not expand: in the norm of L its derivative is at most T/sqrt(T² +
 * S/κ + 3/(8κ²)). Steps are those of Anderson 1965 with one earlier iterate. Where the root is
 * complex, in deep voids of small β, the nearest real L is taken, and counted. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"
#include "dom/ghost.h"
#include "fifth/model.h"
#include "grav/grav_rows.h"
#include "grav/interpol.h"
#include "oct/fields.h"

/* Arrays over the own octs of the level. */
struct work {
    double (*now)[8], (*next)[8];        /* L and its image */
    double (*past)[8], (*past_image)[8]; /* those of the iteration before */
    int64_t unreal;
};

/* ---- second derivatives ---- */

/* Values of a missing oct beside oct i, by its place among the 27. */
static void beyond_oct(const struct fifth_task *t, lidx i, int place, const lidx coarse[27],
                       double v[8])
{
    const struct level *lv = &t->m->lev[t->l];
    const struct grav_source from = fifth_boundary(0);
    int64_t q[3];
    int at = 0, cell = 0;
    okey_coords(lv->key[i], q);
    for (int d = 0, step = 1, p = place; d < 3; d++, step *= 3, p /= 3) {
        int64_t here = q[d] >> 1, there = q[d] + p % 3 - 1;
        at += step * (int)((there >> 1) - here + 1);
        cell |= (int)(there & 1) << d;
    }
    BUG_ON(coarse[at] < 0);
    grav_interpol_phi(t->m, t->l - 1, coarse[at], cell, &from, v);
}

/* The 4³ cells around oct i: its own and one layer. */
static void gather(const struct fifth_task *t, lidx i, double patch[64])
{
    const struct level *lv = &t->m->lev[t->l];
    lidx cube[27], coarse[27];
    bool found = false;
    mesh_cube(t->m, t->l, i, cube);
    for (int o = 0; o < 27; o++) {
        double v[8];
        if (cube[o] < 0 && !found) {
            mesh_cube(t->m, t->l - 1, lv->parent[i], coarse);
            found = true;
        }
        if (cube[o] < 0)
            beyond_oct(t, i, o, coarse, v);
        else
            memcpy(v, lv->fld[FLD_PHI][cube[o]], sizeof v);
        for (int k = 0; k < 8; k++) {
            int x = 2 * (o % 3) - 1 + (k & 1), y = 2 * (o / 3 % 3) - 1 + (k >> 1 & 1),
                z = 2 * (o / 9) - 1 + (k >> 2);
            if (x >= 0 && x < 4 && y >= 0 && y < 4 && z >= 0 && z < 4)
                patch[x + 4 * y + 16 * z] = v[k];
        }
    }
}

/* T² of the cell at p, in units of 1/dx⁴. */
static double traceless(const double *p)
{
    static const int STEP[3] = {1, 4, 16};
    double second[3], sum = 0, cross = 0;
    for (int d = 0; d < 3; d++) second[d] = p[STEP[d]] + p[-STEP[d]] - 2 * p[0];
    for (int d = 0; d < 3; d++) {
        int a = STEP[d], b = STEP[(d + 1) % 3];
        double mixed = 0.25 * ((p[a + b] + p[-a - b]) - (p[a - b] + p[b - a])),
               difference = second[d] - second[(d + 1) % 3];
        sum += difference * difference;
        cross += mixed * mixed;
    }
    return sum / 3 + 2 * cross;
}

static double root(const struct fifth_law *law, double source, double t2, int64_t *unreal)
{
    double s = source + law->kappa * t2, under = 1 + 8. / 3 * law->kappa * s;
    if (under < 0) (*unreal)++;
    return 2 * s / (1 + sqrt(fmax(under, 0)));
}

/* Image of the iterate whose ψ is in the place of φ. */
static void image(const struct fifth_task *t, struct work *w)
{
    const struct level *lv = &t->m->lev[t->l];
    const double inv_dx4 = ldexp(1, 4 * t->l);
    int64_t unreal = 0;
#pragma omp parallel for schedule(static) reduction(+ : unreal)
    for (lidx i = 0; i < lv->nown; i++) {
        double patch[64];
        gather(t, i, patch);
        for (int k = 0; k < 8; k++) {
            const double *p = patch + 21 + (k & 1) + 4 * (k >> 1 & 1) + 16 * (k >> 2);
            w->next[i][k] = root(&t->law, fifth_source(t, lv->fld[FLD_RHO][i][k]),
                                 inv_dx4 * traceless(p), &unreal);
        }
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
    for (lidx i = 0; i < n; i++) {
        double r[8], d[8];
        for (int k = 0; k < 8; k++) {
            r[k] = w->next[i][k] - w->now[i][k];
            d[k] = past ? r[k] - (w->past_image[i][k] - w->past[i][k]) : 0;
        }
        sum_add(&sum[RR], kern_dot8(r, r));
        sum_add(&sum[RD], kern_dot8(r, d));
        sum_add(&sum[DD], kern_dot8(d, d));
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
    for (lidx i = 0; i < n; i++) sum_add(&sum, kern_sum8(a[i]));
    comm_sum(t->c, &sum);
    double mean = sum_get(&sum) / (8.0 * (double)t->m->lev[t->l].total);
    for (lidx i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) a[i][k] -= mean;
}

static double source_norm(const struct fifth_task *t)
{
    const struct level *lv = &t->m->lev[t->l];
    struct sum sum;
    sum_init(&sum);
    for (lidx i = 0; i < lv->nown; i++) {
        double s[8];
        for (int k = 0; k < 8; k++) s[k] = fifth_source(t, lv->fld[FLD_RHO][i][k]);
        sum_add(&sum, kern_dot8(s, s));
    }
    comm_sum(t->c, &sum);
    return sum_get(&sum);
}

/* ---- the iteration ---- */

/* ψ of L by the Poisson solver; both are in the places of φ and ρ. */
static int invert(const struct fifth_task *t, double (*laplacian)[8])
{
    struct level *lv = &t->m->lev[t->l];
    const struct grav_source from = fifth_boundary(1);
    double(*rho)[8] = lv->fld[FLD_RHO];
    memset(t->f->newton.safe, 0, sizeof t->f->newton.safe); /* as after a restart */
    t->f->newton.epsilon = 0.1 * t->f->eps;
    lv->fld[FLD_RHO] = laplacian;
    struct grav_report rep = grav_solve(t->m, t->c, t->l, &from, &t->f->newton);
    lv->fld[FLD_RHO] = rho;
    return rep.cycles;
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
    const double norm = source_norm(t);
    for (rep->iterations = 1;; rep->iterations++) {
        double dot[PAIRS];
        rep->cycles += invert(t, w->now);
        image(t, w);
        subtract_mean(t, w->next);
        dots(t, w, rep->iterations > 1, dot);
        rep->error = norm > 0 ? sqrt(dot[RR] / norm) : 0;
        rep->converged = rep->error <= t->f->eps;
        if (rep->converged || rep->iterations >= t->f->most) break;
        advance(t, w, dot);
    }
    rep->unreal = w->unreal;
}

void derivative_solve(const struct fifth_task *t, struct fifth_report *rep)
{
    struct level *lv = &t->m->lev[t->l];
    struct work w = {0};
    double(**all[])[8] = {&w.now, &w.next, &w.past, &w.past_image};
    for (int k = 0; k < 4; k++)
        *all[k] = mem_zero(sizeof(double[8]) * (size_t)lv->noct + 1, "fifth force");
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++)
            w.now[i][k] = root(&t->law, fifth_source(t, lv->fld[FLD_RHO][i][k]), 0, &w.unreal);
    subtract_mean(t, w.now);
    fifth_lend(t->m, t->l);
    iterate(t, &w, rep);
    fifth_lend(t->m, t->l);
    for (int k = 0; k < 4; k++) FREE(*all[k]);
}
