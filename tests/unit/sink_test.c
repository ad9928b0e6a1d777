/* sink_test: sinks across levels, ranks and the periodic boundary give the bits of one rank; gas
 * and sinks together conserve mass, momentum and scalars; mergers conserve mass, momentum and
 * angular momentum. Catches: sums that stay on one rank, an image without answer, a cell
 * emptied by two clouds, gas accreted without its momentum, a pair whose distance is not
 * wrapped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "half_world.h"
#include "sink/descent.h"
#include "sink/merge.h"
#include "sink/ramses.h"

enum { NVAR = 6, SINKS = 9, SUMS = NVAR };

static struct comm comm;
static const struct comm alone = {.size = 1};

static void world_make(struct world *w, const struct comm *c)
{
    half_world(w, c, NVAR, true);
    world_fill(w, NVAR, false);
}

static struct sink_context place_of(struct world *w, const struct comm *c)
{
    return (struct sink_context){c, w->d, &w->m};
}

/* Makes sinks: some overlap, some lie on boundaries of the box, one on a boundary of levels. */
static void sinks_make(struct sinks *s, const struct world *w, const struct comm *c)
{
    int64_t lost;
    *s = (struct sinks){.family = SINK_RAMSES};
    for (int i = 0; i < SINKS; i++) {
        struct rng g = rng_make(7, (uint64_t)i, 0);
        double x[3], v[3];
        for (int d = 0; d < 3; d++) {
            x[d] = rng_uniform(&g);
            v[d] = rng_uniform(&g) - 0.5;
        }
        if (i % 3 == 0) x[i / 3] = i % 2 ? 0 : 1 - 1e-9;
        if (i == 4) x[2] = 0.5;
        if (i == 5) x[0] = x[1] = x[2] = 0.25;
        if (i % c->size != c->rank) continue;
        struct sink *a = sinks_add(s, 1);
        a->id = i + 1;
        a->m = 1e-3 * (i + 1);
        memcpy(a->x, x, sizeof x);
        memcpy(a->v, v, sizeof v);
    }
    sinks_settle(s, &w->m, c, w->d, &lost);
    CHECK(s->total == SINKS && lost == 0);
}

/* ---- rates ---- */

static void test_alpha(void)
{
    double last = HUGE_VAL;
    for (double x = 1e-3; x < 1e3; x *= 1.01) {
        double a = sink_bondi_alpha(x);
        CHECK(a < last * 1.03 && a >= 1, "x = %g: %g after %g", x, a, last);
        last = a;
    }
    CHECK(fabs(sink_bondi_alpha(0.01) / sink_bondi_alpha(0.010001) - 1) < 0.04);
    CHECK(fabs(sink_bondi_alpha(2) / sink_bondi_alpha(1.99999) - 1) < 0.02);
    CHECK(fabs(sink_bondi_alpha(1e6) - 1) < 1e-5);
}

/* Far from dense gas a sink accretes at the Bondi rate: 4π λ (GM)² ρ/c³. */
static void test_rate(void)
{
    struct sink_law law = {.G = 2, .accretion = ACCRETE_BONDI, .boost = 1, .gamma = 5. / 3};
    sink_cloud_make(&law.cloud, 4, 4, 1);
    struct sink s = {.m = 1e-6};
    s.gas[1] = (struct sink_gas){.volume = 3, .mass = 6, .thermal = 9};
    sink_rates(&law, 1, 1, &s);
    double c2 = 2. / 3 * 1.5, want = 4 * M_PI * pow(2e-6 / c2, 2) * 2 * sqrt(c2);
    CHECK(fabs(s.rate / want - 1) < 1e-5, "%g, expected %g", s.rate, want);
    law.boost = 8;
    sink_rates(&law, 1, 1, &s);
    CHECK(fabs(s.rate / (8 * want) - 1) < 1e-5, "boost is that of the rate: %g", s.rate / want);
    law.limited = true;
    law.eddington = 1e-9;
    law.cap = 1;
    sink_rates(&law, 1, 1, &s);
    CHECK(s.rate == 1e-15);
    law.cap = 0.5;
    sink_rates(&law, 1, 1, &s);
    CHECK(s.rate == 0.5e-15);
    sink_cloud_free(&law.cloud);
}

