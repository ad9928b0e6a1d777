#include "sim/phase.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/timer.h"
#include "dev/trial.h"
#include "dom/ghost.h"
#include "movie/frame.h"
#include "oct/field_sets.h"
#include "phys/term.h"

static bool holds(struct sim *s, unsigned when, int l, int icount)
{
    const struct mesh *m = &s->mesh;
    bool base = l == m->levelmin, finer = l < m->levelmax && s->amr.noct[l + 1] > 0;
    unsigned is = 0;
    is |= m->hydro ? IF_GAS : 0;
    is |= m->hydro && !s->par->run.static_gas ? IF_FLOWS : 0;
    is |= m->gravity ? IF_GRAVITY : 0;
    is |= !s->phys.grav.analytic ? IF_SELF_GRAVITY : 0;
    is |= s->par->run.pic ? IF_PARTS : 0;
    is |= l < m->levelmax && !s->amr.refine.frozen ? IF_MESH : 0;
    is |= base ? IF_BASE : 0;
    is |= base || icount > 1 ? IF_TURN : 0;
    is |= finer ? IF_FINER : 0;
    is |= !base && icount == s->time.nsubcycle[l - 1] ? IF_LAST : 0;
    is |= s->time.nstep == 0 ? IF_FIRST : 0;
    is |= s->run.late.done ? IF_ON_DISK : 0;
    is |= m->magnetic && s->phys.mhd.flow != FLOW_NONE ? IF_INDUCTION : 0;
    is |= m->magnetic && s->phys.mhd.eta > 0 && !s->amr.refine.frozen ? IF_DIFFUSES : 0;
    is |= (when & IF_TERMS) && terms_wanted(s->par, TERM_LEVEL) ? IF_TERMS : 0;
    is |= (when & IF_COARSE_TERMS) && terms_wanted(s->par, TERM_COARSE) ? IF_COARSE_TERMS : 0;
    is |= s->phys.cooling ? IF_COOLING : 0;
    is |= (when & IF_FRAME) && movie_run_due(s->run.movie, s->time.t, s->time.aexp) ? IF_FRAME : 0;
    is |= s->phys.fifth ? IF_FIFTH : 0;
    is |= sinks_any(s->phys.sinks) ? IF_SINKS : 0;
    is |= s->phys.sinks && s->par->sink.create_sinks ? IF_CREATES : 0;
    is |= s->phys.sinks && s->phys.sinks->table.family == SINK_HORIZON ? IF_HOLES : 0;
    is |= s->phys.stellar ? IF_STELLAR : 0;
    is |= s->phys.tracers == TRACER_DRIFTS ? IF_DRIFTS : 0;
    is |= s->phys.turb ? IF_DRIVEN : 0;
    is |= s->phys.rt ? IF_CHEMISTRY : 0;
    is |= (when & IF_HEATED) && m->magnetic && (s->phys.rt || terms_wanted(s->par, TERM_LEVEL))
              ? IF_HEATED
              : 0;
    is |= s->phys.flux && !s->amr.refine.frozen ? IF_JUMPS : 0;
    if ((when & IF_BALANCE) && (when & ~is) == IF_BALANCE && sim_balance_due(s)) is |= IF_BALANCE;
    return (when & ~is) == 0;
}

/* ---- checks ---- */

/* Whether the newest copy of a field set is on the device. All fields of a set share one
 * location. */
static bool away(const struct sim *s, int l, field_set one)
{
    int f = 0;
    while (f < FIELD_ALL - 1 && !field_in(one, f)) f++;
    return s->device.mirror && !mirror_is_at(s->device.mirror, l, f, LOCATION_HOST);
}

/* Checks a field on the host. Afterwards its newest copy is where it was, so that a checked run
 * uses the same locations as an unchecked one. */
static enum err check_field(struct sim *s, const struct phase *p, int l, field_set one)
{
    const struct mesh *m = &s->mesh;
    const bool on_device = away(s, l, one);
    const char *name = field_set_name(one);
    if (!ghosts_valid(m, l, one))
        FAIL(ERR_LIMIT,
             "check_ghosts: phase %s reads ghosts of %s on level %d, and they are stale: fill them "
             "before this phase",
             p->name, name, l);
    if (s->comm.size > 1) TRY(sim_device_need(s, l, one, LOCATION_HOST));
    for (int f = 0; f < FIELD_ALL; f++) {
        if (!field_in(one, f) || !field_array(&m->lev[l], f, &(size_t){0})) continue;
        if (!ghost_same(&s->comm, m, l, f))
            FAIL(ERR_LIMIT,
                 "check_ghosts: phase %s reads ghosts of %s on level %d, and they differ from "
                 "their owners: an earlier phase writes that field without declaring it",
                 p->name, name, l);
    }
    if (on_device && s->comm.size > 1) sim_device_wrote(s, l, one, LOCATION_DEVICE);
    return OK;
}

