/* cool_test: laws of the rates and of their integration. Catches: charge or nuclei lost in the
 * equilibrium, a rate that misses its density, a table that depends on what it held before, a
 * sub-step that makes a temperature negative, a method that does not integrate the rates of the
 * table, a table of the background that is read wrongly.
 *
 *     cool_test           everything
 *     cool_test states    10^6 random states by each method
 * test: tier=check timeout=300
 * test: states tier=long timeout=1800 */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "cool/cool.h"
#include "cool/ism.h"
#include "cool/solve_kern.h"
#include "vec/power.h"

/* The net cooling of one cell per n_H² and its derivative by T2. */
static double solve_rate(const struct cool_table *t, double nH, double seen, double Z, double T2,
                         double *slope)
{
    struct solve_point p = solve_point(nH, seen, Z);
    return rate_net(t->node[0], &p, T2, slope);
}

static const struct cool_par PAR = {.method = COOL_ORIGINAL,
                                    .cosmo = true,
                                    .mean = {.h = 0.6766000366210937,
                                             .omega_b = 0.047,
                                             .omega_m = 0.311100006103516,
                                             .omega_l = 0.688899993896484},
                                    .aexp_ini = 0.02,
                                    .uv = {.model = UV_COURTY, .z_reion = 8.5, .a_spec = 1}};

static struct rng numbers;

static double draw(double low, double high)
{
    return low + (high - low) * rng_uniform(&numbers);
}

/* log2 and 2^x, independent for each element. */
static void test_vec(void)
{
    double worst_exp = 0, worst_log = 0, x[VEC], y[VEC], e[VEC], l[VEC];
    int differ = 0;
    for (int i = 0; i < 20000; i++) {
        for (int k = 0; k < VEC; k++) x[k] = draw(-1000, 1000), y[k] = pow(10, draw(-300, 300));
        vec_store(e, vec_exp2(vec_load(x)));
        vec_store(l, vec_log2(vec_load(y)));
        for (int k = 0; k < VEC; k++) {
            worst_exp = fmax(worst_exp, fabs(e[k] / exp2(x[k]) - 1));
            worst_log = fmax(worst_log, fabs(l[k] - log2(y[k])) / fmax(fabs(log2(y[k])), 1));
            differ += vec_first(vec_exp2(vec_of(x[k]))) != e[k] ||
                      vec_first(vec_log2(vec_of(y[k]))) != l[k];
        }
    }
    CHECK(worst_exp < 1e-14, "%g", worst_exp);
    CHECK(worst_log < 3e-14, "%g", worst_log);
    CHECK(differ == 0, "%d", differ);
}

/* Powers and exponentials, nearly as exact as those of the library. */
static void test_powers(void)
{
    const double power[] = {2. / 3, 0.4, 1, -2.5};
    double worst_power = 0, worst_exp = 0, x[VEC], y[VEC], p[VEC], e[VEC];
    int differ = 0;
    for (int i = 0; i < 20000; i++) {
        for (int k = 0; k < VEC; k++) x[k] = pow(10, draw(-12, 12)), y[k] = draw(-100, 10);
        vec_store(p, vec_power(vec_load(x), power[i % 4]));
        vec_store(e, vec_exp(vec_load(y)));
        for (int k = 0; k < VEC; k++) {
            worst_power = fmax(worst_power, fabs(p[k] / pow(x[k], power[i % 4]) - 1));
            worst_exp = fmax(worst_exp, fabs(e[k] / exp(y[k]) - 1));
            differ += vec_first(vec_power(vec_of(x[k]), power[i % 4])) != p[k];
        }
    }
    CHECK(worst_power < 5e-16, "%g", worst_power);
    CHECK(worst_exp < 5e-16, "%g", worst_exp);
    CHECK(differ == 0, "%d", differ);
    CHECK(vec_first(vec_power(vec_of(7.5), 0)) == 1 && vec_first(vec_power(vec_of(1), 0.7)) == 1);
}

/* Nuclei and charge are conserved; without radiation the equilibrium is independent of density;
 * hot gas is ionised, cold gas neutral. */
