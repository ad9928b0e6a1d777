/* turb_test: the fields of driven turbulence. Each is free of divergence or of curls as comp_frac
 * has it, has no mean, and amplitudes in the shells of its spectrum alone; its rms and its
 * correlation in time are those of the parameters; it has the same bits in a run that resumes.
 * Octs get what a cell alone gets, bit for bit, and that is trilinear interpolation. RAMSES's
 * process has the amplitudes and the generator of a run of RAMSES (32^3 cells, seed 12345); since
 * 2026 its fields do not jump, and initial velocities come from the same generator.
 *
 * Catches: a projection without signs, a mode without its conjugate, an axis exchanged in a
 * transform, weights of the two times exchanged, a node beyond the last one, a process that depends
 * on its past calls, a draw more or less. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "fft/fft.h"
#include "turb/turb.h"

enum { N = TURB_NODES };
static struct params par;

static struct param_turb *defaults(int ndim, const char *spectrum, double comp_frac)
{
    param_init(&par);
    par.run.hydro = true;
    par.run.ndim = ndim;
    par.turb.driven_turb = true;
    par.turb.turb_ndt = 20;
    par.turb.turb_t = 0.7;
    par.turb.turb_rms = 3;
    par.turb.comp_frac = comp_frac;
    snprintf(par.turb.forcing_power_spectrum, sizeof par.turb.forcing_power_spectrum, "%s",
             spectrum);
    return &par.turb;
}

static struct turb *open_turb(uint64_t seed)
{
    struct turb *o = NULL;
    CHECK(turb_new(&par, seed, 0, &o) == OK, "%s", err_message());
    return o;
}

/* Node (x, y, z) of the field at the time of the force. */
static void node(const struct turb_force *f, const int x[3], double a[3])
{
    struct turb_place p = {.w = {0}};
    for (int k = 0; k < 3; k++) p.at[k][0] = p.at[k][1] = x[k];
    turb_at(f, &p, a);
}

/* ---- fields in Fourier space ---- */

struct spectrum {
    double largest, along, across; /* |a(k)|, k·a/|k|, |k×a|/|k| */
    double outside, mean;          /* largest |a(k)| at |k| ≤ low or ≥ high; |a(0)| */
};

static void look(const double complex a[3], const int k[3], double low, double high,
                 struct spectrum *s)
{
    const double kappa = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
    double complex dot = 0;
    double size = 0, across = 0;
    for (int d = 0; d < 3; d++) dot += k[d] * a[d], size += creal(a[d] * conj(a[d]));
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        const double complex curl = k[e] * a[g] - k[g] * a[e];
        across += creal(curl * conj(curl));
    }
    size = sqrt(size);
    s->largest = fmax(s->largest, size);
    if (kappa == 0) s->mean = size;
    if (kappa <= low || kappa >= high) s->outside = fmax(s->outside, size);
    if (kappa == 0) return;
    s->along = fmax(s->along, cabs(dot) / kappa);
    s->across = fmax(s->across, sqrt(across) / kappa);
}

static struct spectrum transform(const struct turb_force *force, double low, double high)
{
    struct comm self = {.size = 1};
    struct fft *f[3];
    struct spectrum s = {0};
    for (int d = 0; d < 3; d++) {
        f[d] = fft_new(&self, N);
        fft_begin(f[d]);
    }
    for (int i = 0; i < N * N * N; i++) {
        const int x[3] = {i % N, i / N % N, i / (N * N)};
        double a[3];
        node(force, x, a);
        for (int d = 0; d < 3; d++)
            f[d]->r[((size_t)x[2] * N + (size_t)x[1]) * f[d]->pitch + (size_t)x[0]] = a[d];
    }
    for (int d = 0; d < 3; d++) fft_forward(f[d]);
    for (int i = 0; i < (N / 2 + 1) * N * N; i++) {
        const int at[3] = {i / (N * N), i / N % N, i % N},
                  k[3] = {fft_wave(N, at[0]), fft_wave(N, at[1]), fft_wave(N, at[2])};
        double complex a[3];
        for (int d = 0; d < 3; d++)
            a[d] = f[d]->k[((size_t)at[0] * N + (size_t)at[1]) * f[d]->kpitch + (size_t)at[2]];
        look(a, k, low, high, &s);
    }
    for (int d = 0; d < 3; d++) fft_free(&f[d]);
    return s;
}

