/* hydro: laws of the scheme on meshes with up to three levels, on random and constructed states:
 * identical results for any tile size and number of threads, conservation across coarse-fine
 * boundaries, mirror symmetry, reflecting boundaries, preservation of uniform flow, consistency of
 * the Riemann solvers, restriction undoing prolongation. Catches, among others: a register with a
 * wrong sign or weight, a halo oct taken from the wrong position, an asymmetric slope, a mask
 * forgotten on one side of a face.
 *
 * test: tier=quick
 * test: pairs tier=check */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "gas_mesh.h"
#include "gas_states.h"
#include "hydro/gas_law.h"
#include "hydro/hydro.h"
#include "hydro/point_kern.h"
#include "patch/reflux.h"

static const bool periodic_box[6] = {false};
static const int all_slopes[] = {0, 1, 2, 3, 7, 8};

static struct hydro_par base_par(void)
{
    struct hydro_par p = {.nvar = 5,
                          .gamma = 1.4,
                          .smallr = 1e-10,
                          .smallc = 1e-10,
                          .courant_factor = 0.5,
                          .riemann = RIEMANN_HLLC,
                          .niter_riemann = 10,
                          .slope_type = 1,
                          .slope_theta = 1.5,
                          .interpol_type = 1,
                          .err_grad_d = -1,
                          .err_grad_p = -1,
                          .err_grad_u = -1,
                          .floor_d = 1e-10,
                          .floor_p = 1e-10,
                          .floor_u = 1e-10};
    return p;
}

/* ---- meshes ---- */

/* Whether the cell at x (box units) is to be refined at level l: a ball around a point that shrinks
 * with the level. */
static bool in_ball(const double *x, int l, int levelmin)
{
    double r = 0.36 / (1 << (l - levelmin)), d2 = 0.0;
    for (int d = 0; d < gas_mesh_ndim; d++) {
        double s = x[d] - (0.52 + 0.03 * d);
        d2 += s * s;
    }
    /* with a hole: concave boundaries of levels */
    return d2 < r * r && (l == levelmin || d2 > 0.25 * r * r);
}

static void build(struct mesh *m, int levelmin, int levelmax, const struct hydro_par *p,
                  bool gravity, const bool *bounded)
{
    gas_mesh(m, levelmin, levelmax, p, gravity, bounded, in_ball);
}

/* One step of level l with two sub-steps of the finer level, as sim/step does. */
static void advance(struct mesh *m, int l, double dt, const struct hydro_par *p)
{
    bool finer = l < m->levelmax && m->lev[l + 1].noct > 0;
    if (finer) {
        reflux_begin(m, l + 1, REFLUX_GAS, hydro_nflux(p), 0);
        advance(m, l + 1, 0.5 * dt, p);
        advance(m, l + 1, 0.5 * dt, p);
    }
    hydro_update(m, l, dt, 0.1, p, NULL, NULL);
    if (finer) reflux_end(m, l + 1, REFLUX_GAS);
    if (finer) hydro_restrict(m, l, p);
}

static uint64_t digest(const struct mesh *m)
{
    uint64_t h = 1;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (int v = 0; v < m->nvar; v++)
            for (lidx i = 0; i < m->lev[l].nown; i++)
                for (int c = 0; c < 8; c++) {
                    uint64_t b;
                    memcpy(&b, &m->lev[l].fld[FLD_U + v][i][c], 8);
                    h = mix(h ^ b);
                }
    return h;
}

static bool all_finite(const struct mesh *m)
{
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (int v = 0; v < m->nvar; v++)
            for (lidx i = 0; i < m->lev[l].nown; i++)
                for (int c = 0; c < 8; c++)
                    if (!isfinite(m->lev[l].fld[FLD_U + v][i][c])) return false;
    return true;
}

/* ---- tests ---- */

static void check_repeats(const struct mesh *m);

/* Digest of a run on levels lmin to 6; depth: tile_depth. */
static uint64_t digest_of_run(const struct hydro_par *par, bool gravity, const bool *bounded,
                              int lmin, int depth)
{
    struct hydro_par tiled = *par, *p = &tiled;
    struct mesh m;
    tiled.tile_depth = depth;
    build(&m, lmin, 6, p, gravity, bounded);
    fill(&m, rough, p);
    double dt = 0.4 *
                fmin(hydro_courant(&m, lmin, p, NULL), 2.0 * hydro_courant(&m, lmin + 1, p, NULL));
    for (int s = 0; s < 2; s++) advance(&m, lmin, dt, p);
    CHECK(all_finite(&m), "riemann %d slope %d", (int)p->riemann, p->slope_type);
    check_repeats(&m);
    uint64_t h = digest(&m);
    mesh_fini(&m);
    return h;
}

