/* hydro_courant compared with the min over single cells, and its sums with sums over octs: states
 * of many magnitudes, cells that differ in their last digits, cold and empty cells, NaN; with
 * gravity and without, on any number of threads. Then the same from what a Godunov step finds in
 * its new rows, whatever signal it expects. Catches, among others: a fast cell that is skipped,
 * acceleration left out, a sum that includes split cells, an expected signal that is taken for the
 * highest one, octs of a row that are left out.
 *
 * test: tier=quick */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sum.h"
#include "check.h"
#include "gas_mesh.h"
#include "hydro/cell_kern.h"
#include "hydro/gas_law.h"

enum { BASE = 3, TOP = 5, SEEDS = 60, PULL = GAS_SCALARS, NUMBERS = GAS_SCALARS + 3 };

static double between(struct rng *r, double low, double high)
{
    return low + (high - low) * rng_uniform(r);
}

/* Conserved variables and acceleration of a cell. */
typedef void cell_of(struct rng *r, double u[NUMBERS]);

/* States of any magnitude, including cold gas and densities below the floor. */
static void wide(struct rng *r, double u[NUMBERS])
{
    double e = pow(10.0, between(r, -20.0, 3.0));
    u[0] = pow(10.0, between(r, -14.0, 3.0)) * (rng_uniform(r) < 0.02 ? -1.0 : 1.0);
    for (int d = 1; d <= 3; d++) {
        u[d] = u[0] * between(r, -1.0, 1.0) * pow(10.0, between(r, -12.0, 3.0));
        e += 0.5 * u[d] * u[d] / u[0] * between(r, 0.999999, 1.0);
    }
    u[GAS_ENERGY] = e;
    for (int d = 0; d < 3; d++)
        u[PULL + d] = between(r, -1.0, 1.0) * pow(10.0, between(r, -10.0, 8.0));
}

/* Gas and acceleration equal in all cells except for rounding. */
static void even(struct rng *r, double u[NUMBERS])
{
    static const double q[NUMBERS] = {1.3, 0.4, -0.7, 0.9, 4.0, 0.2, -3.0, 1.0};
    for (int v = 0; v < NUMBERS; v++) u[v] = q[v] * (1.0 + between(r, -4e-16, 4e-16));
}

/* Gas with equal velocities in all cells, and internal energy at the level of rounding. */
static void cold(struct rng *r, double u[NUMBERS])
{
    static const double v[3] = {0.4, -0.7, 0.9};
    double e = 0.0;
    u[0] = between(r, 0.5, 2.0);
    for (int d = 0; d < 3; d++) {
        u[1 + d] = u[0] * v[d];
        e += 0.5 * u[1 + d] * u[1 + d] / u[0];
        u[PULL + d] = 0.0;
    }
    u[GAS_ENERGY] = e * (1.0 + between(r, -4e-16, 4e-16));
}

/* Waves and jumps similar to those of a run. */
static void tame(struct rng *r, double u[NUMBERS])
{
    u[0] = between(r, 0.5, 2.0);
    for (int d = 1; d <= 3; d++) u[d] = between(r, -1.0, 1.0);
    u[GAS_ENERGY] = between(r, 3.0, 9.0);
    for (int d = 0; d < 3; d++) u[PULL + d] = between(r, -20.0, 20.0);
}

/* Products beyond the range of numbers, and cells with NaN. */
static void broken(struct rng *r, double u[NUMBERS])
{
    wide(r, u);
    double x = rng_uniform(r), scale = x < 0.3 ? 1e-170 : x < 0.6 ? 1e170 : 1.0;
    for (int v = 0; v < NUMBERS; v++) u[v] *= scale;
    if (x > 0.99) u[(int)between(r, 0.0, NUMBERS)] = NAN;
}

