#include "rt/lights.h"

#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "chem/chem.h"
#include "phys/rates_asked.h"
#include "sed/background.h"
#include "sed/lamps.h"
#include "sed/stars.h"

_Static_assert((int)SED_GROUPS == (int)RT_GROUPS && (int)SED_H2 == (int)CHEM_H2 &&
                   (int)SED_HEII == (int)CHEM_HEII,
               "groups and species have the same order in all modules");

struct rt_lights {
    struct sed *sed;                   /* NULL: stars do not shine */
    bool known;                        /* properties of groups follow the stars already */
    struct sed_background *background; /* NULL: none */
    struct uv uv;                      /* its model, without a file of spectra */
    struct uv_table *table;
    int first;                  /* first group that the background feeds; rt->ngroups: none */
    bool shines;                /* whether it has begun */
    double density[SED_GROUPS]; /* of these groups in thin gas, code units */
    struct sed_lamp_law law;    /* of sinks */
    struct sed_lamps lamps;
};

/* ---- setup ---- */

static bool background_wanted(const struct params *p)
{
    return p->physics.haardt_madau || p->cooling.uv_table[0] || p->rt.rt_uvsrc_nhmax > 0;
}

static bool propagates(const struct rt *rt)
{
    return rt->ngroups > 0 && rt->par->rt.rt_uvsrc_nhmax > 0;
}

static struct sed_bands bands_of(const struct rt *rt, int first, int n)
{
    struct sed_bands b = {.n = n};
    for (int g = 0; g < n; g++) {
        b.l0[g] = rt->chem->group[first + g].l0;
        b.l1[g] = rt->chem->group[first + g].l1;
    }
    return b;
}

/* Groups that stars feed: the first ones, without those of the background. */
static int star_groups(const struct rt *rt)
{
    int n = rt->par->rt.nsedgroups, max = rt->lights->first;
    return n >= 0 && n < max ? n : max;
}

static enum err stars_new(struct rt *rt, const struct comm *c)
{
    struct sed_par p = {.dir = rt->par->rt.sed_dir,
                        .by_energy = rt->par->rt.sed_isegy,
                        .bands = bands_of(rt, 0, star_groups(rt))};
    if (!rt->par->rt.rt_star || rt->ngroups == 0) return OK;
    return err_of_param(sed_new(c, &p, &rt->lights->sed), "sed_dir in &RT_PARAMS");
}

static enum err background_new(struct rt *rt, const struct comm *c, const struct cosmo_par *cosmo)
{
    struct rt_lights *k = rt->lights;
    const char *table = rt->par->cooling.uv_table;
    struct sed_background_par p = {.path = rt->par->rt.uv_file,
                                   .z_reion = rt->par->physics.z_reion,
                                   .bands = bands_of(rt, k->first, rt->ngroups - k->first),
                                   .model = &k->uv};
    if (!background_wanted(rt->par)) return OK;
    k->uv = rates_asked(rt->par, cosmo).uv;
    if (table[0]) {
        TRY(err_agree(c, uv_table_read(table, &k->table)));
        k->uv.table = k->table;
    }
    return err_of_param(sed_background_new(c, &p, &k->background), "uv_file in &RT_PARAMS");
}

/* The group of stellar objects, where none is given, is that of ionising photons in RAMSES's
 * set-ups: infrared and optical groups come before it. */
static int object_group(const struct rt *rt)
{
    int given = rt->par->stellar.feedback_photon_group, n = rt->ngroups;
    if (given > 0) return given <= n ? given - 1 : n - 1;
    return n == 4 ? 1 : n < 4 ? 0 : 2;
}

static void sinks_new_law(struct rt *rt)
{
    rt->lights->law = (struct sed_lamp_law){.n = rt->ngroups,
                                            .objects = rt->par->rt.rt_sink,
                                            .holes = rt->par->rt.rt_agn,
                                            .group = object_group(rt),
                                            .lifetime = rt->par->stellar.hii_t * CGS_MYR};
    for (int g = 0; g < rt->ngroups; g++)
        rt->lights->law.share[g] = rt->par->rt_groups.group_egy_agnfrac[g];
}