static void test_equilibrium(const struct uv *uv)
{
    const struct uv_rates none = {.ion = {0}}, shine = uv_at(uv, 0.25);
    double worst = 0, still = 0;
    for (int i = 0; i < 10000; i++) {
        struct rate_coef c;
        struct species s, other;
        double T = pow(10, draw(0, 9)), nH = pow(10, draw(-9, 6));
        rates_chemistry(uv->atoms, T, &c);
        double mu = species_at(&c, nH, i % 2 ? &shine : &none, 1, &s);
        species_at(&c, nH, i % 2 ? &shine : &none, 1e-6, &other);
        worst = fmax(worst, fabs(s.hi + s.hii - 1));
        worst = fmax(worst, fabs(s.hei + s.heii + s.heiii - COOL_HELIUM));
        worst = fmax(worst, fabs(s.hii + s.heii + 2 * s.heiii - s.e));
        worst = fmax(worst, fabs(s.e - other.e));
        worst = fmax(worst, fabs(mu * RAMSES_HYDROGEN * (1 + COOL_HELIUM + s.e) - 1));
        if (i % 2 == 0) {
            species_at(&c, 1, &none, 1, &other);
            still = fmax(still, fabs(s.e - other.e));
        }
    }
    CHECK(worst < 1e-13, "%g", worst);
    CHECK(still < 1e-13, "%g", still);
    CHECK(fabs(gas_rates_at(1e9, 1, &none, 1).mu - 1 / (RAMSES_HYDROGEN * (2 + 3 * COOL_HELIUM))) <
              1e-5,
          "ionised");
    CHECK(fabs(gas_rates_at(10, 1, &none, 1).mu - 1 / (RAMSES_HYDROGEN * (1 + COOL_HELIUM))) < 1e-9,
          "neutral");
}

/* The coefficients of Abel et al. (1997) have no jumps where their fits begin and end. */
static void test_atoms(void)
{
    const double ends[] = {5500, 0.8 * 11605, 8617.0 * 11605};
    double worst = 0;
    for (int i = 0; i < 3; i++) {
        struct rate_coef a, b;
        rates_at(ATOMS_ABEL, ends[i] * (1 - 1e-9), &a);
        rates_at(ATOMS_ABEL, ends[i] * (1 + 1e-9), &b);
        for (int k = 0; k < ION_COUNT; k++) {
            worst = fmax(worst, fabs(b.ionise[k] / a.ionise[k] - 1));
            worst = fmax(worst, fabs(b.cool_own[k] / a.cool_own[k] - 1));
            if (i > 0) worst = fmax(worst, fabs(b.recombine[k] / a.recombine[k] - 1));
        }
        CHECK(fabs(b.recombine[ION_HI] / a.recombine[ION_HI] - 1) < 0.1, "at %g K", ends[i]);
    }
    CHECK(worst < 1e-6, "%g", worst);
}

/* Initial temperature of a run of RAMSES with this cosmology, and its background. */
static void test_start(struct cooling *c)
{
    double T2 = 0;
    CHECK(cool_start_T2(c, &T2) == OK && fabs(T2 / 40.262928727862281 - 1) < 1e-7, "%.10g", T2);
    struct cool_par early = PAR;
    struct cooling *e = NULL;
    early.aexp_ini = 5e-5;
    CHECK(cool_new(&early, &e) == OK && cool_start_T2(e, &T2) == ERR_PARAM, "too early");
    cool_free(e);
}

static void test_table(struct cooling *c)
{
    struct cool_table *first = mem_new(sizeof *first, "test");
    const struct cool_table *t = cool_table_of(c);
    cool_set(c, 0.25);
    cool_need(c, 1e-10, 1e6);
    memcpy(first->node, t->node, sizeof t->node);
    cool_set(c, 0.05);
    cool_need(c, 1e-10, 1e6);
    CHECK(memcmp(first->node, t->node, sizeof t->node) != 0, "the same at another a");
    cool_set(c, 0.25);
    cool_need(c, 1e-2, 1e-2);
    cool_need(c, 1e-10, 1e6);
    CHECK(memcmp(first->node, t->node, sizeof t->node) == 0, "it has a memory");
    mem_free(first);
}

