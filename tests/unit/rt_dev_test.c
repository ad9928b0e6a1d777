/* rt_dev: sub-steps of radiation and chemistry on the emulated device have the bits of the CPU, in
 * random cells (cold and hot, neutral and ionised, dark and bright, some with fractions and fluxes
 * that are out of range), for 1 to 8 groups, with and without H2, helium, metals, delayed cooling,
 * dust, infrared photons, photo-electric heating and recombination photons, by both rules, with and
 * without rt_smooth, in two and three dimensions. So have the sums of the ledger, and the counts of
 * sub-steps. A device without enough memory changes nothing. A cell that does not reach the end of
 * its step ends the run there as on the CPU, with its place. Catches: a comparison whose mask is
 * inverted for single cells, a cell of the list that is forgotten or is advanced twice, sums of an
 * earlier sub-step, a rate that is not divided by the sub-step.
 *
 * test: tier=check timeout=120 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "chem/chem.h"
#include "gas_mesh.h"
#include "rt/lights.h"
#include "rt/rt_dev.h"
#include "test_device.h"

enum { LEVEL = 2, CASES = 16, V = RT_COMPONENTS };

struct world {
    struct params *par;
    struct hydro_par gas;
    struct mesh m;
    struct rt *rt;
    struct rt_run run;
    struct test_mirror t;
    struct ghost_dev *ghosts;
    struct rt_dev *dev;
};

static const struct comm ALONE = {.size = 1};

/* ---- a random run ---- */

static double power(struct rng *r, double low, double high)
{
    return pow(10, low + (high - low) * rng_uniform(r));
}

static bool odds(struct rng *r, int n)
{
    return rng_word(r) % (unsigned)n == 0;
}

static void choose_groups(struct params *p, struct rng *r, int groups)
{
    struct param_rt_groups *g = &p->rt_groups;
    for (int i = 0; i < groups; i++) {
        g->groupl0[i] = 5 + 6 * i;
        g->groupl1[i] = 11 + 6 * i;
        g->group_egy[i] = 8 + 6 * i;
        for (int j = 0; j < 4; j++) {
            g->group_csn[i][j] = odds(r, 3) ? 0 : power(r, -19, -17);
            g->group_cse[i][j] = g->group_csn[i][j] * (0.8 + 0.4 * rng_uniform(r));
        }
        g->kappaabs[i] = odds(r, 2) ? 0 : power(r, 0, 3);
        g->kappasc[i] = odds(r, 2) ? 0 : power(r, 0, 3);
    }
    for (int j = 0; j < 4; j++) g->spec2group[j] = (int)(rng_word(r) % (unsigned)(groups + 1));
}

static void choose(struct params *p, struct rng *r, int k)
{
    const int groups = 1 + k % 8;
    param_init(p);
    p->run.hydro = p->run.rt = true;
    p->rt.ish2 = (k / 8 ^ k) & 1;
    p->rt.y = (k / 8 ^ k / 2) & 1 ? 0.24 : 0;
    p->rt.x = 1 - p->rt.y;
    snprintf(p->rt.rt_rule, sizeof p->rt.rt_rule, odds(r, 2) ? "ramses" : "ptah");
    p->rt.rt_c_fraction = 0.01;
    p->rt.rt_smooth = odds(r, 2);
    p->rt.rt_otsa = odds(r, 2);
    p->rt.rt_nsource = 1;
    p->physics.cooling = !odds(r, 4);
    p->physics.metal = odds(r, 2);
    p->physics.z_ave = odds(r, 2) ? 0 : 0.3;
    p->physics.delayed_cooling = odds(r, 3);
    p->physics.self_shielding = odds(r, 2);
    p->rt.cosmic_rays = odds(r, 3);
    p->rt.is_mu_h2 = odds(r, 3);
    p->rt.rt_isopress = odds(r, 3);
    p->rt.rt_isir = odds(r, 3);
    p->rt.is_kir_t = p->rt.rt_isir && odds(r, 2);
    p->rt.ipeh_group = odds(r, 3) ? groups : 0;
    p->rt.rt_tconst = odds(r, 6) ? 1e4 : p->rt.rt_tconst;
    choose_groups(p, r, groups);
    if (p->rt.rt_isir) p->rt_groups.kappaabs[0] = 5;
}

static void scalars(const struct params *p, struct gas_vars *g)
{
    gas_vars_init(g);
    if (p->physics.metal) gas_vars_add(g, "metallicity");
    if (p->physics.delayed_cooling) gas_vars_add(g, "delayed_cooling");
    if (p->rt.ish2) gas_vars_add(g, "x_HI");
    gas_vars_add(g, "x_HII");
    if (p->rt.y > 0) gas_vars_add(g, "x_HeII");
    if (p->rt.y > 0) gas_vars_add(g, "x_HeIII");
}

