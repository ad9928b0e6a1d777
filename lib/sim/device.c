/* sim/device: device parts of a run (lib/dev; docs/gpu.md). Results do not depend on the device:
 * ranks without a device, or with a full one, use the CPU. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/timer.h"
#include "dev/trial.h"
#include "oct/field_sets.h"
#include "patch/reflux.h"
#include "phys/term.h"
#include "rt/rt_dev.h"
#include "sim/phase.h"

static bool wants_gas(const struct sim *s)
{
    return s->par->run.gpu_hydro && s->mesh.hydro;
}

static bool wants_gravity(const struct sim *s)
{
    return s->par->run.gpu_poisson && s->mesh.gravity;
}

static bool wants_parts(const struct sim *s)
{
    return s->par->run.gpu_particles && s->par->run.pic;
}

/* Prepares source terms of levels for the device. */
static void terms_begin(struct sim *s)
{
    struct sim_device *d = &s->device;
    const char *lacks;
    if (s->mesh.magnetic && terms_wanted(s->par, TERM_LEVEL)) {
        log_info(" gpu_hydro: source terms with a magnetic field have no kernel: they run on the "
                 "CPU, to which the gas is copied in each step");
        return;
    }
    d->terms = terms_dev_new(&TERMS, s->par, d->mirror, &lacks);
    if (lacks)
        log_info(" gpu_hydro: %s has no kernel and runs on the CPU, to which the gas is copied in "
                 "each step",
                 lacks);
}

/* The choice of the run that has no kernel; NULL: every choice has one. */
static const char *gas_lacks(const struct sim *s)
{
    const char *lacks = hydro_dev_lacks(&s->phys.hydro);
    if (s->phys.tracers == TRACER_JUMPS) return "the flux of mass that Monte-Carlo tracers need";
    if (lacks || !s->mesh.magnetic) return lacks;
    return s->phys.cosmo ? "a magnetic field in an expanding universe"
                         : mhd_dev_lacks(&s->phys.mhd);
}

static enum err radiation_begin(struct sim *s)
{
    struct sim_device *d = &s->device;
    const char *lacks = s->phys.rt ? rt_dev_lacks(s->phys.rt, &s->mesh) : NULL;
    if (!s->phys.rt) return OK;
    if (!lacks) {
        log_info(" gpu_hydro: radiation and chemistry run on %s", dev_name(d->dev));
        return rt_dev_new(&d->rt, s->phys.rt, d->mirror, d->ghosts);
    }
    log_info(" gpu_hydro: %s has no kernel: radiation and chemistry run on the CPU, to which the "
             "gas is copied in each step",
             lacks);
    return OK;
}

static enum err gas_begin(struct sim *s)
{
    struct sim_device *d = &s->device;
    const char *lacks = gas_lacks(s);
    if (lacks) {
        log_info(" gpu_hydro: %s has no kernel: the gas runs on the CPU", lacks);
        return OK;
    }
    TRY(hydro_dev_new(&d->gas, d->mirror));
    if (s->mesh.magnetic) TRY(mhd_dev_new(&d->field, d->mirror));
    terms_begin(s);
    TRY(radiation_begin(s));
    d->on |= GPU_HYDRO;
    log_info(" gpu_hydro: the gas runs on %s", dev_name(d->dev));
    return OK;
}

/* Logs where the Poisson equation of complete levels is solved, if not on the device. */
static void fourier_log(const struct sim *s)
{
    const struct grav_par *g = &s->phys.grav;
    if (s->mesh.levelmin < g->fft_levelmin || s->mesh.ndim < 3) return;
    if (!g->fft_fixed)
        log_info(" gpu_poisson: the Fourier transform of FFTW runs on the CPU: complete levels are "
                 "copied; gpu_fft=.true. solves them on the device");
    else if (s->comm.size > 1)
        log_info(" gpu_poisson: the Fourier transform of several ranks runs on the CPU: complete "
                 "levels are copied");
}

