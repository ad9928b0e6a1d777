/* sed_test: groups of photons of a black body and of libraries whose integrals are known, the
 * readers of all libraries and what they refuse, and the photons that star particles, sinks and
 * the ultraviolet background give to cells, on any ranks. Catches: a group integral without the
 * interpolation at its bounds, a cross section that leaks through a threshold, luminosities per
 * 10^6 solar masses, emission that does not add up over sub-steps, a star in the wrong cell, sums
 * that depend on the order of particles, lost ejecta, a background that lowers photons. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "check.h"
#include "half_world.h"
#include "sed/background.h"
#include "sed/lamps.h"
#include "sed/stars.h"
#include "sed_library.h"

static struct comm comm;
static const struct comm alone = {.size = 1};
static struct params *par;
static struct hydro_par hydro = {.nvar = 5, .gamma = 5.0 / 3};

static double near(double a, double b)
{
    return fabs(a / b - 1);
}

/* ---- spectra ---- */

static const struct sed_bands HELIUM = {3, {13.60, 24.59, 54.42}, {24.59, 54.42, 0}};

static void test_cross_sections(void)
{
    /* Verner et al. (1996) at the thresholds */
    CHECK(near(sed_cross_section(SED_HI, 13.6), 6.34e-18) < 1e-2, "%g",
          sed_cross_section(SED_HI, 13.6));
    CHECK(near(sed_cross_section(SED_HEI, 24.59), 7.42e-18) < 2e-2, "%g",
          sed_cross_section(SED_HEI, 24.59));
    CHECK(near(sed_cross_section(SED_HEII, 54.42), 1.58e-18) < 1e-2, "%g",
          sed_cross_section(SED_HEII, 54.42));
    CHECK(sed_cross_section(SED_HI, 13.59) == 0 && sed_cross_section(SED_H2, 14.5) == 0);
    CHECK(sed_cross_section(SED_H2, 12) == 2.1e-19);
    CHECK(near(sed_cross_section(SED_H2, 17.69), sed_cross_section(SED_H2, 17.71)) < 0.1);
}

enum { FINE = 40000 };

/* A black body of 10^5 K; energy per wavelength. */
static void black_body(double wave[FINE], double y[FINE])
{
    for (int i = 0; i < FINE; i++) {
        wave[i] = 20 * pow(10, 3.0 * i / FINE);
        double x = 1e8 * RAMSES_PLANCK * RAMSES_C / (wave[i] * CGS_KB * 1e5);
        y[i] = pow(wave[i] / 1000, -5) / expm1(x);
    }
}

/* The defaults of RAMSES-RT. */
static void test_black_body(void)
{
    static double wave[FINE], y[FINE];
    static const struct sed_props WANT[3] = {
        {18.85, {5.0e-18, 3.007e-18, 0, 0}, {5.3e-18, 2.781e-18, 0, 0}},
        {35.079, {2.9e-18, 5.687e-19, 4.478e-18, 0}, {2.8e-18, 5.042e-19, 4.130e-18, 0}},
        {65.666,
         {4.1e-19, 7.889e-20, 1.197e-18, 1.055e-18},
         {4.1e-19, 7.456e-20, 1.142e-18, 1.001e-18}}};
    double rate[SED_GROUPS], coarse_rate[SED_GROUPS];
    struct sed_props p[SED_GROUPS], q[SED_GROUPS];
    black_body(wave, y);
    sed_integrate(&HELIUM, false, FINE, wave, y, rate, p);
    for (int g = 0; g < 3; g++) {
        CHECK(near(p[g].egy, WANT[g].egy) < 1e-3, "group %d: %g eV", g, p[g].egy);
        for (int j = SED_HI; j < SED_IONS; j++) {
            double n = WANT[g].csn[j], e = WANT[g].cse[j];
            CHECK(fabs(p[g].csn[j] - n) <= 2e-3 * n, "group %d, %d: %g, %g", g, j, p[g].csn[j], n);
            CHECK(fabs(p[g].cse[j] - e) <= 2e-3 * e, "group %d, %d: %g, %g", g, j, p[g].cse[j], e);
        }
    }
    /* energy and photons of a group */
    sed_integrate(&HELIUM, true, FINE, wave, y, coarse_rate, q);
    for (int g = 0; g < 3; g++) CHECK(near(coarse_rate[g] / rate[g], p[g].egy) < 1e-14);
    /* groups that adjoin add up to one group: nothing is lost at their bounds */
    const struct sed_bands whole = {1, {13.60}, {0}};
    sed_integrate(&whole, false, FINE, wave, y, coarse_rate, q);
    CHECK(near(rate[0] + rate[1] + rate[2], coarse_rate[0]) < 1e-8);
}

