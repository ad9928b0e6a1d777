/* Laws of lib/fifth. With mpirun -n 2, 3 every rank also solves the whole problem alone with one
 * thread, as reference, and compares bits. Catches, among others: a wrong power of a or of the box
 * in a mass, a slope that is not that of h, a wrong factor of a mixed derivative, stale ghosts, a
 * field that depends on the one before. Last line: N passed, N failed. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cosmo/cosmo.h"
#include "fifth/fifth.h"
#include "grav_world.h"

static int64_t passed, failed;
static struct comm all;
static const struct comm alone = {.size = 1};
static const double OMEGA_M = 0.3, OMEGA_L = 0.7, LIGHT = 299792.458;

static void check(bool ok, const char *what)
{
    int64_t bad = !ok;
    comm_max_i64(&all, &bad, 1);
    passed += !bad;
    failed += bad;
    if (bad && all.rank == 0) printf("FAILED: %s\n", what);
}

static double all_max(double x)
{
    comm_max_f64(&all, &x, 1);
    return x;
}

static int iterations, cycles; /* the most of a solve since they were set to 0 */

static struct params *parameters(bool fr, double amplitude, int index, double eps)
{
    struct params *p = mem_zero(sizeof *p, "test");
    param_init(p);
    p->run.cosmo = p->run.poisson = true;
    p->run.use_fr = fr, p->run.use_ndgp = !fr;
    p->fr.fr0 = amplitude, p->fr.fr_n = index;
    p->ndgp.omega_rc = amplitude, p->ndgp.ndgp_branch = index;
    p->fr.fr_eps = p->ndgp.ndgp_eps = eps;
    return p;
}

static struct fifth *theory(const struct params *p, double mpc)
{
    struct fifth *f;
    const struct cosmo_par c = {
        .omega_m = OMEGA_M, .omega_l = OMEGA_L, .h0 = 70, .boxlen_ini = mpc};
    const struct grav_par g = {.epsilon = 1e-6, .cg_levelmin = 99, .mg_shared_octs = 100};
    BUG_ON(fifth_new(p, &c, &g, &f) != OK);
    return f;
}

/* Solves all levels of the world, coarse to fine, and stores the fifth force alone. */
static bool world_fifth(struct world *w, struct fifth *f, double a)
{
    bool good = true;
    for (int l = w->m.levelmin; l <= w->m.levelmax; l++) {
        struct level *lv = &w->m.lev[l];
        struct fifth_report rep;
        good &= fifth_solve(f, &w->m, &w->c, l, &w->from, a, &rep) == OK;
        iterations = rep.iterations > iterations ? rep.iterations : iterations;
        cycles = rep.cycles > cycles ? rep.cycles : cycles;
        for (int d = 0; d < 3; d++)
            memset(lv->fld[FLD_FX + d], 0, sizeof(double[8]) * (size_t)lv->noct);
        fifth_force(f, &w->m, &w->c, l);
    }
    return good;
}

/* ---- the linear regime ---- */

/* ψ of a mode, as a ratio to the law of linear theory for the wave number of the 7-point operator;
 * the largest error. */
static double mode_error(const struct params *p, double mpc, double a, double factor, double mass2)
{
    enum { L = 4 };
    static const int n[3] = {1, 2, 1};
    struct world w;
    struct fifth *f = theory(p, mpc);
    world_make(&w, &all, DOMAIN_KSECTION, L, L, 1.0, false, NULL);
    struct level *lv = &w.m.lev[L];
    double k2 = 0, worst = 0, tiny = 3e-7, cells = 1 << L;
    for (int d = 0; d < 3; d++) k2 += 2 * (1 - cos(2 * PI * n[d] / cells)) * cells * cells;
    w.from = (struct grav_source){.fourpi = 1.5 * OMEGA_M * a, .rho_tot = 1};
    double expected = -factor * w.from.fourpi * tiny / (k2 + mass2), mean = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], phase = 0;
                cell_at(&w.m, L, i, k, x);
                for (int d = 0; d < 3; d++) phase += 2 * PI * n[d] * x[d];
                if (pass == 0) lv->fld[FLD_RHO][i][k] = 1 + tiny * cos(phase);
                if (pass == 1)
                    worst = fmax(worst,
                                 fabs((lv->fld[FLD_SCALAR][i][k] - mean) / expected - cos(phase)));
            }
        struct fifth_law law = fifth_law_at(f, a);
        mean = law.mean;
        if (pass == 0) check(world_fifth(&w, f, a), "the linear regime converges");
    }
    fifth_free(&f);
    world_free(&w);
    return all_max(worst);
}

