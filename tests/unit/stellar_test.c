/* stellar_test: masses of stellar objects follow the mass function, lifetimes their formula, and
 * supernovae are uniform in their ball; a supernova gives the gas its mass, momentum and energy, of
 * the same bits on any ranks. Catches: a wrong index, equal draws of two objects, a position that
 * is not wrapped, ejecta without their momentum, heat without its limit, momenta whose sum is
 * not 0, sums that stay on one rank. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "check.h"
#include "half_world.h"
#include "stellar/stellar.h"
#include "stellar/supernova.h"

enum { NVAR = 6, BURSTS = 12, DRAWS = 40000, BINS = 40 };

static struct comm comm;
static const struct comm alone = {.size = 1};
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3};

/* ---- laws ---- */

static struct stellar_law law_of(void)
{
    struct params *p = mem_zero(sizeof *p, "test");
    p->stellar = (struct param_stellar){.stellar_msink_th = 100,
                                        .imf_index = -2.35,
                                        .imf_low = 8,
                                        .imf_high = 120,
                                        .lt_t0 = 3.26515722,
                                        .lt_m0 = 148.158972,
                                        .lt_a = 0.23840797,
                                        .lt_b = 2.20522946,
                                        .vdisp = 10};
    struct units u = units_of(CGS_PC, 1e-24, CGS_MYR);
    struct stellar_law law = stellar_law(p, &u);
    FREE(p);
    return law;
}

/* Fraction of objects below a mass, by the integral of M^-2.35. */
static double below(const struct stellar_law *law, double m)
{
    double p = law->index + 1;
    return (pow(m, p) - pow(law->low, p)) / (pow(law->high, p) - pow(law->low, p));
}