static const struct sed_bands TWO = {2, {11.2, 13.6}, {13.6, 100}};

/* A flat spectrum: y in L_sun/Å from a to b has ∫ λ y dλ / hc photons; trapezoids are exact. */
static double flat_photons(double l0, double l1)
{
    double hc = RAMSES_PLANCK * RAMSES_C * 1e8, a = hc / (l1 * RAMSES_EV),
           b = hc / (l0 * RAMSES_EV);
    return CGS_LSUN * 0.5 * (b * b - a * a) / hc;
}

static double flat_energy(double l0, double l1)
{
    double hc = RAMSES_PLANCK * RAMSES_C * 1e8, a = hc / (l1 * RAMSES_EV),
           b = hc / (l0 * RAMSES_EV);
    return CGS_LSUN * (b - a) / RAMSES_EV;
}

static struct sed *library(const char *dir, bool by_energy)
{
    struct sed *s;
    struct sed_par p = {.dir = dir, .by_energy = by_energy, .bands = TWO};
    enum err err = sed_new(&comm, &p, &s);
    CHECK(err == OK, "%s", err == OK ? "" : err_message());
    return s;
}

static void check_library(const char *dir, double accuracy)
{
    struct sed *s = library(dir, false);
    double n[SED_GROUPS], m[SED_GROUPS], rate[SED_GROUPS];
    struct sed_props p[SED_GROUPS];
    if (!s) return;
    for (int g = 0; g < 2; g++) {
        double photons = flat_photons(TWO.l0[g], TWO.l1[g]);
        double egy = flat_energy(TWO.l0[g], TWO.l1[g]) / photons;
        sed_emission(s, 1 * CGS_MYR, 3 * CGS_MYR, 1e-5, n);
        CHECK(near(n[g], photons * lib_flat(0) * 2 * CGS_MYR) < accuracy, "%g", n[g]);
        sed_emission(s, -5 * CGS_MYR, 3 * CGS_MYR, 1, n);
        CHECK(near(n[g], photons * lib_flat(2) * 3 * CGS_MYR) < accuracy, "%g", n[g]);
        sed_at(s, 1e17, 0.02, rate, p);
        CHECK(near(rate[g], 0.1 * photons * lib_flat(2)) < accuracy, "%g", rate[g]);
        CHECK(near(p[g].egy, egy) < accuracy, "%g %g", p[g].egy, egy);
    }
    /* what is emitted in two steps is emitted in one */
    for (double t = 0.3; t < 1e5; t *= 1.7) {
        double both[SED_GROUPS];
        sed_emission(s, t * CGS_MYR, 1.5 * t * CGS_MYR, 0.007, n);
        sed_emission(s, 1.5 * t * CGS_MYR, 2 * t * CGS_MYR, 0.007, m);
        sed_emission(s, t * CGS_MYR, 2 * t * CGS_MYR, 0.007, both);
        for (int g = 0; g < 2; g++)
            CHECK(fabs(n[g] + m[g] - both[g]) <= 1e-13 * both[g] + 1e48, "%g", both[g]);
    }
    sed_emission(s, 1e19, 2e19, 0.02, n);
    CHECK(n[0] == 0 && n[1] == 0, "beyond the last age");
    sed_free(&s);
}

static void test_libraries(void)
{
    if (comm.rank == 0) {
        CHECK(lib_ramses("ramses", &LIB_GOOD));
        lib_bpass("bpass", &LIB_GOOD);
        lib_bc03("bc03", &LIB_GOOD);
    }
    check_library("ramses", 1e-12);
    check_library("bpass", 1e-7);
    check_library("bc03", 1e-8);
    struct sed *s = library("ramses", true);
    double n[SED_GROUPS];
    sed_emission(s, 0, CGS_MYR, 0.001, n);
    CHECK(near(n[1], flat_energy(13.6, 100) * lib_flat(0) * CGS_MYR) < 1e-12);
    sed_free(&s);
}

