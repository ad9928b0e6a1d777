/* horizon_test: formation and mergers of black holes across levels, ranks and the periodic
 * boundary. Catches: a condition that is not checked, stars of another rank that do not count,
 * a hole formed near one across the boundary, a seed not subtracted from the gas, friends of
 * friends that do not meet, a bound pair found with G m1 m2/r^2, a merger that depends on ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "half_world.h"
#include "hole/create.h"
#include "hole/merge.h"
#include "hole/spin.h"

enum { NVAR = 6 };

static struct comm comm;
static const struct comm alone = {.size = 1};
static struct params par;
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3, .smallc = 1e-10};

static void settle(struct sinks *s, const struct world *w, const struct comm *c)
{
    int64_t lost;
    sinks_settle(s, &w->m, c, w->d, &lost);
    CHECK(lost == 0, "%ld lost", (long)lost);
}

/* ---- births ---- */

/* A dense cell of the fine level with eight stars. */
struct site {
    int cell[3];
    /* density and specific internal energy of the gas; mass and speed of a star */
    double rho, e, star, speed;
    int64_t id; /* id of the hole that forms there; 0: none */
};
static const double COLD = 0.01;
enum { SITES = 8, HEAVY = 1, LIGHT = 2 };
static const struct site SITE[SITES] = {
    {{4, 4, 4}, 10, 0.01, 2e-4, 2, HEAVY}, /* densest cell */
    {{5, 4, 4}, 9, 0.01, 2e-4, 2, 0},      /* next to the densest cell */
    {{12, 4, 4}, 8, 0.01, 2e-4, 2, LIGHT}, /* far from both */
    {{4, 12, 4}, 7, 0.01, 2e-4, 0.1, 0},   /* slow stars */
    {{12, 12, 4}, 6, 1, 2e-4, 2, 0},       /* hot: the Jeans length exceeds four cells */
    {{8, 0, 4}, 5, 0.01, 2e-5, 2, 0},      /* few stars */
    {{0, 8, 4}, 20, 0.01, 2e-4, 2, 0},     /* close to a hole across the boundary */
    {{8, 8, 7}, 1.9, 0.01, 2e-4, 2, 0}};   /* not enough gas */
static const struct hole_seeding SEEDING = {.dense = 2,
                                            .mass = 2e-3,
                                            .apart = 0.25,
                                            .stars = 0.1,
                                            .dispersion = 1,
                                            .G = 1,
                                            .with_stars = true};

static void put_gas(struct world *w)
{
    for (int l = LMIN; l <= LMAX; l++)
        for (lidx i = 0; i < w->m.lev[l].nown; i++)
            for (int c = 0; c < 8; c++) {
                int64_t q[3];
                double rho = 1, e = COLD;
                okey_coords(w->m.lev[l].key[i] << 3 | (okey)c, q);
                for (int k = 0; k < SITES && l == LMAX; k++)
                    if (q[0] == SITE[k].cell[0] && q[1] == SITE[k].cell[1] &&
                        q[2] == SITE[k].cell[2])
                        rho = SITE[k].rho, e = SITE[k].e;
                for (int d = 0; d < 3; d++)
                    w->m.lev[l].fld[FLD_U + 1 + d][i][c] = rho * (0.1 * d - 0.05);
                w->m.lev[l].fld[FLD_U][i][c] = rho;
                w->m.lev[l].fld[FLD_U + GAS_ENERGY][i][c] = rho * (e + 0.5 * 0.0275);
                w->m.lev[l].fld[FLD_U + 5][i][c] = 0.3 * rho;
            }
}

static void put_stars(struct world *w, const struct comm *c)
{
    double dx = mesh_dx(&w->m, LMAX);
    for (int k = 0; k < SITES && c->rank == 0; k++)
        for (int i = 0; i < 8; i++) {
            int64_t n = part_append(&w->p, 1);
            for (int d = 0; d < 3; d++) {
                double side = (i >> d & 1) - 0.5;
                w->p.x[d][n] = (SITE[k].cell[d] + 0.5 + 0.4 * side) * dx;
                w->p.v[d][n] = d == 1 ? 2 * side * SITE[k].speed : 7;
            }
            w->p.m[n] = SITE[k].star;
            w->p.family[n] = FAM_STAR;
            w->p.id[n] = 8 * k + i;
        }
    CHECK(part_distribute(&w->p, &w->m, c, w->d) == OK);
}

static void totals(const struct world *w, const struct sinks *s, double out[NVAR])
{
    struct sum sum[NVAR];
    for (int k = 0; k < NVAR; k++) sum_init(&sum[k]);
    world_gas(w, NVAR, sum);
    for (int64_t i = 0; i < s->n; i++) {
        sum_add(&sum[0], s->at[i].m);
        for (int d = 0; d < 3; d++) sum_add(&sum[1 + d], s->at[i].m * s->at[i].v[d]);
    }
    comm_sums(&comm, sum, NVAR);
    for (int k = 0; k < NVAR; k++) out[k] = sum_get(&sum[k]);
}