enum { LINEAR_STEPS = 6 };

/* μ(k) − 1 = k²/(3 (k² + m²)) with m² = R̄/(3 (n + 1) |f̄_R|), lengths comoving. */
static void test_fr_linear(void)
{
    const double mpc = 200, box = 100 * mpc / LIGHT, far = OMEGA_M + 4 * OMEGA_L;
    double worst = 0;
    iterations = 0;
    for (int k = 0; k < 12; k++) {
        double a = 0.25 * (1 << k % 3), amplitude = k / 3 % 2 ? -1e-6 : -1e-5;
        int n = 1 + k / 6;
        double r = OMEGA_M / (a * a * a) + 4 * OMEGA_L, field = -amplitude * pow(far / r, n + 1),
               mass2 = a * a * box * box * r / ((n + 1) * field);
        struct params *p = parameters(true, amplitude, n, 3e-8);
        worst = fmax(worst, mode_error(p, mpc, a, 1. / 3, mass2));
        mem_free(p);
    }
    if (all.rank == 0) printf("f(R): linear regime to %.1e in %d steps\n", worst, iterations);
    check(iterations <= LINEAR_STEPS, "f(R): Newton's method is quadratic");
    check(worst < 1e-6, "f(R): mu(k) of linear theory to 1e-6");
}

static void test_ndgp_linear(void)
{
    double worst = 0;
    for (int k = 0; k < 6; k++) {
        double a = 0.25 * (1 << k % 3), rc = k < 3 ? 0.25 : 0.5 / 9;
        double e2 = OMEGA_M / (a * a * a) + OMEGA_L, de = -1.5 * OMEGA_M / (a * a * a) / e2;
        /* H r_c = E/(2 √Ω_rc) */
        double beta = 1 + 2 * sqrt(e2) / (2 * sqrt(rc)) * (1 + de / 3);
        struct params *p = parameters(false, rc, 1, 1e-11);
        worst = fmax(worst, mode_error(p, 100, a, 1 / (3 * beta), 0));
        mem_free(p);
    }
    if (all.rank == 0) printf("nDGP: linear regime to %.1e\n", worst);
    check(worst < 1e-6, "nDGP: G_eff/G = 1 + 1/(3 beta) to 1e-6");
}

/* ---- balls ---- */

enum { RADII = 2000 };

/* Mass of the ball and the mean within r, over 4π. */
static double enclosed(const struct world *w, double r)
{
    double s = fmin(r / BALL, 1), s3 = s * s * s;
    double mass = 105.0 / 8 * (s3 / 3 - 2 * s3 * s * s / 5 + s3 * s3 * s / 7) / (4 * PI);
    return mass - w->from.rho_tot * r * r * r / 3;
}

/* The spherical solution of ψ'' + 2ψ'/r = source + h(ψ), up to half of the box, by Newton's method
 * for finite volumes of shells: force[] between shells. */