/* Results do not depend on tile size and number of threads. Every solver and every slope, or all
 * pairs of both. */
static void test_tiles(bool pairs)
{
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        for (int k = 0; k < 6; k++) {
            struct hydro_par p = base_par();
            if (!pairs && r != 2 * k % RIEMANN_COUNT) continue;
            p.riemann = (enum riemann)r;
            p.slope_type = all_slopes[k];
            bool rich = (r + k) % 2 == 0, isolated = k % 3 == 0;
            bool bounded[6] = {isolated, isolated, false, false, isolated, isolated};
            for (int f = 0; f < 6; f++)
                p.bound[f] = !bounded[f] ? BOUND_PERIODIC : f == 0 ? BOUND_OUTFLOW : BOUND_REFLECT;
            if (isolated) p.bound[5] = BOUND_IMPOSED;
            p.bound_state[5][0] = p.bound_state[5][4] = 1.0;
            if (rich)
                p.nvar = 7, p.pressure_fix = true, p.beta_fix = 0.5, p.difmag = 0.1,
                p.interpol_var = k % 3;
            p.interpol_type = (r + k) % 4;
            omp_set_num_threads(1);
            uint64_t h = digest_of_run(&p, rich, bounded, 4, 1);
            omp_set_num_threads(3);
            for (int d = 2; d <= 5; d++)
                CHECK(digest_of_run(&p, rich, bounded, 4, d % 5) == h,
                      "riemann %d slope %d tile_depth %d", r, p.slope_type, d % 5);
        }
    }
    omp_set_num_threads(1);
}

/* Cells that stand for no volume repeat the others, and no momentum appears along missing axes. */
static void check_repeats(const struct mesh *m)
{
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int v = 0; v < m->nvar; v++)
                for (int c = 0; c < 8; c++) {
                    const double *u = m->lev[l].fld[FLD_U + v][i];
                    bool missing = v >= 1 + m->ndim && v <= 3;
                    if (u[c] != u[c % m->cells] || (missing && u[c] != 0.0)) {
                        CHECK(false, "%d-D level %d oct %d variable %d", m->ndim, l, (int)i, v);
                        return;
                    }
                }
    CHECK(true, "%d-D", m->ndim);
}

/* In one and two dimensions too results do not depend on tiles and threads, with boundaries and
 * refined levels. The slopes and the predictor of one dimension take part. */
static void test_few_dimensions(void)
{
    for (int k = 0; k < 10 * 2; k++) {
        struct hydro_par p = base_par();
        const int ndim = 1 + k % 2, slope = k / 2;
        const bool bounded[6] = {k % 3 == 0, k % 3 == 0, k % 4 == 0, k % 4 == 0, false, false};
        if (ndim > 1 && slope >= 4 && slope != 7 && slope != 8) continue;
        gas_mesh_ndim = ndim;
        p.slope_type = slope == 9 ? SLOPE_MONCEN : (enum slope)slope;
        p.predictor = slope == 9 ? PREDICT_PLMDE : PREDICT_MUSCL;
        p.riemann = (enum riemann)(k / 2 % RIEMANN_COUNT);
        for (int f = 0; f < 6; f++) p.bound[f] = bounded[f] ? BOUND_REFLECT : BOUND_PERIODIC;
        p.nvar = k % 5 ? 5 : 7, p.interpol_type = k % 4, p.interpol_var = k % 3;
        if (k % 7 == 0) p.pressure_fix = true, p.beta_fix = 0.5, p.difmag = 0.1;
        omp_set_num_threads(1);
        uint64_t h = digest_of_run(&p, k % 2, bounded, 4, 0);
        omp_set_num_threads(3);
        for (int d = 1; d <= 4; d++)
            CHECK(digest_of_run(&p, k % 2, bounded, 4, d) == h, "%d-D slope %d tile_depth %d", ndim,
                  slope, d);
    }
    omp_set_num_threads(1);
    gas_mesh_ndim = 3;
}

/* Tiles two cubes wide, which one thread processes on a complete level of 16³ octs, do not change
 * results. */
