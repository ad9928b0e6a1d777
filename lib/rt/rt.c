/* rt/rt: radiation of a run: its numbers from parameters, its steps, and its lines in the log.
 *
 * A step of a level follows RAMSES-RT: in each sub-step photons are transported, sources emit, and
 * the chemistry acts on leaf cells (Rosdahl et al. 2013, section 3). */
#include "rt/rt.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "chem/chem.h"
#include "dom/ghost.h"
#include "oct/field_sets.h"
#include "oct/gas_kern.h"
#include "rt/law.h"
#include "rt/lights.h"
#include "rt/rt_dev.h"

_Static_assert((int)RT_GROUPS == (int)CHEM_GROUPS && (int)RT_GROUPS == (int)PARAM_GROUPS &&
                   (int)RT_GROUPS == (int)PHOTON_GROUPS && (int)RT_REASONS == (int)CHEM_REASONS,
               "all modules have the same groups");

/* ---- properties of groups ---- */

/* Blackbodies of 1e5 K: the groups that H2, HI, HeI and HeII absorb first, with their mean energies
 * (eV) and cross sections (cm²) for these (Rosdahl et al. 2013; Nickerson et al. 2018). */
static const struct chem_group BLACKBODY[CHEM_ABSORBERS] = {
    {.csn = {2.1e-19}, .cse = {2.1e-19}, .egy = 12.44},
    {.csn = {5.0e-18, 3.007e-18}, .cse = {5.3e-18, 2.781e-18}, .egy = 18.85},
    {.csn = {2.9e-18, 5.687e-19, 4.478e-18}, .cse = {2.8e-18, 5.042e-19, 4.130e-18}, .egy = 35.079},
    {.csn = {4.1e-19, 7.889e-20, 1.197e-18, 1.055e-18},
     .cse = {4.1e-19, 7.456e-20, 1.142e-18, 1.001e-18},
     .egy = 65.666}};

/* The absorber of fraction number i of the run. */
static int absorber_of(const struct rt *rt, int i)
{
    return (rt->h2 ? 0 : 1) + i;
}

static void group_set(const struct rt *rt, int i)
{
    const struct param_rt_groups *p = &rt->par->rt_groups;
    struct chem_group *g = &rt->chem->group[i];
    const int a = absorber_of(rt, i);
    memset(g, 0, sizeof *g);
    /* without helium there is no group that it absorbs first */
    if (a < (rt->he ? CHEM_ABSORBERS : CHEM_HEI)) *g = BLACKBODY[a];
    for (int k = 0; k < CHEM_ABSORBERS; k++) {
        const int column = k - absorber_of(rt, 0);
        if (column < 0 || column >= rt->nions)
            g->csn[k] = g->cse[k] = 0;
        else {
            if (p->group_csn[i][column] >= 0) g->csn[k] = p->group_csn[i][column];
            if (p->group_cse[i][column] >= 0) g->cse[k] = p->group_cse[i][column];
        }
    }
    if (p->group_egy[i] >= 0) g->egy = p->group_egy[i];
    param_group_bounds(rt->par, i, &g->l0, &g->l1);
    g->kappa_abs = p->kappaabs[i];
    g->kappa_sc = p->kappasc[i];
}