static enum err gravity_begin(struct sim *s)
{
    struct sim_device *d = &s->device;
    const char *lacks = s->phys.fifth ? fifth_name(s->phys.fifth) : NULL;
    if (!lacks) lacks = grav_dev_lacks(&s->mesh, s->mesh.levelmax + 1, s->comm.size, &s->phys.grav);
    if (lacks) {
        log_info(" gpu_poisson: %s has no kernel: gravity runs on the CPU", lacks);
        return OK;
    }
    TRY(grav_dev_new(&d->grav, d->mirror, d->ghosts, &s->comm));
    d->on |= GPU_POISSON;
    log_info(" gpu_poisson: gravity runs on %s", dev_name(d->dev));
    fourier_log(s);
    return OK;
}

static enum err parts_begin(struct sim *s)
{
    struct sim_device *d = &s->device;
    if (s->phys.tracers != TRACER_NONE) {
        log_info(" gpu_particles: tracers have no kernel: the particles run on the CPU");
        return OK;
    }
    TRY(part_dev_new(&d->parts, d->mirror));
    d->on |= GPU_PARTS;
    log_info(" gpu_particles: the particles run on %s", dev_name(d->dev));
    return OK;
}

/* Reads a number from an environment variable, if set; for tests. */
static enum err environment(const char *name, int *n)
{
    enum { MAX = 1000000000 };
    const char *text = getenv(name);
    if (text && !opt_int(text, 1, MAX, n))
        FAIL(ERR_PARAM, "environment variable %s='%s': expected a whole number from 1 to %d", name,
             text, MAX);
    return OK;
}

enum err sim_device_how(const struct sim *s, struct dev_how *how)
{
    int devices = 1, kb = 0;
    TRY(environment("PTAH_DEVICES", &devices));
    TRY(environment("PTAH_DEVICE_KB", &kb));
    *how = (struct dev_how){.kind = s->par->run.gpu_device,
                            .devices = devices,
                            .max = (size_t)1024 * (size_t)kb,
                            .rank = s->comm.node_rank,
                            .seed = s->par->run.gpu_seed ? (uint64_t)s->par->run.gpu_seed +
                                                               ((uint64_t)s->comm.rank << 32)
                                                         : 0};
    return OK;
}

static enum err device_begin(struct sim *s, int *choice)
{
    struct sim_device *d = &s->device;
    char why[DEV_WHY];
    struct dev_how how;
    TRY(sim_device_how(s, &how));
    TRY(environment("PTAH_DEVICE_CHOICE", choice));
    d->dev = dev_open(&how, why);
    if (!d->dev) {
        log_info(" %s: no device: %s: everything runs on the CPU",
                 wants_gas(s)       ? "gpu_hydro"
                 : wants_gravity(s) ? "gpu_poisson"
                                    : "gpu_particles",
                 why);
        return OK;
    }
    d->begun = timer_thread();
    d->stream = dev_stream_new(d->dev);
    for (; d->sides < SIM_SIDES && d->sides + 1 < s->par->run.n_cuda_streams; d->sides++)
        d->side[d->sides] = dev_stream_new(d->dev);
    d->mirror = mem_zero(sizeof *d->mirror, "device");
    TRY(mirror_init(d->mirror, d->dev, d->stream));
    if (s->check.ghosts) d->mirror->spoils = &s->mesh;
    TRY(ghost_dev_new(&d->ghosts, d->dev, d->stream));
    if (wants_gas(s)) TRY(gas_begin(s));
    if (wants_gravity(s)) TRY(gravity_begin(s));
    return wants_parts(s) ? parts_begin(s) : OK;
}

enum err sim_device_open(struct sim *s)
{
    int choice = 0;
    if (!wants_gas(s) && !wants_gravity(s) && !wants_parts(s)) return OK;
    TRY(err_agree(&s->comm, device_begin(s, &choice)));
    sim_choice_open(s, choice);
    return OK;
}

