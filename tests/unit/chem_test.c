/* chem_test: laws of thermochemistry. Catches: a rate that misses its formula, photons absorbed
 * that do not ionise, momentum that is lost, a chain of ions that leaks, an equilibrium that is
 * none, a cell whose bits depend on its neighbours, a sub-step that RAMSES-RT would not take, a
 * temperature or a fraction that leaves its range.
 * test: tier=check timeout=120 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "chem/chem.h"
#include "chem/exact_kern.h"
#include "chem_cells.h"

static struct rng numbers;
static struct chem_tables *tables;

static double draw(double low, double high)
{
    return low + (high - low) * rng_uniform(&numbers);
}

static double draw_log(double low, double high)
{
    return pow(10, draw(log10(low), log10(high)));
}

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}

/* Groups of a blackbody of 1e5 K. */
static const struct chem_group BLACK[3] = {
    {.csn = {0, 3.007e-18}, .cse = {0, 2.781e-18}, .egy = 18.85, .l0 = 13.6, .l1 = 24.59},
    {.csn = {0, 5.687e-19, 4.478e-18}, .cse = {0, 5.042e-19, 4.130e-18}, .egy = 35.079},
    {.csn = {0, 7.889e-20, 1.197e-18, 1.055e-18},
     .cse = {0, 7.456e-20, 1.142e-18, 1.001e-18},
     .egy = 65.666}};

static struct chem_par par_of(enum chem_rule rule, int groups, bool helium)
{
    struct chem_par p = {.rule = rule, .groups = groups, .helium = helium};
    p.X = helium ? 0.76 : 1;
    p.Y = 1 - p.X;
    p.gm1 = 2 / 3.0;
    p.aexp = p.cmb_aexp = p.press_boost = 1;
    p.c_fraction = 0.01;
    p.advect = p.on_the_spot = p.cooling = true;
    p.tables = tables;
    for (int g = 0; g < groups && g < 3; g++) p.group[g] = BLACK[g];
    return p;
}

static void derive(struct chem_par *p)
{
    CHECK(chem_derive(p) == OK, "%s", err_message());
}

static struct chem_cells *cells_new(int n)
{
    struct chem_cells *c = mem_zero(sizeof *c, "cells");
    c->n = n;
    for (int k = 0; k < n; k++) c->cools[k] = 1;
    return c;
}

static struct chem_stats advance(const struct chem_par *p, struct chem_cells *c, double dt)
{
    struct chem_stats stats = {0};
    CHECK(chem_advance(p, c, dt, &stats) == OK, "%s", err_message());
    return stats;
}

/* A cell of random gas, radiation and rates. */
static void cell_random(const struct chem_par *p, struct chem_cells *c, int k, double dt)
{
    double x = draw(0, 1) < 0.5 ? draw_log(1e-6, 1) : 1 - draw_log(1e-6, 0.5);
    c->T2[k] = draw_log(10, 3e4);
    c->nH[k] = draw_log(1e-3, 1e2);
    c->Z[k] = p->h2 ? draw(0, 1) : 0;
    c->x[CHEM_XHII][k] = x;
    c->x[CHEM_XHI][k] = p->h2 ? (1 - x) * draw(0, 1) : 0;
    c->x[CHEM_XHEII][k] = p->helium ? draw(0, 0.5) : 0;
    c->x[CHEM_XHEIII][k] = p->helium ? draw(0, 0.5) : 0;
    for (int g = 0; g < p->groups; g++) {
        double N = draw_log(1e-8, 1e-2);
        c->N[g][k] = N;
        c->N_rate[g][k] = N * draw(-0.5, 2) / dt;
        for (int i = 0; i < 3; i++) {
            c->F[g][i][k] = N * p->law.c * draw(-0.5, 0.5);
            c->F_rate[g][i][k] = N * p->law.c * draw(-0.1, 0.1) / dt;
        }
    }
    c->smooth = true;
}

