/* sim/clumps: clumps of the state (clumpfind), in the density that &CLUMPFIND_PARAMS asks for.
 *
 * ivar_clump > 0: this variable of the gas, with gas masses. 0: dark matter, −1: stars, both
 * deposited by cloud-in-cell level by level; with hydro the gas is added, as RAMSES deposits it.
 * For the deposit, particles are sent to their leaf levels, and return to levelmin afterwards.
 * Nothing of the state changes but the order of particles in memory, on which no bit depends.
 *
 * With create_sinks clumps are sought at the end of each coarse step, too. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "dom/ghost.h"
#include "oct/field_sets.h"
#include "sim/phase.h"
#include "sim/sim.h"
#include "sparse/rows.h"

/* ---- parameters ---- */

static enum err check_variable(const struct sim *s)
{
    int ivar = s->par->clumpfind.ivar_clump;
    if (ivar <= 0 || (s->mesh.hydro && ivar <= s->mesh.nvar)) return OK;
    FAIL(ERR_PARAM,
         "clumpfind_params/ivar_clump=%d: the gas has only %d variables: give one of them, or 0 "
         "for dark matter",
         ivar, s->mesh.hydro ? s->mesh.nvar : 0);
}

/* Density threshold in code units, from one of three parameters. */
static enum err find_threshold(const struct sim *s, double *threshold)
{
    const struct param_clumpfind *p = &s->par->clumpfind;
    struct units u = sim_units(s);
    *threshold = p->density_threshold;
    if (!(*threshold > 0) && p->n_clfind > 0) *threshold = p->n_clfind / u.hydrogen;
    if (!(*threshold > 0) && p->rho_clfind > 0) *threshold = p->rho_clfind / u.density;
    if (!(*threshold > 0) && param_sinks_ramses(s->par))
        *threshold = s->phys.sinks->law.d_sink / 10;
    if (!(*threshold > 0))
        FAIL(ERR_PARAM,
             "clumpfind_params/density_threshold=%g must be above 0: cells above this density "
             "belong to clumps",
             p->density_threshold);
    return OK;
}

/* Mass of the lightest particle, or mass_sph where gas counts, as in RAMSES. */
static double min_mass(const struct sim *s)
{
    double min = HUGE_VAL;
    if (s->par->clumpfind.ivar_clump > 0) return s->amr.refine.mass_sph;
    for (int64_t i = 0; i < s->parts.n; i++)
        if (family_has_mass(s->parts.family[i]) && s->parts.m[i] > 0)
            min = fmin(min, s->parts.m[i]);
    comm_min_f64(&s->comm, &min, 1);
    return isfinite(min) ? min : 0;
}

static enum err find_par(const struct sim *s, struct clump_par *par)
{
    const struct param_clumpfind *p = &s->par->clumpfind;
    const struct param_unbinding *u = &s->par->unbinding;
    TRY(check_variable(s));
    *par = (struct clump_par){.relevance = p->relevance_threshold,
                              .saddle = p->saddle_threshold,
                              .mass = p->mass_threshold,
                              .min_mass = min_mass(s)};
    par->unbind = (struct clump_unbind){.on = s->par->run.unbind && s->par->run.pic,
                                        .nbin = u->nmassbins,
                                        .logbins = u->logbins,
                                        .saddle_pot = u->saddle_pot,
                                        .iterate = u->iter_properties,
                                        .converged = u->conv_limit,
                                        .max = u->repeat_max,
                                        .gravity = 1,
                                        .members = s->par->run.unbind,
                                        .trees = s->par->run.unbind && s->par->run.make_mergertree};
    if (s->phys.cosmo)
        par->unbind.gravity = 3 / (8 * M_PI) * s->phys.cosmo_par.omega_m * s->time.aexp;
    par->by_particles = par->unbind.on && u->particlebased_clump_output;
    return find_threshold(s, &par->density);
}

/* ---- the density ---- */

/* Fields by level, [noct][8]. */
struct densities {
    double (*clumps[LEVEL_MAX + 2])[8]; /* density in which clumps are searched */
    double (*stars[LEVEL_MAX + 2])[8];
    bool want_clumps, want_stars;
};

static void densities_free(struct densities *k)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        FREE(k->clumps[l]);
        FREE(k->stars[l]);
    }
}