static void chem_set(struct rt *rt, const struct hydro_par *h)
{
    const struct params *p = rt->par;
    const struct param_rt *r = &p->rt;
    struct chem_par *c = rt->chem;
    *c = (struct chem_par){.rule = strcmp(r->rt_rule, "ramses") == 0 ? CHEM_RAMSES : CHEM_EXACT,
                           .groups = rt->ngroups,
                           .h2 = rt->h2,
                           .helium = rt->he && r->y > 0,
                           .X = r->x,
                           .Y = r->y,
                           .gm1 = gas_gm1(h->gamma),
                           .c_fraction = r->rt_c_fraction,
                           .aexp = 1,
                           .cmb_aexp = 1,
                           .on_the_spot = r->rt_otsa,
                           .cooling = p->physics.cooling,
                           .T_const = r->rt_tconst,
                           .mu_h2 = r->is_mu_h2,
                           .self_shield = p->physics.self_shielding,
                           .cosmic_rays = r->cosmic_rays,
                           .infrared = rt->ngroups > 0 && r->rt_isir,
                           .kappa_T = rt->ngroups > 0 && r->is_kir_t,
                           .T_rad = rt->ngroups > 0 && r->rt_t_rad,
                           .iso_press = r->rt_isopress,
                           .press_boost = r->rt_pressboost,
                           .peh_group = rt->ngroups > 0 ? r->ipeh_group : 0,
                           .tables = chem_tables_new()};
    for (int i = 0; i < rt->ngroups; i++) group_set(rt, i);
    for (int i = 0; i < rt->nions; i++) {
        const int given = p->rt_groups.spec2group[i];
        c->spec2group[absorber_of(rt, i)] = given >= 0 ? given : i < rt->ngroups ? i + 1 : 0;
    }
}

/* ---- places ---- */

static enum rt_shape shape_named(const char *name)
{
    return strcmp(name, "point") == 0   ? RT_POINT
           : strcmp(name, "shell") == 0 ? RT_SHELL
                                        : RT_SQUARE;
}

static void places_set(struct rt *rt)
{
    const struct param_rt *p = &rt->par->rt;
    rt->nsource = rt->ngroups > 0 ? p->rt_nsource : 0;
    rt->nregion = rt->ngroups > 0 ? p->rt_nregion : 0;
    for (int i = 0; i < rt->nsource; i++)
        rt->source[i] = (struct rt_place){
            .shape = shape_named(p->rt_source_type[i]),
            .group = p->rt_src_group[i] - 1,
            .center = {p->rt_src_x_center[i], p->rt_src_y_center[i], p->rt_src_z_center[i]},
            .length = {p->rt_src_length_x[i], p->rt_src_length_y[i], p->rt_src_length_z[i]},
            .exponent = p->rt_exp_source[i],
            .n = p->rt_n_source[i],
            .direction = {p->rt_u_source[i], p->rt_v_source[i], p->rt_w_source[i]}};
    for (int i = 0; i < rt->nregion; i++)
        rt->region[i] = (struct rt_place){
            .shape = shape_named(p->rt_region_type[i]),
            .group = p->rt_reg_group[i] - 1,
            .center = {p->rt_reg_x_center[i], p->rt_reg_y_center[i], p->rt_reg_z_center[i]},
            .length = {p->rt_reg_length_x[i], p->rt_reg_length_y[i], p->rt_reg_length_z[i]},
            .exponent = p->rt_exp_region[i],
            .n = p->rt_n_region[i],
            .direction = {p->rt_u_region[i], p->rt_v_region[i], p->rt_w_region[i]}};
}

/* ---- a run ---- */

static void ledger_empty(struct rt_ledger *x)
{
    *x = (struct rt_ledger){.cells = 0};
    for (int g = 0; g < RT_GROUPS; g++) {
        sum_init(&x->emitted[g]);
        sum_init(&x->absorbed[g]);
        sum_init(&x->left[g]);
        sum_init(&x->raised[g]);
    }
}

/* Whether photons are transported from the start; stars and backgrounds may begin later. */
static bool emits(const struct rt *rt)
{
    const struct param_rt *p = &rt->par->rt;
    return rt->ngroups > 0 && (!p->rt_otsa || rt->nsource > 0 || rt->nregion > 0 || p->rt_agn);
}