/* χ² of 39 degrees of freedom exceeds 85 with a probability of 3e-5. */
static void test_masses(void)
{
    struct stellar_law law = law_of();
    int count[BINS] = {0};
    double chi2 = 0, each = DRAWS / (double)BINS;
    for (int i = 0; i < DRAWS; i++) {
        double m = stellar_draw(&law, 1 + i / 400, i % 400);
        CHECK(m >= law.low && m <= law.high, "mass %g", m);
        int b = (int)(BINS * below(&law, m));
        count[b < BINS ? b : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++) chi2 += (count[b] - each) * (count[b] - each) / each;
    CHECK(chi2 < 85 && chi2 > 12, "chi2 %g", chi2);
    CHECK(stellar_mass(&law, 0) == law.high);
    CHECK(fabs(stellar_mass(&law, 1) / law.low - 1) < 1e-14);
    CHECK(stellar_draw(&law, 1, 2) != stellar_draw(&law, 2, 1));
    law.seed++;
    CHECK(stellar_draw(&law, 1, 2) != stellar_draw(&(struct stellar_law){0}, 1, 2));
}

/* 3.37 Myr at 100 and 41 Myr at 8 solar masses (Woosley, Heger & Weaver 2002, fit of RAMSES). */
static void test_lives(void)
{
    struct stellar_law law = law_of();
    double sun = law.low / 8;
    CHECK(fabs(stellar_life(&law, 100 * sun) - 3.36601) < 1e-5);
    CHECK(fabs(stellar_life(&law, 8 * sun) - 41.0124) < 1e-4);
    CHECK(stellar_life(&law, 200 * sun) == law.t0);
    for (double m = 8; m < 148; m *= 1.1)
        CHECK(stellar_life(&law, m * sun) > stellar_life(&law, 1.1 * m * sun), "at %g", m);
    law.at_once = true;
    CHECK(stellar_life(&law, 8 * sun) == 0);
}

/* In a ball of radius R the mean of (r/R)³ is 1/2, and the mean of each coordinate is 0. */
static void test_places(void)
{
    struct world w;
    struct stellar_law law = law_of();
    enum { N = 20000 };
    double r3 = 0, mean[3] = {0};
    const double x[3] = {0.02, 0.99, 0.5};
    half_world(&w, &alone, NVAR, false);
    law.dispersion = 0.1;
    for (int i = 0; i < N; i++) {
        struct stellar_object o = {.born_in = 3, .number = i, .life = 2};
        double q[3], r2 = 0, far = 0.2;
        stellar_place(&law, &o, &w.m, x, q);
        CHECK(sink_inside(&w.m, q));
        for (int d = 0; d < 3; d++) {
            double r = q[d] - x[d];
            r -= rint(r);
            r2 += r * r;
            mean[d] += r / far / N;
        }
        CHECK(r2 <= far * far * (1 + 1e-12));
        r3 += pow(sqrt(r2) / far, 3) / N;
    }
    CHECK(fabs(r3 - 0.5) < 5 * 0.2887 / sqrt(N), "%g", r3);
    for (int d = 0; d < 3; d++) CHECK(fabs(mean[d]) < 5 * 0.447 / sqrt(N), "%g", mean[d]);
    w.m.bounded[0] = true; /* beyond a boundary the displacement is turned */
    for (int i = 0; i < 200; i++) {
        struct stellar_object o = {.born_in = 3, .number = i, .life = 2};
        double q[3];
        stellar_place(&law, &o, &w.m, x, q);
        CHECK(q[0] >= 0 && q[0] < 0.23, "%g", q[0]);
    }
    world_free(&w);
}

/* ---- supernovae ---- */

static struct supernova_law wide(void)
{
    return (struct supernova_law){.radius = 0.3,
                                  .energy = 0.7,
                                  .momentum = 0.2,
                                  .heat_max = HUGE_VAL,
                                  .v_max = HUGE_VAL,
                                  .cooling = 0.1,
                                  .dense = 1};
}

/* Those of this rank: some on boundaries of the box and of levels, two at one place. */
static int64_t bursts_make(struct supernova e[BURSTS], const struct comm *c)
{
    int64_t n = 0;
    for (int i = 0; i < BURSTS; i++) {
        struct rng g = rng_make(11, (uint64_t)i, 0);
        struct supernova s = {.at.id = 7 * i % 13, .mass = 0.01 * (1 + i)};
        for (int d = 0; d < 3; d++) {
            s.at.x[d] = i == 3 ? 0.25 : rng_uniform(&g);
            s.v[d] = rng_uniform(&g) - 0.5;
        }
        if (i % 4 == 1) s.at.x[i % 3] = i % 2 ? 0 : 1 - 1e-15;
        if (i % 4 == 2) s.at.x[2] = 0.5;
        if (i == 4) memcpy(s.at.x, (double[3]){0.25, 0.25, 0.25}, sizeof s.at.x);
        if (i % c->size == c->rank) e[n++] = s;
    }
    return n;
}

static struct supernova *burst(struct world *w, const struct comm *c,
                               const struct supernova_law *law, int64_t *all)
{
    struct supernova e[BURSTS], *done;
    struct supernova_site site = {c, w->d, &w->m, &hydro};
    int64_t n = bursts_make(e, c);
    CHECK(supernovae_apply(&site, law, n, e, all, &done) == OK);
    return done;
}

static double square(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* Mass, momentum and energy of the gas grow by what was given; one rank gives the same bits. */
static void test_exact(struct supernova_law law, bool balanced)
{
    struct world w, whole;
    double before[NVAR], after[NVAR];
    int64_t n, m;
    half_world(&w, &comm, NVAR, false);
    half_world(&whole, &alone, NVAR, false);
    world_fill(&w, NVAR, false);
    world_fill(&whole, NVAR, false);
    world_totals(&w, &comm, NVAR, before);
    struct supernova *all = burst(&w, &comm, &law, &n), *one = burst(&whole, &alone, &law, &m);
    world_totals(&w, &comm, NVAR, after);
    CHECK(n == BURSTS && m == n && memcmp(one, all, sizeof *one * BURSTS) == 0);
    CHECK(world_differ(&w, &whole, NVAR) == 0);
    for (int i = 0; i < BURSTS; i++) {
        before[0] += all[i].mass;
        for (int d = 0; d < 3; d++) before[GAS_MOMENTUM + d] += all[i].mass * all[i].v[d];
        before[GAS_ENERGY] += 0.5 * all[i].mass * square(all[i].v) + all[i].heat + all[i].kinetic;
        CHECK(all[i].heat <= law.energy * (1 + 1e-12));
        CHECK(all[i].momentum <= law.momentum * 1.1);
    }
    for (int v = 0; v < NVAR; v++)
        if (balanced || v < GAS_MOMENTUM || v >= GAS_MOMENTUM + 3)
            CHECK(fabs(after[v] - before[v]) < 1e-12, "%d: %.17g, expected %.17g", v, after[v],
                  before[v]);
    FREE(all);
    FREE(one);
    world_free(&whole);
    world_free(&w);
}

/* One supernova at the corner of cells in uniform gas of density 1, without the refined half. */
static struct supernova single(struct supernova_law law, double rho, double *p, double *fastest)
{
    struct world w;
    struct supernova e = {.at = {.id = 5, .x = {0.5, 0.5, 0.75}}, .mass = 0.3}, *done;
    struct supernova_site site = {&comm, NULL, &w.m, &hydro};
    int64_t all;
    half_world(&w, &comm, NVAR, false);
    world_fill(&w, NVAR, true);
    struct level *lv = &w.m.lev[LMIN];
    site.dom = w.d;
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++)
            for (int v = 0; v < GAS_ENERGY; v++) lv->fld[FLD_U + v][i][k] = v ? 0 : rho;
    law.radius = 0.24;
    CHECK(supernovae_apply(&site, &law, comm.rank == 0, &e, &all, &done) == OK && all == 1);
    for (int d = 0; d < 3; d++) p[d] = 0;
    *fastest = 0;
    struct sum sum[3];
    for (int d = 0; d < 3; d++) sum_init(&sum[d]);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) {
            double v2 = 0, now = lv->fld[FLD_U][i][k];
            for (int d = 0; d < 3 && lv->child[i][k] < 0; d++) {
                double m = lv->fld[FLD_U + GAS_MOMENTUM + d][i][k];
                sum_add(&sum[d], m);
                v2 += m * m / (now * now);
            }
            *fastest = fmax(*fastest, sqrt(v2));
        }
    comm_sums(&comm, sum, 3);
    comm_max_f64(&comm, fastest, 1);
    for (int d = 0; d < 3; d++) p[d] = sum_get(&sum[d]);
    struct supernova out = done[0];
    FREE(done);
    world_free(&w);
    return out;
}