/* A sink on a slope that steepens moves along its acceleration, and not where it flattens. */
static void test_descent(void)
{
    const double drift[3] = {0.3, 0, 0}, last[3] = {1, 0, 0}, f[3] = {3, 4, 0};
    double x[3] = {0, 0, 0}, step = sink_descend(2, 0.1, 10, drift, last, f, x);
    double want = 2 * 0.1 * sqrt(0.3 * 2 / (2 * 2 + 4 * 4)) * 5;
    CHECK(fabs(step / want - 1) < 1e-14, "%g, expected %g", step, want);
    CHECK(fabs(x[0] - 0.6 * want) < 1e-15 && fabs(x[1] - 0.8 * want) < 1e-15 && x[2] == 0);
    CHECK(sink_descend(2, 0.1, 0.01, drift, last, f, x) == 0.01);
    CHECK(sink_descend(2, 0.1, 10, drift, f, last, x) == 0); /* Δx·Δf < 0 */
    CHECK(sink_descend(2, 0.1, 10, drift, f, f, x) == 0);
    CHECK(sink_descend(2, 0.1, 10, drift, f, (double[3]){0, 0, 0}, x) == 0);
}

/* ---- clouds ---- */

/* In the middle of the refined half every point of a cloud has weight 1, and the whole mass is
 * deposited. */
static void test_weights(void)
{
    struct world w;
    struct sink_cloud cloud;
    const double x[3] = {0.51, 0.49, 0.253};
    world_make(&w, &alone);
    sink_cloud_make(&cloud, 2, 1, mesh_dx(&w.m, LMAX));
    struct sink_cells cells;
    sink_cloud_cells(&cloud, &w.m, LMAX, x, &cells);
    double sum = 0;
    for (int64_t i = 0; i < cells.n; i++) sum += cells.cell[i].w;
    CHECK(fabs(sum / cloud.n - 1) < 1e-13, "%g of %d", sum, cloud.n);
    FREE(cells.cell);
    const struct level *lv = &w.m.lev[LMAX];
    int64_t(*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct, "test"), all = 0, number = 0;
    int64_t(*count)[8] = mem_zero(sizeof *count * (size_t)lv->noct, "test");
    struct sink_trace t = {.mass = 1. / cloud.nheavy, .quantum = 1e-15, .each = 1};
    sink_cloud_deposit(&cloud, &w.m, LMAX, x, &t, mass, count);
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) {
            all += mass[i][k];
            number += count[i][k];
        }
    CHECK(fabs(1e-15 * (double)all - 1) < 1e-12, "mass %g", 1e-15 * (double)all);
    CHECK(fabs((double)number / 4294967296.0 / cloud.n - 1) < 1e-7);
    FREE(mass);
    FREE(count);
    sink_cloud_free(&cloud);
    world_free(&w);
}

/* At a boundary of levels, points in the refined half (z < 1/2) overlap its cells only, and other
 * points coarse cells only. */
static void test_border(void)
{
    struct world w;
    struct sink_cloud cloud;
    const double x[3] = {0.51, 0.49, 0.49};
    world_make(&w, &alone);
    sink_cloud_make(&cloud, 2, 1, mesh_dx(&w.m, LMAX));
    for (int l = LMIN; l <= LMAX; l++) {
        double sum = 0, want = 0, dx = mesh_dx(&w.m, l);
        struct sink_cells cells;
        sink_cloud_cells(&cloud, &w.m, l, x, &cells);
        for (int64_t i = 0; i < cells.n; i++) sum += cells.cell[i].w;
        for (int k = 0; k < cloud.n; k++) {
            double z = x[2] + cloud.at[k][2], u = z / dx - 0.5, f = u - floor(u);
            bool here = (z < 0.5) == (l == LMAX);
            bool low = ((floor(u) + 0.5) * dx < 0.5) == (l == LMAX);
            bool high = ((floor(u) + 1.5) * dx < 0.5) == (l == LMAX);
            want += here ? (1 - f) * low + f * high : 0;
        }
        CHECK(fabs(sum - want) < 1e-10 * want, "level %d: %g, expected %g", l, sum, want);
        FREE(cells.cell);
    }
    sink_cloud_free(&cloud);
    world_free(&w);
}

/* ---- accretion ---- */

