/* sim/sources: source terms, radiation and chemistry of the gas: functions of the table in
 * sim/step.c. */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "chem/chem.h"
#include "ckpt/ckpt.h"
#include "cool/table.h"
#include "dom/ghost.h"
#include "oct/field_sets.h"
#include "phys/term.h"
#include "rt/lights.h"
#include "rt/rt_dev.h"
#include "sim/phase.h"

/* ---- source terms ---- */

/* Logs the differences that cooling_method='compare' has found in the last coarse step. */
static void log_compared(const struct sim *s)
{
    struct cool_compared r = cool_take_compared(s->phys.cooling);
    int64_t sums[] = {r.cells, r.signs, r.sum}, max = r.max;
    comm_add_i64(&s->comm, sums, 3);
    comm_max_i64(&s->comm, &max, 1);
    if (sums[0] == 0) return;
    log_info(
        " Cooling, exact against original: %ld cells, relative difference mean %.3e, max %.3e; "
        "opposite signs: %ld",
        (long)sums[0], 1e-9 * (double)sums[2] / (double)sums[0], 1e-9 * (double)max, (long)sums[1]);
}

void sim_cooling_table(struct sim *s)
{
    if (strcmp(s->par->physics.cooling_method, "compare") == 0) log_compared(s);
    cool_set(s->phys.cooling, s->phys.cosmo ? s->time.aexp : 1);
}

/* Rows of the table that cells of any rank read in the last coarse step are computed by one rank
 * each, and summed as bits, to which the others add 0. Where ranks are many, each reads few. */
static void share_table(struct sim *s)
{
    enum { MANY = 16 };
    struct cool_table *t = cool_rows_of(s->phys.cooling);
    if (!t || s->comm.size == 1 || s->comm.size > MANY) return;
    int64_t *want = mem_new(sizeof *want * TABLE_ROWS, "cooling table");
    int n = 0, *at = mem_new(sizeof *at * TABLE_ROWS, "cooling table");
    table_wanted(t, want);
    comm_max_i64(&s->comm, want, TABLE_ROWS);
    for (int i = 0; i < TABLE_ROWS; i++)
        if (want[i]) at[n++] = i;
    const int begin = n * s->comm.rank / s->comm.size, end = n * (s->comm.rank + 1) / s->comm.size;
    double(*row)[TABLE_ROW] = mem_zero(sizeof *row * (size_t)n + 1, "cooling table");
    table_rows_make(t, end - begin, at + begin, row + begin);
    if (n > 0) comm_add_i64(&s->comm, (int64_t *)(void *)row, n * TABLE_ROW);
    if (n > 0) table_rows_take(t, n, at, row);
    FREE(row);
    FREE(at);
    FREE(want);
}

/* Updates the rates at the start of a coarse step, for the whole step, so that a restart finds
 * equal rates. */
enum err step_cooling_table(struct sim *s, int l, int icount)
{
    sim_cooling_table(s);
    if (s->phys.cosmo) share_table(s);
    return OK;
}

struct term_run sim_term_run(struct sim *s, int stage, int l)
{
    const struct sim_time *t = &s->time;
    return (struct term_run){.par = s->par,
                             .hydro = &s->phys.hydro,
                             .comm = &s->comm,
                             .dom = s->dom,
                             .mesh = &s->mesh,
                             .parts = &s->parts,
                             .stage = stage,
                             .level = l,
                             .t = t->t,
                             .dt = t->dtnew[l],
                             .aexp = t->aexp,
                             .hexp = t->hexp,
                             .cosmo = s->phys.cosmo ? &s->phys.cosmo_par : NULL,
                             .cooling = s->phys.cooling,
                             .history = s->phys.cosmo,
                             .yields = s->phys.yields,
                             .ledger = s->phys.flux ? tracers_ledger(s->phys.flux) : NULL,
                             .coarse_dt = t->dtnew[s->mesh.levelmin],
                             .mass_sph = s->amr.refine.mass_sph,
                             .units = sim_units(s),
                             .nstep = t->nstep,
                             .check = s->check.ghosts};
}