/* Whether a particle counts as matter of clumps; with age_cut_clfind only young stars count. */
static bool counts(const struct sim *s, int64_t i, bool stars)
{
    const struct parts *p = &s->parts;
    const struct param_clumpfind *c = &s->par->clumpfind;
    if (stars) return p->family[i] == FAM_STAR;
    bool young_only = c->age_cut_clfind > 0 && param_stars(s->par) && s->par->run.use_proper_time;
    if (p->family[i] != (c->ivar_clump == 0 ? FAM_DM : FAM_STAR)) return false;
    if (!young_only) return true;
    return p->family[i] == FAM_STAR && p->birth && p->birth[i] != 0 &&
           s->time.t - p->birth[i] < c->age_cut_clfind;
}

static void deposit_parts(const struct sim *s, int l, double quantum, bool stars,
                          int64_t (*mass)[8])
{
    struct parts some = s->parts; /* copy with other masses */
    double *m = mem_new(sizeof *m * (size_t)some.n + 1, "clump deposit");
    for (int64_t i = 0; i < some.n; i++)
        m[i] = i >= some.first[l] && counts(s, i, stars) ? some.m[i] : 0;
    some.m = m;
    part_deposit(&some, &s->mesh, l, quantum, 0, 0, mass, NULL);
    FREE(m);
}

/* Density of level l, [noct][8]. com: moments of the gas; stars: deposit stars only. */
static double (*deposit(const struct sim *s, int l, double quantum, const double (*com)[3],
                        bool stars))[8]
{
    const struct mesh *m = &s->mesh;
    const struct level *lv = &m->lev[l];
    double dx = mesh_dx(m, l), vol = dx * dx * dx;
    int64_t(*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct + 1, "clump deposit");
    double(*rho)[8] = mem_zero(sizeof *rho * (size_t)lv->noct + 1, "clump density");
    if (m->hydro && !stars) grav_deposit_gas(m, l, quantum, com, s->phys.hydro.smallr, mass);
    if (s->par->run.pic) deposit_parts(s, l, quantum, stars, mass);
    ghost_add_i64(&s->comm, &lv->plan, 1, &mass);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) rho[i][k] = (double)mass[i][k] * quantum / vol;
    FREE(mass);
    void *row = rho;
    size_t stride = sizeof *rho;
    ghost_fill_rows(&s->comm, COMM_FINE_DP, &lv->plan, 1, &row, &stride);
    return rho;
}

/* Mass quantum of the deposit: the whole mass in a single cell does not overflow. */
static double find_quantum(struct sim *s)
{
    struct sim_matter old = s->phys.matter;
    sim_total_mass(s);
    double quantum = s->phys.matter.quantum;
    s->phys.matter = old;
    return quantum;
}

/* Sends particles to their leaf levels, and on each level makes the densities that are wanted. */
static void hand_down(struct sim *s, struct densities *k)
{
    struct mesh *m = &s->mesh;
    double(*com[LEVEL_MAX + 3])[3] = {NULL};
    double quantum = k->want_clumps || k->want_stars ? find_quantum(s) : 1;
    if (k->want_clumps && m->hydro) grav_moments(m, &s->comm, m->levelmin + 1, com);
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        bool parts = s->par->run.pic && m->lev[l].total > 0;
        void *next = l < m->levelmax ? com[l + 1] : NULL;
        if (parts) part_enter(&s->parts, m, &s->comm, s->dom, l);
        if (k->want_clumps) k->clumps[l] = deposit(s, l, quantum, next, false);
        if (k->want_stars) k->stars[l] = deposit(s, l, quantum, NULL, true);
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

static struct clump_field field_of(struct sim *s, const struct densities *k)
{
    const struct mesh *m = &s->mesh;
    int ivar = s->par->clumpfind.ivar_clump;
    struct clump_field f = {0};
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        f.peak[l] = ivar > 0 ? level_gas(&m->lev[l], ivar - 1) : k->clumps[l];
        f.mass[l] = ivar > 0 ? level_gas(&m->lev[l], GAS_DENSITY) : k->clumps[l];
        f.location[l] = ivar == 0  ? k->clumps[l]
                        : m->hydro ? level_gas(&m->lev[l], GAS_DENSITY)
                                   : NULL;
    }
    return f;
}