/* The metallicities of the table are interpolated between those of the library. */
static void test_metals(void)
{
    struct sed *s = library("ramses", false);
    double n[SED_GROUPS], per = flat_photons(13.6, 100) * CGS_MYR;
    sed_emission(s, 0, CGS_MYR, 0.001 * pow(20, 3 / 7.0), n);
    double Z = 0.001 * pow(20, 3 / 7.0), want = lib_flat(0) + (Z - 0.001) / 0.003 * 3e-3;
    CHECK(near(n[1], per * want) < 1e-12, "%g", n[1] / per);
    sed_free(&s);
}

/* ---- what readers refuse ---- */

static void refuse(void write(const char *, const struct lib_fault *), struct lib_fault f,
                   const char *dir, const char *message)
{
    struct sed *s;
    struct sed_par p = {.dir = dir, .bands = TWO};
    if (comm.rank == 0) write(dir, &f);
    CHECK_FAILS(sed_new(&comm, &p, &s), message);
    CHECK(s == NULL);
}

static void write_ramses(const char *dir, const struct lib_fault *f)
{
    CHECK(lib_ramses(dir, f));
}

static void test_refused(void)
{
    struct sed *s;
    struct sed_par none = {.dir = "no such", .bands = TWO}, far = {.dir = "ramses", .bands = TWO};
    CHECK_FAILS(sed_new(&comm, &none, &s), "no such: No such file");
    far.bands.l0[1] = 1e4, far.bands.l1[1] = 2e4;
    CHECK_FAILS(sed_new(&comm, &far, &s), "group 2");
    refuse(write_ramses, (struct lib_fault){.cut = 40}, "bad1", "metallicity 1, age 41");
    refuse(write_ramses, (struct lib_fault){9, 3, 1, NAN, 0, 0}, "bad1",
           "metallicity 2, age 4: luminosity 10 is nan");
    refuse(write_ramses, (struct lib_fault){9, 3, 1, -1, 0, 0}, "bad1", "luminosity 10 is -1");
    refuse(write_ramses, (struct lib_fault){.swap = 1}, "bad1", "wavelength number 22");
    refuse(lib_bpass, (struct lib_fault){.cut = 100}, "bad2", "not whole");
    refuse(lib_bpass, (struct lib_fault){4, 3, 0, NAN, 0, 0}, "bad2", "line 5: 'NAN'");
    refuse(lib_bpass, (struct lib_fault){.swap = 1}, "bad2", "line 22: wavelength 150");
    refuse(lib_bc03, (struct lib_fault){.cut = 30}, "bad3", "number of luminosities");
    refuse(lib_bc03, (struct lib_fault){4, 3, 0, -2, 0, 0}, "bad3", "luminosity 5 is -2");
    refuse(lib_bc03, (struct lib_fault){.swap = 1}, "bad3", "wavelength number 22");
    refuse(write_ramses, LIB_GOOD, "bad3", "several libraries");
    if (comm.rank == 0) lib_list("bad1/age_bins.dat", 1 << 13, lib_age);
    CHECK_FAILS(sed_new(&comm, &(struct sed_par){.dir = "bad1", .bands = TWO}, &s),
                "number of age");
}

/* ---- stars ---- */

enum { STARS = 400, DENSE = 40 };
static const double UNIT_T = CGS_MYR;

static struct term_run run_of(struct world *w, const struct comm *c)
{
    struct term_run r = world_run(w, c, par, &hydro);
    r.units = units_of(CGS_KPC, 1e-24, UNIT_T);
    r.t = 20;
    return r;
}

/* Stars of ages 0 to 60 Myr, some in one cell; `turned`: in the opposite order. */
static void stars_make(struct world *w, const struct comm *c, bool turned)
{
    part_want(&w->p, COL_BIRTH);
    part_want(&w->p, COL_METAL);
    int64_t n = c->rank == 0 ? STARS : 0, first = part_append(&w->p, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = turned ? first + n - 1 - k : first + k;
        struct rng g = rng_make(11, (uint64_t)k, 0);
        for (int d = 0; d < 3; d++)
            w->p.x[d][i] = k < DENSE ? 0.26 + 0.01 * rng_uniform(&g) : rng_uniform(&g);
        for (int d = 0; d < 3; d++) w->p.v[d][i] = 0;
        w->p.m[i] = 1e-6 * (1 + rng_uniform(&g));
        w->p.birth[i] = 20 - 60 * rng_uniform(&g);
        w->p.metal[i] = 0.03 * rng_uniform(&g);
        w->p.family[i] = k % 10 ? FAM_STAR : FAM_DM;
        w->p.tag[i] = 0;
        w->p.id[i] = k + 1;
        w->p.levelp[i] = LMIN;
    }
    CHECK(part_distribute(&w->p, &w->m, c, w->d) == OK);
    part_hand_down(&w->p, &w->m, c, w->d, LMIN);
    part_hand_down(&w->p, &w->m, c, w->d, LMAX);
}