/* Restricts the gas of all levels, fine to coarse, if it has changed, and fills ghosts. */
void sim_send_all_gas(struct sim *s, bool changed)
{
    struct mesh *m = &s->mesh;
    for (int k = m->levelmax; k >= m->levelmin && m->hydro; k--) {
        if (s->amr.noct[k] == 0) continue;
        if (changed && k < m->levelmax) sim_restrict_gas(s, k);
        ghost_fill_hydro(&s->comm, m, k);
    }
}

/* sim_send_all_gas where the gas has changed on a device. */
static enum err send_all_there(struct sim *s)
{
    struct mesh *m = &s->mesh;
    struct sim_device *d = &s->device;
    for (int k = m->levelmax; k >= m->levelmin; k--) {
        bool begun = false;
        if (s->amr.noct[k] == 0) continue;
        if (k < m->levelmax && (d->on & GPU_HYDRO) &&
            hydro_dev_restrict(d->gas, m, k, &s->phys.hydro) != OK)
            TRY(sim_device_off(s));
        if (k < m->levelmax && !(d->on & GPU_HYDRO)) sim_restrict_gas(s, k);
        if (s->comm.size > 1) TRY(sim_device_fill_begin(s, k, &begun));
        if (begun) {
            sim_device_fill_end(s);
            continue;
        }
        if (s->comm.size > 1) TRY(sim_device_need(s, k, GAS, LOCATION_HOST));
        ghost_fill_hydro(&s->comm, m, k);
        if (s->comm.size > 1) sim_device_wrote(s, k, GAS, LOCATION_HOST);
    }
    return OK;
}

/* Whether coarse terms work on few octs and particles, of gas that is on a device. */
static bool coarse_sparse(const struct sim *s, const struct term_run *r)
{
    if (!(s->device.on & GPU_HYDRO) || s->mesh.magnetic || s->phys.rt || r->ledger) return false;
    for (int i = 0; i < TERMS.n; i++)
        if (term_runs(&TERMS, i, r) && !TERMS.at[i]->sparse) return false;
    return true;
}

static enum err coarse_terms(struct sim *s, int l, field_set *wrote)
{
    struct term_run r = sim_term_run(s, TERM_COARSE, l);
    const bool few = coarse_sparse(s, &r);
    if (few) {
        r.mirror = s->device.mirror;
        r.few = sim_parts_dev(s);
    } else {
        TRY(sim_device_home(s, true));
        TRY(sim_parts_home(s));
    }
    TRY(terms_run(&TERMS, 0, &r, wrote));
    if (*wrote & GAS && few) return send_all_there(s);
    if (*wrote & GAS) sim_send_all_gas(s, true);
    return OK;
}

/* Applied after the checkpoint, so that a restart applies coarse terms once. Without any change all
 * ranks leave the gas and its ghosts as they are. */
enum err step_coarse_terms(struct sim *s, int l, int icount)
{
    field_set wrote;
    bool valid[LEVEL_MAX + 2];
    for (int k = l; k <= s->mesh.levelmax; k++) valid[k] = ghosts_valid(&s->mesh, k, GAS);
    TRY(coarse_terms(s, l, &wrote));
    for (int k = l; k <= s->mesh.levelmax && !(wrote & GAS); k++)
        ghosts_set(&s->mesh, k, GAS, valid[k]);
    if (wrote & GAS) s->phys.fresh.level = 0;
    return sim_tracers_swap(s, l, true);
}

/* Runs terms first … end − 1 of the table on the host. */
static enum err terms_part(struct sim *s, int l, int first, int end)
{
    const struct term_run r = sim_term_run(s, TERM_LEVEL, l);
    const struct term_list part = {TERMS.at, end};
    field_set fields = 0;
    for (int i = first; i < end; i++)
        if (term_runs(&TERMS, i, &r))
            fields |= TERMS.at[i]->reads | TERMS.at[i]->ghosts | TERMS.at[i]->writes;
    TRY(sim_device_need(s, l, fields, LOCATION_HOST));
    TRY(terms_run(&part, first, &r, NULL));
    sim_device_wrote(s, l, fields & (GAS | PARTS), LOCATION_HOST);
    return OK;
}