static void totals(const struct world *w, const struct comm *c, const struct sinks *s,
                   double out[SUMS])
{
    struct sum sum[SUMS];
    for (int k = 0; k < SUMS; k++) sum_init(&sum[k]);
    world_gas(w, NVAR, sum);
    for (int64_t i = 0; i < s->n; i++) {
        double m = s->at[i].m + s->at[i].hole;
        sum_add(&sum[0], m);
        for (int d = 0; d < 3; d++) sum_add(&sum[GAS_MOMENTUM + d], m * s->at[i].v[d]);
    }
    comm_sums(c, sum, SUMS);
    for (int k = 0; k < SUMS; k++) out[k] = sum_get(&sum[k]);
}

static void change_gas(struct world *w, int l, const struct hydro_change *c, double *min)
{
    const struct level *lv = &w->m.lev[l];
    for (lidx i = 0; c->row && i < lv->nown; i++)
        for (int k = 0; c->row[i] >= 0 && k < 8; k++) {
            for (int v = 0; v < NVAR; v++)
                lv->fld[FLD_U + v][i][k] += c->u[(size_t)NVAR * (size_t)c->row[i] + v][k];
            *min = fmin(*min, lv->fld[FLD_U][i][k]);
        }
}

/* All sinks accrete `each` per unit of weight from level l. */
static void feed(struct world *w, const struct comm *c, const struct sink_law *law, struct sinks *s,
                 int l, double each, double *min)
{
    struct sink_context location = place_of(w, c);
    struct sink_copies copies;
    struct hydro_change change = {.nvar = NVAR};
    struct sink_request *request = mem_zero(sizeof *request * (size_t)s->n + 1, "test");
    struct sum *got = mem_new(sizeof *got * REQUEST_SUMS * (size_t)s->n + 1, "test");
    for (int64_t i = 0; i < s->n; i++) {
        request[i] = (struct sink_request){
            .m = each, .hole = 0.25 * each, .rho = 1, .by_mass = true};
        memcpy(request[i].v, s->at[i].v, sizeof request[i].v);
    }
    CHECK(sink_call(&location, s, NULL, sink_cloud_reach(&law->cloud, &w->m, l), sizeof *request,
                    request, &copies) == OK);
    struct sum *sum = mem_new(sizeof *sum * REQUEST_SUMS * (size_t)copies.here.n + 1, "test");
    for (int64_t i = 0; i < copies.here.n; i++) {
        struct sink_cells cells;
        struct sink_request e;
        memcpy(&e, sink_row(&copies, i), sizeof e);
        for (int k = 0; k < REQUEST_SUMS; k++) sum_init(&sum[REQUEST_SUMS * i + k]);
        sink_cloud_cells(&law->cloud, &w->m, l, copies.here.at[i].x, &cells);
        sink_take(law, &w->m, l, &e, &cells, &(struct sink_meal){.change = &change},
                  sum + REQUEST_SUMS * i);
        FREE(cells.cell);
    }
    sink_answer(&location, s, &copies, REQUEST_SUMS, sum, got);
    for (int64_t i = 0; i < s->n; i++) {
        sink_digest(law, got + REQUEST_SUMS * i, false, &s->at[i]);
        sink_wrap(&w->m, s->at[i].x);
    }
    change_gas(w, l, &change, min);
    hydro_change_free(&change);
    sink_copies_free(&copies);
    FREE(sum);
    FREE(got);
    FREE(request);
}

/* States of all sinks, by id, on all ranks. */
static struct sink *gather(const struct comm *c, const struct sinks *s)
{
    struct sink *all = mem_zero(sizeof *all * (size_t)(s->total + s->n), "test"),
                *out = mem_zero(sizeof *out * SINKS, "test");
    if (s->n) memcpy(all, s->at, sizeof *all * (size_t)s->n);
    comm_union(c, s->n, s->total, sizeof *all, all, 0, NULL);
    for (int64_t i = 0; i < s->total; i++) out[all[i].id - 1] = all[i];
    FREE(all);
    return out;
}

