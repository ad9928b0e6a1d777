/* stencil_force_test: forces of the stencil solver. Helical and solenoidal ones have no divergence,
 * fully helical ones are their own curls, and all have the amplitude of Brandenburg (2001). The
 * Ornstein–Uhlenbeck process has the rms and the correlation in time of its parameters, no
 * divergence or no curl as comp_frac has it, no jumps, and the same bits in a run that resumes.
 * Bricks have the bits of the whole mesh. Catches: a projection with wrong signs, modes counted
 * once instead of twice, a helicity with the wrong sign or norm, one wave for all steps, weights of
 * the interpolation in time exchanged, a process that depends on its past steps. */
#include <omp.h>

#include "check.h"
#include "stencil/force.h"
#include "stencil/turb.h"
#include "stencil_world.h"

enum { N = 10 };
static struct comm comm = {.size = 1, .node_size = 1, .threads = 1};
static struct params par;
static int64_t step_of_bits;

static void defaults(const char *forcing)
{
    struct param_stencil *p = &par.stencil;
    param_init(&par);
    p->nx = p->ny = p->nz = N;
    p->lx = 2.0, p->ly = 3.0, p->lz = 1.5;
    p->cs0 = 0.7, p->f0 = 0.2, p->kf = 2;
    snprintf(p->forcing, sizeof p->forcing, "%s", forcing);
}

/* u = dt times the force of a step. */
static void kick(struct force *f, struct stencil *t, int64_t it, double dt)
{
    double *const u[3] = {t->a.now[FD_UX], t->a.now[FD_UY], t->a.now[FD_UZ]};
    for (int d = 0; d < 3; d++) memset(u[d], 0, sizeof(double) * t->brick.size);
    force_kick(f, t, it, dt, u);
}

static void kick_bits(struct stencil *t)
{
    struct force *f = NULL;
    CHECK(force_new(t, &f) == OK, "%s", err_message());
    kick(f, t, step_of_bits, 0.3);
    kick(f, t, step_of_bits + 1, 0.3);
    force_free(&f);
}

/* Mean u², (∂u)² and curl u·u. */
static void means(const struct stencil *t, double *square, double *slope, double *helicity)
{
    *square = *slope = *helicity = 0;
    for (int i = 0; i < N * N * N; i++) {
        const int x[3] = {i % N, i / N % N, i / (N * N)};
        double curl[3];
        world_curl(t, FD_UX, x, curl);
        for (int d = 0; d < 3; d++) {
            double u = world_at(t, FD_UX + d, x);
            *square += u * u / (N * N * N);
            *helicity += u * curl[d] / (N * N * N);
            for (int e = 0; e < 3; e++)
                *slope += pow(world_derivative(t, FD_UX + d, e, x), 2) / (N * N * N);
        }
    }
}

static void test_wave(const char *forcing, double sigma)
{
    enum { STEPS = 5 };
    const double dt = 0.01;
    struct stencil t;
    struct force *f = NULL;
    double before = 0;
    int changes = 0;
    defaults(forcing);
    par.stencil.sigma = sigma;
    world_whole(&t, &par, &comm);
    CHECK(force_new(&t, &f) == OK, "%s", err_message());
    const double s = strcmp(forcing, "helical") == 0 ? sigma : 0;
    for (int it = 0; it < STEPS; it++) {
        kick(f, &t, it, dt);
        double square, slope, helicity;
        means(&t, &square, &slope, &helicity);
        double k = sqrt(slope / square), norm = dt * 0.2 * 0.7 * sqrt(k * 0.7 / dt);
        struct world_law l = world_law(&t, FD_UX, s * k);
        CHECK(fabs(k * 2.0 / (2 * M_PI) - 2) < 0.5, "|k| is %g", k);
        CHECK(fabs(sqrt(2 * square) / norm - 1) < 1e-12, "%s: rms %g, not %g", forcing,
              sqrt(square), norm / sqrt(2));
        CHECK(l.divergence < 1e-11 * k * l.field, "%s: divergence %g", forcing, l.divergence);
        if (fabs(s) == 1) CHECK(l.beltrami < 1e-11 * k * l.field, "curl is off by %g", l.beltrami);
        CHECK(fabs(helicity / (k * square) - 2 * s / (1 + s * s)) < 1e-10, "%s %g: helicity %g",
              forcing, s, helicity / (k * square));
        const int x[3] = {1, 2, 3};
        double sum = 0;
        for (int d = 0; d < 3; d++) sum += world_at(&t, FD_UX + d, x);
        changes += sum != before;
        before = sum;
    }
    CHECK(changes == STEPS, "the force changes in %d steps", changes);
    force_free(&f);
    world_free(&t);
}