static void report(const struct sim *s, const struct clumps *k)
{
    bool more = s->par->clumpfind.clinfo;
    if (more) log_info(" Clumps: %ld cells above the threshold", (long)k->cells);
    log_info(" Clumps: %ld peaks, %ld relevant, %ld halos", (long)k->peaks, (long)k->relevant,
             (long)k->halos);
    if (more) log_info(" Clumps: mass above the threshold %.5E (code units)", k->mass);
    if (s->par->run.unbind)
        log_info(" Clumps: %ld of %ld particles in sub-clumps are unbound", (long)k->unbound,
                 (long)k->candidates);
}

enum err sim_clumps(struct sim *s, struct clumps *out)
{
    struct clump_par par;
    struct densities k = {.want_clumps = s->par->clumpfind.ivar_clump <= 0};
    memset(out, 0, sizeof *out);
    TRY(find_par(s, &par));
    timer_start("clumps");
    hand_down(s, &k);
    struct clump_field f = field_of(s, &k);
    enum err err = clump_find(&par, &f, &s->mesh, &s->parts, s->dom, &s->comm, out);
    hand_back(s);
    densities_free(&k);
    if (err == OK) report(s, out);
    return err;
}

/* ---- sites of sink formation ---- */

/* Whether the energies of clumps decide about sinks. */
static bool by_energies(const struct sim *s)
{
    return !s->par->physics.smbh && s->par->sink.check_energies;
}

/* Radii in cells of levelmax at constant physical size, as in RAMSES. */
static struct clump_core_par core_par(struct sim *s, const struct sink_copies *sinks,
                                      double (*taken)[3])
{
    const struct param_sink *p = &s->par->sink;
    double dx = mesh_dx(&s->mesh, s->mesh.levelmax) / s->time.aexp;
    for (int64_t i = 0; i < sinks->here.n; i++)
        memcpy(taken[i], sinks->here.at[i].x, sizeof taken[i]);
    return (struct clump_core_par){.trim = p->clump_core ? p->ir_cloud * dx : 0,
                                   .near = 4 * dx,
                                   .gamma = s->phys.hydro.gamma,
                                   .smallr = s->phys.hydro.smallr,
                                   .ntaken = sinks->here.n,
                                   .taken = (const double(*)[3])taken,
                                   .apart = sinks_apart(s->par, &s->mesh, s->time.aexp),
                                   .energies = by_energies(s),
                                   .halos = s->par->physics.smbh};
}

/* ---- sites on a device ---- */

/* Octs of each level where a clump may be, and the values of its field there: 0 elsewhere. */
struct sites {
    bool on; /* false: all is on the host */
    struct rows octs[LEVEL_MAX + 2];
    double (*peak[LEVEL_MAX + 2])[8];
};

static void sites_free(struct sites *t)
{
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        FREE(t->octs[l].oct);
        FREE(t->peak[l]);
    }
}

static void append(struct rows *r, lidx oct)
{
    if ((r->n & (r->n - 1)) == 0) /* capacity doubles at powers of two */
        r->oct = mem_grow(r->oct, sizeof *r->oct * (size_t)(r->n ? 2 * r->n : 1), "clump sites");
    if (oct >= 0) r->oct[r->n++] = oct;
}

/* Oct and cell of a cell at x in the cube of octs around one, whose own cells are at 0 and 1. */
static lidx cube_at(const lidx cube[27], const int x[3], int *cell)
{
    int at = 0, stride = 1;
    *cell = 0;
    for (int d = 0; d < 3; d++, stride *= 3) {
        at += stride * ((x[d] + 2) >> 1);
        *cell |= (x[d] & 1) << d;
    }
    return cube[at];
}

/* Adds the octs beside cell c of an oct, where the place of a maximum is interpolated: of the level
 * or, where it ends, of the coarser one. */
static void sites_beside(const struct mesh *m, int l, lidx oct, int c, struct rows *all)
{
    lidx same[27], coarse[27];
    const int slot = oct_slot(&m->lev[l], oct);
    mesh_cube(m, l, oct, same);
    if (l > m->levelmin) mesh_cube(m, l - 1, m->lev[l].parent[oct], coarse);
    for (int k = 0; k < 27; k++) {
        const int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        int fine[3], up[3], cell;
        for (int d = 0; d < 3; d++) {
            fine[d] = (c >> d & 1) + step[d];
            up[d] = (slot >> d & 1) + ((fine[d] + 2) >> 1) - 1;
        }
        if (step[0] && step[1] && step[2]) continue; /* corners are not read */
        const lidx i = cube_at(same, fine, &cell);
        if (i >= 0) append(&all[l], i);
        if (i < 0 && l > m->levelmin) append(&all[l - 1], cube_at(coarse, up, &cell));
    }
}