static enum err check_level(struct sim *s, const struct phase *p, int l, field_set set)
{
    if (l > s->mesh.levelmax || s->amr.noct[l] == 0) return OK;
    for (field_set one = 1; one & ALL; one <<= 1)
        if (set & one) TRY(check_field(s, p, l, one));
    return OK;
}

static enum err check_ghosts(struct sim *s, const struct phase *p, int l)
{
    TRY(check_level(s, p, l, p->ghosts));
    for (int k = l - 1; k >= l - 2 && k >= s->mesh.levelmin; k--)
        TRY(check_level(s, p, k, p->ghosts / UP(1)));
    TRY(check_level(s, p, l + 1, p->ghosts / NEXT(1)));
    for (int k = l + 1; k <= s->mesh.levelmax; k++) TRY(check_level(s, p, k, p->ghosts / FINER(1)));
    return OK;
}

/* Fills stale ghosts of doubles with NaN, so that reading them is noticed. */
static void poison(struct sim *s, const struct phase *p, int l)
{
    struct level *lv = &s->mesh.lev[l];
    int fld[FIELD_ALL], n = mesh_fields(&s->mesh, p->writes, fld);
    for (int k = 0; k < n; k++) {
        const int f = fld[k];
        if (lv->valid[f]) continue;
        if (s->device.mirror && !mirror_is_at(s->device.mirror, l, f, LOCATION_HOST)) continue;
        for (lidx i = lv->nown; i < lv->noct; i++)
            for (int c = 0; c < 8; c++) lv->fld[f][i][c] = NAN;
    }
}

/* ---- choice of host or device ---- */

static const struct {
    unsigned gpu;
    enum trial_kind kind;
} KINDS[] = {{GPU_HYDRO, TRIAL_GAS}, {GPU_POISSON, TRIAL_GRAVITY}, {GPU_PARTS, TRIAL_PARTS}};
enum { NKINDS = sizeof KINDS / sizeof *KINDS };

void sim_choice_open(struct sim *s, int seed)
{
    struct sim_device *d = &s->device;
    bool has[TRIAL_KINDS] = {false};
    int64_t on[NKINDS], any = 0;
    if (seed > 0) d->chance = rng_make((uint64_t)seed, (uint64_t)s->comm.rank, 0);
    d->by_chance = seed > 0;
    if (!s->par->run.gpu_auto_tune) return;
    for (int k = 0; k < NKINDS; k++) on[k] = (d->on & KINDS[k].gpu) != 0;
    comm_max_i64(&s->comm, on, NKINDS);
    for (int k = 0; k < NKINDS; k++) any |= has[KINDS[k].kind] = on[k] > 0;
    if (any) d->trials = trials_new(s->mesh.levelmin, s->mesh.levelmax, has);
}

bool sim_runs_dev(struct sim *s, unsigned gpu, int l)
{
    struct sim_device *d = &s->device;
    gpu &= d->on;
    for (int k = 0; k < NKINDS && d->trials; k++)
        if (trials_cpu(d->trials, KINDS[k].kind, l)) gpu &= ~KINDS[k].gpu;
    return gpu && !(d->by_chance && rng_word(&d->chance) % 2);
}

static enum err settle(struct sim *s)
{
    struct sim_device *d = &s->device;
    if (d->on && dev_wait(d->stream) != OK) TRY(sim_device_off(s));
    return OK;
}

/* Timing of a step of level l; choice_end takes the start time that choice_begin returns.
 * (collective) */
static enum err choice_begin(struct sim *s, int l, double *begin)
{
    struct trials *t = s->device.trials;
    *begin = -1;
    if (!t || !trials_begin(t, l, s->amr.noct)) return OK;
    TRY(settle(s));
    *begin = timer_wall();
    return OK;
}

static enum err choice_end(struct sim *s, double begin)
{
    if (begin < 0 || s->run.end.done) return OK;
    TRY(settle(s));
    double seconds = timer_wall() - begin;
    char of[40] = "";
    comm_max_f64(&s->comm, &seconds, 1);
    struct trial_result r = trials_end(s->device.trials, seconds);
    if (!r.what) return OK;
    if (r.level > 0) snprintf(of, sizeof of, " of level %d", r.level);
    log_info(" gpu_auto_tune: %s%s: %s (a step of level %d takes %.3g ms with it on the device, "
             "%.3g ms on the CPU)",
             r.what, of, r.cpu ? "on the CPU" : "on the device", r.step, 1e3 * r.seconds_device,
             1e3 * r.seconds_cpu);
    return OK;
}

/* ---- location of fields ---- */

/* Makes all fields that a phase reads or writes available at a location; partly written fields must
 * be there too. */
