/* Analytic fields of lib/grav: accelerations, densities, both with the field of matter. Last line:
 * N passed, N failed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "dom/ghost.h"
#include "grav/grav.h"
#include "grav_world.h"

static int64_t passed, failed;
static struct comm all;

static void check(bool ok, const char *what)
{
    int64_t bad = !ok;
    comm_max_i64(&all, &bad, 1);
    passed += !bad;
    failed += bad;
    if (bad && all.rank == 0) printf("FAILED: %s\n", what);
}

static double all_max(double x)
{
    comm_max_f64(&all, &x, 1);
    return x;
}

static void test_analytic(void)
{
    struct world w;
    world_make(&w, &all, DOMAIN_KSECTION, 3, 3, 2.0, true, NULL);
    struct grav_par p = {
        .analytic = true, .force_type = 2, .force_params = {3, 0.1, 0.4, 0.5, 0.6}};
    grav_force(&w.m, &w.c, 3, &w.from, &p);
    double x[3], worst = 0;
    struct level *lv = &w.m.lev[3];
    for (lidx i = 0; i < lv->noct; i++) {
        cell_at(&w.m, 3, i, 5, x);
        double r = sqrt(pow(x[0] - 0.4, 2) + pow(x[1] - 0.5, 2) + pow(x[2] - 0.6, 2) + 0.01);
        worst = fmax(worst, fabs(lv->fld[FLD_FY][i][5] + 3 * (x[1] - 0.5) / pow(r, 3)));
    }
    check(all_max(worst) < 1e-12, "analytic point mass");
    p.force_type = 1;
    grav_force(&w.m, &w.c, 3, &w.from, &p);
    check(lv->noct == 0 || lv->fld[FLD_FZ][0][3] == 0.4, "analytic constant field");
    p = (struct grav_par){.density_type = 2, .density_params = {0.5, 1, 1, 1}};
    check(fabs(grav_analytic_density(&p, 3, (double[3]){1, 1, 3}) - 1.0 / 18) < 1e-15,
          "analytic density");
    check(fabs(grav_analytic_density(&p, 3, (double[3]){1, 1, 1}) - 1 / (0.5 * 2.25)) < 1e-15,
          "analytic density, softened");
    world_free(&w);
}

/* The force of matter and a constant one add up, also in ghosts. */
static void test_both(void)
{
    struct world w;
    world_make(&w, &all, DOMAIN_KSECTION, 4, 4, 1.0, true, NULL);
    struct level *lv = &w.m.lev[4];
    struct grav_par p = {.epsilon = 1e-6, .cg_levelmin = 99, .fft_levelmin = 99};
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double x[3];
            cell_at(&w.m, 4, i, c, x);
            level_phi(lv)[i][c] = sin(2 * PI * x[0]) * cos(2 * PI * x[1]);
        }
    ghost_fill(&w.c, &w.m, 4, 1, (int[]){FLD_PHI});
    grav_force(&w.m, &w.c, 4, &w.from, &p);
    double(*matter)[8] = mem_new(sizeof *matter * (size_t)lv->noct + 1, "test");
    memcpy(matter, lv->fld[FLD_FY], sizeof *matter * (size_t)lv->noct);
    p.force_type = 1;
    p.force_params[1] = 0.25;
    grav_force(&w.m, &w.c, 4, &w.from, &p);
    bool sum = true, any = false;
    for (lidx i = 0; i < lv->noct; i++)
        for (int c = 0; c < 8; c++) {
            sum &= lv->fld[FLD_FY][i][c] == matter[i][c] + 0.25;
            any |= fabs(matter[i][c]) > 1;
        }
    int64_t pulls = any;
    comm_add_i64(&w.c, &pulls, 1);
    check(sum && pulls > 0, "the analytic force is added to that of matter");
    FREE(matter);
    world_free(&w);
}

/* Type 3: the force of the disc is consistent with its density, −df/dz = 4πG ρ, in any units. */
static void test_disc(void)
{
    enum { STEPS = 200 };
    struct world w;
    world_make(&w, &all, DOMAIN_KSECTION, 3, 3, 2.0, true, NULL);
    struct grav_par p = {.analytic = true,
                         .force_type = 3,
                         .density_type = 3,
                         .force_params = {1.4e-3, 5e-4, 180},
                         .density_params = {1.4e-3, 5e-4, 180},
                         .boxlen = 2,
                         .unit_l = 1.5e21,
                         .unit_t = 7e14,
                         .unit_d = 3e-24};
    double worst = 0, max = 0, dx = mesh_dx(&w.m, 3),
           unit = 4 * PI * 6.67408e-8 * p.unit_d * p.unit_t * p.unit_t;
    grav_force(&w.m, &w.c, 3, &w.from, &p);
    const struct level *lv = &w.m.lev[3];
    for (lidx i = 0; i < lv->nown; i++) {
        double x[3], mass = 0;
        cell_at(&w.m, 3, i, 0, x);
        for (int k = 0; k < STEPS; k++)
            mass += grav_analytic_density(&p, 3,
                                          (double[3]){x[0], x[1], x[2] + (k + 0.5) * dx / STEPS}) *
                    dx / STEPS;
        worst = fmax(worst, fabs(lv->fld[FLD_FZ][i][0] - lv->fld[FLD_FZ][i][4] - unit * mass));
        max = fmax(max, unit * mass);
    }
    check(all_max(worst) < 1e-4 * all_max(max), "the disc's force is that of its density");
    world_free(&w);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    test_analytic();
    test_both();
    test_disc();
    if (all.rank == 0) printf("%d passed, %d failed\n", (int)passed, (int)failed);
    comm_fini();
    return failed != 0;
}