/* Cells of the oct that may be maxima, a bit for each: leaf cells beside which no leaf of the level
 * is denser by as much as the search asks for. Some are none, as finer and coarser cells count too.
 */
static unsigned sites_peaks(const struct mesh *m, int l, lidx oct, const double (*peak)[8],
                            double threshold)
{
    const struct level *lv = &m->lev[l];
    lidx cube[27];
    unsigned tops = 0;
    mesh_cube(m, l, oct, cube);
    for (int c = 0; c < 8; c++) {
        bool top = lv->child[oct][c] < 0 && peak[oct][c] > threshold;
        for (int k = 0; k < 27 && top; k++) {
            const int x[3] = {(c & 1) + k % 3 - 1, (c >> 1 & 1) + k / 3 % 3 - 1,
                              (c >> 2) + k / 9 - 1};
            int at;
            const lidx i = cube_at(cube, x, &at);
            top = i < 0 || lv->child[i][at] >= 0 || !(peak[i][at] > CLUMP_FLAT * peak[oct][c]);
        }
        tops |= (unsigned)top << c;
    }
    return tops;
}

/* Brings to the host what the search reads of these octs. */
static enum err sites_home(struct sim *s, int l, const struct rows *r)
{
    struct mesh *m = &s->mesh;
    struct mirror *x = s->device.mirror;
    if (by_energies(s)) return rows_home(x, m, l, GAS | FORCE, r);
    TRY(rows_home_gas(x, m, l, GAS_DENSITY, r));
    return rows_home_gas(x, m, l, s->par->clumpfind.ivar_clump - 1, r);
}

/* Copies the values in which peaks are sought. */
static void sites_copy(const struct mesh *m, int l, int var, const struct rows *r,
                       double (*peak)[8])
{
    for (int64_t i = 0; i < r->n; i++)
        memcpy(peak[r->oct[i]], level_gas(&m->lev[l], var)[r->oct[i]], sizeof peak[0]);
}

/* The octs beside cells of own octs of the list that may be maxima. */
static void sites_around(const struct mesh *m, int l, const struct rows *r, const double (*peak)[8],
                         double threshold, struct rows *all)
{
    for (int64_t i = 0; i < r->n && r->oct[i] < m->lev[l].nown; i++) {
        const unsigned tops = sites_peaks(m, l, r->oct[i], peak, threshold);
        for (int c = 0; c < 8; c++)
            if (tops >> c & 1) sites_beside(m, l, r->oct[i], c, all);
    }
}

/* Brings leaf cells above the threshold to the host, and what is around those that may be maxima.
 */
static enum err sites_find(struct sim *s, double threshold, struct sites *t)
{
    struct mesh *m = &s->mesh;
    struct mirror *x = s->device.mirror;
    const int var = s->par->clumpfind.ivar_clump - 1;
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        struct rows *r = &t->octs[l];
        TRY(rows_above(x, m, l, var, threshold, true, true, r));
        TRY(sites_home(s, l, r));
        t->peak[l] = mem_zero(sizeof *t->peak[l] * (size_t)m->lev[l].noct + 1, "clump sites");
        sites_copy(m, l, var, r, t->peak[l]);
    }
    struct rows around[LEVEL_MAX + 2] = {{0, NULL}};
    enum err err = OK;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        sites_around(m, l, &t->octs[l], (const double(*)[8])t->peak[l], threshold, around);
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        rows_tidy(&around[l]);
        rows_without(&around[l], &t->octs[l]);
        if (err == OK) err = sites_home(s, l, &around[l]);
        if (err == OK) sites_copy(m, l, var, &around[l], t->peak[l]);
        FREE(around[l].oct);
    }
    return err;
}

/* Prepares the search of sites: of few octs from a device, if only the gas is needed; otherwise all
 * comes to the host. */
static enum err sites_begin(struct sim *s, const struct clump_par *par, const struct densities *k,
                            struct sites *t)
{
    const bool few = !k->want_clumps && !k->want_stars && s->phys.tracers == TRACER_NONE;
    t->on = few && s->device.mirror && (s->device.on & GPU_HYDRO);
    if (t->on) return sites_find(s, par->density, t);
    TRY(sim_device_home(s, true));
    return sim_parts_home(s);
}