/* Cells at the ends of the requested range have all rates. */
static void test_need(struct cooling *c)
{
    struct cool_table *whole = mem_zero(sizeof *whole, "test");
    int differ = 0;
    table_begin(whole, cool_uv(c), 0.25);
    table_need(whole, pow(10, TABLE_N_MIN), pow(10, TABLE_N_MAX));
    for (int i = 0; i < 300; i++) {
        double nH[2] = {pow(10, draw(-10.5, 6)), 0}, slope;
        if (i % 2) nH[0] = pow(10, -10 + 0.1 * (int)draw(0, 160));
        nH[1] = nH[0] * pow(10, i % 3 ? draw(0, 2) : 0);
        struct cool_table *part = mem_zero(sizeof *part, "test");
        table_begin(part, cool_uv(c), 0.25);
        table_need(part, nH[0], nH[1]);
        for (int k = 0; k < 2; k++)
            differ += solve_rate(whole, nH[k], nH[k], 1, 3e4, &slope) !=
                      solve_rate(part, nH[k], nH[k], 1, 3e4, &slope);
        table_free(&part);
    }
    CHECK(differ == 0, "%d rates are missing", differ);
    table_free(&whole);
}

/* ---- integration ---- */

struct ode {
    const struct cool_table *t;
    double nH, Z;
    const struct exact_table *exact; /* used instead of t, if not NULL */
};

static double ode_net(const struct ode *o, double T2, double *slope)
{
    if (!o->exact) return solve_rate(o->t, o->nH, o->nH, o->Z, T2, slope);
    double net = exact_rate(o->exact, o->nH, o->Z, T2);
    *slope = (exact_rate(o->exact, o->nH, o->Z, T2 * (1 + 1e-6)) - net) / (1e-6 * T2);
    return net;
}

static int ode_rate(double x, const double T2[], double change[], void *ctx)
{
    const struct ode *o = ctx;
    double slope;
    change[0] = -ode_net(o, fmax(T2[0], 1e-2), &slope);
    return GSL_SUCCESS;
}

static int ode_jacobian(double x, const double T2[], double *dfdy, double dfdt[], void *ctx)
{
    const struct ode *o = ctx;
    double slope;
    ode_net(o, fmax(T2[0], 1e-2), &slope);
    dfdy[0] = -slope;
    dfdt[0] = 0;
    return GSL_SUCCESS;
}

/* T2 after dt, by an integration to 1e-9. */
static double reference(struct ode *o, double T2, double dt)
{
    double x = 0, total = dt * o->nH * 2 * RAMSES_HYDROGEN / (3 * CGS_KB);
    gsl_odeiv2_system sys = {ode_rate, ode_jacobian, 1, o};
    gsl_odeiv2_driver *d = gsl_odeiv2_driver_alloc_y_new(&sys, gsl_odeiv2_step_msbdf, total * 1e-6,
                                                         1e-10 * T2 * 1e-3, 1e-9);
    if (gsl_odeiv2_driver_apply(d, &x, total, &T2) != GSL_SUCCESS) T2 = -1;
    gsl_odeiv2_driver_free(d);
    return T2;
}

typedef void method(const struct cool_table *t, double dt, double finer, struct solve_cells *c);

static void draw_block(struct solve_cells *b, double nmin, double nmax, double Tmin, double Tmax)
{
    *b = (struct solve_cells){.n = SOLVE_BLOCK};
    for (int k = 0; k < b->n; k++) {
        b->nH[k] = b->seen[k] = pow(10, draw(nmin, nmax));
        b->Z[k] = k % 3 ? pow(10, draw(-4, 0)) : 0;
        b->T2[k] = pow(10, draw(Tmin, Tmax));
    }
}