enum err rt_lights_new(struct rt *rt, const struct comm *c, const struct cosmo_par *cosmo)
{
    const struct param_rt *p = &rt->par->rt;
    bool shine = rt->ngroups > 0 && (p->rt_star || p->rt_sink || p->rt_agn);
    if (!shine && !background_wanted(rt->par)) return OK;
    rt->lights = mem_zero(sizeof *rt->lights, "radiation");
    rt->lights->first = rt->ngroups;
    if (propagates(rt)) rt->lights->first -= p->nuvgroups > 0 ? p->nuvgroups : rt->ngroups;
    sinks_new_law(rt);
    TRY(stars_new(rt, c));
    return background_new(rt, c, cosmo);
}

static bool same_group(const struct chem_group *a, const struct chem_group *b)
{
    return a->egy == b->egy && memcmp(a->csn, b->csn, sizeof a->csn) == 0 &&
           memcmp(a->cse, b->cse, sizeof a->cse) == 0;
}

/* A checkpoint from before the first stars has the groups of the namelist: then the means over the
 * stars are still to come. */
void rt_lights_restore(struct rt *rt, int n, const struct chem_group *group)
{
    if (!rt->lights || n != rt->ngroups || rt->par->rt.sedprops_update < 0) return;
    for (int g = 0; g < n; g++) {
        struct chem_group *to = &rt->chem->group[g];
        rt->lights->known |= !same_group(to, &group[g]);
        to->egy = group[g].egy;
        memcpy(to->csn, group[g].csn, sizeof to->csn);
        memcpy(to->cse, group[g].cse, sizeof to->cse);
    }
}

void rt_lights_free(struct rt *rt)
{
    struct rt_lights *k = rt->lights;
    if (!k) return;
    sed_free(&k->sed);
    sed_background_free(&k->background);
    uv_table_free(k->table);
    sed_lamps_free(&k->lamps);
    FREE(rt->lights);
}

/* ---- a coarse step ---- */

static double unit_np(const struct rt_run *r)
{
    return r->cosmo ? 1 / (r->aexp * r->aexp * r->aexp) : 1;
}

static void set_group(struct chem_group *g, const struct sed_props *p)
{
    g->egy = p->egy;
    memcpy(g->csn, p->csn, sizeof g->csn);
    memcpy(g->cse, p->cse, sizeof g->cse);
}

static void shine_from_now(const struct rt_run *r, const char *what)
{
    if (r->rt->advect) return;
    r->rt->advect = true;
    log_info(" Photons are transported from now on: %s shine, a=%g", what, r->aexp);
}

static void coarse_background(const struct rt_run *r)
{
    struct rt_lights *k = r->rt->lights;
    struct chem_par *chem = r->rt->chem;
    struct sed_props props[SED_GROUPS];
    double flux[SED_GROUPS], z = r->cosmo ? 1 / r->aexp - 1 : 0;
    int n = r->rt->ngroups - k->first;
    if (!k->background) return;
    if (r->rt->par->physics.haardt_madau || r->rt->par->cooling.uv_table[0])
        sed_background_rates(k->background, z, chem->uv_ion, chem->uv_heat);
    k->shines = n > 0 && sed_background_groups(k->background, z, flux, props);
    if (!k->shines) return;
    shine_from_now(r, "sources of the ultraviolet background");
    for (int g = 0; g < n; g++) {
        set_group(&chem->group[k->first + g], &props[g]);
        k->density[g] = flux[g] / r->rt->c_cgs / unit_np(r);
    }
}

/* Groups follow the stars from the first coarse step with stars on: every so many steps, or once.
 */
static bool means_due(const struct rt_run *r)
{
    int every = r->rt->par->rt.sedprops_update;
    if (every < 0) return false;
    return !r->rt->lights->known || (every > 0 && r->nstep_coarse % every == 0);
}

static int64_t count_stars(const struct rt_run *r)
{
    const struct parts *p = r->term->parts;
    int64_t n = 0;
    for (int64_t i = 0; i < p->n; i++) n += p->family[i] == FAM_STAR;
    comm_add_i64(r->comm, &n, 1);
    return n;
}

static void coarse_stars(const struct rt_run *r)
{
    struct rt_lights *k = r->rt->lights;
    struct sed_stars stars = {.sed = k->sed};
    struct sed_props props[SED_GROUPS] = {{0}};
    int64_t n;
    if (!k->sed || (r->rt->advect && !means_due(r))) return;
    if (count_stars(r) == 0) return;
    shine_from_now(r, "stars");
    if (!means_due(r)) return;
    sed_stars_mean(r->term, &stars, r->term->t, props, &n);
    for (int g = 0; g < sed_bands(k->sed)->n; g++) {
        if (!sed_band_fed(sed_bands(k->sed), g)) continue;
        set_group(&r->rt->chem->group[g], &props[g]);
        log_info(
            " Group %d: %9.4f eV, cross sections of HI %10.4E, %10.4E cm^2: means of %ld stars",
            g + 1, props[g].egy, props[g].csn[SED_HI], props[g].cse[SED_HI], (long)n);
    }
    k->known = true;
}