static void fill(struct mesh *m, uint64_t seed, cell_of *of)
{
    struct rng r = rng_make(seed, 1, 2);
    for (int l = BASE; l <= TOP; l++) {
        struct level *lv = &m->lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 8; c++) {
                double u[NUMBERS];
                of(&r, u);
                for (int v = 0; v < GAS_SCALARS; v++) lv->fld[FLD_U + v][i][c] = u[v];
                for (int d = 0; m->gravity && d < 3; d++) lv->fld[FLD_FX + d][i][c] = u[PULL + d];
            }
    }
}

static double cell_step(const struct mesh *m, int l, lidx i, int c, const struct hydro_par *p)
{
    const struct level *lv = &m->lev[l];
    double u[GAS_SCALARS], pull = 0.0;
    for (int v = 0; v < GAS_SCALARS; v++) u[v] = lv->fld[FLD_U + v][i][c];
    if (m->gravity)
        pull = fabs(lv->fld[FLD_FX][i][c]) + fabs(lv->fld[FLD_FY][i][c]) +
               fabs(lv->fld[FLD_FZ][i][c]);
    double speed = hydro_cell_speed(u[0], u[1], u[2], u[3], u[GAS_ENERGY], hydro_gas_of(p, 3));
    return hydro_speed_dt(speed, pull, mesh_dx(m, l), p->courant_factor);
}

static void check_step(const struct mesh *m, int l, const struct hydro_par *p, uint64_t seed)
{
    double min = p->courant_factor * mesh_dx(m, l) / p->smallc;
    for (lidx i = 0; i < m->lev[l].nown; i++)
        for (int c = 0; c < 8; c++)
            if (m->lev[l].child[i][c] < 0) min = fmin(min, cell_step(m, l, i, c, p));
    for (int t = 1; t <= 3; t += 2) {
        omp_set_num_threads(t);
        double dt = hydro_courant(m, l, p, NULL);
        CHECK(dt == min, "seed %d level %d gravity %d threads %d: %.17g, not %.17g", (int)seed, l,
              m->gravity, t, dt, min);
    }
}

static void check_sums(const struct mesh *m, int l, const struct hydro_par *p, uint64_t seed)
{
    enum { TOTALS = 6 };
    double dx = mesh_dx(m, l);
    struct sum want[TOTALS], got[TOTALS];
    const struct hydro_sums all = {&got[0], &got[1], &got[2], &got[3]},
                            few = {&got[0], &got[1], NULL, &got[3]};
    for (int k = 0; k < TOTALS; k++) sum_init(&want[k]);
    for (lidx i = 0; i < m->lev[l].nown; i++) {
        double x[TOTALS];
        hydro_oct_totals(&m->lev[l], i, dx * dx * dx, p->smallr, x);
        for (int k = 0; k < TOTALS; k++) sum_add(&want[k], x[k]);
    }
    for (int part = 0; part < 2; part++) {
        for (int k = 0; k < TOTALS; k++) sum_init(&got[k]);
        hydro_courant(m, l, p, part ? &few : &all);
        for (int k = 0; k < TOTALS; k++) {
            double x = sum_get(&got[k]), y = part && k == 2 ? 0.0 : sum_get(&want[k]);
            CHECK(x == y || (isnan(x) && isnan(y)), "seed %d level %d sum %d: %.17g, not %.17g",
                  (int)seed, l, k, x, y);
        }
    }
}

/* ---- numbers of new rows ---- */

static bool refine_near(const double *x, int l, int levelmin)
{
    double r = 0.36 / (1 << (l - levelmin)), d2 = 0.0;
    for (int d = 0; d < gas_mesh_ndim; d++) d2 += (x[d] - 0.55) * (x[d] - 0.55);
    return d2 < r * r;
}

/* Makes the values those of a mesh of fewer dimensions. */
static void flatten(struct mesh *m)
{
    for (int l = BASE; l <= TOP; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++)
            for (int v = 0; v < GAS_SCALARS; v++) {
                const bool none = v > m->ndim && v < GAS_ENERGY;
                double *u = m->lev[l].fld[FLD_U + v][i];
                for (int c = 0; c < 8; c++) u[c] = none ? 0.0 : u[c % m->cells];
            }
}