enum err rt_new(const struct params *p, const struct hydro_par *h, int groups, struct rt **out)
{
    *out = NULL;
    if (!param_chemistry(p)) return OK;
    struct rt *rt = mem_zero(sizeof *rt, "radiation");
    rt->par = p;
    rt->ngroups = groups;
    rt->nions = param_ions(p);
    rt->h2 = p->rt.ish2;
    rt->he = param_helium(p);
    rt->scheme = strcmp(p->rt.rt_flux_scheme, "hll") == 0 ? RT_HLL : RT_GLF;
    rt->by_table = strcmp(p->rt.rt_rule, "ramses") == 0;
    rt->confines = !rt->by_table;
    rt->nsubcycle = p->rt.rt_nsubcycle;
    rt->smooth = p->rt.rt_smooth;
    rt->outflow = p->rt.rt_is_outflow_bound;
    rt->interpol = h->interpol_type;
    rt->courant = p->rt.rt_courant_factor;
    rt->fraction = p->rt.rt_c_fraction;
    memcpy(rt->bound, h->bound, sizeof rt->bound);
    rt->chem = mem_zero(sizeof *rt->chem, "radiation");
    chem_set(rt, h);
    places_set(rt);
    rt->advect = rt->chem->advect = emits(rt);
    ledger_empty(&rt->ledger);
    *out = rt;
    return chem_derive(rt->chem);
}

void rt_free(struct rt **rt)
{
    if (!*rt) return;
    rt_transport_free(*rt);
    rt_lights_free(*rt);
    chem_tables_free((struct chem_tables *)(*rt)->chem->tables);
    FREE((*rt)->chem);
    FREE(*rt);
}

/* The speed of light at the time of the run. */
static void speed(const struct rt_run *r)
{
    r->rt->c_cgs = r->rt->fraction * RAMSES_C;
    r->rt->c = r->rt->c_cgs / r->units.velocity;
    for (int f = 0; f < 6; f++) {
        const double *given = r->rt->bound_given[f];
        for (int g = 0; g < RT_GROUPS; g++)
            r->rt->bound_state[f][RT_COMPONENTS * g] = g == 0 ? fmax(given[0], RT_SMALL) : RT_SMALL;
        for (int d = 1; d < RT_COMPONENTS; d++)
            r->rt->bound_state[f][d] = given[d] * r->rt->c * given[0];
    }
}

double rt_confining_speed(const struct rt *rt, const struct units *u)
{
    return rt->confines ? rt->fraction * RAMSES_C / u->velocity : 0;
}

/* Without cosmology RAMSES has the microwave background at aexp_ini, 10 by default. */
static double cmb_aexp(const struct rt_run *r)
{
    if (r->cosmo) return r->aexp;
    return r->rt->chem->rule == CHEM_RAMSES ? r->rt->par->init.aexp_ini : 1;
}

enum err rt_coarse(const struct rt_run *r)
{
    struct rt *rt = r->rt;
    speed(r);
    rt->chem->aexp = r->cosmo ? r->aexp : 1;
    rt->chem->cmb_aexp = cmb_aexp(r);
    rt_lights_coarse(r);
    rt->chem->advect = rt->advect;
    return chem_derive(rt->chem);
}

/* ---- a step ---- */

/* ---- parts of a sub-step, here or on a device ---- */

void rt_transport(struct rt *rt, struct mesh *m, int l, double dt, bool first)
{
    if (rt->dev)
        rt_dev_transport(rt->dev, m, l, dt, first);
    else
        rt_host_transport(rt, m, l, dt, first);
}

void rt_confine(struct rt *rt, struct mesh *m, int l)
{
    if (rt->dev)
        rt_dev_confine(rt->dev, m, l);
    else
        rt_host_confine(rt, m, l);
}

void rt_sources(const struct rt_run *r, int l, double dt)
{
    if (r->rt->dev)
        rt_dev_sources(r->rt->dev, r, l, dt);
    else
        rt_host_sources(r, l, dt);
}

enum err rt_chemistry(const struct rt_run *r, int l, double dt)
{
    if (!r->rt->dev) return rt_host_chemistry(r, l, dt);
    rt_dev_chemistry(r->rt->dev, r, l, dt);
    return OK;
}