static void shells(const struct world *w, const struct fifth_law *law, double force[RADII])
{
    double *u = mem_zero(sizeof *u * RADII, "test"), *b = mem_zero(sizeof *b * RADII, "test"),
           *c = mem_zero(sizeof *c * RADII, "test"), dr = 0.5 / RADII;
    for (int k = 0; k < RADII; k++) u[k] = 0.3 * law->mean;
    for (int it = 0; it < 60; it++) {
        for (int k = 0; k < RADII; k++) {
            double lo = k * dr, hi = lo + dr, vol = (hi * hi * hi - lo * lo * lo) / 3;
            double src = law->coupling * w->from.fourpi * (enclosed(w, hi) - enclosed(w, lo)) / vol;
            double y = pow(u[k] / law->mean, -law->power), h = law->rate * (1 - y),
                   slope = law->rate * law->power * y / u[k];
            double below = k ? lo * lo / dr : 0, above = k < RADII - 1 ? hi * hi / dr : 0;
            /* forward elimination of below u_(k−1) + above u_(k+1) − diag u = rhs */
            double diag = below + above + slope * vol, rhs = vol * (src + h - slope * u[k]);
            double pivot = diag - (k ? below * c[k - 1] : 0);
            c[k] = above / pivot;
            b[k] = ((k ? below * b[k - 1] : 0) - rhs) / pivot;
        }
        for (int k = RADII - 1; k >= 0; k--) {
            double v = b[k] + (k < RADII - 1 ? c[k] * b[k + 1] : 0);
            b[k] = v;
            u[k] = fmax(v, 0.1 * u[k]);
        }
    }
    for (int k = 0; k < RADII - 1; k++) force[k] = -(u[k + 1] - u[k]) / dr;
    FREE(u);
    FREE(b);
    FREE(c);
}

/* ψ' = g r, g + 2κ g² = source within r over r³ (Schmidt 2009). */
static double vainshtein(const struct world *w, const struct fifth_law *law, double r)
{
    double m = law->coupling * w->from.fourpi * enclosed(w, r) / (r * r * r);
    return -r * 2 * m / (1 + sqrt(1 + 8 * law->kappa * m));
}

/* Largest error of the radial force between radii, over the largest force; *screened: the least of
 * its ratio to the unscreened force. */
static double ball_error(const struct params *p, double mpc, double a, double *screened)
{
    static const double radius[2] = {0.24, 0.13};
    struct world w;
    struct fifth *f = theory(p, mpc);
    double *force = mem_zero(sizeof *force * RADII, "test"), worst = 0, most = 0;
    world_make(&w, &all, DOMAIN_HILBERT, 6, 8, 1.0, false, radius);
    set_ball(&w);
    w.from.fourpi = 1.5 * OMEGA_M * a;
    const struct fifth_law law = fifth_law_at(f, a);
    check(world_fifth(&w, f, a), "a ball converges");
    if (p->run.use_fr) shells(&w, &law, force);
    *screened = 1;
    for (int l = 6; l <= 8; l++)
        for (lidx i = 0; i < w.m.lev[l].nown; i++)
            for (int k = 0; k < 8; k++) {
                double x[3], r, got = 0;
                cell_at(&w.m, l, i, k, x);
                r = distance(&w, x, w.centre);
                if (r < 0.02 || r > 0.23) continue;
                for (int d = 0; d < 3; d++) {
                    double s = x[d] - w.centre[d];
                    got += (s - round(s)) / r * w.m.lev[l].fld[FLD_FX + d][i][k];
                }
                int at = (int)(r / 0.5 * RADII - 0.5);
                double exact = p->run.use_fr ? force[at] : vainshtein(&w, &law, r);
                double free = law.coupling * w.from.fourpi * enclosed(&w, r) / (r * r);
                most = fmax(most, fabs(exact));
                worst = fmax(worst, fabs(got - exact));
                *screened = fmin(*screened, fabs(got) / free);
            }
    *screened = -all_max(-*screened);
    worst = all_max(worst) / all_max(most);
    fifth_free(&f);
    world_free(&w);
    FREE(force);
    return worst;
}

/* Catches: plain steps of Newton, which reach deep wells in more steps, cycles that begin anew with
 * every iterate. */
static void check_cost(const char *what, int most)
{
    if (all.rank == 0) printf("%s: %d steps, %d cycles\n", what, iterations, cycles);
    check(iterations <= most && cycles <= most, what);
    iterations = cycles = 0;
}

static void test_balls(void)
{
    double ratio, e;
    struct params *p = parameters(true, -3e-6, 1, 1e-6);
    e = ball_error(p, 60, 1, &ratio);
    if (all.rank == 0) printf("f(R): ball to %.1e, screened to %.1e\n", e, ratio);
    check(e < 0.02 && ratio < 0.005, "f(R): force of a screened ball as of shells");
    mem_free(p);
    iterations = cycles = 0;
    p = parameters(false, 0.002, 1, 1e-6);
    e = ball_error(p, 60, 1, &ratio);
    check_cost("nDGP: cost of a ball", 11);
    if (all.rank == 0) printf("nDGP: ball to %.1e, screened to %.1e\n", e, ratio);
    check(e < 0.02 && ratio < 0.5, "nDGP: force of a ball within its Vainshtein radius");
    mem_free(p);
}