static void test_projection(const char *spectrum, double comp_frac, double low, double high)
{
    defaults(3, spectrum, comp_frac);
    struct turb *o = open_turb(5);
    const struct turb_force f = turb_force_at(o, 0.31, 6);
    const struct spectrum s = transform(&f, low, high);
    CHECK(s.outside < 1e-12 * s.largest && s.mean < 1e-12 * s.largest, "%s: outside %g, mean %g",
          spectrum, s.outside / s.largest, s.mean / s.largest);
    const double wrong = comp_frac == 0 ? s.along : comp_frac == 1 ? s.across : 0;
    CHECK(wrong < 1e-12 * s.largest, "%s: comp_frac=%g leaves %g", spectrum, comp_frac,
          wrong / s.largest);
    if (comp_frac == 0.5) CHECK(s.along > 0.1 * s.largest && s.across > 0.1 * s.largest);
    turb_free(&o);
}

/* ---- statistics ---- */

/* Mean product of the components of two fields, `a` and that of the force, which goes to `copy`; of
 * waves up to 2, for which every fourth node is enough. */
static double product(int ndim, const double *a, const struct turb_force *f, double *copy)
{
    enum { STEP = 4, SIDE = N / STEP };
    const int n = ndim > 2 ? SIDE * SIDE * SIDE : ndim > 1 ? SIDE * SIDE : SIDE;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const int at[3] = {i % SIDE * STEP, i / SIDE % SIDE * STEP, i / (SIDE * SIDE) * STEP};
        double x[3];
        node(f, at, x);
        for (int d = 0; d < ndim; d++) {
            sum += a ? a[i * ndim + d] * x[d] : x[d] * x[d];
            copy[i * ndim + d] = x[d];
        }
    }
    return sum / n / ndim;
}

static void test_statistics(int ndim, double comp_frac, int times)
{
    const struct param_turb *p = defaults(ndim, "parabolic", comp_frac);
    const size_t n = (ndim > 2 ? N * N * N : N * N) * (size_t)ndim;
    double *was = mem_zero(sizeof *was * n, "test"), *now = mem_zero(sizeof *now * n, "test");
    struct turb *o = open_turb(9);
    double square = 0, lag = 0, worst = 0;
    for (int i = 0; i <= times; i++) {
        const double t = i * 1.4937 * p->turb_t + 0.01;
        const struct turb_force f = turb_force_at(o, t, 6);
        const double x = product(ndim, NULL, &f, was);
        worst = fmax(worst, fabs(sqrt(x) / turb_rms_at(o, t) - 1));
        const struct turb_force g = turb_force_at(o, t + 0.5 * p->turb_t, 6);
        square += x, lag += product(ndim, was, &g, now);
    }
    const double rms = sqrt(square / (times + 1)), rho = lag / square;
    CHECK(fabs(rms / p->turb_rms - 1) < 0.02, "%d-D, comp_frac=%g: rms %g", ndim, comp_frac, rms);
    CHECK(fabs(rho - exp(-0.5)) < 0.03, "%d-D: correlation %g", ndim, rho);
    CHECK(worst < 1e-12, "rms of the nodes differs by %g", worst);
    turb_free(&o);
    FREE(was);
    FREE(now);
}

static void test_exact(void)
{
    struct param_turb *p = defaults(2, "konstandin", 0.2);
    p->turb_exact_rms = true;
    struct turb *o = open_turb(3);
    const double at = 7 * turb_interval(o);
    CHECK(fabs(turb_rms_at(o, at * (1 + 1e-15)) / 3 - 1) < 1e-12);
    turb_free(&o);
    p->turb_evolving = false, p->turb_exact_rms = false;
    o = open_turb(3);
    CHECK(turb_interval(o) == HUGE_VAL && fabs(turb_rms_at(o, 5) / 3 - 1) < 1e-12);
    turb_free(&o);
    p->initial_turb = true, p->initial_turb_vrms = 4;
    CHECK(turb_new_initial(&par, 3, 0, &o) == OK, "%s", err_message());
    CHECK(fabs(turb_rms_at(o, 0) * sqrt(2) / 4 - 1) < 1e-12);
    turb_free(&o);
}

/* ---- cells ---- */