void sim_device_close(struct sim *s)
{
    struct sim_device *d = &s->device;
    dev_settle(d->dev);
    hydro_dev_free(&d->gas);
    mhd_dev_free(&d->field);
    terms_dev_free(&d->terms);
    rt_dev_free(&d->rt);
    grav_dev_free(&d->grav);
    ghost_dev_free(&d->ghosts);
    part_dev_free(&d->parts);
    if (d->mirror) mirror_fini(d->mirror);
    FREE(d->mirror);
    for (int i = 0; i < SIM_SIDES; i++) dev_stream_free(&d->side[i]);
    dev_stream_free(&d->stream);
    trials_free(&d->trials);
    dev_close(&d->dev);
}

struct dev_stream *sim_device_stream(const struct sim *s, int i)
{
    const struct sim_device *d = &s->device;
    int at = i % (1 + d->sides);
    return at == 0 ? d->stream : d->side[at - 1];
}

void sim_device_energy_end(struct sim *s)
{
    struct sim_device *d = &s->device;
    const int l = d->energy;
    d->energy = 0;
    if (l > 0)
        BUG_ON(grav_dev_energy_end(d->grav, &s->mesh, l, &s->phys.matter.rho_max[l],
                                   s->diag.counting ? &s->diag.sum.epot : NULL) != OK);
}

/* ---- where fields are ---- */

enum err sim_device_need(struct sim *s, int l, field_set set, int location)
{
    struct mirror *x = s->device.mirror;
    if (x) TRY(mirror_need_set(x, &s->mesh, l, set, location));
    bool parts = set & PARTS && s->device.parts;
    return parts ? part_dev_need(s->device.parts, &s->parts, location) : OK;
}

void sim_device_wrote(struct sim *s, int l, field_set set, int location)
{
    struct mirror *x = s->device.mirror;
    if (x) mirror_wrote_set(x, &s->mesh, l, set, location);
    /* those that run there know it */
    if (set & PARTS && s->device.parts && location == LOCATION_HOST)
        part_dev_wrote(s->device.parts);
}

enum err sim_device_home(struct sim *s, bool alone)
{
    return s->device.mirror ? mirror_home(s->device.mirror, &s->mesh, alone) : OK;
}

static int gas_dev(const struct sim *s, int l, void **arr, size_t *stride)
{
    const struct mesh *image = s->device.mirror->image;
    int fld[FIELD_ALL], n = mesh_fields(&s->mesh, GAS, fld);
    for (int v = 0; v < n; v++) {
        arr[v] = image->lev[l].fld[fld[v]];
        stride[v] = sizeof image->lev[l].fld[fld[v]][0];
    }
    return n;
}

enum err sim_device_fill_begin(struct sim *s, int l, bool *begun)
{
    struct sim_device *d = &s->device;
    struct ghost_dev_plan *plan;
    void *arr[FIELD_ALL];
    size_t stride[FIELD_ALL];
    *begun = false;
    if (!(d->on & GPU_HYDRO) || mirror_has_set(d->mirror, &s->mesh, l, GAS, LOCATION_HOST))
        return OK;
    enum err err = sim_device_need(s, l, GAS, LOCATION_DEVICE);
    if (err == OK) err = ghost_dev_level(d->ghosts, &s->mesh, l, &plan);
    if (err == OK)
        err = ghost_dev_rows_begin(&d->gas_fill, d->ghosts, &s->comm, COMM_BULK_DP, plan,
                                   gas_dev(s, l, arr, stride), arr, stride);
    if (err != OK) return sim_device_off(s);
    d->filled = l;
    *begun = true;
    return OK;
}

void sim_device_fill_end(struct sim *s)
{
    struct sim_device *d = &s->device;
    void *arr[FIELD_ALL];
    size_t stride[FIELD_ALL];
    if (!d->gas_fill.of) return;
    ghost_dev_rows_end(&d->gas_fill, gas_dev(s, d->filled, arr, stride), arr, stride);
    ghosts_set(&s->mesh, d->filled, GAS, true);
    sim_device_wrote(s, d->filled, GAS, LOCATION_DEVICE);
}

enum err sim_moments_home(struct sim *s)
{
    if (!s->phys.matter.moments_dev) return OK;
    s->phys.matter.moments_dev = false;
    return grav_dev_moments_get(s->device.grav, &s->mesh, s->mesh.levelmin + 1,
                                s->phys.matter.moments);
}

