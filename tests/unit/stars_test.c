/* stars_test: exchange of mass, momentum, energy and metals between gas and stars is conservative,
 * cell by cell. Catches: an explosion whose energy is not 1e51 erg for 10 solar masses, an
 * explosion that happens twice or in a cell of another level, lost metals, a particle of the wrong
 * mass, particles of finer levels lost when new ones are inserted before them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "check.h"
#include "half_world.h"
#include "phys/stars.h"

enum { NVAR = 7, METAL = 5, DELAYED = 6 };

extern const struct term term_stars, term_supernovae;
static struct comm comm;
static struct params par;
static struct hydro_par hydro = {.nvar = NVAR, .gamma = 5.0 / 3};

/* World without stars; add_stars puts one into every leaf cell. */
static void world_make(struct world *w)
{
    half_world(w, &comm, NVAR, false);
    part_want(&w->p, COL_BIRTH);
    part_want(&w->p, COL_METAL);
    for (int l = LMIN; l <= LMAX; l++)
        for (int v = 0; v < NVAR; v++)
            for (lidx i = 0; i < w->m.lev[l].nown; i++)
                for (int c = 0; c < 8; c++)
                    w->m.lev[l].fld[FLD_U + v][i][c] =
                        v == 0 ? 1 + 0.01 * (double)(w->m.lev[l].key[i] & 63) : 0.1 * v + 0.01 * c;
}

static void add_stars(struct world *w)
{
    CHECK(part_distribute(&w->p, &w->m, &comm, w->d) == OK);
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        int64_t total, n = 0;
        struct part_birth_cell *location = mem_new(sizeof *location * 8 * (size_t)lv->nown + 1,
                                                   "test");
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 8; c++)
                if (lv->child[i][c] < 0) location[n++] = (struct part_birth_cell){i, c, 0};
        int64_t k = part_create(&w->p, &w->m, &comm, l, n, location, 1000 * l, &total);
        for (int64_t j = 0; j < n; j++, k++) {
            int64_t o[3];
            okey_coords(lv->key[location[j].oct] << 3 | (okey)location[j].cell, o);
            for (int d = 0; d < 3; d++) {
                w->p.x[d][k] = ((double)o[d] + 0.3) * mesh_dx(&w->m, l);
                w->p.v[d][k] = 0.1 * d - 0.05;
            }
            w->p.m[k] = 1e-3 * (1 + location[j].cell);
            w->p.family[k] = FAM_STAR;
            w->p.tag[k] = 0;
            w->p.birth[k] = location[j].cell < 4 ? 0.5 : 0.7;
            w->p.metal[k] = 0.03;
        }
        FREE(location);
    }
}

/* Sums of gas (all ranks): mass, momentum, energy, metals, delay; of stars: mass, momentum,
 * metals. */
enum { STARS = NVAR, SUMS = NVAR + 6 };
static void totals(const struct world *w, double out[SUMS])
{
    struct sum s[SUMS];
    for (int k = 0; k < SUMS; k++) sum_init(&s[k]);
    world_gas(w, NVAR, s);
    for (int64_t i = 0; i < w->p.n; i++) {
        sum_add(&s[STARS], w->p.m[i]);
        for (int d = 0; d < 3; d++) sum_add(&s[STARS + 1 + d], w->p.m[i] * w->p.v[d][i]);
        sum_add(&s[STARS + 4], w->p.m[i] * w->p.metal[i]);
        sum_add(&s[STARS + 5], w->p.tag[i]);
    }
    comm_sums(&comm, s, SUMS);
    for (int k = 0; k < SUMS; k++) out[k] = sum_get(&s[k]);
}

static int nstep = 7;

static enum err try_level(struct world *w, const struct term *t, int l, double now, double dt)
{
    struct term_run r = {.par = &par,
                         .hydro = &hydro,
                         .comm = &comm,
                         .dom = w->d,
                         .mesh = &w->m,
                         .parts = &w->p,
                         .stage = TERM_LEVEL,
                         .level = l,
                         .t = now,
                         .dt = dt,
                         .coarse_dt = dt,
                         .aexp = 1,
                         .units = units_at(&par.units, NULL, 1),
                         .mass_sph = 1e-5,
                         .nstep = nstep,
                         .check = true};
    field_set wrote;
    return terms_run(&(struct term_list){&t, 1}, 0, &r, &wrote);
}