void rt_send(const struct rt_run *r, int l)
{
    if (!r->rt->advect || r->rt->nsubcycle > 1) return;
    if (r->rt->dev)
        rt_dev_send(r->rt->dev, r, l);
    else
        rt_registers_exchange(r, l);
}

void rt_settle(const struct rt_run *r, int l)
{
    struct rt_dev *d = r->rt->dev;
    if (l <= r->mesh->levelmin) return;
    if (!d) {
        rt_host_settle(r, l);
        return;
    }
    rt_dev_send(d, r, l);
    rt_dev_receive(d, r->mesh, l - 1);
    rt_dev_confine(d, r->mesh, l - 1);
    rt_dev_registers_clear(d, r->mesh, l);
    rt_dev_fill(d, r, l - 1);
}

void rt_fill(const struct rt_run *r, int l)
{
    if (r->mesh->nphoton == 0) return;
    if (r->rt->dev)
        rt_dev_fill(r->rt->dev, r, l);
    else
        ghost_fill_set(r->comm, r->mesh, l, PHOTONS);
}

void rt_restrict(const struct rt_run *r, int l)
{
    if (r->rt->dev)
        rt_dev_restrict(r->rt->dev, r->mesh, l);
    else
        photons_restrict(r->mesh, l);
}

/* Photons of level l after a sub-step that begins at the code time t. */
static void transport(const struct rt_run *r, int l, double t, double dt, bool first)
{
    struct rt_dev *dev = rt_lights_shine(r->rt) ? r->rt->dev : NULL;
    rt_transport(r->rt, r->mesh, l, dt, first);
    if (dev) {
        rt_dev_lend(dev, r->mesh, l);
        r->rt->dev = NULL;
    }
    rt_lights_emit(r, l, t, t + dt);
    rt_sources(r, l, dt);
    rt_lights_fill(r, l);
    if (dev) {
        r->rt->dev = dev;
        rt_dev_take(dev, r->mesh, l);
    }
    if (!r->rt->smooth) rt_confine(r->rt, r->mesh, l);
}

/* last: of the step; a device tells then whether all cells have reached its end. */
static enum err chemistry(const struct rt_run *r, int l, double dt, bool last)
{
    TRY(rt_chemistry(r, l, dt));
    return last && r->rt->dev ? rt_dev_end(r->rt->dev, r, l) : OK;
}

enum err rt_step(const struct rt_run *r, int l)
{
    struct rt *rt = r->rt;
    const double longest = rt->advect ? rt_longest(rt, r->mesh, l) : HUGE_VAL;
    bool first = true;
    for (double left = r->dt, dt; left > 0; left -= dt, first = false) {
        dt = fmin(left, longest);
        timer_start("radiation");
        if (rt->advect) transport(r, l, r->t + (r->dt - left), dt, first);
        timer_start("chemistry");
        TRY(err_agree(r->comm, chemistry(r, l, dt, !(left - dt > 0))));
        timer_start("radiation");
        if (!rt->advect) continue;
        if (rt->nsubcycle > 1) rt_settle(r, l);
        if (!(left - dt > 0) && l < r->mesh->levelmax) rt_restrict(r, l);
        rt_fill(r, l);
    }
    return OK;
}

/* ---- the log ---- */

static void total(const struct comm *c, struct sum *s, double out[RT_GROUPS])
{
    comm_sums(c, s, RT_GROUPS);
    for (int g = 0; g < RT_GROUPS; g++) out[g] = sum_get(&s[g]);
}

/* Adds the photons of group g in leaf cells of own octs of level l. */
static void add_level(const struct mesh *m, int l, int g, struct sum *all)
{
    const struct level *lv = &m->lev[l];
    const double volume = mesh_volume(m, l);
#pragma omp parallel
    {
        struct sum_batch s;
        sum_batch_begin(&s);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++)
            for (int c = 0; c < m->cells; c++)
                if (lv->child[i][c] < 0)
                    sum_batch_add(&s, level_photons(lv, RT_COMPONENTS * g)[i][c] * volume);
        sum_batch_end(&s);
#pragma omp critical(rt_ledger)
        sum_join(all, &s.sum);
    }
}

