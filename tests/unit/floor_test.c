/* floor_test: the temperature floors of dense gas. Catches: a Jeans length in other cells, a
 * unit without its power, cells that shrink with the expansion, a floor that forgets gamma, the
 * rules of 2024 instead of present ones, a polytrope that equals T2_star at a density other than
 * n_star. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "check.h"
#include "phys/floor.h"

static const double M_H = 1.6605390e-24, K_B = 1.3806490e-16, G = 6.67408e-8, G_2024 = 6.67e-8;
static const double MPC = 3.0856775814913673e24;

static struct params *par; /* large, hence one for all tests */

static double jeans_length(double gamma, double T2, double rho)
{
    return sqrt(M_PI * gamma * K_B * T2 / (M_H * G * rho));
}

/* At the floor the Jeans length is a given number of finest cells, with their width at a = 1 (in
 * cm), for any units, density and gamma. */
static void check_jeans(const struct cosmo_par *c, double aexp, double cell)
{
    const double gammas[] = {1.1, 1.4, 5. / 3};
    struct units u = units_at(&par->units, c, aexp);
    for (int i = 0; i < 3; i++)
        for (double nH = 1e-6; nH < 1e6; nH *= 1e3) {
            par->hydro.gamma = gammas[i];
            par->run.ramses_2024 = false;
            struct temperature_floor f = floor_at(par, c, &u, aexp);
            double T2 = floor_T2(&f, nH), rho = nH * M_H / 0.76;
            double cells = jeans_length(gammas[i], T2, rho) / cell;
            CHECK(fabs(cells / par->physics.jeans_ncells - 1) < 1e-12, "%.15g cells", cells);
            par->run.ramses_2024 = true;
            f = floor_at(par, c, &u, aexp);
            double higher = floor_T2(&f, nH) / T2, want = gammas[i] * u.hydrogen * G_2024 / G;
            CHECK(fabs(higher / want - 1) < 1e-12, "%.15g, not %.15g", higher, want);
        }
}

static void test_jeans(void)
{
    const double units[][3] = {{1, 1, 1}, {1.66e-24, 3.15576e13, 3.0857e20}, {2e-30, 4e16, 7e24}};
    par->run.hydro = par->physics.cooling = true;
    for (int k = 0; k < 3; k++) {
        par->run.cosmo = false;
        par->units.units_density = units[k][0];
        par->units.units_time = units[k][1];
        par->units.units_length = units[k][2];
        par->amr.levelmax = 5 + 4 * k;
        par->amr.boxlen = 0.5 + k;
        par->physics.jeans_ncells = 4 + 10 * k;
        check_jeans(NULL, 1, par->amr.boxlen * ldexp(units[k][2], -par->amr.levelmax));
        par->run.cosmo = true;
        struct cosmo_par c = {.omega_m = 0.3, .omega_b = 0.05, .h0 = 50 + 10 * k, .boxlen_ini = 30};
        double length, density, time;
        cosmo_units(&c, 1, &length, &density, &time);
        CHECK(fabs(length / (30 / (0.5 + 0.1 * k) * MPC) - 1) < 1e-6);
        for (double a = 0.04; a <= 1; a *= 5) check_jeans(&c, a, ldexp(length, -par->amr.levelmax));
    }
    par->physics.jeans_ncells = -1;
    par->run.cosmo = false;
}

/* The floor is T2_star at n_star, or with cosmology at del_star times the mean density if this is
 * higher. */
static void test_polytrope(void)
{
    const struct cosmo_par c = {.omega_m = 0.3, .omega_b = 0.05, .h0 = 70, .boxlen_ini = 30};
    const double mean = 0.05 * 1.88e-29 * 0.49 * 0.76 / M_H; /* H/cm^3 at a = 1 */
    par->physics.t2_star = 50;
    par->physics.n_star = 0.01;
    par->physics.del_star = 200;
    par->physics.g_star = 1.7;
    struct units u = units_at(&par->units, NULL, 1);
    struct temperature_floor f = floor_at(par, NULL, &u, 1);
    CHECK(fabs(floor_T2(&f, 0.01) / 50 - 1) < 1e-14);
    CHECK(fabs(floor_T2(&f, 0.1) / (50 * pow(10, 0.7)) - 1) < 1e-13);
    for (double a = 0.05; a <= 1; a *= 4) {
        double dense = fmax(0.01, 200 * mean / (a * a * a));
        u = units_at(&par->units, &c, a);
        f = floor_at(par, &c, &u, a);
        CHECK(fabs(floor_T2(&f, dense) / 50 - 1) < 1e-12, "a=%g: %.15g", a, floor_T2(&f, dense));
    }
}

int main(void)
{
    par = mem_zero(sizeof *par, "test");
    param_init(par);
    test_jeans();
    test_polytrope();
    mem_free(par);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