static enum err find_cores(struct sim *s, const struct clump_par *par, struct densities *k,
                           const struct sites *t, struct clump_core_par *core,
                           struct clump_cores *out)
{
    if (!t->on) hand_down(s, k);
    struct clump_field f = field_of(s, k);
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax && t->on; l++) f.peak[l] = t->peak[l];
    f.still = !core->energies;
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax; l++) {
        f.mass[l] = level_gas(&s->mesh.lev[l], GAS_DENSITY);
        core->stars[l] = k->stars[l];
    }
    enum err err = clump_find_cores(par, &f, core, &s->mesh, s->dom, &s->comm, out);
    if (!t->on) hand_back(s);
    densities_free(k);
    return err;
}

static enum err cores(struct sim *s, const struct sink_copies *sinks, struct sites *t,
                      struct clump_cores *out)
{
    struct clump_par par;
    struct densities k = {.want_clumps = s->par->clumpfind.ivar_clump <= 0,
                          .want_stars = param_stars(s->par) && s->par->physics.smbh &&
                                        s->par->sink.mass_star_agn > 0};
    memset(out, 0, sizeof *out);
    TRY(find_par(s, &par));
    TRY(sites_begin(s, &par, &k, t));
    double(*taken)[3] = mem_new(sizeof *taken * (size_t)sinks->here.n + 1, "clump cores");
    struct clump_core_par core = core_par(s, sinks, taken);
    enum err err = find_cores(s, &par, &k, t, &core, out);
    FREE(taken);
    if (err == OK && s->par->clumpfind.clinfo)
        log_info(" Sinks: %ld density peaks, %ld relevant", (long)out->peaks, (long)out->relevant);
    return err;
}

/* ---- the phase ---- */

/* Whether any cell is as dense as a maximum must be for a sink to form. (collective) */
static enum err may_form(struct sim *s, const struct sink_run *sinks, bool *may)
{
    struct mesh *m = &s->mesh;
    const double min = sinks_birth_density(sinks);
    int64_t n = s->par->clumpfind.ivar_clump != 1 || s->par->clumpfind.clinfo;
    for (int l = m->levelmin; l <= m->levelmax && n == 0; l++) {
        struct rows dense;
        TRY(rows_above(s->device.mirror, m, l, GAS_DENSITY, min, false, false, &dense));
        n = dense.n;
        FREE(dense.oct);
    }
    comm_max_i64(&s->comm, &n, 1);
    *may = n > 0;
    return OK;
}

/* Makes sinks; `sparse`: the gas of their cells comes from a device, and returns. */
static enum err create(struct sim *s, const struct sink_run *sinks, const struct clump_cores *found,
                       bool sparse)
{
    struct mesh *m = &s->mesh;
    struct rows octs[LEVEL_MAX + 2] = {{0, NULL}};
    enum err err = OK;
    for (int64_t i = 0; i < found->n && sparse; i++)
        append(&octs[found->at[i].level], found->at[i].oct);
    for (int l = m->levelmin; l <= m->levelmax && err == OK; l++) {
        rows_tidy(&octs[l]);
        err = rows_home(s->device.mirror, m, l, GAS, &octs[l]);
    }
    const int64_t before = s->phys.sinks->table.made;
    if (err == OK) err = sinks_create(sinks, found);
    const bool born = s->phys.sinks->table.made > before;
    for (int l = m->levelmin; l <= m->levelmax; l++) {
        if (born && err == OK) err = rows_send(s->device.mirror, m, l, GAS, &octs[l]);
        FREE(octs[l].oct);
    }
    return err;
}

/* New sinks have negligible mass, taken from leaf cells only: coarser cells and ghosts are updated
 * by the next phase, which gives the sinks their seeds. */
enum err step_create_sinks(struct sim *s, int l, int icount)
{
    struct sink_run sinks = sim_sinks(s);
    struct sink_copies copies;
    struct clump_cores found = {0};
    struct sites t = {.on = false};
    bool may;
    TRY(sinks_before_births(&sinks, &copies));
    enum err err = may_form(s, &sinks, &may);
    if (err == OK && may) err = cores(s, &copies, &t, &found);
    sink_copies_free(&copies);
    if (err == OK) err = create(s, &sinks, &found, t.on);
    sites_free(&t);
    FREE(found.at);
    return err;
}
