/* agn_test: energy release by black holes across levels, ranks and the periodic boundary. Results
 * equal those of one rank that tests all cells for each hole, bit by bit; mass, momentum and
 * scalars are conserved; released + saved energy is that of the accreted mass. Catches: a
 * distance that is not wrapped, jets normalised twice, energy that the ceiling loses or makes,
 * cells near a hole that get the velocity of the previous one, a mode that depends on the ranks. */
#include "hole/agn.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "brute_bins.h"
#include "check.h"
#include "half_world.h"
#include "hole/spin.h"

enum { NVAR = 7, HOLES = 80 };

static struct comm comm;
static const struct comm alone = {.size = 1};
static struct params par;
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3};
static const struct agn_law LAW = {.radius = 0.15,
                                   .light2 = 1e4,
                                   .x_floor = 0.01,
                                   .heat = 0.15,
                                   .jet = 1,
                                   .loading = 100,
                                   .ceiling = HUGE_VAL,
                                   .arrested = false};

static void world_make(struct world *w, const struct comm *c, bool uniform)
{
    half_world(w, c, NVAR, false);
    world_fill(w, NVAR, uniform);
}

/* Makes holes of all modes; some share a cell, some lie on the boundary. */
static void holes_make(struct agn a[HOLES])
{
    struct rng g = rng_make(5, 1, 0);
    for (int i = 0; i < HOLES; i++) {
        a[i] = (struct agn){.at = {.id = 997 * i % 101 - 40},
                            .spin = 1.9 * rng_uniform(&g) - 0.95,
                            .efficiency = 0.1,
                            .accreted = 1e-6 * (1 + rng_uniform(&g)),
                            .rate = i % 2 ? 0.001 : 0.1};
        for (int d = 0; d < 3; d++) {
            a[i].at.x[d] = rng_uniform(&g);
            a[i].axis[d] = rng_uniform(&g) - 0.5;
        }
        if (i % 7 == 0) a[i].at.x[i % 3] = i % 2 ? 0 : 1 - 1e-15; /* on the boundary of the box */
        if (i % 7 == 1) a[i].at.x[2] = 0.5;                       /* on a boundary between levels */
        if (i % 7 == 2) memcpy(a[i].at.x, a[i - 1].at.x, sizeof a[i].at.x);
        if (i % 11 == 3) a[i].saved = 1e-3 * rng_uniform(&g);
        if (i % 11 == 4) a[i].rate = NAN;
        if (i % 11 == 5) memset(a[i].axis, 0, sizeof a[i].axis);
        if (i % 11 == 6) a[i].accreted = 0.5; /* a quarter of the mass of the cell */
        if (i % 11 == 7) a[i].accreted = 0;
    }
}

/* Energy that an active black hole releases. */
static double energy_of(const struct agn *a, const struct agn_law *law)
{
    if (a->saved > 0) return a->saved;
    double share = a->rate < law->x_floor ? law->jet : law->heat, of = share * a->efficiency;
    if (a->rate < law->x_floor && law->arrested) of = spin_jet(a->spin);
    return of * a->accreted * law->light2;
}

/* Checks each hole: its energy is released or saved; accreted mass is used once. */
static double check_holes(const struct agn *before, const struct agn *after,
                          const struct agn_law *law)
{
    double given = 0, max = 0;
    int64_t modes[4] = {0};
    for (int i = 0; i < HOLES; i++) {
        const struct agn *a = &before[i], *z = &after[i];
        double e = z->mode == AGN_QUIET ? 0 : energy_of(a, law);
        double left = z->mode == AGN_QUIET ? a->saved : 0;
        CHECK(fabs(z->given + z->saved - e - left) <= 1e-12 * e,
              "hole %d: %.17g + %.17g, not %.17g", i, z->given, z->saved, e);
        bool used = z->mode == AGN_HEAT || z->mode == AGN_JET;
        CHECK(z->accreted == (used ? 0 : a->accreted) && z->saved >= 0, "hole %d", i);
        CHECK((z->mode == AGN_SAVED) == (a->saved > 0), "hole %d", i);
        given += z->given, max += e;
        modes[z->mode]++;
    }
    for (int k = 0; k < 4; k++) CHECK(modes[k] > 2, "%ld of mode %d", (long)modes[k], k);
    if (law->ceiling < HUGE_VAL) CHECK(given < 0.9 * max, "nothing is saved: %g, %g", given, max);
    return given;
}

