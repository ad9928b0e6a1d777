/* blast_test: blasts across levels, ranks and the periodic boundary. Results equal those of one
 * rank that tests all cells for each blast, bit by bit; mass, momentum, scalars and energy are
 * conserved. Catches: a bin that is not searched, a missing image, sums that stay on one rank,
 * an order that follows the ranks, a cell that gives more than is spread, energy of mixing that is
 * lost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "brute_bins.h"
#include "check.h"
#include "half_world.h"
#include "phys/blast.h"

enum { NVAR = 7, METAL = 5, BLASTS = 60, SUMS = NVAR };

static struct comm comm;
static const struct comm alone = {.size = 1};
static struct params par;
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3};

static void world_make(struct world *w, const struct comm *c, bool uniform)
{
    half_world(w, c, NVAR, false);
    world_fill(w, NVAR, uniform);
}

/* Makes random blasts; some share a cell, some contain no cell centre, some are large, some lie on
 * boundaries. max: the largest radius, which is the width of bins. */
static void blasts_make(struct blast b[BLASTS], double max)
{
    struct rng g = rng_make(5, 1, 0);
    for (int i = 0; i < BLASTS; i++) {
        b[i] = (struct blast){.at = {.id = 997 * i % 101 - 40}};
        for (int d = 0; d < 3; d++) {
            b[i].at.x[d] = rng_uniform(&g);
            b[i].v[d] = rng_uniform(&g) - 0.5;
        }
        if (i % 7 == 0) b[i].at.x[i % 3] = i % 2 ? 0 : 1 - 1e-15; /* on the boundary of the box */
        if (i % 7 == 1) b[i].at.x[2] = 0.5;                       /* on a boundary between levels */
        if (i % 7 == 2) memcpy(b[i].at.x, b[i - 1].at.x, sizeof b[i].at.x);
        b[i].at.radius = i % 5 == 0 ? 1e-3 : i % 5 == 1 ? 0.4 : 0.05 + 0.1 * rng_uniform(&g);
        b[i].at.radius = fmin(b[i].at.radius, max);
        b[i].mass = 1e-4 * (1 + rng_uniform(&g));
        b[i].metals = 0.3 * b[i].mass;
        b[i].energy = 0.01 * rng_uniform(&g);
        b[i].load = i % 3 ? 10 * b[i].mass : 1;
    }
}

static void check_conserved(const struct blast *b, const double a[SUMS], const double z[SUMS],
                            bool energy)
{
    double want[SUMS];
    memcpy(want, a, sizeof want);
    for (int i = 0; i < BLASTS; i++) {
        want[0] += b[i].mass;
        want[METAL] += b[i].metals;
        want[GAS_ENERGY] += b[i].energy;
        for (int d = 0; d < 3; d++) {
            want[1 + d] += b[i].mass * b[i].v[d];
            want[GAS_ENERGY] += 0.5 * b[i].mass * (b[i].v[d] * b[i].v[d]);
        }
    }
    for (int v = 0; v < SUMS; v++)
        if (energy || v != GAS_ENERGY)
            CHECK(fabs(z[v] - want[v]) < 1e-13, "variable %d: %.17g, not %.17g", v, z[v], want[v]);
}

static void test_many(double terminal, double kinetic, double max)
{
    struct blast b[BLASTS], mine[BLASTS];
    struct world w, whole;
    const struct blast_law law = {.kinetic = kinetic, .terminal = terminal, .supernova = 1e-3};
    double before[SUMS], after[SUMS];
    int64_t n = 0, bad;
    bool changed = false;
    blasts_make(b, max);
    for (int i = 0; i < BLASTS; i++)
        if (i * 5 % 7 % comm.size == comm.rank) mine[n++] = b[BLASTS - 1 - i];
    world_make(&w, &comm, false);
    world_make(&whole, &alone, false);
    world_totals(&w, &comm, NVAR, before);
    struct term_run r = world_run(&w, &comm, &par, &hydro),
                    one = world_run(&whole, &alone, &par, &hydro);
    enum err err = blast_apply(&r, &law, n, mine, &changed);
    CHECK(err == OK, "%s", err == OK ? "" : err_message());
    brute_begin(BRUTE_FIRST | BRUTE_REST);
    CHECK(blast_apply(&one, &law, BLASTS, b, &changed) == OK);
    brute_begin(0);
    world_totals(&w, &comm, NVAR, after);
    check_conserved(b, before, after, !(terminal > 0));
    bad = world_differ(&w, &whole, NVAR);
    CHECK(bad == 0, "%ld rows", (long)bad);
    world_free(&w);
    world_free(&whole);
}