static void run_level(struct world *w, const struct term *t, int l, double now, double dt)
{
    enum err err = try_level(w, t, l, now, dt);
    CHECK(err == OK, "%s", err == OK ? "" : err_message());
}

static void parameters(void)
{
    param_init(&par);
    par.run.hydro = true;
    par.physics.eps_star = 0.5;
    par.physics.m_star = 1;
    par.physics.n_star = 1;
    par.feedback.eta_sn = 0.2;
    par.feedback.yield = 0.1;
    par.units.units_density = 1.66e-22;
    par.units.units_time = 3e14;
    par.units.units_length = 3e20;
    hydro.vars.at[SCALAR_METAL] = METAL;
    hydro.vars.at[SCALAR_DELAYED] = DELAYED;
}

static void test_explosions(void)
{
    struct world w;
    double a[SUMS], b[SUMS];
    world_make(&w);
    add_stars(&w);
    totals(&w, a);
    /* stars of 0.5 explode at 0.5 + 1.052, in the step to 1.6; stars of 0.7 do not */
    double v2 = 0.5 * (0.05 * 0.05 + 0.05 * 0.05 + 0.15 * 0.15), velocity = 3e20 / 3e14;
    for (int turn = 0; turn < 2; turn++)
        for (int l = LMAX; l >= LMIN; l--)
            run_level(&w, &term_supernovae, l, 1.6 + 0.1 * turn, 0.1);
    totals(&w, b);
    double ejected = a[STARS] - b[STARS], part = 0.2 * (1 + 2 + 3 + 4) / 36.0;
    double energy = ejected * (1e51 / (10 * 1.9891e33) / (velocity * velocity) + v2);
    CHECK(fabs(ejected / (a[STARS] * part) - 1) < 1e-12, "%g ejected", ejected / a[STARS]);
    CHECK(fabs((b[GAS_ENERGY] - a[GAS_ENERGY]) / energy - 1) < 1e-12, "energy %.15g",
          (b[GAS_ENERGY] - a[GAS_ENERGY]) / energy);
    CHECK(fabs((a[0] + a[STARS]) / (b[0] + b[STARS]) - 1) < 1e-14);
    for (int d = 0; d < 3; d++)
        CHECK(fabs(a[1 + d] + a[STARS + 1 + d] - b[1 + d] - b[STARS + 1 + d]) < 1e-13);
    double made = ejected * 0.1 * (1 - 0.03);
    CHECK(fabs(a[METAL] + a[STARS + 4] + made - b[METAL] - b[STARS + 4]) < 1e-13);
    CHECK(fabs(b[DELAYED] - a[DELAYED] - ejected) < 1e-13);
    int64_t n = w.p.n;
    comm_add_i64(&comm, &n, 1);
    CHECK(b[STARS + 5] == 0.5 * (double)n, "%g of %ld exploded", b[STARS + 5], (long)n);
    world_free(&w);
}

/* With sf_imf, among the stars of add_stars that reach their age, the lightest does not explode,
 * the next two are single stars, and the heaviest is a population. */
static void test_single(void)
{
    static const double STAR = 1e-3 * (1.66e-22 * 3e20 * 3e20 * 3e20) / 1.9891e33;
    struct world w;
    double a[SUMS], b[SUMS];
    par.sf.sf_imf = true;
    par.feedback.eta_ssn = 0.5;
    par.feedback.mass_sne_min = 1.5 * STAR;
    par.feedback.mass_star_max = 3.5 * STAR;
    world_make(&w);
    add_stars(&w);
    totals(&w, a);
    for (int l = LMAX; l >= LMIN; l--) run_level(&w, &term_supernovae, l, 1.6, 0.1);
    totals(&w, b);
    double part = (0.5 * (2 + 3) + 0.2 * 4) / 36, ejected = a[STARS] - b[STARS];
    CHECK(fabs(ejected / (a[STARS] * part) - 1) < 1e-12, "%g ejected", ejected / a[STARS]);
    CHECK(fabs((a[0] + a[STARS]) / (b[0] + b[STARS]) - 1) < 1e-13);
    par.sf.sf_imf = false;
    world_free(&w);
}