static struct sink *requests(const struct comm *c, double each)
{
    struct world w;
    struct sinks s;
    double before[SUMS], after[SUMS], min = HUGE_VAL;
    world_make(&w, c);
    sinks_make(&s, &w, c);
    struct sink_law law = {.smallr = 1e-10, .nvar = NVAR};
    sink_cloud_make(&law.cloud, 2, 2, mesh_dx(&w.m, LMAX));
    totals(&w, c, &s, before);
    for (int l = LMAX; l >= LMIN; l--) feed(&w, c, &law, &s, l, each, &min);
    totals(&w, c, &s, after);
    double grown = 0;
    for (int64_t i = 0; i < s.n; i++) grown = fmax(grown, s.at[i].dmf);
    comm_max_f64(c, &grown, 1);
    CHECK(grown > 0);
    CHECK(min > 0, "density %g", min);
    for (int k = 0; k < GAS_ENERGY; k++)
        CHECK(fabs(after[k] - before[k]) < 1e-13, "%d: %.17g before, %.17g after", k, before[k],
              after[k]);
    CHECK(after[GAS_ENERGY] < before[GAS_ENERGY] && after[GAS_SCALARS] < before[GAS_SCALARS]);
    struct sink *out = gather(c, &s);
    sink_cloud_free(&law.cloud);
    sinks_free(&s);
    world_free(&w);
    return out;
}

static void test_requests(double each)
{
    struct sink *one = requests(&alone, each), *all = requests(&comm, each);
    for (int i = 0; i < SINKS; i++) {
        CHECK(one[i].m == all[i].m && one[i].hole == all[i].hole, "sink %d", i + 1);
        for (int d = 0; d < 3; d++)
            CHECK(one[i].x[d] == all[i].x[d] && one[i].v[d] == all[i].v[d] &&
                      one[i].l[d] == all[i].l[d],
                  "sink %d", i + 1);
    }
    FREE(one);
    FREE(all);
}

/* ---- mergers ---- */

/* Makes two pairs of neighbours, one across a face, and a single sink. */
static void pairs_make(struct sinks *s, const struct world *w, const struct comm *c)
{
    static const double X[5][3] = {
        {0.999, 0.5, 0.5}, {0.01, 0.5, 0.51}, {0.3, 0.3, 0.3}, {0.31, 0.3, 0.3}, {0.7, 0.7, 0.2}};
    int64_t lost;
    *s = (struct sinks){.family = SINK_RAMSES};
    for (int i = 0; i < 5; i++) {
        if (i % c->size != c->rank) continue;
        struct sink *a = sinks_add(s, 1);
        *a = (struct sink){.id = i + 1, .m = 1 + i, .birth = i};
        for (int d = 0; d < 3; d++) {
            a->x[d] = X[i][d];
            a->v[d] = i * d - 2 + d;
        }
    }
    sinks_settle(s, &w->m, c, w->d, &lost);
}

static void test_merge(double young, double checked, int want)
{
    struct world w;
    struct sinks s;
    int64_t merged, lost;
    world_make(&w, &comm);
    pairs_make(&s, &w, &comm);
    struct sink_context location = place_of(&w, &comm);
    struct sink_merging law = {
        .dx = 0.01, .cloud = 0.04, .G = 1, .t = 4.5, .young = young, .checked = checked};
    CHECK(sinks_merge(&location, &law, &s, &merged) == OK && merged == want, "%ld merged, not %d",
          (long)merged, want);
    sinks_settle(&s, &w.m, &comm, w.d, &lost);
    CHECK(s.total == 5 - want && lost == 0);
    for (int64_t i = 0; i < s.n && want == 2; i++) {
        const struct sink *a = &s.at[i];
        if (a->id == 1) {
            double x = (0.999 + 2 * 1.01) / 3 - 1, u = 0.011 * (1. - 0) * 2 / 3;
            CHECK(a->m == 3 && fabs(a->x[0] - x) < 1e-15 && a->near == 3);
            CHECK(fabs(a->v[2] - (0 + 2 * 2) / 3.) < 1e-15);
            CHECK(fabs(a->l[2] - u) < 1e-15, "%g, expected %g", a->l[2], u);
        }
        if (a->id == 3) CHECK(a->m == 7 && a->birth == 2);
        CHECK(a->id != 2 && a->id != 4);
    }
    sinks_free(&s);
    world_free(&w);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_alpha();
    test_rate();
    test_descent();
    test_weights();
    test_border();
    test_requests(1e-2);
    test_requests(1e3); /* more than the available gas */
    test_merge(0, 1e100, 2);
    test_merge(2, 1e100, 1);  /* both sinks of the first pair are too old */
    test_merge(0, 1e-100, 2); /* bound: 2 G m / r > v² */
    int64_t bad = failed;
    comm_max_i64(&comm, &bad, 1);
    if (comm.rank == 0 || failed) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return bad > 0;
}