static void test_limits(void)
{
    struct supernova_law law = wide();
    double p[3], v;
    struct supernova e = single(law, 1, p, &v);
    CHECK(p[0] == 0 && p[1] == 0 && p[2] == 0, "%g %g %g", p[0], p[1], p[2]);
    CHECK(fabs(e.momentum / law.momentum - 1) < 1e-12 && fabs(e.heat / law.energy - 1) < 1e-12);
    double fast = v, rho = e.rho;
    CHECK(rho > 1 && e.cooling > 0);
    law.v_max = 0.5 * fast;
    e = single(law, 1, p, &v);
    CHECK(fabs(v / law.v_max - 1) < 1e-12 && e.momentum < law.momentum, "%g", v);
    CHECK(p[0] == 0 && p[1] == 0 && p[2] == 0);
    law = wide();
    law.heat_max = 0.01;
    e = single(law, 1, p, &v);
    double mass = e.heat / law.heat_max, want = 0.3 + 32 / 512.; /* centres of 32 cells */
    CHECK(fabs(mass / want - 1) < 1e-9, "%.17g, expected %.17g", mass, want);
}

/* The cooling radius, 0.1 at a density of 1, decides between heat and momentum. */
static void test_either(void)
{
    struct supernova_law law = wide();
    double p[3], v;
    law.either = true;
    law.cooling = 100;
    struct supernova hot = single(law, 1, p, &v);
    CHECK(hot.heat > 0.999 * law.energy && hot.kinetic == 0 && hot.momentum == 0 && v == 0);
    law.cooling = 0.1;
    struct supernova cold = single(law, 1, p, &v);
    CHECK(cold.heat == 0 && cold.momentum > 0.999 * law.momentum && cold.kinetic > 0);
    law.cooling = 1; /* R = 0.24: resolved in thin gas only; the ejecta count */
    CHECK(single(law, 1e-3, p, &v).heat > 0 && single(law, 1e3, p, &v).heat == 0);
    CHECK(fabs(cold.cooling - 0.1 * pow(cold.rho, -0.42)) < 1e-12);
}

static void test_too_large(void)
{
    struct world w;
    struct supernova_law law = wide();
    struct supernova e[BURSTS], *done;
    int64_t all, n = bursts_make(e, &comm);
    half_world(&w, &comm, NVAR, false);
    world_fill(&w, NVAR, true);
    struct supernova_site site = {&comm, w.d, &w.m, &hydro};
    law.radius = 0.6;
    CHECK_FAILS(supernovae_apply(&site, &law, n, e, &all, &done), "sn_r_sat");
    world_free(&w);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    struct supernova_law limited = wide();
    limited.v_max = 0.05;
    limited.heat_max = 0.3;
    test_masses();
    test_lives();
    test_places();
    test_exact(wide(), true);
    test_exact(limited, false);
    test_limits();
    test_either();
    test_too_large();
    int64_t bad = failed;
    comm_max_i64(&comm, &bad, 1);
    if (comm.rank == 0 || failed) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return bad > 0;
}