enum err step_late_terms(struct sim *s, int l, int icount)
{
    return terms_part(s, l, terms_early(), TERMS.n);
}

/* Runs term i of the table: by its kernels; on the host, with few octs and particles that come from
 * the device; or on the host, to which its fields are copied. */
static enum err level_term(struct sim *s, int l, int i)
{
    struct sim_device *d = &s->device;
    struct term_run r = sim_term_run(s, TERM_LEVEL, l);
    const struct term_list one = {TERMS.at + i, 1};
    bool done = false;
    if (!term_runs(&TERMS, i, &r)) return OK;
    const bool there = sim_runs_dev(s, GPU_HYDRO, l) && d->terms;
    if (there && terms_dev_run(d->terms, &r, i, &done) != OK) TRY(sim_device_off(s));
    if (done) return OK;
    if (!there || !d->on || !TERMS.at[i]->sparse) return terms_part(s, l, i, i + 1);
    r.mirror = d->mirror;
    r.few = sim_parts_dev(s);
    return terms_run(&one, 0, &r, NULL);
}

enum err step_level_terms(struct sim *s, int l, int icount)
{
    if (s->phys.rt) return terms_part(s, l, 0, terms_early());
    for (int i = 0; i < TERMS.n; i++) TRY(level_term(s, l, i));
    return OK;
}

/* ---- radiation ---- */

/* Views of the run for what shines. */
struct lit {
    struct term_run term;
    struct sink_run sinks;
};

static struct rt_run rt_run_of(struct sim *s, int l, struct lit *lit)
{
    if (lit) {
        lit->term = sim_term_run(s, TERM_LEVEL, l);
        if (s->phys.sinks) lit->sinks = sim_sinks(s);
    }
    return (struct rt_run){.rt = s->phys.rt,
                           .mesh = &s->mesh,
                           .comm = &s->comm,
                           .hydro = &s->phys.hydro,
                           .units = sim_units(s),
                           .aexp = s->time.aexp,
                           .cosmo = s->phys.cosmo ? &s->phys.cosmo_par : NULL,
                           .t = s->time.t - s->time.dtnew[l],
                           .dt = s->time.dtnew[l],
                           .nstep = s->time.nstep,
                           .nstep_coarse = s->time.nstep_coarse,
                           .term = lit ? &lit->term : NULL,
                           .sinks = lit && s->phys.sinks ? &lit->sinks : NULL,
                           .stellar = s->phys.stellar};
}

/* Constants of the coarse step. */
enum err step_light(struct sim *s, int l, int icount)
{
    struct lit lit;
    const struct rt_run r = rt_run_of(s, l, &lit);
    return rt_coarse(&r);
}

enum err sim_rt_registers(struct sim *s, int l)
{
    if (s->device.rt && sim_runs_dev(s, GPU_HYDRO, l)) {
        if (rt_dev_registers(s->device.rt, &s->mesh, l) == OK) return OK;
        TRY(sim_device_off(s));
    }
    rt_registers(s->phys.rt, &s->mesh, l);
    if (s->device.mirror) rt_dev_host_registers(s->device.mirror, l);
    return OK;
}

/* All that the sub-steps of level l read and write is on the host. */
static enum err radiation_home(struct sim *s, int l)
{
    if (!s->device.mirror) return OK;
    TRY(sim_device_need(s, l, GAS | PARTS, LOCATION_HOST));
    sim_device_wrote(s, l, GAS | PARTS, LOCATION_HOST);
    return rt_dev_home(s->device.mirror, &s->mesh, l);
}

/* Prepares the place where the sub-steps of level l run. */
static enum err radiation_begin(struct sim *s, const struct rt_run *r, int l)
{
    struct sim_device *d = &s->device;
    r->rt->dev = NULL;
    if (d->rt && sim_runs_dev(s, GPU_HYDRO, l)) {
        r->rt->dev = d->rt;
        if (rt_dev_begin(d->rt, r, l) == OK) return sim_device_need(s, l, PARTS, LOCATION_HOST);
        r->rt->dev = NULL;
        TRY(sim_device_off(s));
    }
    return radiation_home(s, l);
}