static enum err bring(struct sim *s, const struct phase *p, int l, int location)
{
    const field_set all = p->reads | p->ghosts | p->writes, one = UP(1) - 1,
                    here = p->where & PARTS_ANYWHERE ? all & ~(field_set)PARTS : all;
    TRY(sim_device_need(s, l, here & one, location));
    for (int k = l - 1; k >= l - 2 && k >= s->mesh.levelmin; k--)
        TRY(sim_device_need(s, k, all / UP(1) & one, location));
    if (l < s->mesh.levelmax) TRY(sim_device_need(s, l + 1, all / NEXT(1) & one, location));
    for (int k = l + 1; k <= s->mesh.levelmax; k++)
        TRY(sim_device_need(s, k, all / FINER(1) & one, location));
    return OK;
}

static void wrote(struct sim *s, const struct phase *p, int l, int location)
{
    const field_set one = UP(1) - 1;
    sim_device_wrote(s, l, p->writes & one, location);
    for (int k = l - 1; k >= l - 2 && k >= s->mesh.levelmin; k--)
        sim_device_wrote(s, k, p->writes / UP(1) & one, location);
    if (l < s->mesh.levelmax) sim_device_wrote(s, l + 1, p->writes / NEXT(1) & one, location);
    for (int k = l + 1; k <= s->mesh.levelmax; k++)
        sim_device_wrote(s, k, p->writes / FINER(1) & one, location);
}

/* Runs a phase on the device, if it is on. If device memory is short, the device is switched
 * off. */
static enum err run_dev(struct sim *s, const struct phase *p, int l, int icount, bool *done)
{
    *done = false;
    if (!p->device || !sim_runs_dev(s, p->where, l)) return OK;
    enum err err = p->where & OWN_READS ? OK : bring(s, p, l, LOCATION_DEVICE);
    if (err == OK) err = p->device(s, l, icount, done);
    if (err != OK) {
        *done = false;
        return sim_device_off(s);
    }
    if (*done) wrote(s, p, l, LOCATION_DEVICE);
    return OK;
}

static enum err run_here(struct sim *s, const struct phase *p, int l, int icount)
{
    bool own = p->where & OWN_COPIES;
    if (p->where & AT_HOME) {
        TRY(sim_device_home(s, true));
        TRY(sim_parts_home(s));
    } else if (!own)
        TRY(bring(s, p, l, LOCATION_HOST));
    TRY(p->call(s, l, icount));
    if (!own) wrote(s, p, l, LOCATION_HOST);
    return OK;
}

/* ---- one step ---- */

/* Sleeps to simulate a slow rank, for tests. */
static void delay(const struct sim *s, const struct phase *p, int l)
{
    double t = s->check.delay * s->mesh.lev[l].nown;
    if (t > 0 && strcmp(p->name, "godunov") == 0)
        nanosleep(&(struct timespec){(time_t)t, (long)(1e9 * (t - floor(t)))}, NULL);
}

/* The gas of any level. */
#define ANY_GAS (GAS | UP(GAS) | NEXT(GAS) | FINER(GAS))

/* Charges a phase with the bytes copied since the last call. */
static void charge(struct sim *s, const struct phase *p)
{
    struct sim_device *d = &s->device;
    int i = 0;
    if (!d->dev) return;
    const int64_t copied = sim_device_copied(s);
    while (i < SIM_PHASES - 2 && d->by_phase[i].name && d->by_phase[i].name != p->name) i++;
    d->by_phase[i].name = p->name;
    d->by_phase[i].bytes += copied - d->charged;
    d->charged = copied;
}

static enum err phase_run(struct sim *s, const struct phase *p, int l, int icount)
{
    if (!holds(s, p->when, l, icount)) return OK;
    bool skip = s->check.skip && strcmp(s->check.skip, p->name) == 0, done = skip;
    if (p->timer) timer_start(p->timer);
    sim_poll(s);
    if (s->check.ghosts) TRY(check_ghosts(s, p, l));
    s->amr.on_ghosts = (p->where & ON_GHOSTS) && ghosts_valid(&s->mesh, l, p->reads);
    if (!s->amr.on_ghosts) ghosts_set(&s->mesh, l, p->writes, false);
    if (p->writes & ANY_GAS) s->phys.fresh.level = 0;
    const double begin = p->where & WORK ? timer_wall() : 0.0;
    if (!done) TRY(run_dev(s, p, l, icount, &done));
    if (!done) TRY(run_here(s, p, l, icount));
    charge(s, p);
    delay(s, p, l);
    if (p->where & WORK) s->amr.balance.work[l] += timer_wall() - begin;
    if (s->check.ghosts) poison(s, p, l);
    return OK;
}

enum err phases_run(struct sim *s, const struct phase *p, int n, int l, int icount)
{
    if (s->amr.noct[l] == 0) return OK;
    double begin;
    TRY(choice_begin(s, l, &begin));
    for (int i = 0; i < n && !s->run.end.done; i++) TRY(phase_run(s, &p[i], l, icount));
    return choice_end(s, begin);
}