enum err sim_dense_home(struct sim *s, int l)
{
    struct grav_dev *g = s->device.grav;
    return g ? grav_dev_dense(g, &s->mesh, l, s->mesh.lev[l].dense) : OK;
}

enum err sim_device_off(struct sim *s)
{
    struct sim_device *d = &s->device;
    log_info(" %s: from now on everything runs on the CPU", err_message());
    sim_device_fill_end(s);
    sim_reflux_receive(s);
    sim_device_energy_end(s);
    for (int i = 0; i < d->sides; i++) TRY(dev_wait(d->side[i]));
    TRY(sim_device_home(s, true));
    TRY(sim_parts_home(s));
    TRY(sim_moments_home(s));
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax; l++) TRY(sim_dense_home(s, l));
    TRY(dev_wait(d->stream));
    d->on = 0;
    if (s->comm.size == 1) trials_free(&d->trials);
    hydro_dev_free(&d->gas);
    mhd_dev_free(&d->field);
    terms_dev_free(&d->terms);
    rt_dev_free(&d->rt);
    grav_dev_free(&d->grav);
    ghost_dev_free(&d->ghosts);
    part_dev_free(&d->parts);
    return OK;
}

/* ---- location of particles ---- */

enum err sim_parts_home(struct sim *s)
{
    struct part_dev *x = s->device.parts;
    if (!x) return OK;
    TRY(part_dev_need(x, &s->parts, LOCATION_HOST));
    part_dev_wrote(x);
    return OK;
}

struct part_dev *sim_parts_dev(const struct sim *s)
{
    struct part_dev *x = s->device.parts;
    return x && part_dev_has(x, LOCATION_DEVICE) ? x : NULL;
}

enum err sim_parts_deposit(struct sim *s, int l, double quantum, double mass_cut, int cic_levelmax,
                           int64_t (*mass)[8], int64_t (*number)[8])
{
    struct part_dev *x = sim_parts_dev(s);
    if (x) {
        if (part_dev_deposit(x, &s->parts, &s->mesh, l, quantum, mass_cut, cic_levelmax, mass,
                             number) == OK)
            return OK;
        TRY(sim_device_off(s));
    }
    part_deposit(&s->parts, &s->mesh, l, quantum, mass_cut, cic_levelmax, mass, number);
    return OK;
}

double sim_parts_vmax(struct sim *s, int l)
{
    double v;
    struct part_dev *x = sim_parts_dev(s);
    const struct part_motion *q = &s->phys.matter.motion;
    if (!x) return q->level == l ? q->fastest : part_vmax(&s->parts, l);
    BUG_ON(part_dev_vmax(x, &s->parts, l, &v) != OK); /* the state is lost */
    return v;
}

void sim_parts_kinetic(struct sim *s, int l, struct sum *ekin)
{
    struct part_dev *x = sim_parts_dev(s);
    const struct part_motion *q = &s->phys.matter.motion;
    if (x)
        BUG_ON(part_dev_kinetic(x, &s->parts, l, ekin) != OK);
    else if (q->level == l && q->counted)
        sum_join(ekin, &q->energy);
    else
        part_kinetic(&s->parts, l, ekin);
}

bool sim_parts_mass(struct sim *s, int n, struct sum *sum)
{
    struct part_dev *x = sim_parts_dev(s);
    if (x) BUG_ON(part_dev_mass(x, &s->parts, n, sum) != OK);
    return x;
}

/* ---- registers ---- */

int sim_reflux_nflux(const struct sim *s)
{
    return s->mesh.magnetic ? mhd_nflux(&s->mesh, &s->phys.mhd) : hydro_nflux(&s->phys.hydro);
}

int sim_reflux_edges(const struct sim *s)
{
    if (!s->mesh.magnetic || s->mesh.ndim < 2) return 0;
    return s->phys.cosmo ? 2 * REFLUX_EDGES : REFLUX_EDGES;
}

