/* Laws of lib/grav in one and two dimensions. With mpirun every rank also solves the whole problem
 * alone and compares bits. Last line: N passed, N failed. */
#include <omp.h>
#include <stdio.h>

#include "grav_world.h"

static int64_t passed, failed;
static struct comm all;
static const struct comm alone = {.size = 1};

static void check(bool ok, int ndim, const char *what)
{
    int64_t bad = !ok;
    comm_max_i64(&all, &bad, 1);
    if (bad && all.rank == 0) printf("FAILED in %d dimensions: %s\n", ndim, what);
    passed += !bad;
    failed += bad;
}

static double all_max(double x)
{
    comm_max_f64(&all, &x, 1);
    return x;
}

/* Refines the cells within radius[] of the centre along the axes that exist. */
static void make(struct world *w, const struct comm *c, int ndim, int lmin, int lmax, bool isolated)
{
    static const double radius[2] = {0.26, 0.14};
    bool bounded[6];
    for (int f = 0; f < 6; f++) bounded[f] = isolated || f >= 2 * ndim;
    *w = (struct world){.c = *c, .centre = {0.53, ndim > 1 ? 0.42 : 0, 0}};
    w->d = domain_new_in(ndim, DOMAIN_HILBERT, c->size, lmax, bounded);
    mesh_init(&w->m, lmin, lmax, 5, true, true, 1.0, bounded);
    mesh_set_ndim(&w->m, ndim);
    adapt_build(&w->m, c, w->d);
    for (int l = lmin; l < lmax; l++) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < w->m.cells; k++) {
                double x[3];
                cell_at(&w->m, l, i, k, x);
                for (int d = ndim; d < 3; d++) x[d] = 0;
                lv->flag[i][k] = distance(w, x, w->centre) < radius[l - lmin];
            }
        adapt_refine(&w->m, &w->c, w->d, l, NULL, NULL);
    }
    w->from = (struct grav_source){.fourpi = 4 * PI};
}

/* A periodic potential of width 0.1, φ = −exp(4 (Σ cos 2π(x_d − c_d) − ndim)): returns ∇²φ and
 * f = −∇φ. */
static double well(int ndim, const double c[3], const double x[3], double f[3])
{
    const double depth = 4;
    double cosines = 0, sines2 = 0;
    for (int d = 0; d < ndim; d++) {
        double turn = 2 * PI * (x[d] - c[d]);
        cosines += cos(turn);
        sines2 += sin(turn) * sin(turn);
    }
    double e = exp(depth * (cosines - ndim));
    for (int d = 0; d < 3; d++)
        f[d] = d < ndim ? -2 * PI * depth * e * sin(2 * PI * (x[d] - c[d])) : 0;
    return 4 * PI * PI * depth * e * (cosines - depth * sines2);
}

static void fill(struct world *w)
{
    struct mesh *m = &w->m;
    struct sum mean; /* of the base level */
    sum_init(&mean);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], f[3], *rho = &level_rho(&m->lev[l])[i][k];
                cell_at(m, l, i, k, x);
                *rho = 1 + well(m->ndim, w->centre, x, f) / w->from.fourpi;
                if (l == m->levelmin) sum_add(&mean, *rho * mesh_share(m, l));
            }
    comm_sum(&w->c, &mean);
    w->from.rho_tot = mesh_has_boundaries(m) ? 0 : sum_get(&mean);
    w->from.far = (struct far_field){1.0, {0.5, 0.5, 0.5}};
    w->from.far_old = (struct far_field){0.9, {0.48, 0.5, 0.5}};
}

/* Solves all levels, then once more as in a second sub-step. */
static bool solve(struct world *w, struct grav_par *p)
{
    bool converged = true;
    struct mesh *m = &w->m;
    for (int pass = 0; pass < 2; pass++)
        for (int l = m->levelmin; l <= m->levelmax; l++) {
            struct level *lv = &m->lev[l];
            memcpy(level_phi_old(lv), level_phi(lv), sizeof(double[8]) * (size_t)lv->noct);
            w->from.tfrac = l > m->levelmin && pass ? 0.4 : 0;
            converged &= grav_solve(m, &w->c, l, &w->from, p).converged;
            grav_force(m, &w->c, l, &w->from, p);
        }
    return converged;
}

static struct grav_par params(int cg_levelmin, int shared)
{
    return (struct grav_par){
        .epsilon = 1e-5, .cg_levelmin = cg_levelmin, .mg_shared_octs = shared, .fft_levelmin = 1};
}

/* Largest errors of the force by level, over its largest value; *repeats: whether the cells that do
 * not exist repeat the others, and missing axes have no force. */