enum err step_radiation(struct sim *s, int l, int icount)
{
    struct lit lit;
    struct mesh *m = &s->mesh;
    const struct rt_run r = rt_run_of(s, l, &lit);
    TRY(radiation_begin(s, &r, l));
    TRY(rt_step(&r, l));
    if (l > m->levelmin && icount == s->time.nsubcycle[l - 1]) rt_send(&r, l);
    r.rt->dev = NULL;
    if (s->device.mirror && l < m->levelmax)
        TRY(mirror_forget_reflux(s->device.mirror, l + 1, REFLUX_RT));
    if (s->phys.rt->ngroups > 0 && !s->phys.rt->advect)
        ghosts_set(&s->mesh, l, PHOTONS, true); /* as they were */
    return OK;
}

void sim_rt_initial(struct sim *s, int l)
{
    const struct rt_run r = rt_run_of(s, l, NULL);
    if (s->phys.rt) rt_initial(&r, l);
}

void sim_rt_merged(struct sim *s, int l, unsigned char *cells)
{
    const struct rt_run r = rt_run_of(s, l, NULL);
    if (!cells) return;
    rt_merged(&r, l, cells);
    ghost_fill_hydro(&s->comm, &s->mesh, l);
    mem_free(cells);
}

void sim_rt_report(struct sim *s)
{
    const struct rt_run r = rt_run_of(s, s->mesh.levelmin, NULL);
    if (!s->phys.rt) return;
    s->phys.rt->dev = s->device.rt;
    rt_report(&r);
    s->phys.rt->dev = NULL;
}

/* Species whose recombination spec2group names, in the order of the fractions. */
static void recombination_groups(const struct rt *rt, int spec2group[4])
{
    const int first = rt->h2 ? 0 : 1;
    for (int i = 0; i < rt->nions; i++) spec2group[i] = rt->chem->spec2group[first + i];
}

void sim_rt_head(const struct sim *s, struct ckpt_radiation *h)
{
    const struct rt *rt = s->phys.rt;
    const struct units u = sim_units(s);
    if (!rt || rt->ngroups == 0) return;
    const double a = s->phys.cosmo ? s->time.aexp : 1, np = 1 / (a * a * a);
    h->groups = rt->ngroups, h->ions = rt->nions;
    h->c = rt->fraction * RAMSES_C / u.velocity, h->c_fraction = rt->fraction;
    h->x = rt->chem->X, h->y = rt->chem->Y;
    h->unit_np = np, h->unit_pf = np * u.velocity;
    h->n_star = s->par->physics.n_star;
    h->t2_star = s->par->physics.t2_star, h->g_star = s->par->physics.g_star;
    recombination_groups(rt, h->spec2group);
    for (int g = 0; g < rt->ngroups; g++) {
        const struct chem_group *p = &rt->chem->group[g];
        h->l0[g] = p->l0, h->l1[g] = p->l1, h->egy[g] = p->egy;
        memcpy(h->csn[g], p->csn, sizeof h->csn[g]);
        memcpy(h->cse[g], p->cse, sizeof h->cse[g]);
    }
}

static void log_groups(int in_file, int in_run)
{
    if (in_file == 0 && in_run > 0)
        log_info(" The checkpoint has no radiation: all %d groups of photons begin dark", in_run);
    else if (in_file < in_run)
        log_info(" The checkpoint has %d of the %d groups of photons: the others begin dark",
                 in_file, in_run);
    else if (in_file > in_run)
        log_info(" The checkpoint has %d groups of photons: only the first %d are continued",
                 in_file, in_run);
}

void sim_rt_resume(struct sim *s, const struct ckpt_radiation *h)
{
    struct chem_group group[PHOTON_GROUPS] = {0};
    if (!s->phys.rt) return;
    log_groups(h->groups, s->phys.rt->ngroups);
    for (int g = 0; g < h->groups && g < PHOTON_GROUPS; g++) {
        group[g].egy = h->egy[g];
        memcpy(group[g].csn, h->csn[g], sizeof group->csn);
        memcpy(group[g].cse, h->cse[g], sizeof group->cse);
    }
    rt_lights_restore(s->phys.rt, h->groups, group);
}