static void trilinear(const struct turb_force *f, int level, okey key, int c, double out[3])
{
    double x[3];
    okey_cell_centre(key, c, ldexp(N, -level), x);
    for (int d = 0; d < 3; d++) out[d] = 0;
    for (int k = 0; k < 8; k++) {
        int at[3];
        double w = 1;
        for (int d = 0; d < 3; d++) {
            const double low = floor(x[d]), part = x[d] - low;
            at[d] = ((int)low + (k >> d & 1)) % N;
            w *= k >> d & 1 ? part : 1 - part;
        }
        double a[3];
        node(f, at, a);
        for (int d = 0; d < 3; d++) out[d] += w * a[d];
    }
}

/* Accelerations of the eight cells of an oct as rows of octs get them. */
static void of_oct(const struct turb_force *f, okey key, struct turb_near *near, double out[3][8])
{
    int64_t q[3];
    okey_coords(key, q);
    if (!f->waves) {
        vec4 oct[3][2];
        turb_cells(f, (const int64_t[3]){q[0] ^ 1, q[1], q[2]}, near, oct); /* its nodes serve */
        turb_cells(f, q, near, oct);
        for (int d = 0; d < 3; d++) memcpy(out[d], oct[d], sizeof out[d]);
        return;
    }
    struct turb_row own;
    struct turb_along along;
    const struct turb_row *row = turb_row_of(f, q, &own);
    turb_find_along(f, q[0], &along);
    CHECK(!f->along || memcmp(&along, f->along + q[0], sizeof along) == 0);
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 8; c++) {
            out[d][c] = row->term[d][c >> 1];
            for (int k = 0; k < TURB_WAVES; k++)
                out[d][c] += row->term[3 * (k + 1) + d][c >> 1] * along.wave[k][c];
        }
}

static void test_cells(const char *spectrum)
{
    defaults(3, spectrum, 0.5);
    struct turb *o = open_turb(7);
    double worst = 0, sum[3] = {0};
    int64_t differ = 0;
    for (int l = 3; l <= 11; l++) {
        struct turb_force f = turb_force_at(o, 0.123, l);
        const int64_t octs = (int64_t)1 << 3 * (l - 1), step = l == 6 ? 1 : 1 + octs / 200;
        struct turb_near near = {.known = false};
        if (l == 5 || l == 7) turb_prepare(o, octs, &f);
        for (int64_t i = 0; i < octs; i += step) {
            double a[3], b[3], oct[3][8];
            of_oct(&f, (okey)i, &near, oct);
            for (int c = 0; c < 8; c++) {
                turb_acceleration(&f, (okey)i, c, a);
                if (i % 64 == 0 || i == octs - 1)
                    trilinear(&f, l, (okey)i, c, b);
                else
                    memcpy(b, a, sizeof b);
                for (int d = 0; d < 3; d++) {
                    differ += a[d] != oct[d][c];
                    worst = fmax(worst, fabs(a[d] - b[d]));
                    sum[d] += l == 6 ? a[d] : 0;
                }
                CHECK(fabs(a[0]) + fabs(a[1]) + fabs(a[2]) <= f.most);
            }
        }
    }
    CHECK(differ == 0 && worst < 2e-14, "%s: %ld values differ; %g", spectrum, (long)differ, worst);
    for (int d = 0; d < 3; d++) CHECK(fabs(sum[d]) < 1e-7, "sum %g", sum[d]);
    turb_free(&o);
}

/* A run that begins at a later time, in or between intervals, has the same bits. */
static void test_resume(void)
{
    struct param_turb *p = defaults(2, "parabolic", 0.3);
    p->turb_ndt = 6;
    struct turb *a = open_turb(1);
    for (int i = 0; i < 300; i++) {
        const double t = 0.0931 * i;
        const struct turb_force f = turb_force_at(a, t, 5);
        if (i % 37) continue;
        struct turb *b = open_turb(1);
        const struct turb_force g = turb_force_at(b, t, 5);
        const size_t bytes = sizeof(double) * (size_t)(TURB_ALONG_X + N * TURB_COEFS);
        CHECK(memcmp(f.a, g.a, bytes) == 0 && memcmp(f.b, g.b, bytes) == 0 && f.wa == g.wa &&
                  f.wb == g.wb,
              "at time %g", t);
        turb_free(&b);
    }
    /* nothing jumps between intervals */
    const double end = 80 * turb_interval(a);
    const struct turb_force f = turb_force_at(a, end * (1 - 1e-9) + 20, 5);
    const int x[3] = {3, 5, 0};
    double before[3], after[3];
    node(&f, x, before);
    const struct turb_force g = turb_force_at(a, end * (1 + 1e-9) + 20, 5);
    node(&g, x, after);
    CHECK(fabs(after[1] - before[1]) < 1e-6);
    turb_free(&a);
}