static void force_errors(int ndim, int lmin, struct grav_par p, double out[3], bool *repeats)
{
    struct world w;
    make(&w, &all, ndim, lmin, lmin + 2, false);
    fill(&w);
    check(solve(&w, &p), ndim, "the solver converges at 1e-5");
    *repeats = true;
    for (int q = 0; q < 3; q++) {
        const struct level *lv = &w.m.lev[lmin + q];
        double worst = 0, max = 0;
        for (lidx i = 0; i < lv->noct; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], f[3], *phi = level_phi(lv)[i];
                cell_at(&w.m, lmin + q, i, k, x);
                well(ndim, w.centre, x, f);
                *repeats &= phi[k] == phi[k & (w.m.cells - 1)];
                for (int d = 0; d < 3; d++) {
                    double here = level_force(lv, d)[i][k];
                    *repeats &= d < ndim ? here == level_force(lv, d)[i][k & (w.m.cells - 1)]
                                         : here == 0;
                    if (lv->child[i][k] < 0 && i < lv->nown) worst = fmax(worst, fabs(here - f[d]));
                    max = fmax(max, fabs(f[d]));
                }
            }
        out[q] = all_max(worst) / all_max(max);
    }
    grav_fini(&p);
    world_free(&w);
}

/* The tree is that of an infinite sheet or line of mass: a wrong factor of the source, a wrong
 * number of neighbours, or interpolation along a missing axis shows. */
static void test_order(int ndim, int cg_levelmin)
{
    double coarse[3], fine[3];
    bool repeats;
    force_errors(ndim, 5, params(cg_levelmin, 0), coarse, &repeats);
    check(repeats, ndim, "cells repeat others");
    force_errors(ndim, 6, params(cg_levelmin, 0), fine, &repeats);
    for (int q = 0; q < 3; q++) {
        if (all.rank == 0) printf("  %d: force error %.2e, %.2e\n", ndim, coarse[q], fine[q]);
        check(fine[q] < 0.01, ndim, "the force is that of the potential");
        check(coarse[q] > 3 * fine[q], ndim, "second order on each level");
    }
}

/* Beyond boundaries the potential grows as r (sheet) or log r (line), with the mass. */
static void test_far(int ndim)
{
    struct world w;
    make(&w, &all, ndim, 6, 6, true);
    fill(&w);
    struct level *lv = &w.m.lev[6];
    struct grav_par p = params(99, 0);
    double worst = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) level_rho(lv)[i][k] = 0;
    check(solve(&w, &p), ndim, "the isolated solver converges");
    for (lidx i = 0; i < lv->nown && ndim == 1; i++)
        for (int k = 0; k < 8; k++) {
            worst = fmax(worst, fabs(level_phi(lv)[i][k] - PI));
        }
    for (lidx i = 0; i < lv->nown && ndim == 2; i++)
        for (int k = 0; k < 8; k++) {
            const double phi = level_phi(lv)[i][k];
            worst = fmax(worst, phi > 2 * log(0.5) && phi < 2 * log(0.75) ? 0 : 1);
        }
    check(all_max(worst) < 1e-3, ndim, "an empty box has the potential of its boundary");
    grav_fini(&p);
    world_free(&w);
}

static bool same_rows(const struct world *w, const struct world *ref, int l, int fld)
{
    const struct level *a = &w->m.lev[l], *b = &ref->m.lev[l];
    for (lidx i = 0; i < a->noct; i++) { /* including ghosts */
        lidx j = mesh_find(b, a->key[i]);
        if (j < 0 || memcmp(a->fld[fld][i], b->fld[fld][j], sizeof(double[8])) != 0) return false;
    }
    return true;
}

static void test_bits(int ndim, bool isolated, int cg_levelmin, int shared, int safe)
{
    struct world one, many;
    struct grav_par p = params(cg_levelmin, shared), q = params(cg_levelmin, shared);
    memset(p.safe, safe, sizeof p.safe);
    memset(q.safe, safe, sizeof q.safe);
    make(&one, &alone, ndim, 5, 7, isolated);
    make(&many, &all, ndim, 5, 7, isolated);
    fill(&one);
    fill(&many);
    solve(&one, &p);
    solve(&many, &q);
    bool same = true;
    for (int l = 5; l <= 7; l++)
        for (int f = FLD_PHI; f <= FLD_FZ; f++) same &= same_rows(&many, &one, l, f);
    check(same, ndim, "same bits as alone");
    grav_fini(&p);
    grav_fini(&q);
    world_free(&one);
    world_free(&many);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    for (int ndim = 1; ndim <= 2; ndim++) {
        test_order(ndim, 99);
        test_order(ndim, 6);
        test_far(ndim);
        for (int isolated = 0; isolated < 2; isolated++) {
            test_bits(ndim, isolated, 99, 0, 0);
            test_bits(ndim, isolated, 99, 64, 1);
            test_bits(ndim, isolated, 6, 0, 0);
        }
    }
    if (all.rank == 0) printf("%d passed, %d failed\n", (int)passed, (int)failed);
    comm_fini();
    return failed != 0;
}