/* Photons of all groups on both levels, after emission from t = 19.5 to 20. */
struct lit {
    struct world w;
    double (*N[LMAX + 1][2])[8];
    struct sed_light light[LMAX + 1];
};

static void light_up(struct lit *a, const struct comm *c, const struct sed *sed, bool turned,
                     int steps)
{
    struct sed_stars stars = {.sed = sed, .escape = 0.5};
    half_world(&a->w, c, 5, false);
    stars_make(&a->w, c, turned);
    for (int l = LMIN; l <= LMAX; l++) {
        struct term_run r = run_of(&a->w, c);
        struct sed_light *light = &a->light[l];
        *light = (struct sed_light){.n = 2, .unit_np = 1};
        r.level = l;
        for (int g = 0; g < 2; g++) {
            sum_init(&light->emitted[g]);
            a->N[l][g] = mem_zero(64 * (size_t)a->w.m.lev[l].noct + 64, "test");
            light->N[g] = a->N[l][g];
        }
        for (int k = 0; k < steps; k++)
            sed_stars_emit(&r, &stars, 19.5 + 0.5 * k / steps, 19.5 + 0.5 * (k + 1) / steps, light,
                           NULL);
    }
}

static void lit_free(struct lit *a)
{
    for (int l = LMIN; l <= LMAX; l++)
        for (int g = 0; g < 2; g++) FREE(a->N[l][g]);
    world_free(&a->w);
}

/* Photons that all stars should emit, in units of density × volume. */
static void expected(const struct sed *sed, double want[2])
{
    want[0] = want[1] = 0;
    for (int64_t k = 0; k < STARS; k++) {
        struct rng g = rng_make(11, (uint64_t)k, 0);
        double n[SED_GROUPS], m, birth, Z;
        for (int d = 0; d < 3; d++) rng_uniform(&g);
        m = 1e-6 * (1 + rng_uniform(&g));
        birth = 20 - 60 * rng_uniform(&g);
        Z = 0.03 * rng_uniform(&g);
        if (k % 10 == 0) continue;
        if (20 - birth > 10) m /= 1 - 0.2;
        sed_emission(sed, (19.5 - birth) * UNIT_T, (20 - birth) * UNIT_T, fmax(Z, 1e-4), n);
        for (int i = 0; i < 2; i++) want[i] += 0.5 * n[i] * m * 1e-24 / RAMSES_MSUN;
    }
}

static int64_t differ(const struct lit *a, const struct lit *b)
{
    int64_t n = 0;
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &a->w.m.lev[l], *other = &b->w.m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int g = 0; g < 2; g++)
                n += memcmp(a->N[l][g][i], b->N[l][g][mesh_find(other, lv->key[i])], 64) != 0;
    }
    return n;
}

static void totals(struct lit *a, double out[2])
{
    for (int g = 0; g < 2; g++) {
        struct sum s = a->light[LMIN].emitted[g];
        sum_join(&s, &a->light[LMAX].emitted[g]);
        comm_sum(&comm, &s);
        out[g] = sum_get(&s);
    }
}

/* Photons in leaf cells of all ranks. */
static double in_cells(const struct lit *a, int g)
{
    struct sum s;
    sum_init(&s);
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &a->w.m.lev[l];
        for (lidx i = 0; i < 8 * lv->nown; i++)
            if (lv->child[i / 8][i % 8] < 0)
                sum_add(&s, a->N[l][g][i / 8][i % 8] * mesh_volume(&a->w.m, l));
    }
    comm_sum(&comm, &s);
    return sum_get(&s);
}

