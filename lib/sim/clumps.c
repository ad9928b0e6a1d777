/* sim/clumps: clumps of the state (clumpfind), in the density that &CLUMPFIND_PARAMS asks for.
 *
 * ivar_clump > 0: that variable of the gas; masses are those of the gas. 0: dark matter, −1: stars,
 * both deposited by cloud-in-cell level by level, and with hydro the gas too, as RAMSES deposits
 * it. Particles are sent to their leaf levels for it and return to levelmin. Nothing of the state
 * changes but the order of particles in memory, on which no bit depends. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "dom/ghost.h"
#include "sim/sim.h"

/* ---- parameters ---- */

static enum err check_variable(const struct sim *s)
{
    int ivar = s->par->clumpfind.ivar_clump;
    if (ivar <= 0 || (s->mesh.hydro && ivar <= s->mesh.nvar)) return OK;
    FAIL(ERR_PARAM,
         "clumpfind_params/ivar_clump=%d: the gas has %d variables: set ivar_clump=0 "
         "for dark matter, or one of them",
         ivar, s->mesh.hydro ? s->mesh.nvar : 0);
}

/* In code units, from one of the three ways to give it. */
static enum err find_threshold(const struct sim *s, double *threshold)
{
    const struct param_clumpfind *p = &s->par->clumpfind;
    struct units u = sim_units(s);
    *threshold = p->density_threshold;
    if (!(*threshold > 0) && p->n_clfind > 0) *threshold = p->n_clfind / u.hydrogen;
    if (!(*threshold > 0) && p->rho_clfind > 0) *threshold = p->rho_clfind / u.density;
    if (!(*threshold > 0))
        FAIL(ERR_PARAM,
             "clumpfind_params/density_threshold=%g must be above 0: cells above it "
             "belong to clumps",
             p->density_threshold);
    return OK;
}

/* As in RAMSES: the lightest particle, or mass_sph where the gas is looked at. */
static double least_mass(const struct sim *s)
{
    double least = HUGE_VAL;
    if (s->par->clumpfind.ivar_clump > 0) return s->refine.mass_sph;
    for (int64_t i = 0; i < s->parts.n; i++)
        if (s->parts.m[i] > 0) least = fmin(least, s->parts.m[i]);
    comm_min_f64(&s->comm, &least, 1);
    return isfinite(least) ? least : 0;
}

static enum err find_par(const struct sim *s, struct clump_par *par)
{
    const struct param_clumpfind *p = &s->par->clumpfind;
    const struct param_unbinding *u = &s->par->unbinding;
    TRY(check_variable(s));
    *par = (struct clump_par){.relevance = p->relevance_threshold,
                              .saddle = p->saddle_threshold,
                              .mass = p->mass_threshold,
                              .least_mass = least_mass(s)};
    par->unbind = (struct clump_unbind){.on = s->par->run.unbind && s->par->run.pic,
                                        .nbin = u->nmassbins,
                                        .logbins = u->logbins,
                                        .saddle_pot = u->saddle_pot,
                                        .iterate = u->iter_properties,
                                        .converged = u->conv_limit,
                                        .most = u->repeat_max,
                                        .gravity = 1};
    if (s->cosmo) par->unbind.gravity = 3 / (8 * M_PI) * s->cosmo_par.omega_m * s->time.aexp;
    par->by_particles = par->unbind.on && u->particlebased_clump_output;
    return find_threshold(s, &par->density);
}

/* ---- the density ---- */

/* Does a particle count? Young stars alone do with age_cut_clfind. */
static bool counts(const struct sim *s, int64_t i)
{
    const struct parts *p = &s->parts;
    const struct param_clumpfind *c = &s->par->clumpfind;
    bool young_only = c->age_cut_clfind > 0 && param_stars(s->par) && s->par->run.use_proper_time;
    if (p->family[i] != (c->ivar_clump == 0 ? FAM_DM : FAM_STAR)) return false;
    if (!young_only) return true;
    return p->family[i] == FAM_STAR && p->birth && p->birth[i] != 0 &&
           s->time.t - p->birth[i] < c->age_cut_clfind;
}

static void deposit_parts(const struct sim *s, int l, double quantum, int64_t (*mass)[8])
{
    struct parts some = s->parts; /* with other masses */
    double *m = mem_new(sizeof *m * (size_t)some.n + 1, "clump deposit");
    for (int64_t i = 0; i < some.n; i++) m[i] = i >= some.first[l] && counts(s, i) ? some.m[i] : 0;
    some.m = m;
    part_deposit(&some, &s->mesh, l, quantum, 0, 0, mass, NULL);
    FREE(m);
}