static void fill(struct world *w, struct rng *r)
{
    const struct gas_vars *g = &w->gas.vars;
    struct level *lv = &w->m.lev[LEVEL];
    for (lidx i = 0; i < lv->noct; i++)
        for (int c = 0; c < w->m.cells; c++) {
            const double rho = power(r, -3, 1), T2 = power(r, 1.5, 5), v = power(r, -3, 1);
            double e = rho * T2 / w->run.units.temperature / (w->gas.gamma - 1);
            level_gas(lv, 0)[i][c] = rho;
            for (int d = 0; d < 3; d++) {
                const double m = d < w->m.ndim ? rho * v * (2 * rng_uniform(r) - 1) : 0;
                level_gas(lv, 1 + d)[i][c] = m;
                e += 0.5 * m * m / rho;
            }
            level_gas(lv, GAS_ENERGY)[i][c] = e;
            for (int k = GAS_SCALARS; k < w->gas.nvar; k++)
                level_gas(lv, k)[i][c] = rho * (odds(r, 4) ? 1 - power(r, -12, 0)
                                                           : power(r, -12, odds(r, 20) ? 0.3 : 0));
            if (g->at[SCALAR_METAL] >= 0) level_gas(lv, g->at[SCALAR_METAL])[i][c] *= 0.04;
            for (int k = 0; k < w->m.nphoton; k++)
                level_photons(lv, k)[i][c] = k % V == 0 ? power(r, -14, -2)
                                             : k % V <= w->m.ndim
                                                 ? w->rt->c * level_photons(lv, k / V * V)[i][c] *
                                                       1.1 * (2 * rng_uniform(r) - 1)
                                                 : 0;
        }
    for (lidx i = 0; i < lv->noct; i++) {
        for (int k = 0; k < w->gas.nvar; k++) oct_repeat(w->m.cells, level_gas(lv, k)[i]);
        for (int k = 0; k < w->m.nphoton; k++) oct_repeat(w->m.cells, level_photons(lv, k)[i]);
    }
}

static void open_world(struct world *w, int k, bool device, size_t max)
{
    const bool bounded[6] = {k % 3 == 1, k % 3 == 1};
    struct rng r = rng_make(47, (uint64_t)k, 0);
    *w = (struct world){.par = mem_zero(sizeof *w->par, "test")};
    choose(w->par, &r, k);
    w->gas = (struct hydro_par){.gamma = 5.0 / 3, .smallr = 1e-10, .interpol_type = k % 4};
    scalars(w->par, &w->gas.vars);
    w->gas.nvar = w->gas.vars.n;
    for (int f = 0; f < 6; f++) w->gas.bound[f] = bounded[f] ? BOUND_OUTFLOW : BOUND_PERIODIC;
    CHECK(rt_new(w->par, &w->gas, 1 + k % 8, &w->rt) == OK, "%s", err_message());
    w->rt->by_table = false; /* the table of waves has no kernel */
    w->rt->scheme = odds(&r, 2) ? RT_HLL : RT_GLF;
    mesh_init(&w->m, LEVEL, LEVEL, w->gas.nvar, true, 0, 1.0, bounded);
    mesh_set_ndim(&w->m, 2 + k % 2);
    mesh_set_photons(&w->m, 1 + k % 8);
    gas_mesh_fill(&w->m, refine_all);
    w->run = (struct rt_run){.rt = w->rt,
                             .mesh = &w->m,
                             .comm = &ALONE,
                             .hydro = &w->gas,
                             .units = units_of(1e18, 1.66e-24, 3.15e13),
                             .aexp = 1};
    w->rt->source[0] = (struct rt_place){
        RT_POINT, 0, {0.4, 0.5, 0.6}, .n = 1e49, .direction = {0.5, 0, 0.5}};
    w->rt->nsource = 1;
    CHECK(rt_coarse(&w->run) == OK, "%s", err_message());
    fill(w, &r);
    if (!device) return;
    CHECK(test_mirror_open(&w->t, &w->m, 1 + (uint64_t)k, max) == OK);
    CHECK(ghost_dev_new(&w->ghosts, w->t.dev, w->t.stream) == OK);
    CHECK(rt_dev_new(&w->dev, w->rt, &w->t.mirror, w->ghosts) == OK);
}

static void close_world(struct world *w)
{
    if (w->t.dev) {
        dev_settle(w->t.dev);
        rt_dev_free(&w->dev);
        ghost_dev_free(&w->ghosts);
        CHECK(test_mirror_close(&w->t) == 0);
    }
    mesh_fini(&w->m);
    rt_free(&w->rt);
    FREE(w->par);
}

/* ---- comparison ---- */