/* Between the nodes of the tables, and above them. */
static void test_rates(void)
{
    struct chem_par p = par_of(CHEM_EXACT, 0, true);
    double worst = 0, x[CHEM_FRACTIONS] = {0, 1, 0, 1};
    derive(&p);
    for (int i = 0; i < 2000; i++) {
        double T = draw_log(1e4, 9e8), h = 315614 / T, he = 1263030 / T, s = 1 + sqrt(T / 1e5);
        struct chem_rates r = chem_rates_at(&p, T, 1, x);
        double want[] = {2.753e-14 * pow(h, 1.5) / pow(1 + pow(h / 2.74, 0.407), 2.242),
                         1.26e-14 * pow(570670 / T, 0.75),
                         5.506e-14 * pow(he, 1.5) / pow(1 + pow(he / 2.74, 0.407), 2.242),
                         5.85e-11 * sqrt(T) / s * exp(-157809.1 / T),
                         2.38e-11 * sqrt(T) / s * exp(-285335.4 / T)};
        double have[] = {r.recombine[0], r.recombine[1], r.recombine[2], r.ionise[0], r.ionise[1]};
        for (int j = 0; j < 5; j++)
            if (want[j] > 1e-30) worst = fmax(worst, fabs(have[j] / want[j] - 1));
    }
    CHECK(worst < 2e-3, "%g", worst); /* the steepest: ionisation of HeI at 1e4 K */
    struct chem_rates hot = chem_rates_at(&p, 1e10, 1, x), end = chem_rates_at(&p, 1e9, 1, x);
    double slope = log10(hot.recombine[1] / end.recombine[1]);
    CHECK(fabs(slope + 0.75) < 1e-6, "%g", slope);
    CHECK(hot.cool > end.cool, "%g %g", hot.cool, end.cool);
}

/* Electrons of gas in collisional equilibrium by bisection, from the same rates. */
static double electrons(const struct chem_rates *r, double nH, double he)
{
    double low = 1e-12 * nH, high = 2 * nH;
    for (int i = 0; i < 200; i++) {
        double ne = sqrt(low * high), first = r->ionise[1] / r->recombine[1];
        double second = r->ionise[2] / r->recombine[2], up = r->ionise[0] / r->recombine[0];
        double all = 1 + first + first * second;
        double give = nH * up / (1 + up) + nH * he * (first + 2 * first * second) / all;
        *(give > ne ? &low : &high) = ne;
    }
    return low;
}

/* Long after, fractions are those of chem_equilibrium, and the electrons those of the ratios. */
static void test_equilibrium(enum chem_rule rule)
{
    struct chem_par p = par_of(rule, 0, true);
    struct chem_cells *c = cells_new(20);
    double x[CHEM_FRACTIONS], worst = 0, off = 0;
    for (int k = 0; k < 20; k++) {
        p.T_const = draw_log(1.5e4, 2e5);
        p.cooling = false;
        derive(&p);
        c->n = 1;
        c->nH[0] = draw_log(0.01, 10);
        c->T2[0] = p.T_const / 0.6;
        c->x[CHEM_XHII][0] = c->x[CHEM_XHEII][0] = c->x[CHEM_XHEIII][0] = 0.3;
        for (int i = 0; i < 10; i++) advance(&p, c, 1e5 * CGS_MYR / c->nH[0] / 10);
        struct chem_par fixed = p; /* by RAMSES's rule T2 and not T_const gives the rates */
        fixed.rule = CHEM_EXACT;
        chem_equilibrium(&fixed, c->T2[0], c->nH[0], 0, NULL, x);
        for (int i = CHEM_XHII; i < CHEM_FRACTIONS; i++)
            worst = fmax(worst, fabs(c->x[i][0] - x[i]));
        struct chem_rates r = chem_rates_at(&p, p.T_const, c->nH[0], x);
        double he = 0.25 * p.Y / p.X, ne = electrons(&r, c->nH[0], he);
        off = fmax(off, fabs(ne / c->nH[0] - x[1] - he * (x[2] + 2 * x[3])));
    }
    CHECK(worst < 1e-5, "rule %d: %g", rule, worst);
    CHECK(off < 1e-6, "%g", off);
    mem_free(c);
}

/* In a sub-step the photons that vanish have ionised: the changes of the fractions of HII, and of
 * HeI and HeIII, less recombinations and collisional ionisations, of the same rates. */