/* ---- RAMSES ---- */

static const struct known {
    int k[3];
    double a[3][2];
} KNOWN[] = {{{1, 1, 0},
              {{-0.017758193758237818, -0.0062602249612130137},
               {0.058754321259685757, 0.020045226883314164},
               {-0.088370437240501448, 0.037653825979904292}}},
             {{63, 1, 1},
              {{-0.097418217220581707, -0.041683828813610373},
               {0.13195640621636187, 0.027405346766405523},
               {0.036891980103179081, -0.042169088343919935}}},
             {{0, 2, 62},
              {{0.05910075399869115, 0.075204841861954558},
               {-0.036693259174689581, 0.04166247974603448},
               {0.015364824949432821, -0.023467289958756753}}},
             {{2, 63, 0},
              {{0.072214695282733582, 0.1690805570007386},
               {-0.27360842213391601, -0.20272295910160609},
               {-0.16320892947202087, -0.085972155193166241}}},
             {{1, 62, 63},
              {{-0.021511691132405468, 0.19477193483223809},
               {0.07688491558751781, -0.10580281628526994},
               {-0.12754901008122027, -0.063784149249254768}}}};

/* Intervals as a run of RAMSES had them, and its amplitudes; the files have the state. */
static void test_ramses(void)
{
    struct param_turb *p = defaults(3, "parabolic", 0.3);
    p->turb_t = 0.29241000937376255, p->turb_rms = 5.094074502271999;
    p->instant_turb = false;
    snprintf(p->turb_rule, sizeof p->turb_rule, "ramses");
    struct turb *o = open_turb(12345), *again = open_turb(1);
    const double interval = turb_interval(o);
    double t = 0;
    for (int i = 0; i < 6; i++) t += interval, turb_force_at(o, t, 5);
    struct turb_files f = {0}, g = {0};
    turb_store(o, t, &f);
    CHECK(strstr(f.at[TURB_TEXT], " -7360316496108973533 8250320223521864224 3000677787840416539 "
                                  "163212286506266301"),
          "%s", f.at[TURB_TEXT]);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        const int *k = KNOWN[i].k;
        double a[3][2];
        memcpy(a, f.at[TURB_NEXT] + sizeof a * (size_t)((k[2] * N + k[1]) * N + k[0]), sizeof a);
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 2; c++)
                CHECK(fabs(a[d][c] - KNOWN[i].a[d][c]) < 1e-14, "mode %zu: %.17g", i, a[d][c]);
    }
    CHECK(fabs(turb_rms_at(o, t) * sqrt(3) - 7.0903162617927444) < 1e-12, "rms %.17g",
          turb_rms_at(o, t) * sqrt(3));
    CHECK(turb_restore(again, &f, "here") == OK, "%s", err_message());
    turb_store(again, t, &g);
    for (int i = 0; i < TURB_FILES; i++) {
        CHECK(f.bytes[i] == g.bytes[i]);
        if (i != TURB_TEXT) CHECK(memcmp(f.at[i], g.at[i], f.bytes[i]) == 0);
    }
    g.bytes[TURB_LAST]--;
    CHECK(turb_restore(again, &g, "here") == ERR_FORMAT);
    g.bytes[TURB_LAST]++, g.at[TURB_TEXT][40] = 0;
    CHECK(turb_restore(again, &g, "here") == ERR_FORMAT);
    for (int i = 0; i < TURB_FILES; i++) {
        FREE(f.at[i]);
        FREE(g.at[i]);
    }
    turb_free(&o);
    turb_free(&again);
}

/* Component d of the acceleration at a node. */
static double component(const struct turb_force *f, const int x[3], int d)
{
    double a[3];
    node(f, x, a);
    return a[d];
}

/* Values at a node of fields whose runs have the sums of RAMSES's tests driving-static and
 * decaying, within 1.2e-14. */