/* mass_gmc: explosions are rarer with the same mean energy; mass is returned for any random
 * draw. */
static void test_clouds(void)
{
    struct world w;
    double a[SUMS], b[SUMS];
    par.physics.mass_gmc = 2 * 1e-5 * (1.66e-22 * 3e20 * 3e20 * 3e20) / 1.9891e33; /* two stars */
    world_make(&w);
    add_stars(&w);
    totals(&w, a);
    for (int l = LMAX; l >= LMIN; l--) run_level(&w, &term_supernovae, l, 1.6, 0.1);
    totals(&w, b);
    double velocity = 1e6, ejected = a[STARS] - b[STARS];
    double ratio = (b[GAS_ENERGY] - a[GAS_ENERGY]) /
                   (ejected * 1e51 / (10 * 1.9891e33) * 1 / (velocity * velocity));
    CHECK(fabs(ratio - 1) < 0.12 && fabs(ratio - 1) > 1e-6, "energy %g of the mean", ratio);
    CHECK(fabs((a[0] + a[STARS]) / (b[0] + b[STARS]) - 1) < 1e-14);
    par.physics.mass_gmc = -1;
    world_free(&w);
}

/* Infrared luminosity retained by dust, of the exploding stars of add_stars, in units of ejected
 * mass. */
static double light(const struct world *w)
{
    struct sum sum;
    sum_init(&sum);
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < 4; c++) {
                double metals = lv->fld[FLD_U + METAL][i][c] / 0.02;
                double depth = par.physics.kappa_ir * 200 * 3.0856776e18 * metals * 1.66e-22;
                if (lv->child[i][c] < 0) sum_add(&sum, 2e-4 * (1 + c) * 100 * (1 - exp(-depth)));
            }
    }
    comm_sums(&comm, &sum, 1);
    return sum_get(&sum);
}

static void test_dust(void)
{
    struct world w;
    double a[SUMS], b[SUMS];
    par.physics.kappa_ir = 0.05;
    world_make(&w);
    add_stars(&w);
    totals(&w, a);
    double trapped = light(&w);
    for (int l = LMAX; l >= LMIN; l--) run_level(&w, &term_supernovae, l, 1.6, 0.1);
    totals(&w, b);
    double v2 = 0.5 * (0.05 * 0.05 + 0.05 * 0.05 + 0.15 * 0.15), ejected = a[STARS] - b[STARS];
    double want = ejected * v2 + (ejected + trapped) * 1e51 / (10 * 1.9891e33) / 1e12;
    CHECK(trapped > ejected && fabs((b[GAS_ENERGY] - a[GAS_ENERGY]) / want - 1) < 1e-12,
          "%.15g of the energy", (b[GAS_ENERGY] - a[GAS_ENERGY]) / want);
    par.physics.kappa_ir = 0;
    world_free(&w);
}

static void swap_rows(struct parts *p, int64_t i, int64_t j)
{
    for (int c = 0; c < p->columns.n; c++) {
        size_t n = (size_t)part_type_size(part_column(&p->columns, c)->type);
        char *a = (char *)p->col[c] + n * (size_t)i, *b = (char *)p->col[c] + n * (size_t)j, t[8];
        if (!p->col[c]) continue;
        memcpy(t, a, n), memcpy(a, b, n), memcpy(b, t, n);
    }
    lidx host = p->host[i];
    p->host[i] = p->host[j], p->host[j] = host;
}