static void test_ionisations(void)
{
    struct chem_par p = par_of(CHEM_EXACT, 3, true);
    struct chem_state s = {.T2 = vec_of(1e4)};
    struct chem_given k = {.nH = vec_of(1), .Z = vec_of(0), .cools = vec_of(0)};
    struct chem_state next;
    struct chem_work w;
    struct exact_light light;
    struct exact_gas gas = {.x = {vec_of(0)}};
    double worst = 0;
    vec n[CHEM_ABSORBERS];
    p.T_const = 1e4;
    derive(&p);
    for (int i = 0; i < 3000; i++) {
        k.nH = vec_of(draw_log(1e-3, 1e2));
        s.x[CHEM_XHII] = vec_of(1 - draw_log(1e-6, 1));
        s.x[CHEM_XHEII] = vec_of(draw(0, 0.5));
        s.x[CHEM_XHEIII] = vec_of(draw(0, 0.5));
        for (int g = 0; g < 3; g++) s.N[g] = vec_of(draw_log(1e-8, 1e-1));
        chem_begin(&p, &k, &s, &w, &next, vec_of(draw_log(1e7, 1e11)));
        exact_solve(&p, &k, &s, &w, &light, &gas, n);
        vec *x = gas.x, ne = gas.used, he = k.nH * p.law.he_per_h;
        vec up = x[2] - s.x[CHEM_XHII] - gas.h.bc * ne * x[1] + gas.h.cb * ne * x[2];
        vec one = w.xHeI - x[3] - gas.he.ab * ne * x[3] + gas.he.ba * ne * x[4];
        vec two = x[5] - s.x[CHEM_XHEIII] - gas.he.bc * ne * x[4] + gas.he.cb * ne * x[5];
        vec gone = vec_of(0);
        for (int g = 0; g < 3; g++) gone += w.h * chem_absorption(&p, g, n) * light.N[g];
        vec size = k.nH * (1 + gas.h.cb * ne) + he * (1 + (gas.he.ba + gas.he.cb) * ne) + gone;
        vec off = vec_abs(k.nH * up + he * (one + two) - gone) / size;
        for (int e = 0; e < VEC; e++) worst = fmax(worst, off[e]);
    }
    CHECK(worst < 1e-13, "%g", worst);
}

/* Photons at the end are those at the beginning and those added, less those counted as absorbed. */
static void test_photons(struct chem_par p)
{
    struct chem_cells *c = cells_new(1);
    double lost = 0;
    derive(&p);
    for (int i = 0; i < 1000; i++) {
        double dt = draw_log(1e7, 1e10);
        cell_random(&p, c, 0, dt);
        for (int g = 0; g < p.groups; g++) c->absorbed[g][0] = c->emitted[g][0] = 0;
        struct chem_cells was = *c;
        advance(&p, c, dt);
        for (int g = 0; g < p.groups; g++) {
            double in = was.N[g][0] + dt * was.N_rate[g][0];
            double all = fabs(was.N[g][0]) + fabs(c->absorbed[g][0]) + c->emitted[g][0];
            double off = in + c->emitted[g][0] - c->absorbed[g][0] - c->N[g][0];
            lost = fmax(lost, fabs(off) / all);
        }
    }
    CHECK(lost < 1e-13, "rule %d: %g", p.rule, lost);
    mem_free(c);
}

/* Momentum of the gas is that of the flux that is lost, if nothing limits the flux; nuclei stay. */
static void test_momentum(enum chem_rule rule)
{
    struct chem_par p = par_of(rule, 3, true);
    struct chem_cells *c = cells_new(CHEM_BATCH);
    double worst = 0, dt = 1e9;
    derive(&p);
    for (int k = 0; k < c->n; k++) {
        cell_random(&p, c, k, dt);
        for (int g = 0; g < 3; g++) {
            c->N_rate[g][k] = fabs(c->N_rate[g][k]);
            for (int i = 0; i < 3; i++) c->F_rate[g][i][k] *= 0.1;
        }
    }
    struct chem_cells was = *c;
    advance(&p, c, dt);
    for (int k = 0; k < c->n; k++) {
        for (int i = 0; i < 3; i++) {
            double gone = 0, size = 0;
            for (int g = 0; g < 3; g++) {
                double in = was.F[g][i][k] + dt * was.F_rate[g][i][k], e = p.law.push[g] / p.law.c;
                gone += e * (in - c->F[g][i][k]);
                size += e * (fabs(in) + fabs(was.F[g][i][k]));
            }
            worst = fmax(worst, fabs(gone - c->momentum[i][k]) / size);
        }
        CHECK(c->x[2][k] + c->x[3][k] <= 1 + 1e-12 && c->x[1][k] <= 1, "%g", c->x[1][k]);
    }
    CHECK(worst < 1e-12, "rule %d: %g", rule, worst);
    mem_free(c);
}