/* ---- equal bits ---- */

static bool same_rows(const struct world *a, const struct world *ref, int l, int f)
{
    const struct level *lv = &a->m.lev[l], *whole = &ref->m.lev[l];
    for (lidx i = 0; i < lv->noct; i++) {
        lidx j = mesh_find(whole, lv->key[i]);
        if (j < 0 || memcmp(lv->fld[f][i], whole->fld[f][j], sizeof lv->fld[f][i]) != 0)
            return false;
    }
    return true;
}

static void test_bits(bool fr)
{
    static const double radius[2] = {0.23, 0.12};
    struct world ref, w;
    struct params *p = parameters(fr, fr ? -1e-6 : 0.25, fr ? 3 : 1, 1e-5);
    struct fifth *f = theory(p, 60), *g = theory(p, 60);
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    world_make(&ref, &alone, DOMAIN_HILBERT, 4, 6, 1.0, false, radius);
    set_ball(&ref);
    ref.from.fourpi = 0.45;
    iterations = cycles = 0;
    check(world_fifth(&ref, f, 1), "two refined levels converge");
    if (fr) check_cost("f(R): cost of a screened ball", 6);
    omp_set_num_threads(3);
    world_make(&w, &all, DOMAIN_KSECTION, 4, 6, 1.0, false, radius);
    set_ball(&w);
    w.from.fourpi = 0.45;
    for (int pass = 0; pass < 2; pass++) {
        bool same = world_fifth(&w, g, 1);
        for (int l = 4; l <= 6; l++) {
            same &= same_rows(&w, &ref, l, FLD_SCALAR);
            for (int d = 0; d < 3; d++) same &= same_rows(&w, &ref, l, FLD_FX + d);
        }
        check(same, pass ? "a solve does not depend on the one before" : "same bits as alone");
        for (int l = 4; l <= 6; l++)
            for (lidx i = 0; i < w.m.lev[l].noct; i++) w.m.lev[l].fld[FLD_SCALAR][i][3] = NAN;
    }
    fifth_free(&f);
    fifth_free(&g);
    world_free(&ref);
    world_free(&w);
    mem_free(p);
    omp_set_num_threads(threads);
}

/* ---- refused ---- */

static bool refused(struct params *p, double w1, const char *word)
{
    struct fifth *f;
    const struct cosmo_par c = {
        .omega_m = OMEGA_M, .omega_l = OMEGA_L, .h0 = 70, .boxlen_ini = 100, .dark = {.w1 = w1}};
    const struct grav_par g = {.epsilon = 1e-6};
    bool ok = fifth_new(p, &c, &g, &f) == ERR_PARAM && strstr(err_message(), word);
    mem_free(p);
    return ok;
}

static void test_refused(void)
{
    check(refused(parameters(true, 1e-6, 1, 1e-5), 0, "fr0"), "f_R0 > 0");
    check(refused(parameters(true, -1e-6, 0, 1e-5), 0, "fr_n"), "n = 0");
    check(refused(parameters(false, 0, 1, 1e-5), 0, "omega_rc"), "Omega_rc = 0");
    check(refused(parameters(false, 0.25, 2, 1e-5), 0, "ndgp_branch"), "a third branch");
    check(refused(parameters(true, -1e-6, 1, 1e-5), 0.1, "cosmological constant"), "w is not -1");
    struct params *p = parameters(true, -1e-6, 1, 1e-5);
    p->run.use_ndgp = true;
    check(refused(p, 0, "one theory"), "two theories");
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    test_fr_linear();
    test_ndgp_linear();
    test_balls();
    for (int fr = 0; fr < 2; fr++) test_bits(fr);
    test_refused();
    if (all.rank == 0) printf("%d passed, %d failed\n", (int)passed, (int)failed);
    comm_fini();
    return failed != 0;
}