static void test_constant(void)
{
    struct stencil t;
    struct force *f = NULL;
    const int x[3] = {N - 1, 0, 5};
    defaults("constant");
    par.stencil.f_const[0] = 1, par.stencil.f_const[2] = -3;
    world_whole(&t, &par, &comm);
    CHECK(force_new(&t, &f) == OK);
    kick(f, &t, 5, 0.25);
    CHECK(world_at(&t, FD_UX, x) == 0.25 && world_at(&t, FD_UY, x) == 0 &&
          world_at(&t, FD_UZ, x) == -0.75);
    force_free(&f);
    world_free(&t);
}

/* ---- Ornstein–Uhlenbeck ---- */

static void turb_defaults(const char *spectrum, double comp_frac)
{
    defaults("turb");
    struct param_turb *p = &par.turb;
    snprintf(p->forcing_power_spectrum, sizeof p->forcing_power_spectrum, "%s", spectrum);
    p->comp_frac = comp_frac, p->turb_t = 0.5, p->turb_ndt = 20, p->turb_rms = 3;
}

static void test_projection(double comp_frac)
{
    struct stencil t;
    struct force *f = NULL;
    turb_defaults("parabolic", comp_frac);
    world_whole(&t, &par, &comm);
    CHECK(force_new(&t, &f) == OK, "%s", err_message());
    kick(f, &t, 0, 0.1);
    kick(f, &t, 1, 0.1);
    struct world_law l = world_law(&t, FD_UX, 0);
    double k = 2 * M_PI;
    CHECK((l.divergence < 1e-11 * k * l.field) == (comp_frac == 0), "divergence %g of %g",
          l.divergence, k * l.field);
    CHECK((l.beltrami < 1e-11 * k * l.field) == (comp_frac == 1), "curl %g of %g", l.beltrami,
          k * l.field);
    force_free(&f);
    world_free(&t);
}

/* Mean square over cells and components, and product with other amplitudes, from the modes. */
static double mean_product(const struct waves *w, double (*a)[3][2], double (*b)[3][2])
{
    double sum = 0;
    for (int i = 0; i < w->n; i++)
        for (int d = 0; d < 3; d++)
            for (int c = 0; c < 2; c++) sum += a[i][d][c] * b[i][d][c];
    return sum / 2 / 3;
}

static void test_statistics(const char *spectrum, double comp_frac)
{
    enum { TIMES = 1500 };
    struct stencil t;
    struct driven *o = NULL;
    turb_defaults(spectrum, comp_frac);
    world_whole(&t, &par, &comm);
    CHECK(driven_new(&t, &o) == OK, "%s", err_message());
    const struct waves *w = driven_at(o, 0);
    size_t bytes = sizeof *w->amp * (size_t)w->n;
    double(*before)[3][2] = mem_new(bytes, "test"), square = 0, lag = 0;
    memcpy(before, w->amp, bytes);
    for (int i = 1; i <= TIMES; i++) {
        driven_at(o, 0.5 * i); /* steps of turb_t */
        square += mean_product(w, w->amp, w->amp);
        lag += mean_product(w, w->amp, before);
        memcpy(before, w->amp, bytes);
    }
    /* RAMSES's fit of the projection is good to 3 %; amplitudes do not quite decay as exp. */
    double rms = sqrt(square / TIMES), decay = pow(1 - 1.0 / 20, 20);
    CHECK(fabs(rms / 3 - 1) < 0.06, "%s, comp_frac=%g: rms %g, not 3", spectrum, comp_frac, rms);
    CHECK(fabs(lag / square - decay) < 0.03, "%s: correlation %g, not %g", spectrum, lag / square,
          decay);
    FREE(before);
    driven_free(&o);
    world_free(&t);
}

/* Two processes, one of which begins at a later time, have equal amplitudes; time steps that are
 * short or long compared with those of the process make no difference; nothing jumps. */