/* n_e falls as n_e/(1 + α n_e t), and neutral gas in constant light as e^(-Γt); the error falls
 * with the length of the steps. */
static void test_decay(enum chem_rule rule)
{
    struct chem_par p = par_of(rule, 1, false);
    struct chem_cells *c = cells_new(1);
    double off[2], dark[2], x[CHEM_FRACTIONS] = {0, 1};
    p.T_const = 3000;
    p.cooling = false;
    derive(&p);
    struct chem_rates r = chem_rates_at(&p, 3000, 1, x);
    for (int i = 0; i < 2; i++) {
        int n = i ? 400 : 100;
        double t = 3 / r.recombine[0], rate = 1e-11;
        c->nH[0] = 1;
        c->T2[0] = 1e4;
        c->N[0][0] = 0;
        c->x[CHEM_XHII][0] = 1;
        for (int k = 0; k < n; k++) advance(&p, c, t / n);
        dark[i] = fabs(c->x[CHEM_XHII][0] * 4 - 1);
        c->nH[0] = 1e-12;
        c->N[0][0] = rate / p.law.ionise[0][CHEM_HI];
        c->x[CHEM_XHII][0] = 0;
        for (int k = 0; k < n; k++) advance(&p, c, 2 / rate / n);
        off[i] = fabs((1 - c->x[CHEM_XHII][0]) / exp(-2) - 1);
    }
    CHECK(dark[0] < 0.02 && dark[1] < 0.3 * dark[0], "rule %d: %g %g", rule, dark[0], dark[1]);
    CHECK(off[0] < 0.03 && off[1] < 0.3 * off[0], "rule %d: %g %g", rule, off[0], off[1]);
    mem_free(c);
}

/* Test 0 of Iliev et al. (2006): 0.5 Myr in the light of a blackbody of 1e5 K, then in the dark. */
static double test_zone(enum chem_rule rule, double *last)
{
    struct chem_par p = par_of(rule, 3, false);
    struct chem_cells *c = cells_new(1);
    const double part[3] = {0.43, 0.45, 0.12}; /* photons by group */
    double top;
    derive(&p);
    c->nH[0] = 1;
    c->T2[0] = 100;
    c->x[CHEM_XHII][0] = 1e-6;
    for (int i = 0; i < 500; i++) {
        for (int g = 0; g < 3; g++) c->N[g][0] = part[g] * 1e12 / p.law.c;
        advance(&p, c, 0.5 * CGS_MYR / 500);
    }
    double x[CHEM_FRACTIONS] = {0, c->x[CHEM_XHII][0]};
    top = chem_temperature(&p, c->T2[0], x);
    CHECK(x[1] > 0.999 && top > 2.5e4 && top < 4.5e4, "rule %d: %g %g", rule, x[1], top);
    for (int g = 0; g < 3; g++) c->N[g][0] = 0;
    for (int i = 0; i < 500; i++) advance(&p, c, 4.5 * CGS_MYR / 500);
    x[1] = c->x[CHEM_XHII][0];
    *last = chem_temperature(&p, c->T2[0], x);
    CHECK(*last < 1e4 && *last > 1e3 && x[1] < 0.2, "rule %d: %g %g", rule, *last, x[1]);
    mem_free(c);
    return top;
}

static void test_zones(void)
{
    double dark[2], hot[2];
    hot[0] = test_zone(CHEM_EXACT, &dark[0]);
    hot[1] = test_zone(CHEM_RAMSES, &dark[1]);
    CHECK(near(hot[0], hot[1], 0.02) && near(dark[0], dark[1], 0.03), "%g %g, %g %g", hot[0],
          hot[1], dark[0], dark[1]);
}