static void test_wide_tiles(void)
{
    omp_set_num_threads(1);
    for (int rich = 0; rich < 2; rich++) {
        struct hydro_par p = base_par();
        bool bounded[6] = {rich, rich, false, false, rich, rich};
        p.riemann = rich ? RIEMANN_HLLC : RIEMANN_LLF;
        for (int f = 0; f < 6; f++) p.bound[f] = bounded[f] ? BOUND_REFLECT : BOUND_PERIODIC;
        if (rich) p.nvar = 6, p.pressure_fix = true, p.beta_fix = 0.5, p.difmag = 0.1;
        CHECK(digest_of_run(&p, rich, bounded, 5, 0) == digest_of_run(&p, rich, bounded, 5, 2),
              "rich %d", rich);
    }
}

static void totals(const struct mesh *m, const struct hydro_par *p, double t[5])
{
    struct sum s[6];
    for (int k = 0; k < 6; k++) sum_init(&s[k]);
    for (int l = m->levelmin; l <= m->levelmax; l++)
        hydro_courant(m, l, p, &(struct hydro_sums){&s[0], &s[4], &s[5], &s[1]});
    for (int k = 0; k < 5; k++) t[k] = sum_get(&s[k]);
}

static void test_conservation(void)
{
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        struct hydro_par p = base_par();
        struct mesh m;
        double before[5], after[5];
        p.riemann = (enum riemann)r;
        p.slope_type = 1 + r % 3;
        build(&m, 4, 6, &p, false, periodic_box);
        CHECK(m.lev[6].nown > 100, "%d octs", (int)m.lev[6].nown);
        fill(&m, rough, &p);
        totals(&m, &p, before);
        for (int s = 0; s < 3; s++) advance(&m, 4, 0.4 * hydro_courant(&m, 4, &p, NULL), &p);
        totals(&m, &p, after);
        for (int k = 0; k < 5; k++)
            CHECK(fabs(after[k] - before[k]) <= 4e-15 * before[4], "riemann %d variable %d: %g", r,
                  k, after[k] - before[k]);
        mesh_fini(&m);
    }
}

/* Uniform flow stays uniform across boundaries of levels, and constant scalars stay constant in any
 * flow. */
static void test_free_flow(void)
{
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        struct hydro_par p = base_par();
        struct mesh m;
        p.riemann = (enum riemann)r;
        p.nvar = 6;
        build(&m, 3, 5, &p, false, periodic_box);
        fill(&m, flowing, &p);
        double q[8], worst = 0.0;
        flowing(NULL, 0, q);
        for (int s = 0; s < 5; s++) advance(&m, 3, 0.01, &p);
        for (int l = 3; l <= 5; l++)
            for (lidx i = 0; i < m.lev[l].nown; i++)
                for (int c = 0; c < 8; c++) {
                    worst = fmax(worst, fabs(m.lev[l].fld[FLD_U][i][c] - q[0]));
                    worst = fmax(worst, fabs(m.lev[l].fld[FLD_U + 1][i][c] - q[0] * q[1]));
                    worst = fmax(worst, fabs(m.lev[l].fld[FLD_U + 5][i][c] - q[0] * q[5]));
                }
        CHECK(worst < 1e-14, "riemann %d: %g", r, worst);
        mesh_fini(&m);
    }
}

/* Uniform flow that advects a cube of scalar. */
static void carrying(const double *x, uint64_t id, double *q)
{
    flowing(x, id, q);
    q[5] = fabs(x[0] - 0.4) < 0.2 && fabs(x[1] - 0.5) < 0.2 && fabs(x[2] - 0.6) < 0.2;
}

/* Without slopes a scalar stays within the range of upstream values. */
static void test_scalar_bounds(void)
{
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        struct hydro_par p = base_par();
        struct mesh m;
        double min = 1, max = 0;
        p.riemann = (enum riemann)r;
        p.slope_type = 0;
        p.nvar = 6;
        build(&m, 4, 4, &p, false, periodic_box);
        fill(&m, carrying, &p);
        for (int s = 0; s < 8; s++) advance(&m, 4, 0.008, &p);
        for (lidx i = 0; i < m.lev[4].nown; i++)
            for (int c = 0; c < 8; c++) {
                double x = m.lev[4].fld[FLD_U + 5][i][c] / m.lev[4].fld[FLD_U][i][c];
                min = fmin(min, x), max = fmax(max, x);
            }
        CHECK(min >= 0 && max < 1 + 1e-14 && max > 0.5, "riemann %d: %g to %g", r, min, max);
        mesh_fini(&m);
    }
}