/* Both methods agree with the reference, and converge with smaller sub-steps. */
static void test_reference(const struct cool_table *t, const char *name, method *solve, double tol,
                           double worst_tol)
{
    double worst[2] = {0}, where = 0;
    int close = 0, n = 0;
    for (int round = 0; round < 4; round++) {
        struct solve_cells b;
        double dt = pow(10, 11 + round);
        draw_block(&b, -6, 0, 3.5, 7);
        for (int f = 0; f < 2; f++) {
            struct solve_cells mine = b;
            solve(t, dt, f ? 10 : 1, &mine);
            for (int k = 0; k < b.n; k++) {
                struct ode o = {t, b.nH[k], b.Z[k], NULL};
                double T2 = reference(&o, b.T2[k], dt), off = fabs(mine.T2[k] / T2 - 1);
                if (T2 < 0) continue;
                if (f && off > worst[1]) where = b.T2[k];
                close += f && off < tol;
                n += f;
                worst[f] = fmax(worst[f], off);
            }
        }
    }
    CHECK(close > 0.8 * n, "%s: %d of %d cells within %g", name, close, n, tol);
    CHECK(worst[1] < worst_tol, "%s: %g at 1/10 of the sub-steps, from T2=%g", name, worst[1],
          where);
    CHECK(worst[1] < 0.2 * worst[0], "%s: %g, and finer %g", name, worst[0], worst[1]);
}

/* Extreme states and times, and a tiny cooling time. */
static void test_extremes(const struct cool_table *t, const char *name, method *solve, int blocks)
{
    int bad = 0;
    for (int i = 0; i < blocks; i++) {
        struct solve_cells b;
        draw_block(&b, -12, 12, -2, 14);
        for (int k = 0; k < b.n; k++) b.Z[k] *= i % 2 ? 100 : 1;
        solve(t, pow(10, draw(0, 19)), 1, &b);
        for (int k = 0; k < b.n; k++) bad += !(b.T2[k] > 0 && b.T2[k] < 1e30);
    }
    CHECK(bad == 0, "%s: %d cells", name, bad);
    struct solve_cells b = {.n = 1, .nH = {1e30}, .seen = {1e30}, .Z = {100}, .T2 = {1e7}};
    solve(t, 1e15, 1, &b);
    CHECK(b.T2[0] > 0 && b.T2[0] < 1e5, "%s: %g", name, b.T2[0]);
}

/* One cell by RAMSES's sub-steps, without vectors; -1: too many. */
static double plain(const struct cool_table *t, const struct solve_cells *b, int k, double dt)
{
    double T2 = b->T2[k], total = dt * b->nH[k] * 2 * RAMSES_HYDROGEN / (3 * CGS_KB), time = 0,
           slope;
    for (int i = 0; i < 490; i++) {
        double net = solve_rate(t, b->nH[k], b->seen[k], b->Z[k], T2, &slope);
        double w = fmax(fmax(4 * fabs(net) / T2, -4 * slope), 1 / total);
        double next = T2 * (1 + slope / w - net / T2 / w) / (1 + slope / w), f = (total - time) * w;
        if (time + 1 / w >= total * (1 - 1e-14)) return next * f + T2 * (1 - f);
        T2 = next;
        time += 1 / w;
    }
    return -1;
}

static void test_plain(const struct cool_table *t)
{
    double worst = 0;
    for (int round = 0; round < 100; round++) {
        struct solve_cells b, all;
        double dt = pow(10, draw(10, 15));
        draw_block(&b, -6, 2, 2, 10);
        all = b;
        solve_original(t, dt, 1, &all);
        for (int k = 0; k < b.n; k++) {
            double T2 = plain(t, &b, k, dt);
            if (T2 > 0) worst = fmax(worst, fabs(all.T2[k] / T2 - 1));
        }
    }
    CHECK(worst < 1e-9, "%g", worst);
}

/* The result of a cell does not depend on its neighbours or their number. */
static void test_alone(const struct cool_table *t)
{
    struct solve_cells b, all;
    int differ = 0;
    draw_block(&b, -6, 2, 2, 8);
    all = b;
    solve_original(t, 1e13, 1, &all);
    for (int n = 1; n < 20; n++)
        for (int first = 0; first + n <= b.n; first += n) {
            struct solve_cells some = {.n = n};
            for (int k = 0; k < n; k++) {
                some.nH[k] = some.seen[k] = b.nH[first + k];
                some.Z[k] = b.Z[first + k];
                some.T2[k] = b.T2[first + k];
            }
            solve_original(t, 1e13, 1, &some);
            for (int k = 0; k < n; k++) differ += some.T2[k] != all.T2[first + k];
        }
    CHECK(differ == 0, "%d cells", differ);
}

/* ---- exact ---- */