static double (*deposit(const struct sim *s, int l, double quantum, const double (*com)[3]))[8]
{
    const struct mesh *m = &s->mesh;
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), vol = dx * dx * dx;
    int64_t(*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct + 1, "clump deposit");
    double(*rho)[8] = mem_zero(sizeof *rho * (size_t)lv->noct + 1, "clump density");
    if (m->hydro) grav_deposit_gas(m, l, quantum, com, s->hydro.smallr, mass);
    if (s->par->run.pic) deposit_parts(s, l, quantum, mass);
    ghost_add_i64(&s->comm, &lv->plan, 1, &mass);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) rho[i][k] = (double)mass[i][k] * quantum / vol;
    FREE(mass);
    void *row = rho;
    size_t stride = sizeof *rho;
    ghost_fill_rows(&s->comm, COMM_FINE_DP, &lv->plan, 1, &row, &stride);
    return rho;
}

/* Unit of the deposit: all mass in one cell still fits. */
static double find_quantum(struct sim *s)
{
    struct sim_matter old = s->matter;
    sim_total_mass(s);
    double quantum = s->matter.quantum;
    s->matter = old;
    return quantum;
}

/* Particles go to their leaf levels; on the way they are deposited into rho, if not NULL. */
static void hand_down(struct sim *s, double (*rho[])[8])
{
    struct mesh *m = &s->mesh;
    double(*com[LEVEL_MAX + 3])[3] = {NULL}, quantum = rho ? find_quantum(s) : 1;
    if (rho && m->hydro) grav_moments(m, &s->comm, m->levelmin + 1, com);
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        bool parts = s->par->run.pic && m->lev[l].total > 0;
        if (parts) part_enter(&s->parts, m, &s->comm, s->dom, l);
        if (rho) rho[l] = deposit(s, l, quantum, l < m->levelmax ? (void *)com[l + 1] : NULL);
        if (parts) part_hand_down(&s->parts, m, &s->comm, s->dom, l);
    }
    for (int l = 0; l < LEVEL_MAX + 3; l++) FREE(com[l]);
}

static void hand_back(struct sim *s)
{
    const struct mesh *m = &s->mesh;
    int top = m->levelmin;
    if (!s->par->run.pic) return;
    while (top < m->levelmax && m->lev[top + 1].total > 0) top++;
    for (int l = top; l >= m->levelmin; l--) part_merge(&s->parts, m, l);
    part_enter(&s->parts, m, &s->comm, s->dom, m->levelmin);
}

/* ---- clumps ---- */

static enum err find_in(struct sim *s, const struct clump_par *par, double (*rho[])[8],
                        struct clumps *out)
{
    const struct mesh *m = &s->mesh;
    int ivar = s->par->clumpfind.ivar_clump;
    struct clump_field f = {0};
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        f.peak[l] = ivar > 0 ? m->lev[l].fld[FLD_U + ivar - 1] : rho[l];
        f.mass[l] = ivar > 0 ? m->lev[l].fld[FLD_U] : rho[l];
        f.place[l] = ivar == 0 ? rho[l] : m->hydro ? m->lev[l].fld[FLD_U] : NULL;
    }
    return clump_find(par, &f, m, &s->parts, s->dom, &s->comm, out);
}

static void report(const struct sim *s, const struct clumps *k)
{
    bool more = s->par->clumpfind.clinfo;
    if (more) log_info(" Clumps: %ld cells above the threshold", (long)k->cells);
    log_info(" Clumps: %ld peaks, %ld relevant, %ld halos", (long)k->peaks, (long)k->relevant,
             (long)k->halos);
    if (more) log_info(" Clumps: mass above the threshold %.5E (code units)", k->mass);
    if (more && s->par->run.unbind)
        log_info(" Clumps: %ld of %ld particles in sub-clumps are unbound", (long)k->unbound,
                 (long)k->candidates);
}

enum err sim_clumps(struct sim *s, struct clumps *out)
{
    struct clump_par par;
    double(*rho[LEVEL_MAX + 2])[8] = {NULL};
    memset(out, 0, sizeof *out);
    TRY(find_par(s, &par));
    timer_start("clumps");
    hand_down(s, s->par->clumpfind.ivar_clump > 0 ? NULL : rho);
    enum err err = find_in(s, &par, rho, out);
    hand_back(s);
    for (int l = 0; l < LEVEL_MAX + 2; l++) FREE(rho[l]);
    if (err == OK) report(s, out);
    return err;
}

enum err sim_clump_files(struct sim *s, struct ckpt_file file[2], int *n)
{
    static const char *const name[2] = {"clump", "halo"};
    struct clumps k;
    TRY(sim_clumps(s, &k));
    *n = k.has_halos ? 2 : 1;
    for (int i = 0; i < *n; i++) {
        snprintf(file[i].name, sizeof file[i].name, "%s_%05d.txt%05d", name[i], s->out.ifout,
                 s->comm.rank + 1);
        file[i].text = clump_text(&k, i == 1, &file[i].bytes);
    }
    clumps_free(&k);
    return OK;
}