static void test_many(const struct agn_law *law)
{
    struct agn first[HOLES], all[HOLES], mine[HOLES];
    struct world w, whole;
    double before[NVAR], after[NVAR];
    int64_t n = 0, bad = 0, at[HOLES];
    bool changed = false;
    holes_make(first);
    memcpy(all, first, sizeof all);
    for (int i = 0; i < HOLES; i++)
        if (i * 5 % 7 % comm.size == comm.rank)
            at[n] = HOLES - 1 - i, mine[n++] = first[HOLES - 1 - i];
    world_make(&w, &comm, false);
    world_make(&whole, &alone, false);
    world_totals(&w, &comm, NVAR, before);
    struct term_run r = world_run(&w, &comm, &par, &hydro),
                    one = world_run(&whole, &alone, &par, &hydro);
    enum err err = agn_release(&r, law, n, mine, &changed);
    CHECK(err == OK, "%s", err == OK ? "" : err_message());
    brute_begin(BRUTE_FIRST | BRUTE_REST);
    CHECK(agn_release(&one, law, HOLES, all, &changed) == OK);
    brute_begin(0);
    world_totals(&w, &comm, NVAR, after);
    double given = check_holes(first, all, law);
    for (int v = 0; v < NVAR; v++) {
        double want = before[v] + (v == GAS_ENERGY ? given : 0);
        CHECK(fabs(after[v] - want) < 1e-13 * fmax(1, fabs(want)), "variable %d: %.17g, not %.17g",
              v, after[v], want);
    }
    for (int64_t i = 0; i < n; i++)
        bad += mine[i].given != all[at[i]].given || mine[i].saved != all[at[i]].saved ||
               mine[i].mode != all[at[i]].mode || mine[i].accreted != all[at[i]].accreted;
    CHECK(bad == 0, "%ld holes", (long)bad);
    bad = world_differ(&w, &whole, NVAR);
    CHECK(bad == 0, "%ld rows", (long)bad);
    world_free(&w);
    world_free(&whole);
}

/* Changes by one hole in gas at rest. */
struct found {
    int64_t changed, outside; /* changed cells; changed cells outside of the cylinder or sphere */
    double along, across;     /* sums of |momentum| along the axis, and perpendicular to it */
    double up;                /* sum of momentum along the axis, in cells above the hole */
    double hottest;           /* largest specific internal energy */
};

static void look(const struct world *w, const struct agn *a, const double axis[3], bool jet,
                 struct found *f)
{
    *f = (struct found){0};
    struct sum s[3];
    for (int k = 0; k < 3; k++) sum_init(&s[k]);
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l);
        for (lidx i = 0; i < 8 * lv->nown; i++) {
            int64_t q[3];
            double x[3], p[3], z = 0, r2 = 0, pz = 0, p2 = 0, u[5];
            okey_coords(lv->key[i / 8] << 3 | (okey)(i % 8), q);
            if (lv->child[i / 8][i % 8] >= 0) continue;
            for (int v = 0; v < 5; v++) u[v] = lv->fld[FLD_U + v][i / 8][i % 8];
            for (int d = 0; d < 3; d++) {
                x[d] = remainder(((double)q[d] + 0.5) * dx - a->at.x[d], 1);
                p[d] = u[1 + d] * (dx * dx * dx);
                z += x[d] * axis[d], pz += p[d] * axis[d];
                r2 += x[d] * x[d], p2 += p[d] * p[d];
            }
            bool in = jet ? fabs(z) <= 0.15 && r2 - z * z <= 0.15 * 0.15 : r2 <= 0.15 * 0.15;
            bool home = fabs(x[0]) <= dx && fabs(x[1]) <= dx && fabs(x[2]) <= dx;
            bool other = u[0] != 1 || u[GAS_ENERGY] != 3.5;
            f->changed += other;
            f->outside += other && !in && !home;
            sum_add(&s[0], fabs(pz));
            sum_add(&s[1], sqrt(fmax(p2 - pz * pz, 0)));
            sum_add(&s[2], z > 0 ? pz : 0);
            double m2 = u[1] * u[1] + u[2] * u[2] + u[3] * u[3];
            f->hottest = fmax(f->hottest, (u[GAS_ENERGY] - 0.5 * m2 / u[0]) / u[0]);
        }
    }
    comm_sums(&comm, s, 3);
    comm_add_i64(&comm, &f->changed, 1);
    comm_add_i64(&comm, &f->outside, 1);
    comm_max_f64(&comm, &f->hottest, 1);
    f->along = sum_get(&s[0]), f->across = sum_get(&s[1]), f->up = sum_get(&s[2]);
}

static struct found one_hole(const struct agn_law *law, struct agn *a, int times)
{
    struct world w;
    struct found f;
    double axis[3] = {0, 0.6, 0.8};
    bool jet = a->rate < law->x_floor, changed = false;
    world_make(&w, &comm, true);
    for (int l = LMIN; l <= LMAX; l++)
        for (int v = GAS_MOMENTUM; v < GAS_ENERGY; v++)
            memset(w.m.lev[l].fld[FLD_U + v], 0, 64 * (size_t)w.m.lev[l].nown);
    struct term_run r = world_run(&w, &comm, &par, &hydro);
    for (int d = 0; d < 3; d++) a->axis[d] = 7 * axis[d];
    for (int i = 0; i < times; i++) CHECK(agn_release(&r, law, comm.rank == 0, a, &changed) == OK);
    look(&w, a, axis, jet, &f);
    world_free(&w);
    return f;
}