/* Checks a new hole on its rank. */
static void check_hole(const struct world *w, const struct sink *a)
{
    const struct site *k = &SITE[a->id == HEAVY ? 0 : 2];
    double dx = mesh_dx(&w->m, LMAX), volume = dx * dx * dx;
    double stable = M_PI * (2. / 3 * COLD) / (16 * dx * dx);
    double want = a->id == HEAVY ? 2e-3 : (8 - stable / 4) * volume;
    CHECK(fabs(a->m / want - 1) < 1e-12 && a->birth == 3, "hole %ld: %.15g, not %.15g", (long)a->id,
          a->m, want);
    lidx oct = mesh_find(&w->m.lev[LMAX],
                         okey_make((uint64_t)k->cell[0] / 2, (uint64_t)k->cell[1] / 2, 2));
    int cell = (k->cell[0] & 1) | (k->cell[1] & 1) << 1;
    CHECK(oct >= 0 && oct < w->m.lev[LMAX].nown, "hole %ld is not with its cell", (long)a->id);
    const double *u[NVAR];
    for (int v = 0; v < NVAR; v++) u[v] = &w->m.lev[LMAX].fld[FLD_U + v][oct][cell];
    CHECK(fabs(*u[0] + a->m / volume - k->rho) < 1e-12, "gas %g", *u[0]);
    CHECK(fabs(*u[5] / *u[0] - 0.3) < 1e-15 && fabs(*u[1] / *u[0] + 0.05) < 1e-15);
    CHECK(fabs(*u[4] / *u[0] - (k->e + 0.5 * 0.0275)) < 1e-15, "temperature");
    for (int d = 0; d < 3; d++) {
        CHECK(a->x[d] == (k->cell[d] + 0.5) * dx, "place");
        CHECK(fabs(a->v[d] - (0.1 * d - 0.05)) < 1e-15, "velocity");
    }
}

static void test_births(bool with_stars)
{
    struct world w;
    struct hole_seeding law = SEEDING;
    struct sinks s = {.family = SINK_HORIZON};
    double before[NVAR], after[NVAR];
    int64_t born, again;
    law.with_stars = with_stars;
    half_world(&w, &comm, NVAR, false);
    put_gas(&w);
    put_stars(&w, &comm);
    if (comm.rank == comm.size - 1) {
        struct sink *a = sinks_add(&s, 1);
        *a = (struct sink){.id = 7, .m = 1, .x = {0.95, 0.53, 0.28}};
    }
    settle(&s, &w, &comm);
    totals(&w, &s, before);
    struct term_run r = {.par = &par,
                         .hydro = &hydro,
                         .comm = &comm,
                         .dom = w.d,
                         .mesh = &w.m,
                         .parts = &w.p,
                         .t = 3,
                         .aexp = 1};
    r.units = units_at(&par.units, NULL, 1);
    CHECK(hole_create(&r, &law, &s, &born) == OK);
    CHECK(born == (with_stars ? 2 : 4), "%ld are born", (long)born);
    for (int64_t i = 0; i < s.n && with_stars; i++)
        if (s.at[i].id != 7) check_hole(&w, &s.at[i]);
    totals(&w, &s, after);
    for (int k = 0; k < NVAR; k++) {
        if (k == GAS_ENERGY || k == 5) continue; /* energy of the gas in the seed is lost */
        CHECK(fabs(after[k] - before[k]) < 1e-14, "variable %d: %.17g, not %.17g", k, after[k],
              before[k]);
    }
    settle(&s, &w, &comm);
    CHECK(s.total == born + 1 && s.made == born);
    CHECK(hole_create(&r, &law, &s, &again) == OK && again == 0, "%ld more", (long)again);
    par.amr.nsinkmax = 2;
    law.apart = 1e-3;
    enum err err = hole_create(&r, &law, &s, &again);
    CHECK(err == ERR_LIMIT && strstr(err_message(), "nsinkmax"), "too many");
    par.amr.nsinkmax = 2000;
    sinks_free(&s);
    world_free(&w);
}

/* ---- mergers ---- */

enum { HOLES = 200, FIRST = 9 };

/* Makes a chain across the boundary; a bound pair, and an unbound one; a pair for which G m1 m2/r^2
 * would decide differently; others at random, some of which are close. */
static void holes_make(struct sink a[HOLES])
{
    struct rng g = rng_make(11, 2, 3);
    const double x[FIRST][3] = {{0.99, 0.3, 0.5}, {0.005, 0.3, 0.5}, {0.02, 0.3, 0.5},
                                {0.3, 0.3, 0.3},  {0.31, 0.3, 0.3},  {0.6, 0.3, 0.3},
                                {0.61, 0.3, 0.3}, {0.6, 0.8, 0.3},   {0.61, 0.8, 0.3}};
    const double v[FIRST] = {0, 0, 0, 0, 1, 0, 30, 0, 15};
    for (int i = 0; i < HOLES; i++) {
        a[i] = (struct sink){.id = 1 + 71 * i % 211, .m = 1 + rng_uniform(&g), .born = 1};
        a[i].spinmag = 1.9 * rng_uniform(&g) - 0.95;
        a[i].spin[i % 3] = 1;
        a[i].Esave = rng_uniform(&g), a[i].dMsmbh = rng_uniform(&g);
        for (int d = 0; d < 3; d++) {
            a[i].x[d] = rng_uniform(&g);
            a[i].v[d] = 0.1 * rng_uniform(&g);
        }
        if (i >= FIRST) a[i].x[1] = 0.5 + 0.25 * a[i].x[1];
        for (int d = 0; d < 3 && i < FIRST; d++) a[i].x[d] = x[i][d], a[i].v[d] = 0;
        if (i < FIRST) a[i].v[1] = v[i], a[i].m = 1;
    }
    a[1].m = 3;
}