static void coarse_sinks(const struct rt_run *r)
{
    struct rt_lights *k = r->rt->lights;
    sed_lamps_free(&k->lamps);
    if (!r->sinks || !r->sinks->sinks || !(k->law.objects || k->law.holes)) return;
    for (int g = 0; g < k->law.n; g++) k->law.egy[g] = r->rt->chem->group[g].egy;
    sed_lamps_light(r->sinks, r->stellar, &k->law, &k->lamps);
    for (int64_t i = 0; i < k->lamps.n; i++)
        for (int g = 0; g < k->law.n; g++)
            if (k->lamps.at[i].rate[g] > 0) shine_from_now(r, "sinks");
}

void rt_lights_coarse(const struct rt_run *r)
{
    if (!r->rt->lights) return;
    coarse_background(r);
    coarse_stars(r);
    coarse_sinks(r);
}

/* ---- a sub-step ---- */

/* Photons of groups first … of level l. */
static void light_open(struct sed_light *light, const struct rt_run *r, int l, int first)
{
    light->n = r->rt->ngroups - first;
    light->unit_np = unit_np(r);
    for (int g = 0; g < light->n; g++) {
        light->N[g] = level_photons(&r->mesh->lev[l], RT_COMPONENTS * (first + g));
        sum_init(&light->emitted[g]);
    }
}

static void light_close(const struct sed_light *light, const struct rt_run *r, int first)
{
    for (int g = 0; g < light->n; g++)
        sum_join(&r->rt->ledger.emitted[first + g], &light->emitted[g]);
}

static void heat_regions(const struct rt_run *r, const struct term_run *t, double dt,
                         const struct sed_shines *shines)
{
    const struct hydro_par *h = r->hydro;
    int energy = r->rt->par->rt.rt_isirtrap ? 1 : 0;
    struct sed_regions how = {.thermal = r->rt->par->rt.heat_unresolved_hii == 1,
                              .energy = GAS_SCALARS + energy,
                              .gamma = h->energy.gamma[energy],
                              .x_hi = h->vars.at[SCALAR_X_HI],
                              .x_hii = h->vars.at[SCALAR_X_HII]};
    for (int g = 0; g < r->rt->ngroups; g++) how.ionises[g] = r->rt->chem->group[g].csn[SED_HI] > 0;
    sed_regions_heat(t, &how, unit_np(r), dt, shines);
}

static void emit_stars(const struct rt_run *r, int l, double t0, double t1, struct sed_light *light)
{
    struct sed_stars stars = {.sed = r->rt->lights->sed, .escape = r->rt->par->rt.rt_esc_frac};
    bool heats = r->rt->par->rt.heat_unresolved_hii > 0;
    struct sed_shines shines = {0};
    struct term_run t = *r->term;
    t.level = l;
    for (int g = 0; g < r->rt->ngroups; g++) stars.egy[g] = r->rt->chem->group[g].egy;
    sed_stars_emit(&t, &stars, t0, t1, light, heats ? &shines : NULL);
    if (heats) heat_regions(r, &t, t1 - t0, &shines);
    FREE(shines.at);
}

bool rt_lights_shine(const struct rt *rt)
{
    const struct rt_lights *k = rt->lights;
    return k && rt->advect && (k->sed || k->lamps.n > 0 || k->shines);
}

void rt_lights_emit(const struct rt_run *r, int l, double t0, double t1)
{
    struct rt_lights *k = r->rt->lights;
    struct sed_light light;
    if (!k || !r->rt->advect) return;
    light_open(&light, r, l, 0);
    if (k->sed) emit_stars(r, l, t0, t1, &light);
    if (k->lamps.n) sed_sinks_emit(r->sinks, &k->lamps, l, t1 - t0, &light);
    light_close(&light, r, 0);
}

void rt_lights_fill(const struct rt_run *r, int l)
{
    struct rt_lights *k = r->rt->lights;
    struct sed_light light;
    if (!k || !k->shines) return;
    light_open(&light, r, l, k->first);
    sed_background_fill(r->mesh, l, r->units.hydrogen, r->rt->par->rt.rt_uvsrc_nhmax, k->density,
                        &light);
    light_close(&light, r, k->first);
}