static struct chem_par par_dusty(enum chem_rule rule)
{
    struct chem_par p = par_of(rule, 4, true);
    for (int g = 3; g > 0; g--) p.group[g] = BLACK[g - 1];
    p.group[0] = (struct chem_group){.egy = 1, .kappa_abs = 10, .kappa_sc = 10};
    p.group[1] = (struct chem_group){
        .csn = {2.1e-19}, .cse = {2.1e-19}, .egy = 12.44, .l0 = 11.2, .l1 = 13.6};
    for (int g = 1; g < 4; g++) p.group[g].kappa_abs = 1000;
    p.h2 = p.infrared = true;
    return p;
}

/* The sub-steps of RAMSES-RT, to the precision in which its constants are known. */
static void test_ramses(void)
{
    struct chem_par p = par_dusty(CHEM_RAMSES);
    static const struct chem_group ION[2] = {
        {.csn = {5e-18, 3e-18}, .cse = {5.3e-18, 2.8e-18}, .egy = 18.85, .kappa_abs = 1000},
        {.csn = {2.9e-18, 5.7e-19, 4.5e-18},
         .cse = {2.8e-18, 5e-19, 4.1e-18},
         .egy = 35.08,
         .kappa_abs = 1000}};
    struct chem_cells *c = cells_new(RAMSES_CELLS);
    double worst = 0, dt = RAMSES_YEARS * CGS_YEAR;
    p.on_the_spot = false;
    memcpy(p.group + 2, ION, sizeof ION);
    p.spec2group[CHEM_HI] = 3;
    p.spec2group[CHEM_HEI] = p.spec2group[CHEM_HEII] = 4;
    derive(&p);
    for (int k = 0; k < c->n; k++) {
        const double *b = RAMSES_BEFORE[k];
        c->T2[k] = *b++, c->nH[k] = *b++, c->Z[k] = *b++;
        for (int i = 0; i < CHEM_FRACTIONS; i++) c->x[i][k] = *b++;
        for (int g = 0; g < RAMSES_GROUPS; g++) {
            c->N[g][k] = *b++;
            for (int i = 0; i < 3; i++) c->F[g][i][k] = *b++;
            c->N_rate[g][k] = *b++;
            for (int i = 0; i < 3; i++) c->F_rate[g][i][k] = *b++;
        }
    }
    c->smooth = true;
    struct chem_stats stats = advance(&p, c, dt);
    CHECK(stats.steps > 10 * stats.cells, "%d", (int)stats.steps);
    for (int k = 0; k < c->n; k++) {
        const double *a = RAMSES_AFTER[k];
        worst = fmax(worst, fabs(c->T2[k] / *a++ - 1));
        for (int i = 0; i < CHEM_FRACTIONS; i++) worst = fmax(worst, fabs(c->x[i][k] / *a++ - 1));
        for (int g = 0; g < RAMSES_GROUPS; g++) {
            double unit = *a * p.law.c;
            worst = fmax(worst, fabs(c->N[g][k] / *a++ - 1));
            for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(c->F[g][i][k] - *a++) / unit);
        }
    }
    CHECK(worst < 1e-6, "%g", worst);
    mem_free(c);
}

/* Dust and gas in a box of infrared radiation come to one temperature, and keep the energy. */
static void test_dust(enum chem_rule rule)
{
    struct chem_par p = par_dusty(rule);
    struct chem_cells *c = cells_new(1);
    double x[CHEM_FRACTIONS] = {1, 0, 0, 0}, E, T;
    p.c_fraction = 1;
    p.T_const = 0;
    p.h2 = false;
    p.cooling = false;
    derive(&p);
    c->nH[0] = 1e4;
    c->Z[0] = 1;
    c->T2[0] = 300;
    for (int g = 1; g < 4; g++) c->N[g][0] = 0;
    c->N[0][0] = RAMSES_RADIATION * pow(30, 4) / p.law.erg[0];
    double C = 1.5 * c->nH[0] * RAMSES_MH / p.X / RAMSES_MH * CGS_KB, before;
    before = p.law.erg[0] * c->N[0][0] + C * c->T2[0];
    for (int i = 0; i < 100; i++) advance(&p, c, 1e3 * CGS_YEAR);
    E = p.law.erg[0] * c->N[0][0];
    T = chem_temperature(&p, c->T2[0], x);
    CHECK(near(E, RAMSES_RADIATION * pow(T, 4), 1e-3), "%g %g", E, T);
    CHECK(near(E + C * c->T2[0], before, 1e-9), "%g", (E + C * c->T2[0]) / before - 1);
    mem_free(c);
}