static void test_stars(void)
{
    static struct lit a, turned, whole, steps;
    struct sed *sed = library("ramses", false);
    double want[2], got[2];
    par->feedback.eta_sn = 0.2;
    par->physics.t_sne = 10;
    light_up(&a, &comm, sed, false, 1);
    light_up(&turned, &comm, sed, true, 1);
    light_up(&whole, &alone, sed, false, 1);
    light_up(&steps, &comm, sed, false, 7);
    CHECK(differ(&a, &turned) == 0, "the order of particles");
    CHECK(differ(&a, &whole) == 0, "ranks");
    expected(sed, want);
    totals(&a, got);
    for (int g = 0; g < 2; g++) {
        CHECK(near(got[g], want[g]) < 1e-13, "%.15g", got[g] / want[g]);
        CHECK(near(in_cells(&a, g), got[g]) < 1e-13, "%.15g", in_cells(&a, g) / got[g]);
    }
    /* stars that pass the age of supernovae have their mass at the end of each step */
    totals(&steps, got);
    for (int g = 0; g < 2; g++) CHECK(near(got[g], want[g]) < 2e-3, "%.15g", got[g] / want[g]);
    lit_free(&a), lit_free(&turned), lit_free(&whole), lit_free(&steps);
    sed_free(&sed);
}

/* Means over stars; the library has one spectrum, so that properties are those of any star. */
static void test_means(void)
{
    struct world w;
    struct sed *sed = library("ramses", false);
    struct sed_stars stars = {.sed = sed, .escape = 1};
    struct sed_props p[SED_GROUPS] = {{0}}, first[SED_GROUPS];
    int64_t n;
    half_world(&w, &comm, 5, false);
    part_want(&w.p, COL_BIRTH), part_want(&w.p, COL_METAL);
    struct term_run r = run_of(&w, &comm);
    sed_first(sed, first);
    sed_stars_mean(&r, &stars, 20, p, &n);
    CHECK(n == 0 && memcmp(p, first, 2 * sizeof *p) == 0, "no stars");
    memset(p, 0, sizeof p);
    stars_make(&w, &comm, false);
    sed_stars_mean(&r, &stars, 20, p, &n);
    CHECK(n == STARS - STARS / 10, "%ld", (long)n);
    for (int g = 0; g < 2; g++)
        CHECK(near(p[g].egy, first[g].egy) < 1e-13 && near(p[g].csn[0], first[g].csn[0]) < 1e-13);
    world_free(&w);
    sed_free(&sed);
}

/* ---- unresolved regions ---- */

/* A cell of density n with this many photons a second; returns T/μ afterwards. */
static double region(struct world *w, bool thermal, double n, double photons, double *fraction)
{
    struct term_run r = run_of(w, &comm);
    struct level *lv = &w->m.lev[LMIN];
    r.level = LMIN;
    lidx i = 0;
    double rho = n / r.units.hydrogen, volume = pow(mesh_dx(&w->m, LMIN) * CGS_KPC, 3);
    for (int v = 0; v < 7; v++) lv->fld[FLD_U + v][i][0] = 0;
    lv->fld[FLD_U][i][0] = rho;
    gas_set_internal(lv, i, 0, rho * 100 / r.units.temperature * 1.5, 0);
    struct sed_shine s = {.oct = i, .cell = 0, .N = {photons * UNIT_T / volume}};
    struct sed_shines shines = {1, &s};
    struct sed_regions h = {.thermal = thermal,
                            .energy = GAS_SCALARS,
                            .gamma = 4.0 / 3,
                            .x_hi = -1,
                            .x_hii = GAS_SCALARS + 1,
                            .ionises = {true}};
    sed_regions_heat(&r, &h, 1, 1, &shines);
    *fraction = lv->fld[FLD_U + GAS_SCALARS + 1][i][0] / rho;
    double pressure = lv->fld[FLD_U + GAS_SCALARS][i][0] / 3;
    return thermal ? star_T2(&r, lv, i, 0) : pressure / rho * r.units.temperature;
}

static void test_regions(void)
{
    struct world w;
    double x, half = 0.5 / 8 * CGS_KPC, n = 1;
    half_world(&w, &comm, 7, false);
    /* photons per second whose Strömgren radius is half a cell; it grows by 180^(4/3) */
    double at_half = 4 * M_PI / 3 * 2.6e-13 * n * n * half * half * half;
    double grown = pow(180, 4);
    if (w.m.lev[LMIN].nown == 0 || w.m.lev[LMIN].child[0][0] >= 0) goto out;
    CHECK(near(region(&w, true, n, 0.9 * at_half, &x), 1.8e4) < 1e-12);
    CHECK(near(x, 0.999) < 1e-14, "%g", x);
    CHECK(near(region(&w, true, n, 1.1 * at_half, &x), 100) < 1e-12, "resolved");
    CHECK(near(region(&w, true, n, 0.9 * at_half / grown, &x), 100) < 1e-12, "too weak");
    CHECK(near(region(&w, true, n, 1.1 * at_half / grown, &x), 1.8e4) < 1e-12);
out:
    world_free(&w);
}