static void test_ramses_2026(void)
{
    static const double STATIC[3] = {3.7907927948471238, 2.806149604781019, -2.9292892947919782},
                        INITIAL[3] = {0.37207865659958511, 0.27543272124597462,
                                      -0.28751928279469524};
    const int x[3] = {3, 5, 7};
    struct param_turb *p = defaults(3, "power_law", 0.5);
    p->turb_t = 0.29241000937376255, p->turb_rms = 5.094074502271999, p->turb_ndt = 100;
    p->instant_turb = false, p->turb_evolving = false;
    snprintf(p->turb_rule, sizeof p->turb_rule, "ramses-2026");
    struct turb *o = open_turb(1);
    struct turb_force f = turb_force_at(o, 0, 6);
    for (int d = 0; d < 3; d++)
        CHECK(fabs(component(&f, x, d) - STATIC[d]) < 1e-12, "%.17g", component(&f, x, d));
    CHECK(turb_interval(o) < 1, "a static field limits the step");
    turb_free(&o);
    p->driven_turb = false, p->initial_turb = true, p->initial_turb_vrms = 0.8660254037844386;
    p->initial_turb_comp_frac = 0.5;
    CHECK(turb_new_initial(&par, 1, 0, &o) == OK, "%s", err_message());
    f = turb_force_at(o, 0, 6);
    for (int d = 0; d < 3; d++)
        CHECK(fabs(component(&f, x, d) - INITIAL[d]) < 1e-12, "%.17g", component(&f, x, d));
    turb_free(&o);
}

/* Size of the jump of a field where two intervals meet. */
static double jump(const char *rule)
{
    const int x[3] = {3, 5, 7};
    struct param_turb *p = defaults(3, "parabolic", 0.5);
    snprintf(p->turb_rule, sizeof p->turb_rule, "%s", rule);
    struct turb *o = open_turb(1);
    const double end = 2 * turb_interval(o);
    struct turb_force f = turb_force_at(o, end * (1 - 1e-9), 6);
    const double before = component(&f, x, 0);
    f = turb_force_at(o, end * (1 + 1e-9), 6);
    turb_free(&o);
    return fabs(component(&f, x, 0) - before);
}

/* In one generator the initial velocities come between the driving at the start and later. */
static void test_generator(void)
{
    const int x[3] = {3, 5, 7};
    double at[2][2];
    for (int i = 0; i < 2; i++) {
        struct param_turb *p = defaults(3, "konstandin", 0.5);
        p->initial_turb = i == 1, p->initial_turb_vrms = 1;
        snprintf(p->turb_rule, sizeof p->turb_rule, "ramses-2026");
        struct turb *o = open_turb(4);
        for (int j = 0; j < 2; j++) {
            const struct turb_force f = turb_force_at(o, (0.5 + 2 * j) * turb_interval(o), 6);
            at[i][j] = component(&f, x, 1);
        }
        turb_free(&o);
    }
    CHECK(at[0][0] == at[1][0] && at[0][1] != at[1][1]);
}

/* The spectrum of one wave, along x: the rms of a compressive field is that of its x component, and
 * RAMSES's rule has the same mean square. */
static void test_one_wave(const char *rule)
{
    struct param_turb *p = defaults(3, "test", 1);
    p->turb_evolving = false;
    snprintf(p->turb_rule, sizeof p->turb_rule, "%s", rule);
    struct turb *o = open_turb(3);
    const struct turb_force f = turb_force_at(o, 0, 6);
    double square = 0, other = 0, mean = 0;
    for (int i = 0; i < N * N * N; i++) {
        const int at[3] = {i % N, i / N % N, i / (N * N)}, first[3] = {at[0], 0, 0};
        const double a = component(&f, at, 0);
        square += a * a / ((double)N * N * N), mean += a;
        other = fmax(other, fabs(a - component(&f, first, 0)));
        other = fmax(other, fabs(component(&f, at, 1)) + fabs(component(&f, at, 2)));
    }
    CHECK(fabs(square / (3 * p->turb_rms * p->turb_rms) - 1) < 1e-12, "%g", square);
    CHECK(other < 1e-12 && fabs(mean) < 1e-6, "%g, %g", other, mean);
    turb_free(&o);
}

int main(void)
{
    test_projection("parabolic", 0, 1, 3);
    test_projection("konstandin", 1, 0.99, 2);
    test_projection("power_law", 0.5, 0, 32.01);
    test_statistics(2, 0, 1000);
    test_statistics(3, 0.7, 60);
    test_exact();
    test_cells("konstandin");
    test_cells("parabolic");
    test_cells("power_law");
    test_resume();
    test_ramses();
    test_ramses_2026();
    CHECK(jump("ramses-2026") < 1e-5 && jump("ramses") > 0.1, "%g, %g", jump("ramses-2026"),
          jump("ramses"));
    test_generator();
    test_one_wave("signed");
    test_one_wave("ramses-2026");
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