struct numbers {
    double dt, total[HYDRO_TOTALS];
};

static struct numbers numbers_of(const struct mesh *m, int l, const struct hydro_par *p)
{
    struct numbers x;
    struct sum got[HYDRO_TOTALS];
    for (int k = 0; k < HYDRO_TOTALS; k++) sum_init(&got[k]);
    x.dt = hydro_courant(m, l, p, &(struct hydro_sums){&got[0], &got[1], NULL, &got[2]});
    for (int k = 0; k < HYDRO_TOTALS; k++) x.total[k] = sum_get(&got[k]);
    return x;
}

static bool numbers_same(struct numbers a, struct numbers b)
{
    bool same = a.dt == b.dt;
    for (int k = 0; k < HYDRO_TOTALS; k++)
        same &= a.total[k] == b.total[k] || (isnan(a.total[k]) && isnan(b.total[k]));
    return same;
}

/* expect: the signal that is expected, in units of the highest one. */
static void check_fresh(struct mesh *m, const struct hydro_par *p, uint64_t seed, double expect)
{
    struct hydro_fresh fresh = {.wanted = true, .sums_wanted = true};
    struct hydro_par q = *p;
    const double signal = p->courant_factor * mesh_dx(m, TOP) / hydro_courant(m, TOP, p, NULL);
    q.fresh = &fresh;
    fresh.last[TOP] = expect * signal;
    omp_set_num_threads(seed % 2 ? 3 : 1);
    hydro_update(m, TOP, 1e-3 / signal * mesh_dx(m, TOP), 0.0, &q, NULL, NULL);
    const bool kept = fresh.level == TOP;
    const struct numbers want = numbers_of(m, TOP, p), got = numbers_of(m, TOP, &q);
    fresh.level = 0;
    fresh.last[TOP] = expect * signal;
    const struct numbers again = numbers_of(m, TOP, &q);
    CHECK(kept == (expect < 1.1), "%d dimensions, seed %d", m->ndim, (int)seed);
    CHECK(numbers_same(got, want) && numbers_same(again, want), "%d dimensions, seed %d, %g",
          m->ndim, (int)seed, expect);
}

static void check_rows(struct hydro_par *p)
{
    static const bool periodic[6] = {false};
    static const double expect[] = {0.0, 0.5, 1.0, 2.0};
    for (gas_mesh_ndim = 1; gas_mesh_ndim <= 3; gas_mesh_ndim++) {
        struct mesh m;
        gas_mesh(&m, BASE, TOP, p, false, periodic, refine_near);
        CHECK(m.lev[TOP].nown > 2, "%d", (int)m.lev[TOP].nown);
        for (uint64_t seed = 0; seed < 16; seed++) {
            fill(&m, seed, seed % 8 < 4 ? tame : even);
            flatten(&m);
            check_fresh(&m, p, seed, expect[seed % 4]);
        }
        mesh_fini(&m);
    }
    gas_mesh_ndim = 3;
}

int main(void)
{
    static const bool periodic[6] = {false};
    static cell_of *const state[] = {wide, even, cold, tame, broken};
    struct hydro_par p = {.nvar = 5, .gamma = 1.4, .smallr = 1e-10, .smallc = 1e-10};
    for (int gravity = 0; gravity < 2; gravity++) {
        struct mesh m;
        gas_mesh(&m, BASE, TOP, &p, gravity, periodic, refine_ball);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            p.courant_factor = seed % 2 ? 0.8 : 0.3;
            fill(&m, seed, state[seed % 5]);
            for (int l = BASE; l <= TOP; l++) {
                check_step(&m, l, &p, seed);
                check_sums(&m, l, &p, seed);
            }
        }
        mesh_fini(&m);
    }
    p.riemann = RIEMANN_HLLC, p.slope_type = SLOPE_MINMOD, p.courant_factor = 0.8;
    check_rows(&p);
    printf("courant_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
