/* timestep_test: each limit of the time step of a level, alone and together: Courant condition of
 * gas, also with gravity, particles, free fall, expansion, source terms, and the step of the
 * coarser level, and the margin of photons. Expected values follow from the textbook formulas.
 * Catches: a missing limit, a wrong factor, a forgotten velocity component, coarser level, source
 * term or margin. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "check.h"
#include "chem/chem.h"
#include "phys/term.h"
#include "rt/rt.h"
#include "sim/sim.h"

enum { L = 3 };

static double timestep(struct sim *s, int l)
{
    sim_timestep_begin(s, l);
    sim_timestep_end(s);
    return s->time.dtnew[l];
}

static const double PI = 3.14159265358979323846, COURANT = 0.8, BOX = 2, DX = 0.25;

static void begin(struct sim *s, struct params *p, bool hydro, bool gravity)
{
    const bool open[6] = {false};
    memset(s, 0, sizeof *s);
    param_init(p);
    s->par = p;
    s->comm = (struct comm){.size = 1};
    s->phys.hydro = (struct hydro_par){
        .nvar = 5, .gamma = 1.4, .smallr = 1e-10, .smallc = 1e-10, .courant_factor = COURANT};
    s->dom = domain_new(DOMAIN_HILBERT, 1, L + 1, open);
    mesh_init(&s->mesh, L, L + 1, hydro ? 5 : 0, hydro, gravity, BOX, open);
    adapt_build(&s->mesh, &s->comm, s->dom);
    part_init(&s->parts);
}

static void end(struct sim *s)
{
    part_fini(&s->parts);
    mesh_fini(&s->mesh);
    domain_free(s->dom);
}

static void is_near(struct sim *s, double want, double error, const char *what)
{
    double dt = timestep(s, L);
    CHECK(fabs(dt / want - 1) < error, "%s: %.9g, not %.9g", what, dt, want);
}

/* Gas at rest, except for one cell: density 1, pressure 1. */
static void fill_gas(struct sim *s, const double v[3])
{
    struct level *lv = &s->mesh.lev[L];
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < 8; k++) {
            bool fast = i == 11 && k == 5;
            double kinetic = 0;
            for (int d = 0; d < 3; d++) {
                lv->fld[FLD_U + 1 + d][i][k] = fast ? v[d] : 0;
                if (fast) kinetic += 0.5 * v[d] * v[d];
            }
            lv->fld[FLD_U][i][k] = 1;
            lv->fld[FLD_U + 4][i][k] = 1 / 0.4 + kinetic;
        }
}

static void check_gas(struct sim *s, struct params *p)
{
    double sound = sqrt(1.4);
    begin(s, p, true, false);
    for (int d = 0; d < 3; d++) {
        double v[3] = {0.1, 0.1, 0.1};
        v[d] = -3;
        fill_gas(s, v);
        /* formula with gravity, whose strength parameter is at least 1e-4 */
        is_near(s, COURANT * DX / (3 * sound + 3.2), 1e-4, "Courant");
    }
    end(s);
}

/* The acceleration of a cell reduces its step: sqrt(1 + 2 C s) with s = |f| dx / speed^2. */
static void check_pull(struct sim *s, struct params *p)
{
    double speed = 3 * sqrt(1.4) + 0.6, pull = 40, strength = pull * DX / (speed * speed);
    begin(s, p, true, true);
    fill_gas(s, (double[]){0.1, 0.2, 0.3});
    s->mesh.lev[L].fld[FLD_FX][11][5] = -10;
    s->mesh.lev[L].fld[FLD_FY][11][5] = 20;
    s->mesh.lev[L].fld[FLD_FZ][11][5] = 10;
    is_near(s, DX / speed * (sqrt(1 + 2 * COURANT * strength) - 1) / strength, 1e-12,
            "gas that is pulled");
    end(s);
}

static void check_fall(struct sim *s, struct params *p)
{
    begin(s, p, false, true);
    s->phys.matter.rho_max[L] = 7;
    is_near(s, COURANT * sqrt(3 * PI / (32 * 7)), 1e-7, "free fall");
    s->phys.cosmo = (struct cosmo *)s; /* never dereferenced */
    s->phys.cosmo_par.omega_m = 0.3;
    s->time.aexp = 0.5, s->time.hexp = 1e-6;
    is_near(s, COURANT * sqrt(3 * PI * PI / (8 * 7 * 1.5 * 0.3 * 0.5)), 1e-7,
            "free fall, supercomoving");
    s->time.hexp = 20;
    is_near(s, p->run.dlna_max / 20, 1e-14, "expansion");
    s->phys.cosmo = NULL;
    s->phys.grav.analytic = true; /* analytic gravity does not depend on the matter */
    s->phys.hydro.smallc = 0.25;
    is_near(s, BOX / 0.25, 1e-14, "no condition");
    end(s);
}