/* Cold gas with a sinusoidal velocity, expanding and converging. */
static void surging(const double *x, uint64_t id, double *q)
{
    const double c[5] = {1, 10 * sin(2 * M_PI * x[0]), 0, 0, 1e-6};
    memcpy(q, c, sizeof c);
}

/* With pressure_fix the internal energy of cold gas follows de/dt = -div(e v) - P div v, in this
 * case -gamma e div v. */
static void test_cold_flow(void)
{
    const double dt = 1e-5, e = 1e-6 / 0.4;
    struct hydro_par p = base_par();
    struct mesh m;
    double worst = 0;
    p.pressure_fix = true;
    p.beta_fix = 0.5;
    build(&m, 5, 5, &p, false, periodic_box);
    fill(&m, surging, &p);
    advance(&m, 5, dt, &p);
    struct level *lv = &m.lev[5];
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            int64_t x[3];
            okey_coords(lv->key[i], x);
            double at = ((double)(2 * x[0] + (c & 1)) + 0.5) / 32;
            double u = lv->fld[FLD_U + 1][i][c], r = lv->fld[FLD_U][i][c];
            double now = lv->fld[FLD_U + GAS_ENERGY][i][c] - 0.5 * u * u / r;
            double div = 20 * M_PI * cos(2 * M_PI * at);
            if (fabs(div) > 30)
                worst = fmax(worst, fabs((now / e - 1) / (-p.gamma * div * dt) - 1));
        }
    CHECK(worst < 0.03, "%g", worst);
    mesh_fini(&m);
}

/* Value of a cell, by its coordinates on a complete level. */
static double *cell_at(struct mesh *m, int l, int v, const int64_t *x)
{
    okey k = okey_make((uint64_t)x[0] >> 1, (uint64_t)x[1] >> 1, (uint64_t)x[2] >> 1);
    return &m->lev[l].fld[FLD_U + v][mesh_find(&m->lev[l], k)]
                         [(x[0] & 1) + 2 * (x[1] & 1) + 4 * (x[2] & 1)];
}

/* Sets to(mirror(x)) := from(x) with the velocity along d reversed; if compare, returns the largest
 * difference instead. */
static double mirror(struct mesh *to, struct mesh *from, int l, int d, bool compare)
{
    int64_t n = (int64_t)1 << l, x[3];
    double worst = 0.0;
    for (x[2] = 0; x[2] < n; x[2]++)
        for (x[1] = 0; x[1] < n; x[1]++)
            for (x[0] = 0; x[0] < n; x[0]++)
                for (int v = 0; v < from->nvar; v++) {
                    int64_t y[3] = {x[0], x[1], x[2]};
                    y[d] = n - 1 - x[d];
                    double a = *cell_at(from, l, v, x) * (v == 1 + d ? -1.0 : 1.0),
                           *b = cell_at(to, l, v, y);
                    if (compare)
                        worst = fmax(worst, fabs(a - *b));
                    else
                        *b = a;
                }
    return worst;
}

static void test_mirror(void)
{
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        for (int d = 0; d < 3; d++) {
            struct hydro_par p = base_par();
            struct mesh a, b;
            p.riemann = (enum riemann)r;
            p.slope_type = d == 1 ? 3 : d == 2 ? 7 : 2;
            p.difmag = d == 2 ? 0.2 : 0.0;
            build(&a, 4, 4, &p, false, periodic_box);
            build(&b, 4, 4, &p, false, periodic_box);
            fill(&a, rough, &p);
            mirror(&b, &a, 4, d, false);
            double dt = hydro_courant(&a, 4, &p, NULL);
            for (int s = 0; s < 4; s++) {
                hydro_update(&a, 4, dt, 0.0, &p, NULL, NULL);
                hydro_update(&b, 4, dt, 0.0, &p, NULL, NULL);
            }
            double worst = mirror(&b, &a, 4, d, true);
            CHECK(worst < 1e-12, "riemann %d axis %d: %g", r, d, worst);
            mesh_fini(&a);
            mesh_fini(&b);
        }
    }
}

/* A box with reflecting boundaries is equivalent to an eighth of a periodic box twice as large,
 * filled with mirror images. */
