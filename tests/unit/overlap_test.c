/* Overlap of communication and computation: during a ghost exchange a rank works on octs that need
 * no ghosts, so that on a slow network the Godunov step and multigrid sweeps take about the longer
 * of the times of work and exchange, not their sum. Measured with the network and the clock of
 * latency.h. Catches: a wait directly after the begin of an exchange, or before the work that needs
 * no ghosts.
 *
 * test: tier=check timeout=240 mpi=2 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"

#include "adapt/adapt.h"
#include "base/mem.h"
#include "check.h"
#include "comm/comm.h"
#include "dom/ghost.h"
#include "grav/mg.h"
#include "hydro/hydro.h"

enum { LEVEL = 6, REPEATS = 9, SWEEPS = 4, SWEEP_LEVEL = 7 };

static struct world {
    struct comm c;
    struct domain *d;
    struct mesh m;
    struct hydro_par p;
    struct ghost_fill fill;
    struct mg mg;
} w;

static void gas_set(void)
{
    struct level *lv = &w.m.lev[LEVEL];
    if (!w.m.hydro) return;
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) {
            double x = 0.1 * sin((double)(lv->key[i] % 1000) + k);
            lv->fld[FLD_U][i][k] = 1 + x;
            for (int v = 1; v <= 3; v++) lv->fld[FLD_U + v][i][k] = x;
            lv->fld[FLD_U + GAS_ENERGY][i][k] = 2 + x;
        }
}

static void work(void)
{
    hydro_update(&w.m, LEVEL, 1e-4, 0, &w.p, NULL, NULL);
}

static void exchange(void)
{
    ghost_fill_hydro(&w.c, &w.m, LEVEL);
}

static void apart(void)
{
    exchange();
    work();
}

static void arrive(void *ctx)
{
    ghost_fill_end(ctx);
}

static void together(void)
{
    ghost_fill_hydro_begin(&w.fill, &w.c, &w.m, LEVEL);
    hydro_update(&w.m, LEVEL, 1e-4, 0, &w.p, &(struct patch_arrival){arrive, &w.fill, false}, NULL);
}

/* Time on the slowest rank, seconds. */
static double seconds(void (*what)(void))
{
    gas_set();
    latency_reset();
    what();
    double t = latency_now();
    comm_max_f64(&w.c, &t, 1);
    return t;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double x[REPEATS])
{
    double y[REPEATS];
    memcpy(y, x, sizeof y);
    qsort(y, REPEATS, sizeof *y, ascending);
    return y[REPEATS / 2];
}

/* Ratios of the time with overlap to the longer of the times of work and exchange. The median over
 * rounds counts, since the speed of the machine may vary. */
struct rounds {
    double alone[REPEATS], sent[REPEATS], both[REPEATS];
};

static void report(const char *what, double share, const struct rounds *r, double max)
{
    double ratio[REPEATS];
    for (int i = 0; i < REPEATS; i++) ratio[i] = r->both[i] / fmax(r->alone[i], r->sent[i]);
    if (w.c.rank == 0)
        printf("%s, latency %.1f: work %.1f ms, exchange %.1f, together %.1f, ratio %.2f\n", what,
               share, 1e3 * median(r->alone), 1e3 * median(r->sent), 1e3 * median(r->both),
               median(ratio));
    CHECK(median(ratio) <= max, "%s: together %g times the longer of both", what, median(ratio));
}

/* latency: in units of the work */
static void test_step(double share)
{
    struct rounds r;
    double whole[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        latency.seconds = share * seconds(work);
        r.alone[i] = seconds(work);
        r.sent[i] = seconds(exchange);
        whole[i] = seconds(apart) / (r.alone[i] + r.sent[i]);
        r.both[i] = seconds(together);
        CHECK(r.sent[i] >= latency.seconds, "the network is not slow: %g s", r.sent[i]);
    }
    report("Godunov step", share, &r, 1.2);
    CHECK(median(whole) >= 0.8, "one after the other takes %g of both", median(whole));
}

/* ---- multigrid ---- */

static void sweeps(void)
{
    mg_sweeps(&w.c, &w.mg.lev[SWEEP_LEVEL], false, SWEEPS, false);
}

/* latency: in units of the work of a sweep. No work overlaps with the exchange for octs at the
 * surface of a domain, six of a hundred, and for the red half of their neighbours. */
static void test_sweeps(double share)
{
    struct rounds r;
    for (int i = 0; i < REPEATS; i++) {
        latency.seconds = 0;
        r.alone[i] = seconds(sweeps);
        latency.seconds = share * r.alone[i] / SWEEPS;
        r.sent[i] = SWEEPS * latency.seconds;
        r.both[i] = seconds(sweeps);
    }
    report("sweeps", share, &r, 1.3);
}

static void mesh_make(int level, bool gas)
{
    static const bool periodic[6] = {false};
    w.d = domain_new(DOMAIN_KSECTION, w.c.size, level, periodic);
    mesh_init(&w.m, level, level, gas ? w.p.nvar : 0, gas, !gas, 1, periodic);
    adapt_build(&w.m, &w.c, w.d);
}

static void mesh_drop(void)
{
    mesh_fini(&w.m);
    domain_free(w.d);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &w.c);
    w.c.empty_messages = 0; /* latency.h needs messages for which receivers wait */
    /* thin tiles: tiles at the surface of a domain are an eighth of the work */
    w.p = (struct hydro_par){.nvar = 5,
                             .gamma = 1.4,
                             .smallr = 1e-10,
                             .smallc = 1e-10,
                             .slope_type = SLOPE_MINMOD,
                             .slope_theta = 1.5,
                             .niter_riemann = 10,
                             .tile_depth = 1};
    latency_reset();
    mesh_make(LEVEL, true);
    for (int i = 0; i < 3; i++) test_step((double[3]){0.5, 1, 2}[i]);
    mesh_drop();
    mesh_make(SWEEP_LEVEL, false);
    mg_build(&w.mg, &w.m, &w.c, SWEEP_LEVEL, NULL);
    struct mg_level *top = &w.mg.lev[SWEEP_LEVEL];
    top->u = mg_rows_new(top->noct, "test");
    memcpy(top->u, w.m.lev[SWEEP_LEVEL].fld[FLD_PHI], sizeof top->u[0] * (size_t)top->noct);
    memset(top->rhs, 0, sizeof top->rhs[0] * (size_t)top->noct);
    for (int i = 0; i < 3; i++) test_sweeps((double[3]){0.5, 1, 2}[i]);
    FREE(top->u);
    mg_free(&w.mg);
    mesh_drop();
    comm_fini();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