static void check_particles(struct sim *s, struct params *p)
{
    begin(s, p, false, true);
    p->run.pic = true;
    part_append(&s->parts, 9);
    for (int i = 0; i < 9; i++)
        for (int d = 0; d < 3; d++) s->parts.v[d][i] = 0.1 * i;
    for (int l = 0; l <= LEVEL_MAX + 1; l++) s->parts.first[l] = l <= L ? 2 : 7;
    for (int d = 0; d < 3; d++) {
        s->parts.v[d][4] = -5 - d; /* increasing velocities */
        is_near(s, COURANT * DX / (5 + d), 1e-14, "particles");
    }
    s->parts.v[1][7] = 100; /* particle of the next level */
    is_near(s, COURANT * DX / 7, 1e-14, "particles of the level");
    s->phys.matter.rho_max[L] = 1e6;
    is_near(s, COURANT * sqrt(3 * PI / 32e6), 1e-7, "the shortest of two");
    end(s);
}

static bool wanted(const struct params *p)
{
    return p->run.hydro;
}

/* Limit of a source term: rate 7, for half of the gas, on level L. */
static double seventh(const struct term_run *r)
{
    return r->level == L && r->stage == TERM_LEVEL ? 0.5 / 7 : HUGE_VAL;
}

static double not_a_number(const struct term_run *r)
{
    return NAN;
}

/* The limit of a source term counts on its level, if the term is active and acts on levels. */
static void check_term(struct sim *s, struct params *p)
{
    struct term term = {"burning", TERM_LEVEL, wanted, .limit = seventh},
                broken = {"broken", TERM_LEVEL, wanted, .limit = not_a_number};
    const struct term *const rows[] = {&broken, &term};
    const struct term_list list = {rows, 2};
    begin(s, p, false, false);
    s->phys.hydro.smallc = 0.25;
    s->time.min.terms = &list;
    p->run.hydro = true;
    is_near(s, 0.5 / 7, 1e-14, "a source term");
    s->time.nsubcycle[L] = 1, s->time.dtnew[L] = 1;
    CHECK(timestep(s, L + 1) == 1, "a source term of another level");
    s->phys.hydro.smallc = 100;
    is_near(s, BOX / 100, 1e-14, "a shorter one than that of the term");
    s->phys.hydro.smallc = 0.25;
    p->run.hydro = false;
    is_near(s, BOX / 0.25, 1e-14, "a term that is not wanted");
    p->run.hydro = true;
    term.stages = TERM_COARSE;
    is_near(s, BOX / 0.25, 1e-14, "a term of coarse steps");
    end(s);
}

/* With RAMSES's rule photons that travel shorten other limits by its margin, but not the gas's. */
static void check_margin(struct sim *s, struct params *p)
{
    struct chem_par chem = {.rule = CHEM_RAMSES};
    struct rt rt = {.chem = &chem, .advect = true};
    begin(s, p, true, true);
    s->phys.matter.rho_max[L] = 1e6;
    fill_gas(s, (double[]){0.1, 0.1, 0.1});
    const double fall = timestep(s, L);
    s->phys.rt = &rt;
    CHECK(timestep(s, L) == 0.99999 * fall, "free fall beside photons");
    rt.advect = false;
    CHECK(timestep(s, L) == fall, "free fall in the dark");
    rt.advect = true, chem.rule = CHEM_EXACT;
    CHECK(timestep(s, L) == fall, "free fall, the other rule");
    s->phys.matter.rho_max[L] = 1e-6;
    const double courant = timestep(s, L);
    chem.rule = CHEM_RAMSES;
    CHECK(timestep(s, L) == courant, "gas beside photons");
    end(s);
}

/* The step of a finer level does not exceed its share of the coarser step. */
static void check_share(struct sim *s, struct params *p)
{
    begin(s, p, false, false);
    double dt[2], alone = BOX / 1e-10;
    s->time.dtnew[L] = 0.3;
    for (int n = 1; n <= 2; n++) {
        s->time.nsubcycle[L] = n;
        dt[n - 1] = timestep(s, L + 1);
    }
    CHECK(dt[0] == 0.3 && dt[1] == 0.15, "%g %g", dt[0], dt[1]);
    s->time.dtnew[L - 1] = 1e-3, s->time.nsubcycle[L - 1] = 1;
    is_near(s, alone, 1e-14, "levelmin has no coarser level");
    end(s);
}

int main(void)
{
    struct sim *s = mem_zero(sizeof *s, "test");
    struct params *p = mem_new(sizeof *p, "test");
    check_gas(s, p);
    check_pull(s, p);
    check_fall(s, p);
    check_term(s, p);
    check_particles(s, p);
    check_share(s, p);
    check_margin(s, p);
    mem_free(p);
    mem_free(s);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