static void test_reflecting_boundaries(void)
{
    const bool isolated[6] = {true, true, true, true, true, true};
    struct hydro_par p = base_par(), q = base_par();
    struct mesh a, b;
    p.slope_type = q.slope_type = 2;
    for (int f = 0; f < 6; f++) p.bound[f] = BOUND_REFLECT;
    build(&a, 4, 4, &p, false, isolated);
    build(&b, 5, 5, &q, false, periodic_box);
    b.boxlen = 2.0;
    fill(&a, rough, &p);
    double worst = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        int64_t x[3], n = 32;
        for (x[2] = 0; x[2] < n; x[2]++)
            for (x[1] = 0; x[1] < n; x[1]++)
                for (x[0] = 0; x[0] < n; x[0]++)
                    for (int v = 0; v < 5; v++) {
                        int64_t y[3];
                        for (int d = 0; d < 3; d++) y[d] = x[d] < 16 ? x[d] : 31 - x[d];
                        double s = v >= 1 && v <= 3 && x[v - 1] >= 16 ? -1.0 : 1.0;
                        double in = s * *cell_at(&a, 4, v, y), *out = cell_at(&b, 5, v, x);
                        if (pass == 0) *out = in;
                        worst = fmax(worst, fabs(*out - in));
                    }
        if (pass) break;
        double dt = hydro_courant(&a, 4, &p, NULL);
        CHECK(fabs(dt / hydro_courant(&b, 5, &q, NULL) - 1.0) < 1e-15, "dt");
        for (int s = 0; s < 5; s++) {
            hydro_update(&a, 4, dt, 0.0, &p, NULL, NULL);
            hydro_update(&b, 5, dt, 0.0, &q, NULL, NULL);
        }
        worst = 0.0;
    }
    CHECK(worst < 1e-12, "%g", worst);
    mesh_fini(&a);
    mesh_fini(&b);
}

/* Uniform flow out of and into open boundaries stays uniform. */
static void test_open_boundaries(void)
{
    const bool isolated[6] = {true, true, true, true, true, true};
    struct hydro_par p = base_par();
    struct mesh m;
    double worst = 0.0, q[8];
    flowing(NULL, 0, q);
    for (int f = 0; f < 6; f++) {
        p.bound[f] = f % 2 ? BOUND_OUTFLOW : BOUND_IMPOSED;
        memcpy(p.bound_state[f], q, sizeof(double) * 5);
    }
    build(&m, 3, 5, &p, false, isolated);
    fill(&m, flowing, &p);
    for (int s = 0; s < 5; s++) advance(&m, 3, 0.01, &p);
    for (int l = 3; l <= 5; l++)
        for (lidx i = 0; i < m.lev[l].nown; i++)
            for (int c = 0; c < 8; c++) worst = fmax(worst, fabs(m.lev[l].fld[FLD_U][i][c] - q[0]));
    CHECK(worst < 1e-14, "%g", worst);
    mesh_fini(&m);
}

static struct hydro_flux solve(int r, struct hydro_state L, struct hydro_state R,
                               struct hydro_gas g)
{
#define RIEMANN(name, text, flux)                                                                  \
    if (r == RIEMANN_##name) return flux(L, R, g);
#define ITERATED(name, text)
#include "hydro/riemann.def"
#undef RIEMANN
#undef ITERATED
    const struct hydro_exact x = hydro_exact_sides(L, R, g);
    double p = hydro_exact_guess(x), dp;
    for (int i = 0; i < 10; i++) p = hydro_exact_newton(x, g, p, &dp);
    return hydro_exact_flux(L, R, g, p);
}

/* F(U,U) = F(U); contacts at rest do not move with solvers that resolve contacts; Toro's test 1
 * (Sod) at x/t = 0. */
static void test_riemann(void)
{
    struct hydro_gas g = {.gamma = 1.4,
                          .gm1 = 0.4,
                          .entho = 2.5,
                          .smallr = 1e-10,
                          .smallc = 1e-10,
                          .smallc2 = 1e-20,
                          .smallp = 1e-20 / 1.4,
                          .gamma6 = 2.4 / 2.8,
                          .inv_gamma = 1 / 1.4,
                          .niter = 10};
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        for (uint64_t k = 0; k < 200; k++) {
            struct hydro_state s = {0.1 + uniform(5 * k), 4 * uniform(5 * k + 1) - 2,
                                    uniform(5 * k + 2), -uniform(5 * k + 3),
                                    0.1 + uniform(5 * k + 4)};
            struct hydro_flux f = solve(r, s, s, g);
            double e = 2.5 * s.p + 0.5 * s.r * (s.u * s.u + s.v * s.v + s.w * s.w);
            double err = fabs(f.r - s.r * s.u) + fabs(f.u - s.r * s.u * s.u - s.p) +
                         fabs(f.v - s.r * s.u * s.v) + fabs(f.w - s.r * s.u * s.w) +
                         fabs(f.e - s.u * (e + s.p)) + fabs(f.eint - 2.5 * s.p * s.u);
            CHECK(err < 1e-13, "riemann %d: %g", r, err);
        }
        struct hydro_state a = {1.0, 0.0, 0.3, 0.1, 1.0}, b = {0.125, 0.0, -0.2, 0.4, 1.0};
        struct hydro_flux f = solve(r, a, b, g);
        if (r == RIEMANN_HLLC || r == RIEMANN_EXACT || r == RIEMANN_ACOUSTIC)
            CHECK(f.r == 0.0 && f.e == 0.0 && fabs(f.u - 1.0) < 1e-15, "riemann %d moves a contact",
                  r);
    }
    struct hydro_state a = {1.0, 0.0, 0, 0, 1.0}, b = {0.125, 0.0, 0, 0, 0.1};
    /* star state 0.42632, 0.92745, 0.30313 (Toro, table 4.2) */
    struct hydro_flux f = solve(RIEMANN_EXACT, a, b, g);
    CHECK(fabs(f.r / (0.42632 * 0.92745) - 1) < 5e-3 &&
              fabs(f.u / (0.30313 + 0.42632 * 0.92745 * 0.92745) - 1) < 5e-3,
          "Sod: %g %g", f.r, f.u);
}