/* ---- sinks ---- */

static void test_lamps(void)
{
    struct lit a;
    struct sink_state *k = mem_zero(sizeof *k, "test");
    struct sink_run s = {.sinks = k, .comm = &comm, .par = par};
    struct sed_lamp at[2] = {{1, {0.5, 0.51, 0.99}, {3e49, 0}}, {2, {0.2, 0.2, 0.2}, {1e48, 2e47}}};
    struct sed_lamps lamps = {2, at};
    CHECK(near(sed_vacca(27.28098824280431), 9.634642584812752e48 / pow(2, 1.142166657042991)) <
          1e-14);
    CHECK(sed_vacca(100) > 5e49 && sed_vacca(100) < 2e50 && sed_vacca(8) < 1e46, "%g",
          sed_vacca(100));
    half_world(&a.w, &comm, 5, false);
    s.mesh = &a.w.m;
    s.units = units_of(CGS_KPC, 1e-24, UNIT_T);
    sink_cloud_make(&k->law.cloud, 4, 4, mesh_dx(&a.w.m, LMAX));
    for (int l = LMIN; l <= LMAX; l++) {
        struct sed_light *light = &a.light[l];
        *light = (struct sed_light){.n = 2, .unit_np = 1};
        for (int g = 0; g < 2; g++) {
            sum_init(&light->emitted[g]);
            light->N[g] = a.N[l][g] = mem_zero(64 * (size_t)a.w.m.lev[l].noct + 64, "test");
        }
        sed_sinks_emit(&s, &lamps, l, 0.5, light);
    }
    double got[2], per = 0.5 * UNIT_T / pow(CGS_KPC, 3), want[2] = {3.1e49 * per, 2e47 * per};
    totals(&a, got);
    for (int g = 0; g < 2; g++) {
        CHECK(near(got[g], want[g]) < 1e-12, "%g", got[g] / want[g]);
        CHECK(near(in_cells(&a, g), got[g]) < 1e-12);
    }
    sink_cloud_free(&k->law.cloud);
    FREE(k);
    lit_free(&a);
}

/* ---- the background ---- */

enum { SHIFTS = 5, UVWAVES = 3000 };

/* Photons of a power law E^-3 per wavelength. */
static void background_file(const char *path, bool bad)
{
    static double wave[UVWAVES], y[SHIFTS * UVWAVES];
    struct fort_out f;
    double z[SHIFTS] = {0, 1, 2, 4, 10};
    for (int i = 0; i < UVWAVES; i++) wave[i] = 10 * pow(200, i / (UVWAVES - 1.0));
    for (int k = 0; k < SHIFTS; k++)
        for (int i = 0; i < UVWAVES; i++)
            y[k * UVWAVES + i] = k == SHIFTS - 1 ? 0 : (1 + k) * 100 * pow(wave[i] / 912, 1);
    if (bad) y[7 + UVWAVES] = NAN;
    remove(path);
    fort_create(&f, path, NULL, NULL);
    fort_i4(&f, SHIFTS);
    fort_record(&f, z, sizeof z);
    fort_i4(&f, UVWAVES);
    fort_record(&f, wave, sizeof wave);
    fort_record(&f, y, sizeof y);
    CHECK(fort_close(&f) == OK);
}

/* 4π ∫ F σ dλ above an energy by Simpson's rule in the logarithm of the wavelength, and with the
 * energy of the electron. */