/* One blast in gas at rest: radial momentum, and energy. */
static void one_blast(const struct blast_law *law, double *momentum, double *energy)
{
    struct world w;
    struct blast b = {.at = {7, {0.26, 0.99, 0.25}, 0.2}, .mass = 1e-6, .energy = 1e-3};
    double before[SUMS], after[SUMS];
    bool changed = false;
    struct sum sum;
    world_make(&w, &comm, true);
    for (int l = LMIN; l <= LMAX; l++)
        for (int v = GAS_MOMENTUM; v < GAS_ENERGY; v++)
            memset(w.m.lev[l].fld[FLD_U + v], 0, 64 * (size_t)w.m.lev[l].nown);
    world_totals(&w, &comm, NVAR, before);
    struct term_run r = world_run(&w, &comm, &par, &hydro);
    CHECK(blast_apply(&r, law, comm.rank == 0, &b, &changed) == OK);
    world_totals(&w, &comm, NVAR, after);
    sum_init(&sum);
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w.m.lev[l];
        double dx = mesh_dx(&w.m, l);
        for (lidx i = 0; i < 8 * lv->nown; i++) {
            int64_t q[3];
            double away = 0, r2 = 0;
            okey_coords(lv->key[i / 8] << 3 | (okey)(i % 8), q);
            for (int d = 0; d < 3; d++) {
                double x = remainder(((double)q[d] + 0.5) * dx - b.at.x[d], 1);
                away += x * lv->fld[FLD_U + GAS_MOMENTUM + d][i / 8][i % 8];
                r2 += x * x;
            }
            if (lv->child[i / 8][i % 8] < 0) sum_add(&sum, away / sqrt(r2) * (dx * dx * dx));
        }
    }
    comm_sum(&comm, &sum);
    *momentum = sum_get(&sum);
    *energy = after[GAS_ENERGY] - before[GAS_ENERGY];
    world_free(&w);
}

static void test_momentum(void)
{
    double p, e, n = 1 * world_run(&(struct world){0}, &comm, &par, &hydro).units.hydrogen;
    struct blast_law law = {.kinetic = 0.6, .terminal = 1e-4, .supernova = 1e-3};
    one_blast(&law, &p, &e);
    double want = 1e-4 * pow(n, -0.17);
    CHECK(fabs(p / want - 1) < 0.02, "terminal momentum %g, not %g", p, want);
    CHECK(e < 0.05 * 1e-3, "%g is not radiated away", e);
    law.terminal = 1; /* resolved: no energy is lost */
    one_blast(&law, &p, &e);
    CHECK(fabs(e / 1e-3 - 1) < 1e-12, "energy %.15g", e);
    CHECK(p > 1e-3 && p < sqrt(2 * 0.6e-3 * 0.04), "momentum %g", p);
    law.terminal = 0;
    one_blast(&law, &p, &e);
    CHECK(fabs(e / 1e-3 - 1) < 1e-12, "energy %.15g", e);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    param_init(&par);
    par.units.units_density = 1.66e-22;
    hydro.vars.at[SCALAR_METAL] = METAL;
    hydro.vars.at[SCALAR_DELAYED] = -1;
    test_many(0, 1, 1);
    test_many(0, 0.4, 0.035); /* many blocks of bins, most of them empty */
    test_many(1e-4, 1, 1);
    test_momentum();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