/* A table whose net cooling per n_H² is a power law of T2 (mu = 1). */
static enum err write_power(const char *path, double power, int extra)
{
    enum { L = 3, M = 2, N = 200 };
    FILE *f = fopen(path, "wb");
    int n[3] = {L, M, N};
    double head[7] = {0, -3, 3, -2, 1, 1, 9}, x;
    bool good = f && fwrite(n, 4, 3, f) == 3 && fwrite(head, 8, 7, f) == 7;
    for (int i = 0; i < N && good; i++) {
        x = 1 + 8.0 * i / (N - 1);
        good = fwrite(&x, 8, 1, f) == 1;
    }
    for (int i = 0; i < 2 * L * M * N + extra && good; i++) {
        double nH = pow(10, -3 + 3.0 * (i / (M * N))), T = pow(10, 1 + 8.0 * (i % N) / (N - 1));
        x = i < L * M * N ? -1e-23 * pow(T / 1e5, power) * nH * nH : 1;
        good = fwrite(&x, 8, 1, f) == 1;
    }
    return f && fclose(f) == 0 && good ? OK : ERR_FILE;
}

/* Invalid tables are refused. */
static void test_bad_tables(const char *path)
{
    struct exact_table *t = NULL;
    CHECK(write_power(path, 0.5, 1) == OK && exact_read(path, &t) == ERR_FORMAT, "too long");
    CHECK(write_power(path, 0.5, -1) == OK && exact_read(path, &t) == ERR_FORMAT, "cut short");
    CHECK(write_power(path, NAN, 0) == OK && exact_read(path, &t) == ERR_FORMAT, "NaN");
    CHECK(exact_read("/nowhere/table.bin", &t) == ERR_FILE, "no file");
}

/* On a power law the result equals the integral, for any division of dt. */
static void test_power_law(const char *path, double power)
{
    struct exact_table *t = NULL;
    double off = 0, split = 0, unit = 2 * RAMSES_HYDROGEN / (3 * CGS_KB) * 1e-23;
    CHECK(write_power(path, power, 0) == OK && exact_read(path, &t) == OK, "%s", err_message());
    if (!t) return;
    exact_set(t, 0);
    for (int i = 0; i < 200; i++) {
        double T2 = pow(10, draw(5, 8)), k = 1 - power;
        double dt = draw(0.01, 0.9) * T2 / (unit * pow(T2 / 1e5, power)) / fmax(1, fabs(k));
        struct solve_cells one = {.n = 1, .nH = {1}, .seen = {1}, .Z = {1}, .T2 = {T2}}, many = one;
        double y = pow(T2, k) - k * unit * dt * pow(1e5, -power), want = pow(y, 1 / k);
        solve_exact(t, dt, &one);
        for (int j = 0; j < 100; j++) solve_exact(t, dt / 100, &many);
        if (want > 20) off = fmax(off, fabs(one.T2[0] / want - 1));
        split = fmax(split, fabs(one.T2[0] / many.T2[0] - 1));
    }
    CHECK(off < 1e-10, "power %g: %g", power, off);
    CHECK(split < 1e-10, "power %g: %g", power, split);
    exact_free(t);
}