static void test_jet(void)
{
    struct agn a = {.at = {7, {0.26, 0.97, 0.02}}, .efficiency = 0.1, .accreted = 1e-7, .rate = 0};
    struct found f = one_hole(&LAW, &a, 1);
    double want = sqrt(2 * 1e-5 * 1e-4); /* m u = sqrt(2 E m) */
    CHECK(fabs(f.along / want - 1) < 0.02, "momentum of both jets %g, not %g", f.along, want);
    CHECK(fabs(f.up / f.along - 0.5) < 1e-9, "%g of it above", f.up / f.along);
    CHECK(f.across < 1e-6 * f.along && f.outside == 0 && f.changed > 20, "%ld cells, %ld outside",
          (long)f.changed, (long)f.outside);
    if (comm.rank == 0) CHECK(a.mode == AGN_JET && a.saved == 0 && fabs(a.given - 1e-4) < 1e-16);
    struct agn b = a; /* the same hole away from the boundary */
    b.at.x[1] = 0.47, b.accreted = 1e-7;
    struct found g = one_hole(&LAW, &b, 1);
    CHECK(g.changed == f.changed && fabs(g.along / f.along - 1) < 1e-12, "%ld cells, not %ld",
          (long)g.changed, (long)f.changed);
}

/* Gas is heated up to the ceiling; the remaining energy is saved, and released later. */
static void test_ceiling(void)
{
    struct agn_law law = LAW;
    struct agn a = {.at = {7, {0.26, 0.97, 0.02}}, .efficiency = 0.1, .accreted = 1e-3, .rate = 1};
    double unit = world_run(&(struct world){0}, &comm, &par, &hydro).units.temperature * 2 / 3;
    law.ceiling = 5 * unit; /* in specific internal energy, which is 3.5 before */
    struct found f = one_hole(&law, &a, 1);
    CHECK(fabs(f.hottest / 5 - 1) < 1e-14 && f.outside == 0, "%g", f.hottest);
    if (comm.rank == 0) CHECK(a.saved > 0.1 && a.accreted == 0 && a.mode == AGN_HEAT);
    double e = 0.15 * 0.1 * 1e-3 * 1e4;
    if (comm.rank == 0) CHECK(fabs(a.given + a.saved - e) < 1e-15, "%.17g", a.given + a.saved);
    double saved = a.saved;
    one_hole(&law, &a, 1); /* new gas takes an equal amount again */
    if (comm.rank == 0)
        CHECK(a.mode == AGN_SAVED && fabs(a.given + a.saved - saved) < 1e-15 && a.saved < saved);
    a.accreted = 1e-3, a.saved = 0;
    one_hole(&law, &a, 2); /* gas at the ceiling takes nothing */
    if (comm.rank == 0) CHECK(fabs(a.given) < 1e-14 && a.mode == AGN_SAVED, "%g", a.given);
    struct agn b = {.at = {7, {0.26, 0.97, 0.02}}, .efficiency = 0.1, .accreted = 1e-3, .rate = 1};
    law.min = 1e30; /* energy below the minimum is saved */
    f = one_hole(&law, &b, 1);
    CHECK(f.changed == 0, "%ld cells", (long)f.changed);
    if (comm.rank == 0) CHECK(b.mode == AGN_QUIET && b.accreted == 1e-3 && b.given == 0);
}

/* Jets so narrow that they contain no cell centre heat the cell of the hole. */
static void test_small(void)
{
    struct agn_law law = LAW;
    struct agn a = {.at = {7, {0.76, 0.97, 0.02}}, .efficiency = 0.1, .accreted = 1e-7, .rate = 0};
    law.radius = 1e-4;
    struct found f = one_hole(&law, &a, 1);
    CHECK(f.changed == 1 && f.along == 0, "%ld cells", (long)f.changed);
    if (comm.rank == 0) CHECK(a.mode == AGN_JET && fabs(a.given - 1e-4) < 1e-16, "%g", a.given);
    law.radius = 0.4;
    struct world w;
    bool changed;
    world_make(&w, &comm, true);
    struct term_run r = world_run(&w, &comm, &par, &hydro);
    CHECK(agn_release(&r, &law, 1, &a, &changed) == ERR_PARAM, "too large");
    world_free(&w);
}

int main(int argc, char **argv)
{
    struct agn_law law = LAW;
    comm_init(&argc, &argv, &comm);
    param_init(&par);
    test_many(&law);
    law.arrested = true;
    law.radius = 0.03; /* some volumes contain no cell centre */
    test_many(&law);
    law.ceiling = 3 * world_run(&(struct world){0}, &comm, &par, &hydro).units.temperature;
    test_many(&law);
    law.radius = 0.15;
    test_many(&law);
    test_jet();
    test_ceiling();
    test_small();
    if (comm.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed > 0;
}