static double flux_distance(struct hydro_flux a, struct hydro_flux b)
{
    return fabs(a.r - b.r) + fabs(a.u - b.u) + fabs(a.v - b.v) + fabs(a.w - b.w) + fabs(a.e - b.e);
}

/* The flux of a mirrored problem is mirrored; small jumps give the exact flux to second order (LLF,
 * HLL: first order); pressures below the floor give finite fluxes. Slopes of equal differences have
 * these values, and grow with the differences. */
static void test_riemann_laws(void)
{
    struct hydro_par p = base_par();
    p.smallr = p.smallc = 1e-3;
    struct hydro_gas g = hydro_gas_of(&p, 3);
    g.niter = 10;
    for (int r = 0; r < RIEMANN_COUNT; r++) {
        double mirror = 0, small = 0, jump = 1e-4;
        for (uint64_t k = 0; k < 100; k++) {
            double q[10];
            for (uint64_t i = 0; i < 10; i++) q[i] = uniform(10 * k + i);
            struct hydro_state a = {0.5 + q[0], q[1] - 0.5, q[2], q[3], 0.5 + q[4]},
                               b = {0.5 + q[5], q[6] - 0.5, q[7], q[8], 0.5 + q[9]}, c = a, m = b,
                               n = a;
            m.u = -b.u, n.u = -a.u;
            struct hydro_flux f = solve(r, a, b, g), back = solve(r, m, n, g);
            back.r = -back.r, back.v = -back.v, back.w = -back.w, back.e = -back.e;
            mirror = fmax(mirror, flux_distance(f, back));
            c.r += jump * (b.r - a.r), c.u += jump * (b.u - a.u), c.v += jump * (b.v - a.v);
            c.w += jump * (b.w - a.w), c.p += jump * (b.p - a.p);
            small = fmax(small, flux_distance(solve(r, a, c, g), solve(RIEMANN_EXACT, a, c, g)));
            b.p = -1, b.r = -1;
            CHECK(isfinite(flux_distance(solve(r, a, b, g), f)), "riemann %d below the floor", r);
        }
        CHECK(mirror < 1e-10, "riemann %d in a mirror: %g", r, mirror);
        CHECK(small < (r < RIEMANN_HLLC ? 10 * jump : 100 * jump * jump), "riemann %d: %g", r,
              small);
    }
    for (int type = 1; type < 9; type++) {
        if (type > 2 && type < 7) continue;
        double s = hydro_slope(type, 0.3, 0.3, 1.3), t = hydro_slope(type, 0.6, 0.4, 1.3);
        CHECK(fabs(s - 0.3) < 1e-15, "slope %d of equal differences: %g", type, s);
        CHECK(t >= 0.4 && t <= 0.6 && hydro_slope(type, -0.6, -0.4, 1.3) == -t, "slope %d: %g",
              type, t);
        CHECK(hydro_slope(type, -0.6, 0.4, 1.3) == 0, "slope %d at an extremum", type);
    }
}