/* order by id, for all holes on all ranks */
static int by_id(const void *a, const void *b)
{
    const struct sink *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct sink *gather(const struct sinks *s, const struct comm *c, int64_t *n)
{
    struct sink *all = mem_new(sizeof *all * (size_t)(s->total + s->n) + 1, "test");
    if (s->n) memcpy(all, s->at, sizeof *all * (size_t)s->n);
    *n = comm_union(c, s->n, s->total, sizeof *all, all, 0, NULL);
    qsort(all, (size_t)*n, sizeof *all, by_id);
    return all;
}

static struct sink *merged(const struct comm *c, const struct hole_merging *law, int64_t *n,
                           int64_t *lost)
{
    struct world w;
    struct sink a[HOLES];
    struct sinks s = {.family = SINK_HORIZON};
    half_world(&w, c, NVAR, false);
    holes_make(a);
    for (int i = 0; i < HOLES; i++)
        if (i * 5 % 7 % c->size == c->rank) *sinks_add(&s, 1) = a[i];
    settle(&s, &w, c);
    struct sink_context p = {c, w.d, &w.m};
    CHECK(hole_merge(&p, law, &s, lost) == OK);
    settle(&s, &w, c);
    struct sink *all = gather(&s, c, n);
    sinks_free(&s);
    world_free(&w);
    return all;
}

static const struct sink *of(const struct sink *a, int64_t n, int i)
{
    struct sink first[HOLES];
    holes_make(first);
    for (int64_t k = 0; k < n; k++)
        if (a[k].id == first[i].id) return &a[k];
    return NULL;
}

static void check_sums(const struct sink *a, int64_t n)
{
    struct sink first[HOLES];
    struct sum s[2][7];
    holes_make(first);
    for (int k = 0; k < 14; k++) sum_init(&s[k / 7][k % 7]);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < (k ? n : HOLES); i++) {
            const struct sink *b = k ? &a[i] : &first[i];
            sum_add(&s[k][0], b->m);
            sum_add(&s[k][1], b->Esave);
            sum_add(&s[k][2], b->dMsmbh);
            for (int d = 0; d < 3; d++) sum_add(&s[k][3 + d], b->m * b->v[d]);
        }
    for (int k = 0; k < 6; k++)
        CHECK(fabs(sum_get(&s[0][k]) - sum_get(&s[1][k])) < 1e-13 * fabs(sum_get(&s[0][k])),
              "sum %d: %.17g, not %.17g", k, sum_get(&s[1][k]), sum_get(&s[0][k]));
}

static void test_mergers(bool bound)
{
    /* separation 0.01, masses 1: bound below sqrt(4 G/r) = 20 */
    const struct hole_merging law = {.link = 0.016, .G = 1, .bound = bound, .spin = true};
    int64_t n, m, lost, same;
    struct sink *a = merged(&comm, &law, &n, &lost), *b = merged(&alone, &law, &m, &same);
    CHECK(n == m && lost == same && n + lost == HOLES, "%ld left, %ld alone", (long)n, (long)m);
    CHECK(lost >= 5, "%ld", (long)lost);
    for (int64_t i = 0; i < n && n == m; i++)
        CHECK(memcmp(&a[i], &b[i], sizeof *a) == 0, "hole %ld", (long)a[i].id);
    check_sums(a, n);
    const struct sink *chain = of(a, n, 1);
    CHECK(chain && !of(a, n, 0) && !of(a, n, 2), "friends of friends");
    if (chain) {
        double x = remainder((3 * 0.005 + 0.02 - 0.01) / 5, 1);
        CHECK(chain->m == 5 && fabs(remainder(chain->x[0] - x, 1)) < 1e-15, "%.17g", chain->x[0]);
        CHECK(fabs(chain->spinmag) <= SPIN_MAX && chain->x[0] >= 0);
    }
    CHECK(!of(a, n, 3) || !of(a, n, 4), "a bound pair");
    CHECK((of(a, n, 5) && of(a, n, 6)) == bound, "a pair that flies by");
    CHECK(!of(a, n, 7) || !of(a, n, 8), "a pair that is hardly bound");
    FREE(a);
    FREE(b);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    param_init(&par);
    test_births(true);
    test_births(false);
    test_mergers(true);
    test_mergers(false);
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