/* A table of the model, written and read at two redshifts. */
static void test_exact(const char *path, const struct uv *uv)
{
    const double z[2] = {2, 3};
    const struct exact_shape s = {
        .L = 33, .M = 3, .N = 129, .nz = 2, .z = z, .low = {-8, -3, 1}, .high = {4, 1, 9}};
    struct exact_table *t = NULL;
    const struct exact_model model = {uv, true};
    CHECK(exact_write(path, &s, exact_fill_model, &model) == OK && exact_read(path, &t) == OK, "%s",
          err_message());
    if (!t) return;
    exact_set(t, 2.5);
    double jump =
        exact_rate(t, 1e-3, 0.1 * (1 - 1e-7), 2e5) / exact_rate(t, 1e-3, 0.1 * (1 + 1e-7), 2e5) - 1;
    CHECK(fabs(jump) < 1e-5, "from one metallicity of the table to the next: %g", jump);
    struct solve_cells hot = {
        .n = 2, .nH = {1, 1}, .seen = {1, 1}, .Z = {1, 1}, .T2 = {1e11, 4e11}};
    solve_exact(t, 1e7 * 3 * CGS_KB / (2 * RAMSES_HYDROGEN * exact_rate(t, 1, 1, 1e9)), &hot);
    double ratio = (4e11 - hot.T2[1]) / (1e11 - hot.T2[0]);
    CHECK(hot.T2[0] < 1e11 && fabs(ratio - 2) < 0.01, "bremsstrahlung beyond the table: %g", ratio);
    struct solve_cells b, mine;
    double worst = 0;
    int bad = 0, n = 0;
    draw_block(&b, -5, 0, 3.5, 7);
    mine = b;
    solve_exact(t, 1e13, &mine);
    for (int k = 0; k < b.n; k++) {
        struct ode o = {NULL, b.nH[k], b.Z[k], t};
        double T2 = reference(&o, b.T2[k], 1e13);
        n += T2 > 0;
        if (T2 > 0) worst = fmax(worst, fabs(mine.T2[k] / T2 - 1));
    }
    CHECK(worst < 1e-6 && n > 0.9 * b.n, "%g from the reference in %d cells", worst, n);
    for (int i = 0; i < 16000; i++) {
        draw_block(&b, -12, 12, -2, 14);
        solve_exact(t, pow(10, draw(0, 19)), &b);
        for (int k = 0; k < b.n; k++) bad += !(b.T2[k] > 0 && b.T2[k] < 1e30);
    }
    CHECK(bad == 0, "%d cells", bad);
    exact_free(t);
}

/* ---- background ---- */

static enum err read_text(const char *text, struct uv_table **t)
{
    char path[] = "/tmp/uvXXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, text, strlen(text)) < 0) return ERR_FILE;
    close(fd);
    enum err err = uv_table_read(path, t);
    unlink(path);
    return err;
}

static void test_background(void)
{
    struct uv_table *t = NULL;
    const char *good = "# z, rates\n0 1e-14 2e-14 3e-16 1e-25 2e-25 3e-26\n"
                       "0.5 1e-12 2e-12 3e-14 1e-23 2e-23 3e-24\n";
    CHECK(read_text(good, &t) == OK, "a table");
    struct uv uv = {.model = UV_TABLE, .a_spec = 1, .table = t};
    struct uv_rates r = uv_at(&uv, pow(10, -0.25));
    CHECK(fabs(r.ion[ION_HI] / 1e-13 - 1) < 1e-12, "%g", r.ion[ION_HI]);
    CHECK(fabs(r.heat[ION_HEII] / 3e-25 - 1) < 1e-12, "%g", r.heat[ION_HEII]);
    CHECK(uv_at(&uv, 0.1).ion[ION_HI] == 0, "beyond the table");
    uv_table_free(t);
    CHECK(read_text("0 0 0 0\n", &t) == ERR_FORMAT, "truncated");
    CHECK(read_text("0 0 0 0 0 0 nan\n1 0 0 0 0 0 0\n", &t) == ERR_FORMAT, "NaN");
    CHECK(read_text("0 0 0 0 0 0 0\n1 0 0 1e300 0 0 0\n", &t) == ERR_FORMAT, "absurd rate");
    CHECK(read_text("0 0 0 0 0 0 0\n15 0 0 0 0 0 0\n", &t) == ERR_FORMAT, "z, not log10(1+z)");
    CHECK(read_text("1 0 0 0 0 0 0\n0 0 0 0 0 0 0\n", &t) == ERR_FORMAT, "order");
    CHECK(uv_table_read("/", &t) == ERR_FILE, "a directory");
    CHECK(uv_table_read("/dev/zero", &t) == ERR_FILE, "no end");
    CHECK(read_text("# nothing\n", &t) == ERR_FORMAT, "empty");
}

/* T of n hydrogen nuclei after dt seconds. */
static double ism_after(double n, double T, double dt)
{
    static const double MU = 1.4, GAMMA = 5 / 3.;
    struct solve_cells c = {.n = 1, .nH = {n}, .T2 = {T / MU}};
    solve_ism(MU, GAMMA, dt, &c);
    return c.T2[0] * MU;
}