/* Photons of each group in the box, in units of the ledger. */
static void in_box(const struct rt_run *r, double out[RT_GROUPS])
{
    struct sum s[RT_GROUPS];
    for (int g = 0; g < RT_GROUPS; g++) sum_init(&s[g]);
    for (int l = r->mesh->levelmin; l <= r->mesh->levelmax; l++) {
        if (r->rt->dev && rt_dev_inside(r->rt->dev, r->mesh, l, s)) continue;
        for (int g = 0; g < r->rt->ngroups; g++) add_level(r->mesh, l, g, &s[g]);
    }
    total(r->comm, s, out);
}

/* Photons of a unit of the ledger. */
static double photons_of(const struct rt_run *r)
{
    const double a = r->cosmo ? r->aexp : 1;
    return pow(r->units.length, r->mesh->ndim) / (a * a * a);
}

/* Why sub-steps were shortened, in percent of all reasons. */
static void report_refused(const struct rt_run *r)
{
    static const char *const name[RT_REASONS] = {"N",         "F",        "T",      "N of dust",
                                                 "T of dust", "hydrogen", "helium", "electrons"};
    int64_t n[RT_REASONS], all = 0;
    char text[300] = "";
    memcpy(n, r->rt->ledger.refused, sizeof n);
    comm_add_i64(r->comm, n, RT_REASONS);
    for (int i = 0; i < RT_REASONS; i++) all += n[i];
    for (int i = 0; i < RT_REASONS; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s %.1f %%", i ? ", " : "", name[i],
                 100 * (double)n[i] / fmax((double)all, 1));
    }
    log_info(" Chemistry: shorter sub-steps because of %s", text);
}

/* The ledger of the coarse step, which tells where all photons are: with all digits, if details of
 * the chemistry are wanted. */
static void report_photons(const struct rt_run *r)
{
    struct rt_ledger *x = &r->rt->ledger;
    double now[RT_GROUPS], emitted[RT_GROUPS], absorbed[RT_GROUPS], left[RT_GROUPS];
    double raised[RT_GROUPS];
    const double unit = photons_of(r);
    const int digits = r->rt->par->rt.rt_output_coolstats ? 16 : 6;
    if (r->rt->dev) rt_dev_ledger(r->rt->dev);
    in_box(r, now);
    total(r->comm, x->emitted, emitted);
    total(r->comm, x->absorbed, absorbed);
    total(r->comm, x->left, left);
    total(r->comm, x->raised, raised);
    for (int g = 0; g < r->rt->ngroups; g++)
        log_info(" Photons of group %d: emitted %.*E, absorbed %.*E, left %.*E, in the box %.*E, "
                 "raised %.*E",
                 g + 1, digits, emitted[g] * unit, digits, absorbed[g] * unit, digits,
                 left[g] * unit, digits, now[g] * unit, digits, raised[g] * unit);
}

void rt_report(const struct rt_run *r)
{
    const struct rt_ledger *x = &r->rt->ledger;
    int64_t n[2] = {x->cells, x->substeps}, most = x->most;
    comm_add_i64(r->comm, n, 2);
    comm_max_i64(r->comm, &most, 1);
    log_info(" Chemistry: %.3f sub-steps a cell, at most %ld%s",
             (double)n[1] / fmax((double)n[0], 1), (long)most,
             r->rt->ngroups > 0 && !r->rt->advect ? "; no source of photons yet" : "");
    if (r->rt->par->rt.rt_output_coolstats) report_refused(r);
    if (r->rt->advect) report_photons(r);
    ledger_empty(&r->rt->ledger);
}

void rt_initial(const struct rt_run *r, int l)
{
    speed(r);
    if (r->mesh->nphoton > 0) rt_regions(r, l);
    if (r->rt->par->rt.rt_is_init_xion) rt_ionise(r, l);
}