/* The mean over the children of a prolonged cell equals the cell, except the energy with
 * interpol_var > 0. */
static void test_prolong_restrict(void)
{
    for (int var = 0; var < 3; var++) {
        for (int type = 0; type < 5; type++) {
            struct hydro_par p = base_par();
            struct mesh m;
            double out[8][8], worst = 0.0;
            p.nvar = 7;
            p.interpol_var = var;
            p.interpol_type = type;
            build(&m, 4, 6, &p, false, periodic_box);
            fill(&m, rough, &p);
            for (int l = 4; l <= 5; l++)
                for (lidx i = 0; i < m.lev[l].nown; i += 7)
                    for (int c = 0; c < 8; c++) {
                        hydro_prolong(&m, l, i, c, out, &p);
                        for (int v = 0; v < 7; v++) {
                            double s = 0.0;
                            for (int k = 0; k < 8; k++) s += out[v][k] / 8.0;
                            if (var == 0 || v != 4)
                                worst = fmax(worst, fabs(s - m.lev[l].fld[FLD_U + v][i][c]));
                        }
                    }
            CHECK(worst < 1e-14, "var %d type %d: %g", var, type, worst);
            mesh_fini(&m);
        }
    }
}

/* interpol_type 4: velocities as type 3, without a limiter; other variables as type 2. */
static void test_prolong_types(void)
{
    struct hydro_par p = base_par();
    struct mesh m;
    double out[5][8][8], worst = 0.0, differ = 0.0;
    p.nvar = 7;
    build(&m, 4, 4, &p, false, periodic_box);
    fill(&m, rough, &p);
    for (lidx i = 0; i < m.lev[4].nown; i += 5) {
        for (int type = 2; type < 5; type++) {
            p.interpol_type = type;
            hydro_prolong(&m, 4, i, (int)i & 7, out[type], &p);
        }
        for (int v = 0; v < 7; v++)
            for (int k = 0; k < 8; k++) {
                int like = v >= 1 && v <= 3 ? 3 : 2;
                worst = fmax(worst, fabs(out[4][v][k] - out[like][v][k]));
                differ = fmax(differ, fabs(out[2][v][k] - out[3][v][k]));
            }
    }
    CHECK(worst == 0.0 && differ > 0.01, "%g, %g", worst, differ);
    mesh_fini(&m);
}

static void linear(const double *x, uint64_t id, double *q)
{
    q[0] = 3.0 + 0.4 * x[0] - 0.7 * x[1] + 1.1 * x[2];
    for (int v = 1; v < 8; v++) q[v] = v == 4 ? 1.0 : 0.5;
}

/* A linear field is prolonged exactly by every slope except injection, in the right direction on
 * each axis. */
static void test_prolong_linear(void)
{
    for (int type = 1; type < 4; type++) {
        struct hydro_par p = base_par();
        struct mesh m;
        double out[5][8], q[8], worst = 0.0, dx = 1.0 / 32;
        int64_t x[3] = {5, 6, 4};
        p.interpol_type = type;
        build(&m, 4, 4, &p, false, periodic_box);
        fill(&m, linear, &p);
        lidx i = mesh_find(&m.lev[4], okey_make(2, 3, 2));
        hydro_prolong(&m, 4, i, 1, out, &p);
        for (int k = 0; k < 8; k++) {
            double y[3];
            for (int d = 0; d < 3; d++) y[d] = ((double)(2 * x[d] + (k >> d & 1)) + 0.5) * dx;
            linear(y, 0, q);
            worst = fmax(worst, fabs(out[0][k] - q[0]));
        }
        CHECK(worst < 1e-14, "type %d: %g", type, worst);
        mesh_fini(&m);
    }
}

static const double HUBBLE = 1e-3;

static void expanding(const double *x, uint64_t id, double *q)
{
    q[0] = q[4] = 1.0;
    for (int d = 0; d < 3; d++) q[1 + d] = HUBBLE * (x[d] - 0.5);
}

/* With pressure_fix always on, in uniform expansion v = H x, the auxiliary internal energy falls
 * adiabatically, de/dt = −3 γ H e, also next to coarser cells and further away. */