enum err sim_reflux_begin(struct sim *s, int l)
{
    struct sim_device *d = &s->device;
    if (sim_runs_dev(s, GPU_HYDRO, l)) {
        enum err err = s->mesh.magnetic ? mhd_dev_reflux_begin(d->field, &s->mesh, l, &s->phys.mhd)
                                        : reflux_dev_begin(d->gas, &s->mesh, l, &s->phys.hydro);
        if (err == OK) return OK;
        TRY(sim_device_off(s));
    }
    reflux_begin(&s->mesh, l, REFLUX_GAS, sim_reflux_nflux(s), sim_reflux_edges(s));
    sim_device_wrote(s, l, REFLUX, LOCATION_HOST);
    return OK;
}

enum err sim_reflux_end(struct sim *s, int l)
{
    if (s->device.mirror) TRY(mirror_forget_reflux(s->device.mirror, l, REFLUX_GAS));
    reflux_end(&s->mesh, l, REFLUX_GAS);
    return OK;
}

static struct ghost_dev_arrays reflux_dev_arrays(const struct sim *s, int l)
{
    const struct reflux *r = &s->device.mirror->image->lev[l].reflux[REFLUX_GAS];
    return (struct ghost_dev_arrays){
        .n = 1, .arr = {r->flux}, .stride = {reflux_row_bytes(r->nflux, r->nedge)}, .row = r->row};
}

enum err sim_reflux_send(struct sim *s, int l, bool *begun)
{
    struct sim_device *d = &s->device;
    struct ghost_dev_plan *plan;
    *begun = false;
    if (!(d->on & GPU_HYDRO) || mirror_has_set(d->mirror, &s->mesh, l, REFLUX, LOCATION_HOST))
        return OK;
    const struct ghost_dev_arrays all = reflux_dev_arrays(s, l);
    enum err err = ghost_dev_level(d->ghosts, &s->mesh, l, &plan);
    if (err == OK)
        err = ghost_dev_mixed_begin(&d->reflux_fill, d->ghosts, &s->comm, COMM_BULK_FLUX, plan,
                                    &all);
    if (err != OK) return sim_device_off(s);
    d->reflux_level = l;
    *begun = true;
    return OK;
}

void sim_reflux_receive(struct sim *s)
{
    struct sim_device *d = &s->device;
    if (!d->reflux_fill.of) return;
    const struct ghost_dev_arrays all = reflux_dev_arrays(s, d->reflux_level);
    ghost_dev_mixed_end(&d->reflux_fill, &all);
    sim_device_wrote(s, d->reflux_level, REFLUX, LOCATION_DEVICE);
}

/* With -v, for tests/gpu/steps: launches of rank 0 by kernel and size, and bus traffic. */
static void launches_report(const struct sim *s)
{
    const struct dev *d = s->device.dev;
    const struct dev_launches *k;
    const struct dev_count c = dev_counts(d);
    log_line(1, " Device: launch kernel most launches blocks");
    for (int i = 0; (k = dev_launches(d, i)); i++)
        log_line(1, " Device: launch %s %ld %ld %ld", k->kernel, (long)k->max, (long)k->launches,
                 (long)k->blocks);
    for (int i = 0; i < SIM_PHASES && s->device.by_phase[i].name; i++)
        if (s->device.by_phase[i].bytes > 0)
            log_line(1, " Device: phase %s %ld bytes", s->device.by_phase[i].name,
                     (long)s->device.by_phase[i].bytes);
    log_line(1,
             " Device: bus waits %ld copies %ld put %ld got %ld gas %ld steps %ld inner %ld "
             "arrays %ld host %ld",
             (long)c.waits, (long)c.copies, (long)c.put, (long)c.got, (long)s->device.bytes,
             (long)s->device.steps, (long)c.inner, (long)c.arrays,
             (long)(1e6 * (timer_thread() - s->device.begun - c.inside)));
}

/* ---- bus traffic ---- */

int64_t sim_device_copied(const struct sim *s)
{
    if (!s->device.dev) return 0;
    struct dev_count c = dev_counts(s->device.dev);
    return c.put + c.got;
}