/* Molecules on dust, destroyed by cosmic rays, tend to the equilibrium. */
static void test_molecules(enum chem_rule rule)
{
    struct chem_par p = par_dusty(rule);
    struct chem_cells *c = cells_new(1);
    double x[CHEM_FRACTIONS];
    p.T_const = 80;
    p.cooling = false;
    p.cosmic_rays = true;
    p.groups = 0;
    p.infrared = false;
    derive(&p);
    c->nH[0] = 10;
    c->Z[0] = 0.3;
    c->T2[0] = 60;
    c->x[CHEM_XHI][0] = 0.9;
    c->x[CHEM_XHII][0] = 0.01;
    for (int i = 0; i < 50; i++) advance(&p, c, 1e2 * CGS_MYR);
    p.rule = CHEM_EXACT;
    chem_equilibrium(&p, 60, c->nH[0], c->Z[0], NULL, x);
    CHECK(x[0] > 0.1 && x[0] < 0.95, "%g", x[0]);
    CHECK(near(x[0], c->x[0][0], 1e-3), "rule %d: %g %g", rule, x[0], c->x[0][0]);
    CHECK(near(x[1], c->x[1][0], 1e-3), "rule %d: %g %g", rule, x[1], c->x[1][0]);
    mem_free(c);
}

/* The numbers of cell k of one batch and cell j of another. */
static int differ(const struct chem_par *p, const struct chem_cells *a, int k,
                  const struct chem_cells *b, int j)
{
    int n = a->T2[k] != b->T2[j];
    for (int i = 0; i < CHEM_FRACTIONS; i++) n += a->x[i][k] != b->x[i][j];
    for (int i = 0; i < 3; i++) n += a->momentum[i][k] != b->momentum[i][j];
    for (int g = 0; g < p->groups; g++) {
        n += a->N[g][k] != b->N[g][j] || a->absorbed[g][k] != b->absorbed[g][j];
        for (int i = 0; i < 3; i++) n += a->F[g][i][k] != b->F[g][i][j];
    }
    return n;
}

static void cell_copy(const struct chem_cells *from, int k, struct chem_cells *to, int j)
{
    const double *a = (const double *)from;
    double *b = (double *)to;
    size_t rows = sizeof(from->T2) / sizeof(double);
    for (size_t i = offsetof(struct chem_cells, T2) / sizeof(double);
         i + rows <= sizeof *from / sizeof(double); i += rows)
        b[i + (size_t)j] = a[i + (size_t)k];
    to->smooth = from->smooth;
}

/* A cell has the same bits alone, and in any batch at any place. */
static void test_batches(struct chem_par p)
{
    struct chem_cells *c = cells_new(CHEM_BATCH), *turned = cells_new(CHEM_BATCH),
                      *one = cells_new(1);
    double dt = 3e8;
    int bad = 0;
    derive(&p);
    for (int k = 0; k < CHEM_BATCH; k++) cell_random(&p, c, k, dt);
    for (int k = 0; k < CHEM_BATCH; k++) cell_copy(c, k, turned, (k * 37 + 5) % CHEM_BATCH);
    struct chem_cells was = *c;
    advance(&p, c, dt);
    advance(&p, turned, dt);
    for (int k = 0; k < CHEM_BATCH; k++) {
        cell_copy(&was, k, one, 0);
        advance(&p, one, dt);
        bad += differ(&p, c, k, turned, (k * 37 + 5) % CHEM_BATCH) + differ(&p, c, k, one, 0);
    }
    CHECK(bad == 0, "%d", bad);
    mem_free(c);
    mem_free(turned);
    mem_free(one);
}