static void test_pressure_fix(void)
{
    struct hydro_par p = base_par();
    struct mesh m;
    double dt = 1e-4, worst = 0.0;
    lidx edges = 0;
    p.pressure_fix = true;
    p.beta_fix = 1e30;
    p.slope_type = 2;
    p.interpol_type = 3;
    build(&m, 4, 5, &p, false, periodic_box);
    fill(&m, expanding, &p);
    struct level *lv = &m.lev[5];
    reflux_begin(&m, 5, REFLUX_GAS, hydro_nflux(&p), 0);
    hydro_update(&m, 5, dt, 0.0, &p, NULL, NULL);
    for (lidx i = 0; i < lv->nown; i++) {
        int64_t x[3];
        okey_coords(lv->key[i], x);
        if (x[0] < 4 || x[1] < 4 || x[2] < 4 || x[0] > 11 || x[1] > 11 || x[2] > 11)
            continue; /* v jumps at the boundary of the box */
        edges += lv->reflux[REFLUX_GAS].row[i] >= 0;
        for (int c = 0; c < 8; c++) {
            double ekin = 0.0;
            for (int d = 1; d <= 3; d++)
                ekin += 0.5 * lv->fld[FLD_U + d][i][c] * lv->fld[FLD_U + d][i][c];
            double e = lv->fld[FLD_U + 4][i][c] - ekin / lv->fld[FLD_U][i][c];
            worst = fmax(worst, fabs((e - 2.5) / (-3 * 1.4 * HUBBLE * 2.5 * dt) - 1.0));
        }
    }
    reflux_end(&m, 5, REFLUX_GAS);
    CHECK(edges > 20 && worst < 1e-3, "%d octs at the edge, rate wrong by %g", (int)edges, worst);
    mesh_fini(&m);
}

static void test_courant_kick_flag(void)
{
    struct hydro_par p = base_par();
    struct mesh m;
    double q[8];
    flowing(NULL, 0, q);
    build(&m, 3, 3, &p, true, periodic_box);
    fill(&m, flowing, &p);
    for (int d = 0; d < 3; d++)
        for (lidx i = 0; i < m.lev[3].nown; i++)
            for (int c = 0; c < 8; c++) m.lev[3].fld[FLD_FX + d][i][c] = d - 0.5;
    double w = 3.0 * sqrt(1.4 * q[4] / q[0]) + 2.0, dx = 0.125, s = 2.5 * dx / (w * w);
    double dt = dx / w * (sqrt(1.0 + s) - 1.0) / s;
    CHECK(fabs(hydro_courant(&m, 3, &p, NULL) / dt - 1.0) < 1e-14, "%.17g %.17g",
          hydro_courant(&m, 3, &p, NULL), dt);

    unsigned char(*ok)[8] = mem_zero(8 * (size_t)m.lev[3].noct, "test");
    p.err_grad_d = p.err_grad_p = p.err_grad_u = 0.01;
    hydro_flag(&m, 3, &p, ok);
    int n = 0;
    for (lidx i = 0; i < m.lev[3].nown; i++)
        for (int c = 0; c < 8; c++) n += ok[i][c];
    CHECK(n == 0, "%d cells flagged in uniform flow", n);
    m.lev[3].fld[FLD_U][5][7] *= 1.1; /* a perturbation of the cell and its six neighbours */
    hydro_flag(&m, 3, &p, ok);
    for (lidx i = 0; i < m.lev[3].nown; i++)
        for (int c = 0; c < 8; c++) n += ok[i][c];
    CHECK(n == 7, "%d cells flagged around a bump", n);
    mem_free(ok);

    double e0 = m.lev[3].fld[FLD_U + 4][0][0], mom = m.lev[3].fld[FLD_U + 2][0][0];
    hydro_kick(&m, 3, false, 0.1, &p);
    CHECK(fabs(m.lev[3].fld[FLD_U + 2][0][0] - (mom + 0.1 * 0.5 * q[0])) < 1e-15, "kick");
    hydro_kick(&m, 3, false, -0.1, &p);
    CHECK(fabs(m.lev[3].fld[FLD_U + 4][0][0] - e0) < 1e-14, "kick back");
    mesh_fini(&m);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "pairs") == 0) {
        test_tiles(true);
        printf("hydro_test: %d passed, %d failed\n", passed, failed);
        return failed != 0;
    }
    test_riemann();
    test_riemann_laws();
    test_free_flow();
    test_scalar_bounds();
    test_cold_flow();
    test_conservation();
    test_mirror();
    test_reflecting_boundaries();
    test_open_boundaries();
    test_prolong_restrict();
    test_prolong_linear();
    test_prolong_types();
    test_pressure_fix();
    test_courant_kick_flag();
    test_wide_tiles();
    test_few_dimensions();
    test_tiles(false);
    printf("hydro_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