static void test_resume(void)
{
    struct stencil t;
    struct driven *a = NULL, *b = NULL;
    turb_defaults("konstandin", 0.3);
    par.turb.turb_ndt = 7;
    world_whole(&t, &par, &comm);
    CHECK(driven_new(&t, &a) == OK);
    double change = 0, size = 0;
    struct waves const *w = NULL;
    for (int i = 0; i < 700; i++) {
        double time = 0.13 * i, was = i ? w->amp[3][1][0] : 0;
        w = driven_at(a, time);
        if (i > 0) change = fmax(change, fabs(w->amp[3][1][0] - was));
        size = fmax(size, fabs(w->amp[3][1][0]));
        if (i % 50 != 0) continue;
        CHECK(driven_new(&t, &b) == OK);
        const struct waves *v = driven_at(b, time);
        CHECK(memcmp(w->amp, v->amp, sizeof *w->amp * (size_t)w->n) == 0, "at time %g", time);
        driven_free(&b);
    }
    CHECK(driven_new(&t, &b) == OK);
    CHECK(fabs(driven_at(a, 100.25 - 1e-9)->amp[3][1][0] - driven_at(b, 100.25)->amp[3][1][0]) <
              1e-6 * size,
          "it jumps");
    CHECK(change > 0.01 * size && change < 2 * size, "%g of %g", change, size);
    driven_free(&a);
    driven_free(&b);
    world_free(&t);
}

/* Gas below turb_min_rho is not driven; a run that resumes has the state of the first. */
static void test_turb_kick(void)
{
    struct stencil t;
    struct force *f = NULL, *g = NULL;
    double *state, *other;
    const int x[3] = {4, 4, 4}, y[3] = {4, 4, 5};
    turb_defaults("power_law", 0.3);
    par.turb.turb_min_rho = 0.5;
    world_whole(&t, &par, &comm);
    t.a.now[FD_LNRHO][stencil_at(&t.brick, 4, 4, 4)] = log(0.4);
    CHECK(force_new(&t, &f) == OK, "%s", err_message());
    kick(f, &t, 0, 0.1);
    CHECK(world_at(&t, FD_UX, x) == 0 && world_at(&t, FD_UX, y) != 0);
    CHECK(force_new(&t, &g) == OK);
    CHECK(force_state(f, &state) == 1 && force_state(g, &other) == 1 && *state != *other);
    *other = *state;
    kick(f, &t, 1, 0.1);
    double u = world_at(&t, FD_UX, y);
    kick(g, &t, 1, 0.1);
    CHECK(u == world_at(&t, FD_UX, y));
    force_free(&f);
    force_free(&g);
    world_free(&t);
}

static void test_bits(void)
{
    static const char *const name[] = {"helical", "solenoidal", "constant", "turb"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        defaults(name[i]);
        par.stencil.ny = 11, par.stencil.nz = 14;
        step_of_bits = 41;
        CHECK(world_differs(&par, &comm, (const int[]){2, 3, 2}, FD_UX, kick_bits) == 0, "%s",
              name[i]);
    }
}

static void refused(const char *part)
{
    struct stencil t;
    struct force *f = NULL;
    world_whole(&t, &par, &comm);
    CHECK_FAILS(force_new(&t, &f), part);
    CHECK(!f);
    force_free(&f);
    world_free(&t);
}

static void test_errors(void)
{
    defaults("helical");
    par.stencil.kf = 40;
    refused("stencil_params/kf=40: a mesh of 10 x 10 x 10 cells has no such wave");
    par.stencil.kf = 0.1, par.stencil.ly = 2, par.stencil.lz = 2;
    refused("kf=0.1: a mesh");
    defaults("helical");
    par.stencil.hydro = false;
    refused("set hydro=.true.");
    turb_defaults("flat", 0);
    refused("forcing_power_spectrum='flat' must be one of");
    turb_defaults("parabolic", 1.5);
    refused("turb_params/comp_frac=1.5 must be 0 .. 1");
    turb_defaults("parabolic", 0);
    par.turb.turb_t = 0;
    refused("turb_params/turb_t=0 must be > 0");
    par.turb.turb_t = 1, par.turb.turb_ndt = 0;
    refused("turb_params/turb_ndt=0 must be 1 .. 10000");
    par.turb.turb_ndt = 10, par.turb.turb_type = 3;
    refused("turb_params/turb_type=3 must be 1");
    defaults("none");
    struct stencil t;
    struct force *f = NULL;
    world_whole(&t, &par, &comm);
    CHECK(force_new(&t, &f) == OK && !f);
    double *state;
    CHECK(force_state(f, &state) == 0);
    world_free(&t);
}

int main(void)
{
    omp_set_num_threads(1);
    test_wave("helical", 1);
    test_wave("helical", -1);
    test_wave("helical", 0.3);
    test_wave("solenoidal", 1);
    test_constant();
    test_projection(0);
    test_projection(1);
    test_projection(0.3333);
    test_statistics("parabolic", 0.3333);
    test_statistics("konstandin", 0);
    test_resume();
    test_turb_kick();
    test_bits();
    omp_set_num_threads(2);
    test_bits();
    test_errors();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