/* Digest of the gas after the stars of every oct have exploded in its first cell. */
static uint64_t crowded(bool turned)
{
    struct world w;
    uint64_t digest = 0;
    world_make(&w);
    add_stars(&w);
    for (int64_t i = w.p.first[LMAX]; i < w.p.first[LMAX + 1]; i++) {
        int64_t o[3];
        okey_coords(w.m.lev[LMAX].key[w.p.host[i]], o);
        for (int d = 0; d < 3; d++) w.p.x[d][i] = ((double)(2 * o[d]) + 0.3) * mesh_dx(&w.m, LMAX);
    }
    for (int64_t i = w.p.first[LMAX], j = w.p.first[LMAX + 1] - 1; turned && i < j; i++, j--)
        swap_rows(&w.p, i, j);
    run_level(&w, &term_supernovae, LMAX, 1.6, 0.1);
    for (lidx i = 0; i < w.m.lev[LMAX].nown; i++)
        for (int v = 0; v < NVAR; v++) {
            uint64_t bits;
            memcpy(&bits, &w.m.lev[LMAX].fld[FLD_U + v][i][0], sizeof bits);
            digest = digest * 0x9E3779B97F4A7C15u + bits;
        }
    world_free(&w);
    return digest;
}

static void test_births(void)
{
    struct world w;
    double a[SUMS], b[SUMS];
    world_make(&w);
    add_stars(&w);
    totals(&w, a);
    par.physics.n_star = 1e-3;
    for (int l = LMAX; l >= LMIN; l--) {
        int64_t before = w.p.n;
        run_level(&w, &term_stars, l, 2, 0.01);
        int64_t born = w.p.n - before;
        comm_add_i64(&comm, &born, 1);
        CHECK(born > 0, "no stars on level %d", l);
        CHECK(w.p.first[LMIN] == 0 && w.p.first[LMAX + 1] == w.p.n);
        for (int64_t i = w.p.first[LMAX]; i < w.p.n; i++) CHECK(w.p.levelp[i] == LMAX);
        for (int64_t i = 0; i < w.p.first[LMAX]; i++) CHECK(w.p.levelp[i] == LMIN);
    }
    totals(&w, b);
    CHECK(b[STARS] > 1.0001 * a[STARS]);
    CHECK(fabs((a[0] + a[STARS]) / (b[0] + b[STARS]) - 1) < 1e-14);
    for (int d = 0; d < 3; d++)
        CHECK(fabs(a[1 + d] + a[STARS + 1 + d] - b[1 + d] - b[STARS + 1 + d]) < 1e-13);
    CHECK(fabs(a[METAL] + a[STARS + 4] - b[METAL] - b[STARS + 4]) < 1e-13);
    world_free(&w);
}

/* If the largest 64-bit id is in use on one rank, no ids remain for stars. */
static void test_last_id(void)
{
    struct world w;
    world_make(&w);
    add_stars(&w);
    int64_t before = w.p.n;
    if (w.p.n > 0 && comm.rank == comm.size - 1) w.p.id[0] = INT64_MAX;
    enum err err = try_level(&w, &term_stars, LMAX, 2, 0.01);
    CHECK(err == ERR_LIMIT && strstr(err_message(), "9223372036854775807, which leaves none"), "%s",
          err == OK ? "stars have formed" : err_message());
    CHECK(w.p.n == before);
    world_free(&w);
}

/* Random draws of star formation repeat when a step is repeated, and differ in the next step. */
static void test_draws(void)
{
    double where[3];
    for (int k = 0; k < 3; k++) {
        struct world w;
        struct sum sum;
        world_make(&w);
        CHECK(part_distribute(&w.p, &w.m, &comm, w.d) == OK);
        nstep = k < 2 ? 7 : 8;
        run_level(&w, &term_stars, LMAX, 2, 0.01);
        sum_init(&sum);
        for (int64_t i = 0; i < w.p.n; i++)
            if (w.p.family[i] == FAM_STAR) sum_add(&sum, w.p.m[i] * w.p.x[0][i]);
        comm_sums(&comm, &sum, 1);
        where[k] = sum_get(&sum);
        world_free(&w);
    }
    nstep = 7;
    CHECK(where[0] > 0 && where[0] == where[1], "%g %g", where[0], where[1]);
    CHECK(where[2] != where[1]);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    parameters();
    test_explosions();
    test_single();
    test_clouds();
    test_dust();
    CHECK(crowded(false) == crowded(true), "the order of particles shows");
    test_births();
    test_last_id();
    test_draws();
    comm_fini();
    return failed > 0;
}