/* Two and a half sub-steps. */
static void advance(struct world *w)
{
    w->run.dt = 2.5 * rt_longest(w->rt, &w->m, LEVEL);
    w->rt->dev = w->dev;
    if (w->dev) CHECK(rt_dev_begin(w->dev, &w->run, LEVEL) == OK);
    const enum err err = rt_step(&w->run, LEVEL);
    CHECK(err == OK, "%s", err_message());
    w->rt->dev = NULL;
    if (!w->dev) return;
    CHECK(mirror_home(&w->t.mirror, &w->m, true) == OK);
    rt_dev_ledger(w->dev);
}

static int differ(const struct level *a, const struct level *b, int f)
{
    int n = 0;
    for (lidx i = 0; i < a->nown; i++) n += memcmp(a->fld[f][i], b->fld[f][i], 64) != 0;
    return n;
}

static void compare(const struct world *a, const struct world *b, int k)
{
    const struct rt_ledger *x = &a->rt->ledger, *y = &b->rt->ledger;
    for (int v = 0; v < a->gas.nvar; v++)
        CHECK(differ(&a->m.lev[LEVEL], &b->m.lev[LEVEL], FLD_U + v) == 0, "case %d, gas %d", k, v);
    for (int v = 0; v < a->m.nphoton; v++)
        CHECK(differ(&a->m.lev[LEVEL], &b->m.lev[LEVEL], FLD_PHOTONS + v) == 0,
              "case %d, photons %d", k, v);
    for (int g = 0; g < a->rt->ngroups; g++) {
        CHECK(sum_get(&x->absorbed[g]) == sum_get(&y->absorbed[g]), "case %d: absorbed", k);
        CHECK(sum_get(&x->emitted[g]) == sum_get(&y->emitted[g]), "case %d: emitted", k);
        CHECK(sum_get(&x->left[g]) == sum_get(&y->left[g]), "case %d: left", k);
        CHECK(sum_get(&x->raised[g]) == sum_get(&y->raised[g]), "case %d: raised", k);
    }
    CHECK(x->cells == y->cells && x->substeps == y->substeps && x->most == y->most,
          "case %d: %ld and %ld sub-steps, at most %ld and %ld", k, (long)x->substeps,
          (long)y->substeps, (long)x->most, (long)y->most);
    CHECK(memcmp(x->refused, y->refused, sizeof x->refused) == 0, "case %d: reasons", k);
}

/* Returns whether cells needed shorter sub-steps. */
static bool test_case(int k)
{
    struct world here, there;
    open_world(&here, k, false, 0);
    open_world(&there, k, true, 0);
    advance(&here);
    advance(&there);
    compare(&here, &there, k);
    CHECK(here.rt->ledger.cells > 0, "case %d", k);
    const bool several = here.rt->ledger.most > 1;
    close_world(&here);
    close_world(&there);
    return several;
}

/* A device with too little memory says so before anything has changed. */
static void test_full(void)
{
    struct world w;
    open_world(&w, 5, true, 60000);
    CHECK(rt_dev_begin(w.dev, &w.run, LEVEL) == ERR_LIMIT);
    CHECK(mirror_home(&w.t.mirror, &w.m, true) == OK);
    close_world(&w);
}

/* A cell that photons heat without end, on a device or on the CPU: the message names its place. */
static void test_stuck(bool device)
{
    const double bright = 1e-3, heat = 1e215;
    const char *const where = device ? " 0.625 0.125" : " 0.875 0.375";
    struct world w;
    open_world(&w, 6, device, 0);
    struct level *lv = &w.m.lev[LEVEL];
    const lidx at = mesh_find(lv, okey_make(1, 0, 0));
    for (lidx i = 0; i < lv->noct; i++)
        for (int c = 0; c < 8; c++) level_photons(lv, 0)[i][c] = i == at && c == 3 ? bright : 0;
    for (int j = 0; j < CHEM_ABSORBERS; j++) w.rt->chem->law.heat[0][j] = heat;
    w.run.dt = 1e-3 * rt_longest(w.rt, &w.m, LEVEL);
    w.rt->dev = w.dev;
    if (device) CHECK(rt_dev_begin(w.dev, &w.run, LEVEL) == OK);
    enum err err = rt_chemistry(&w.run, LEVEL, w.run.dt);
    if (device) {
        CHECK(err == OK, "%s", err_message());
        err = rt_dev_end(w.dev, &w.run, LEVEL);
    }
    CHECK(err == ERR_LIMIT && strstr(err_message(), "does not reach the end"), "%d", err);
    CHECK(strstr(err_message(), where), "%s", err_message());
    w.rt->dev = NULL;
    if (device) CHECK(mirror_home(&w.t.mirror, &w.m, true) == OK);
    close_world(&w);
}

int main(int argc, char **argv)
{
    struct comm all;
    int several = 0;
    comm_init(&argc, &argv, &all);
    for (int k = 0; k < CASES; k++) several += test_case(k);
    CHECK(several > CASES / 2, "%d cases", several);
    test_full();
    test_stuck(false), test_stuck(true);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed != 0;
}