/* Names of the arrays that hold messages between ranks. */
static const char *const MESSAGES[] = {"ghost buffers", "particle exchange", "multigrid shared"};

static const char *const TABLES[] = {"cooling table"};

/* Bytes copied of arrays of these n names. */
static int64_t named_copied(const struct sim *s, size_t n, const char *const *name)
{
    const struct dev_traffic *t;
    int64_t sum = 0;
    for (int i = 0; s->device.dev && (t = dev_traffic(s->device.dev, i)); i++)
        for (size_t k = 0; k < n; k++)
            if (strcmp(t->name, name[k]) == 0) sum += t->put + t->got;
    return sum;
}

void sim_device_step(struct sim *s)
{
    struct sim_device *d = &s->device;
    const struct mesh *m = &s->mesh;
    const int64_t copied = sim_device_copied(s) - d->outputs,
                  messages = named_copied(s, sizeof MESSAGES / sizeof *MESSAGES, MESSAGES),
                  table = named_copied(s, sizeof TABLES / sizeof *TABLES, TABLES);
    int fld[FIELD_ALL], fields = mesh_fields(m, ALL, fld), finest = m->levelmin;
    while (finest < m->levelmax && m->lev[finest + 1].total > 0) finest++;
    d->steps++;
    if (finest <= d->finest) {
        d->usual++;
        d->moved += (double)(copied - d->copied);
        d->messages += messages - d->messages_before;
        d->table += table - d->table_before;
        for (int l = m->levelmin; l <= finest; l++)
            d->mesh += (double)sizeof(double[8]) * fields * (double)m->lev[l].nown;
    } else
        d->finest = finest;
    d->copied = copied;
    d->messages_before = messages;
    d->table_before = table;
}

/* Logs the arrays of this rank with most bus traffic, first copy and outputs included. */
static void report_arrays(const struct sim *s)
{
    enum { MAX = 4 };
    const struct dev_traffic *t, *max[MAX] = {NULL};
    for (int i = 0; (t = dev_traffic(s->device.dev, i)); i++)
        for (int k = 0; k < MAX; k++) {
            const struct dev_traffic *now = max[k];
            if (now && now->put + now->got >= t->put + t->got) continue;
            max[k] = t;
            t = now;
            if (!t) break;
        }
    for (int k = 0; k < MAX && max[k]; k++)
        log_info("   %-20s %10.3f MB to it %10.3f MB back", max[k]->name,
                 1e-6 * (double)max[k]->put, 1e-6 * (double)max[k]->got);
}

void sim_device_report(struct sim *s)
{
    const struct sim_device *d = &s->device;
    if (!wants_gas(s) && !wants_gravity(s) && !wants_parts(s)) return;
    struct dev_count c = d->dev ? dev_counts(d->dev) : (struct dev_count){0};
    int64_t n[7] = {c.put,       c.got,   c.launches, (int64_t)d->mesh, (int64_t)d->moved,
                    d->messages, d->table};
    comm_add_i64(&s->comm, n, 7);
    if (n[2] == 0) return;
    double steps = d->steps > 0 ? d->steps : 1;
    log_info(" Device: %.1f MB to it and %.1f MB back a coarse step; %.0f launches",
             1e-6 * (double)n[0] / steps, 1e-6 * (double)n[1] / steps, (double)n[2] / steps);
    if (d->dev) launches_report(s);
    if (n[3] == 0) return;
    log_info(
        " Device: %.3f MB a coarse step but for outputs and steps with a new level, %.2f %% of "
        "the mesh",
        1e-6 * (double)n[4] / d->usual, 100 * (double)n[4] / (double)n[3]);
    if (s->comm.size > 1)
        log_info(" Device: of these %.2f %% messages to and from other ranks",
                 100 * (double)n[5] / (double)n[3]);
    if (n[6] > 0)
        log_info(" Device: of these %.2f %% the table of rates of cooling, whose size does not "
                 "depend on the mesh",
                 100 * (double)n[6] / (double)n[3]);
    if (d->dev) report_arrays(s);
}