/* Values at the ends of their ranges, and beyond. */
static void test_hostile(struct chem_par p)
{
    const double T2[] = {0, 1e-2, 1, 1e9, 1e12}, N[] = {0, 1e-60, 1e-3, 1e20}, x[] = {0, 1, 1.1};
    struct chem_cells *c = cells_new(1);
    int bad = 0;
    derive(&p);
    for (int i = 0; i < 5 * 4 * 3 * 2; i++) {
        cell_random(&p, c, 0, 1e7);
        c->smooth = false;
        c->nH[0] = i / 60 ? 1e6 : 1e-9;
        c->T2[0] = T2[i % 5];
        for (int g = 0; g < p.groups; g++) c->N[g][0] = N[i / 5 % 4];
        for (int j = 0; j < CHEM_FRACTIONS; j++) c->x[j][0] = x[i / 20 % 3];
        advance(&p, c, 1e5);
        bad += !(c->T2[0] >= 1e-2 && c->T2[0] < 1e15);
        for (int j = 1; j < CHEM_FRACTIONS; j++) bad += !(c->x[j][0] >= 0 && c->x[j][0] <= 1);
        for (int g = 0; g < p.groups; g++) {
            double F = 0;
            for (int d = 0; d < 3; d++) F += c->F[g][d][0] * c->F[g][d][0];
            bad += !(c->N[g][0] > 0 && sqrt(F) <= p.law.c * c->N[g][0] * (1 + 1e-14));
        }
    }
    CHECK(bad == 0, "rule %d: %d", p.rule, bad);
    mem_free(c);
}

static void test_refused(void)
{
    struct chem_par p = par_of(CHEM_EXACT, 3, true);
    p.c_fraction = 0;
    CHECK_FAILS(chem_derive(&p), "rt_c_fraction");
    p = par_of(CHEM_EXACT, 3, true);
    p.groups = 9;
    CHECK_FAILS(chem_derive(&p), "at most 8");
    p = par_of(CHEM_EXACT, 3, true);
    p.T_rad = true;
    CHECK_FAILS(chem_derive(&p), "rt_T_rad");
}

/* The equilibrium at 500 values of T/mu from 10 to 1e6 K: sums of the table of RAMSES's test
 * eq-abundances (2025), whose temperatures are rounded. */
static void test_abundances(void)
{
    static const double want[6] = {185.44606163760901, 140.72609829104317, 173.82789595104552,
                                   366.37591637030226, 46.178017143443348, 87.446067044723421};
    struct chem_par p = par_of(CHEM_EXACT, 0, true);
    double sum[6] = {0};
    p.h2 = true;
    p.advect = false;
    derive(&p);
    for (int i = 0; i < 500; i++) {
        double x[CHEM_FRACTIONS];
        chem_equilibrium(&p, pow(10, 1 + 5 * i / 499.0), 1, 0, NULL, x);
        sum[0] += 1 - x[CHEM_XHI] - x[CHEM_XHII];
        sum[1] += x[CHEM_XHI], sum[2] += x[CHEM_XHII];
        sum[3] += 1 - x[CHEM_XHEII] - x[CHEM_XHEIII];
        sum[4] += x[CHEM_XHEII], sum[5] += x[CHEM_XHEIII];
    }
    for (int k = 0; k < 6; k++)
        CHECK(fabs(sum[k] / want[k] - 1) < 3e-5, "%d: %.12g, not %.12g", k, sum[k], want[k]);
}

/* No number of sub-steps suffices for an infinite time in gas that cools; the message has the state
 * of the first such cell. */
static void test_stuck(void)
{
    struct chem_par p = par_of(CHEM_RAMSES, 0, true);
    struct chem_cells *c = cells_new(3);
    struct chem_stats stats = {.stuck = -1};
    derive(&p);
    for (int k = 0; k < 3; k++) {
        c->T2[k] = 5e5;
        c->nH[k] = 10;
        c->x[CHEM_XHII][k] = 1;
    }
    CHECK_FAILS(chem_advance(&p, c, INFINITY, &stats), "n_H = 10 cm^-3, T/mu = 500000 K, x_HII");
    CHECK(stats.stuck == 0 && stats.max_steps == 100000, "cell %d", stats.stuck);
    mem_free(c);
}

int main(void)
{
    numbers = rng_make(12, 5, 1);
    tables = chem_tables_new();
    test_rates();
    test_ionisations();
    test_zones();
    for (int rule = 0; rule < 2; rule++) {
        test_equilibrium(rule);
        test_momentum(rule);
        test_decay(rule);
        test_dust(rule);
        test_molecules(rule);
        test_photons(par_of(rule, 3, true));
        test_batches(par_of(rule, 3, true));
        test_batches(par_dusty(rule));
        test_hostile(par_of(rule, 3, true));
    }
    test_ramses();
    test_refused();
    test_abundances();
    test_stuck();
    chem_tables_free(tables);
    printf("chem_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