/* The interstellar medium has two phases: the pressure of gas in equilibrium falls with density
 * between 0.6 and 10 per cm³ (Wolfire et al. 1995: from about 4000 to 1000 k). Ionised gas at 3e7 K
 * has a constant rate. All steps converge. */
static void test_ism(void)
{
    static const double YEAR = 3.15576e7, K = 1.380649e-16, n[] = {0.3, 0.6, 10, 100};
    double P[4];
    for (int i = 0; i < 4; i++) {
        double T = ism_after(n[i], 5000, 1e10 * YEAR), other = ism_after(n[i], 30, 1e10 * YEAR);
        P[i] = n[i] * T;
        CHECK(fabs(other / T - 1) < 1e-6, "%g: %g, %g K", n[i], T, other);
        CHECK(ism_rate(n[i], 0.99 * T) > 0 && ism_rate(n[i], 1.01 * T) < 0, "%g: %g K", n[i], T);
    }
    CHECK(fabs(P[0] / 0.3 - 7500) < 500, "warm: %g K", P[0] / 0.3);
    CHECK(fabs(P[3] / 100 - 36) < 5, "cold: %g K", P[3] / 100);
    CHECK(P[1] > P[0] && fabs(P[1] - 4200) < 300 && fabs(P[2] - 1180) < 60 && P[3] > 3 * P[2],
          "%g %g %g %g", P[0], P[1], P[2], P[3]);
    double want = 3e7 - 2 / 3. * 0.1 * pow(10, -22.44f) / K * (1e7 * YEAR);
    double got = ism_after(0.1, 3e7, 1e7 * YEAR);
    CHECK(fabs(got / want - 1) < 1e-9, "%g, less %g", got, want);
    for (int k = 0; k < 20000; k++) {
        double T0 = pow(10, draw(0, 9)),
               T = ism_after(pow(10, draw(-6, 8)), T0, pow(10, draw(-30, 18)));
        if (!(T > 0 && T <= fmax(T0 * 1.001, 2e4))) CHECK(0, "%g becomes %g", T0, T);
    }
    double once = ism_after(3, 8000, 1e6 * YEAR), T = 8000;
    for (int k = 0; k < 1000; k++) T = ism_after(3, T, 1e3 * YEAR);
    CHECK(fabs(once / T - 1) < 0.1, "in one step %g, in 1000 %g", once, T);
}

/* 10^6 states of random density, metallicity, temperature and time. */
static int states(struct cooling *c)
{
    enum { BLOCKS = 1000000 / SOLVE_BLOCK };
    cool_set(c, 0.25);
    cool_need(c, 1e-10, 1e6);
    test_extremes(cool_table_of(c), "original", solve_original, BLOCKS);
    test_extremes(cool_table_of(c), "implicit", solve_implicit, BLOCKS);
    cool_free(c);
    printf("cool_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    struct cooling *c = NULL;
    numbers = rng_make(1, 2, 3);
    if (cool_new(&PAR, &c) != OK) return 1;
    if (argc == 2 && strcmp(argv[1], "states") == 0) return states(c);
    struct uv uv = PAR.uv;
    test_vec();
    test_powers();
    struct uv abel = uv;
    abel.atoms = ATOMS_ABEL;
    test_equilibrium(&uv);
    test_equilibrium(&abel);
    test_atoms();
    test_start(c);
    test_table(c);
    test_need(c);
    const struct cool_table *t = cool_table_of(c);
    gsl_set_error_handler_off();
    /* first-order method: where gas cools catastrophically, an error of 1 % in time is larger in
     * T2 */
    test_reference(t, "original", solve_original, 1e-3, 0.03);
    test_reference(t, "implicit", solve_implicit, 1e-4, 1e-3);
    test_extremes(t, "original", solve_original, 16000);
    test_extremes(t, "implicit", solve_implicit, 2000);
    test_alone(t);
    test_plain(t);
    test_background();
    test_ism();
    char path[] = "cool_test_XXXXXX";
    int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    test_bad_tables(path);
    test_power_law(path, 0.5);
    test_power_law(path, -0.7);
    test_power_law(path, 1.8);
    test_exact(path, &uv);
    unlink(path);
    cool_free(c);
    printf("cool_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