static void rates(enum sed_ion ion, double *gamma, double *heat)
{
    enum { N = 20000 };
    double hc = 1e8 * RAMSES_PLANCK * RAMSES_C / RAMSES_EV, b = log(hc / SED_THRESHOLD[ion]);
    double a = log(10), h = (b - a) / N;
    *gamma = *heat = 0;
    for (int i = 0; i <= N; i++) {
        double x = exp(a + i * h), eV = hc / x * (i == N ? 1 + 1e-12 : 1);
        double w = (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * h / 3 * x;
        double f = 4 * M_PI * 100 * (x / 912) * sed_cross_section(ion, eV) * w;
        *gamma += f;
        *heat += f * (eV - SED_THRESHOLD[ion]) * RAMSES_EV;
    }
}

static void test_background(void)
{
    struct sed_background *b;
    struct sed_background_par p = {.path = "uv.dat", .z_reion = 8, .bands = TWO};
    double ion[SED_IONS], heat[SED_IONS], gamma, hot, flux[SED_GROUPS];
    struct sed_props props[SED_GROUPS], same[SED_GROUPS];
    if (comm.rank == 0) background_file("uv.dat", false);
    CHECK(sed_background_new(&comm, &p, &b) == OK);
    sed_background_rates(b, 1.5, ion, heat);
    double damp = pow(10, -20 * pow(1.5 / 8, 6));
    for (int j = SED_HI; j < SED_IONS; j++) {
        rates((enum sed_ion)j, &gamma, &hot);
        CHECK(near(ion[j], 2.5 * gamma * damp) < 2e-3, "%d: %g", j, ion[j] / gamma);
        CHECK(near(heat[j], 2.5 * hot * damp) < 2e-3, "%d: %g", j, heat[j] / hot);
    }
    sed_background_rates(b, 8.1, ion, heat);
    CHECK(ion[SED_HI] == 0 && heat[SED_HI] == 0);
    CHECK(sed_background_groups(b, 6, flux, props) && sed_background_groups(b, 0, flux, same));
    CHECK(near(props[1].egy, same[1].egy) < 1e-13 && near(props[1].csn[1], same[1].csn[1]) < 1e-13);
    CHECK(!sed_background_groups(b, 8.1, flux, props));
    double hc = 1e8 * RAMSES_PLANCK * RAMSES_C / RAMSES_EV, l0 = hc / 100, l1 = hc / 13.6;
    CHECK(near(flux[1], 4 * M_PI * 100 / 912 * 0.5 * (l1 * l1 - l0 * l0)) < 1e-12);
    sed_background_free(&b);
    p.bands.n = 0, p.path = "none.dat";
    CHECK_FAILS(sed_background_new(&comm, &p, &b), "none.dat");
    if (comm.rank == 0) background_file("uv.dat", true);
    p.path = "uv.dat";
    CHECK_FAILS(sed_background_new(&comm, &p, &b), "redshift 1");
    struct uv uv = {.model = UV_COURTY, .z_reion = 8.5};
    p.path = "", p.model = &uv;
    CHECK(sed_background_new(&comm, &p, &b) == OK);
    sed_background_rates(b, 2, ion, heat);
    CHECK(ion[SED_HI] > 1e-13 && ion[SED_HI] < 1e-11 && ion[SED_H2] == 0);
    sed_background_free(&b);
}

static void test_fill(void)
{
    struct world w;
    const double density[SED_GROUPS] = {2, 0.5};
    half_world(&w, &comm, 5, false);
    world_fill(&w, 5, false);
    struct level *lv = &w.m.lev[LMAX];
    double low = 0;
    double(*N[2])[8];
    struct sed_light light = {.n = 2, .unit_np = 1};
    for (int g = 0; g < 2; g++) {
        sum_init(&light.emitted[g]);
        light.N[g] = N[g] = mem_zero(64 * (size_t)lv->noct + 64, "test");
    }
    for (lidx i = 0; i < lv->nown; i++) N[0][i][3] = 1.9;
    sed_background_fill(&w.m, LMAX, 1, 0.8, density, &light);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double thin = exp(-lv->fld[FLD_U][i][c] / 0.8);
            CHECK(near(N[0][i][c], fmax(c == 3 ? 1.9 : 0, 2 * thin)) < 1e-15);
            CHECK(near(N[1][i][c], 0.5 * thin) < 1e-15);
            low += N[1][i][c] * mesh_volume(&w.m, LMAX);
        }
    CHECK(lv->nown == 0 || near(sum_get(&light.emitted[1]), low) < 1e-12);
    for (int g = 0; g < 2; g++) FREE(N[g]);
    world_free(&w);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    par = mem_zero(sizeof *par, "test");
    test_cross_sections();
    test_black_body();
    test_libraries();
    test_metals();
    test_refused();
    test_stars();
    test_means();
    test_regions();
    test_lamps();
    test_background();
    test_fill();
    FREE(par);
    int64_t bad = failed;
    comm_max_i64(&comm, &bad, 1);
    if (comm.rank == 0 || failed) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return bad > 0;
}
