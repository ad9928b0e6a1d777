/* sim/output: when a checkpoint is due, and when the run ends (docs/method/step.md). Requests from
 * outside are in stop.c. Checkpoints that the run might have to replace are reported at its start,
 * not days later when the output is due.
 *
 * Checkpoints are written at the start of a coarse step. A RAMSES-binary checkpoint is laid out by
 * Hilbert domains, one per rank, whatever decomposition the run uses: octs travel to Hilbert
 * domains before writing and back afterwards, which changes no result. HDF5 needs no domains.
 *
 * A run does not wait for the disk: files are synced by a separate thread (out/publish.h). The
 * time-step reduction of each level also tells whether all ranks' files are on disk; the checkpoint
 * is then published, at the latest before the next one is written. So at most one checkpoint is
 * unpublished at a time, and none when the run ends, for whatever reason. */
#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/verify.h"
#include "base/cgs.h"
#include "base/checksum.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timer.h"
#include "chem/chem.h"
#include "ckpt/ckpt.h"
#include "comm/tuner.h"
#include "dom/ghost.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "oct/field_sets.h"
#include "out/keep.h"
#include "sim/solver.h"

static void note_home(struct sim *s);
static char *history(const struct sim *s);

/* Whether outputs follow the expansion factor, which is always 1 without cosmology. */
static bool expands(const struct sim *s)
{
    return s->par->run.cosmo && s->par->output.delta_aout < DBL_MAX;
}

void sim_output_setup(struct sim *s)
{
    note_home(s);
    const struct param_output *o = &s->par->output;
    int n = param_outputs(s->par), extra = o->tend > 0 || o->aend > 0;
    s->run.out.tout = mem_new(sizeof(double) * (size_t)(n + 1), "output times");
    s->run.out.aout = mem_new(sizeof(double) * (size_t)(n + 1), "output times");
    for (int i = 0; i < n; i++) {
        s->run.out.tout[i] = i < param_given_count(s->par, "output", "tout") ? o->tout[i] : DBL_MAX;
        s->run.out.aout[i] = i < param_given_count(s->par, "output", "aout") ? o->aout[i] : DBL_MAX;
    }
    s->run.out.tout[n] = o->tend > 0 ? o->tend : DBL_MAX;
    s->run.out.aout[n] = o->aend > 0 ? o->aend : DBL_MAX;
    s->run.out.noutput = n + extra;
    s->run.out.tout_next = o->delta_tout > 0 ? o->delta_tout : DBL_MAX;
    s->run.out.aout_next = expands(s) ? s->time.aexp + o->delta_aout : DBL_MAX;
    s->run.out.iout = s->run.out.ifout = 1;
    s->run.out.last_step = -1;
    if (o->foutput == 0) log_info(" foutput=0: outputs are written on request only");
}

/* Time of the next output: the stored time if possible, otherwise the first future time of the form
 * `first` + a multiple of delta. A converted checkpoint may lack the stored time, and then has
 * 0. */
static double next_time(bool known, double stored, double first, double now, double delta)
{
    if (known && stored > 0 && stored <= now + delta) return stored;
    return first + (floor((now - first) / delta) + 1) * delta;
}

/* Output numbers and times resume as stored if the list of times is unchanged, otherwise after the
 * times that have passed. */
void sim_output_resume(struct sim *s, const struct sim_origin *from)
{
    const struct ckpt_head *h = from->head;
    const struct param_output *o = &s->par->output;
    int next = from->number + 1;
    size_t n = sizeof(double) * (size_t)s->run.out.noutput;
    snprintf(s->run.out.last_good, sizeof s->run.out.last_good, "%s", from->path);
    s->run.out.last_step = h->nstep_coarse;
    bool same = h->noutput == s->run.out.noutput && !memcmp(h->tout, s->run.out.tout, n) &&
                !memcmp(h->aout, s->run.out.aout, n);
    s->run.out.ifout = h->ifout > 0 && h->ifout < next ? h->ifout : next;
    s->run.out.iout = same && h->iout > 0 ? h->iout : 1;
    while (!same && s->run.out.iout <= s->run.out.noutput &&
           (s->time.t >= s->run.out.tout[s->run.out.iout - 1] ||
            s->time.aexp >= s->run.out.aout[s->run.out.iout - 1]))
        s->run.out.iout++;
    if (o->delta_tout > 0)
        s->run.out.tout_next = next_time(from->times, h->tout_next, 0, s->time.t, o->delta_tout);
    if (expands(s))
        s->run.out.aout_next = next_time(from->times, h->aout_next, s->phys.cosmo_par.aexp_ini,
                                         s->time.aexp, o->delta_aout);
    s->run.restart.resumed = true;
}

/* Whether the final time has come: tend, aend, or the end of the list. Listed times beyond tend are
 * not reached. */
static bool is_over(const struct sim *s)
{
    int last = s->run.out.noutput - 1;
    return last >= 0 &&
           (s->time.t >= s->run.out.tout[last] || s->time.aexp >= s->run.out.aout[last]);
}

bool sim_at_end(const struct sim *s)
{
    return is_over(s) || s->time.nstep_coarse >= s->par->run.nstepmax;
}

/* The expansion factor of a run with cosmology, else the time, at which time t or expansion factor
 * a is reached first; NAN: at none. */
static double place_of(const struct sim *s, double t, double a)
{
    double from_t = t, h;
    if (!s->phys.cosmo) return t < DBL_MAX ? t : NAN;
    if (t < DBL_MAX) cosmo_at(s->phys.cosmo, t, &from_t, &h);
    const double place = fmin(a, from_t);
    return place < DBL_MAX ? place : NAN;
}

struct progress_goal sim_end_goal(const struct sim *s)
{
    const int last = s->run.out.noutput - 1;
    struct progress_goal g = {NAN, s->par->run.nstepmax, NAN};
    if (last >= 0) g.place = place_of(s, s->run.out.tout[last], s->run.out.aout[last]);
    return g;
}

/* The next multiple of a number of steps; NAN: none. */
static double multiple(int step, int period)
{
    return period > 0 ? (step / period + 1.0) * period : NAN;
}

struct progress_goal sim_next_output(const struct sim *s)
{
    const struct param_output *o = &s->par->output;
    const int i = s->run.out.iout - 1, step = s->time.nstep_coarse;
    struct progress_goal g = {NAN, fmin(multiple(step, o->foutput), multiple(step, o->fbackup)),
                              NAN};
    if (o->foutput == 0) return g;
    double t = s->run.out.tout_next, a = s->run.out.aout_next;
    if (i < s->run.out.noutput) t = fmin(t, s->run.out.tout[i]), a = fmin(a, s->run.out.aout[i]);
    g.place = place_of(s, t, a);
    if (o->backup_minutes > 0)
        g.seconds = s->run.stop.last_write + 60 * o->backup_minutes - timer_wall();
    return g;
}

static bool every(int step, int period)
{
    return period > 0 && step % period == 0;
}

/* Radiation in the headers of files: groups, and fractions of ions among the scalars. */
static struct ckpt_radiation radiation_head(const struct sim *s)
{
    const struct params *p = s->par;
    const struct rt *rt = s->phys.rt;
    const struct units u = sim_units(s);
    struct ckpt_radiation h = {.groups = 0};
    if (!rt) return h;
    const double a = s->phys.cosmo ? s->time.aexp : 1;
    const int first = rt->h2 ? CHEM_H2 : CHEM_HI; /* what the first ion comes from */
    h.groups = rt->ngroups, h.ions = rt->nions;
    h.c = rt->fraction * RAMSES_C / u.velocity;
    h.x = rt->chem->X, h.y = rt->chem->Y;
    h.unit_np = 1 / (a * a * a), h.unit_pf = h.unit_np * u.velocity;
    h.c_fraction = rt->fraction;
    h.n_star = p->physics.n_star, h.t2_star = p->physics.t2_star, h.g_star = p->physics.g_star;
    for (int i = 0; i < rt->nions; i++) h.spec2group[i] = rt->chem->spec2group[first + i];
    for (int g = 0; g < rt->ngroups; g++) {
        const struct chem_group *from = &rt->chem->group[g];
        h.l0[g] = from->l0, h.l1[g] = from->l1, h.egy[g] = from->egy;
        for (int i = 0; i < rt->nions; i++)
            h.csn[g][i] = from->csn[first + i], h.cse[g][i] = from->cse[first + i];
    }
    return h;
}

void sim_head(const struct sim *s, struct ckpt_head *h)
{
    const struct params *p = s->par;
    struct units u = sim_units(s);
    *h = (struct ckpt_head){.ndim = s->mesh.ndim,
                            .levelmin = s->mesh.levelmin,
                            .levelmax = s->mesh.levelmax,
                            .ngridmax = p->amr.ngridmax,
                            .hydro = s->mesh.hydro,
                            .magnetic = s->mesh.magnetic,
                            .gravity = s->mesh.gravity,
                            .particles = p->run.pic,
                            .cosmo = s->phys.cosmo != NULL,
                            .nvar = s->mesh.nvar,
                            .gamma = s->phys.hydro.gamma,
                            .energy = s->phys.hydro.energy,
                            .radiation = radiation_head(s),
                            .smallr = s->phys.hydro.smallr,
                            .boxlen = s->mesh.boxlen,
                            .noutput = s->run.out.noutput,
                            .iout = s->run.out.iout,
                            /* number of the next output, as in RAMSES */
                            .ifout = s->run.out.ifout + 1,
                            .tout = s->run.out.tout,
                            .aout = s->run.out.aout,
                            .t = s->time.t,
                            .nstep = s->time.nstep,
                            .nstep_coarse = s->time.nstep_coarse,
                            .einit = s->diag.einit,
                            .mass_tot_0 = s->diag.mass_tot_0,
                            .rho_tot = s->phys.matter.rho_tot,
                            .omega_m = s->phys.cosmo_par.omega_m,
                            .omega_l = s->phys.cosmo_par.omega_l,
                            .omega_k = s->phys.cosmo_par.omega_k,
                            .omega_b = s->phys.cosmo_par.omega_b,
                            .h0 = s->phys.cosmo_par.h0,
                            .dark = s->phys.cosmo_par.dark,
                            .aexp_ini = s->phys.cosmo_par.aexp_ini,
                            .boxlen_ini = s->phys.cosmo_par.boxlen_ini,
                            .aexp = s->time.aexp,
                            .hexp = s->time.hexp,
                            .aexp_old = s->diag.aexp_old,
                            .epot_tot_int = s->diag.epot_tot_int,
                            .epot_tot_old = s->diag.epot_tot_old,
                            .mass_sph = s->amr.refine.mass_sph,
                            .unit_l = u.length,
                            .unit_d = u.density,
                            .unit_t = u.time,
                            .gas = &s->phys.hydro.vars,
                            .deflate = p->output.deflate,
                            .longint = p->output.longint &&
                                       format_named(p->output.outformat)->writer->by_rank,
                            .conservative = p->output.write_conservative,
                            .overwrite = s->run.out.force,
                            .rest = &s->run.restart.rest,
                            .namelist = s->run.out.namelist_text,
                            .provenance = s->run.out.provenance};
    boundary_of_params(p, &h->boundary);
    /* values after this output */
    h->tout_next = s->run.out.tout_next +
                   (s->time.t >= s->run.out.tout_next ? p->output.delta_tout : 0);
    h->aout_next = s->run.out.aout_next +
                   (s->time.aexp >= s->run.out.aout_next ? p->output.delta_aout : 0);
    memcpy(h->safe, s->phys.grav.safe, sizeof h->safe);
    h->far[0] = s->mesh.ndim < 3 ? s->phys.matter.mass : 0;
    for (int d = 0; d < 3; d++) h->far[1 + d] = s->mesh.ndim < 3 ? s->phys.matter.com[d] : 0;
    /* without cosmology, values of RAMSES: readers take any other H0 for a cosmological run */
    if (!s->phys.cosmo) h->omega_m = h->h0 = 1, h->aexp_ini = 10;
    sim_rt_head(s, &h->radiation);
    memcpy(h->dtold, s->time.dtold, sizeof h->dtold);
    memcpy(h->dtnew, s->time.dtnew, sizeof h->dtnew);
}

/* Whether the run ends with this output. */
static bool is_last(const struct sim *s)
{
    return sim_at_end(s) || s->run.out.asked < 0;
}

static bool travels(const struct sim *s, const struct writer_kind *w)
{
    return domain_kind(s->dom) != DOMAIN_HILBERT && w->by_rank;
}

/* Writes in Hilbert domains if the writer needs them. A run that ends keeps these domains. */
static enum err write_in_domains(struct sim *s, const struct writer_kind *w,
                                 const struct ckpt_head *h)
{
    bool travel = travels(s, w), ends = is_last(s);
    struct domain *home = NULL, *whole = NULL;
    timer_start("io");
    if (travel && s->comm.size > 1) home = sim_domains_leave(s);
    if (travel && s->comm.size == 1) whole = domain_new_of(&s->mesh, DOMAIN_HILBERT, 1);
    enum err e = w->write(s->run.out.dir, s->run.out.ifout, h, &s->mesh, &s->parts,
                          whole ? whole : s->dom, &s->comm, &s->run.late.out);
    if (whole) domain_free(whole);
    if (home && ends)
        domain_free(home);
    else if (home)
        sim_domains_return(s, home);
    return e;
}

/* Reasons for a checkpoint. */
struct due {
    bool time;  /* due by time, by the job control file, or as first or last output */
    bool steps; /* due by foutput */
    bool backup;
    int asked;
};

/* Whether the next entry of tout or aout has been reached. */
static bool is_listed(const struct sim *s)
{
    return s->run.out.iout <= s->run.out.noutput &&
           (s->time.t >= s->run.out.tout[s->run.out.iout - 1] ||
            s->time.aexp >= s->run.out.aout[s->run.out.iout - 1]);
}

/* Skips output times that have been reached. */
static void pass_times(struct sim *s)
{
    const struct param_output *o = &s->par->output;
    while (is_listed(s)) s->run.out.iout++;
    if (s->time.t >= s->run.out.tout_next) s->run.out.tout_next = s->time.t + o->delta_tout;
    if (s->time.aexp >= s->run.out.aout_next) s->run.out.aout_next = s->time.aexp + o->delta_aout;
}

static struct due why_due(const struct sim *s)
{
    const struct param_output *o = &s->par->output;
    struct due d = {.asked = s->run.out.asked};
    d.time = o->foutput > 0 && (is_listed(s) || is_over(s) || s->time.t >= s->run.out.tout_next ||
                                s->time.aexp >= s->run.out.aout_next);
    d.steps = every(s->time.nstep_coarse, o->foutput);
    bool starts = s->time.nstep_coarse == 0;
    d.backup = (every(s->time.nstep_coarse, o->fbackup) && !(starts && o->foutput == 0)) ||
               s->run.out.backup;
    d.time |= d.asked > 0 || s->run.out.again ||
              ((d.steps || d.backup) && (starts || sim_at_end(s)));
    return d;
}

static bool is_due(const struct due *d)
{
    return d->time || d->steps || d->backup || d->asked != 0;
}

bool sim_output_travels(const struct sim *s)
{
    struct due d = why_due(s);
    return is_due(&d) && !s->run.restart.resumed && s->comm.size > 1 && !is_last(s) &&
           travels(s, format_named(s->par->output.outformat)->writer);
}

/* Restricts the gas to the complete levels below levelmin, which the steps do not use. */
static void restrict_coarse(struct sim *s)
{
    if (!s->mesh.hydro) return;
    for (int l = s->mesh.levelmin - 1; l >= 1; l--) {
        sim_restrict_gas(s, l);
        fields_restrict(&s->mesh, l);
        photons_restrict(&s->mesh, l);
        ghost_fill_set(&s->comm, &s->mesh, l, GAS | MEANS | PHOTONS);
    }
}

/* Records the absolute path of the output directory, in case it is removed. */
static void note_home(struct sim *s)
{
    if (!getcwd(s->run.out.start, sizeof s->run.out.start)) return;
    snprintf(s->run.out.home, sizeof s->run.out.home, "%s%s%s",
             *s->run.out.dir == '/' ? "" : s->run.out.start, *s->run.out.dir == '/' ? "" : "/",
             s->run.out.dir);
}

/* Creates the directory of outputs again if it was removed during the run. */
static enum err renew_home(struct sim *s, bool *renewed)
{
    enum err e = OK;
    int64_t gone = s->comm.rank == 0 && *s->run.out.home && access(s->run.out.home, F_OK) != 0;
    comm_max_i64(&s->comm, &gone, 1);
    *renewed = gone;
    if (!gone) return OK;
    if (s->comm.rank == 0) e = dir_make(s->run.out.home);
    TRY(err_agree(&s->comm, e));
    log_line(-1, " The directory of outputs %s had disappeared: it is created again",
             s->run.out.home);
    if (chdir(s->run.out.start) != 0)
        e = err_set(ERR_FILE, "%s: %s", s->run.out.start, strerror(errno));
    if (*s->run.out.last_good && access(s->run.out.last_good, F_OK) != 0) *s->run.out.last_good = 0;
    return err_agree(&s->comm, e);
}

/* Writes a checkpoint. At the end of a run it also waits for the disk. */
static enum err write_once(struct sim *s, const struct ckpt_head *h)
{
    const struct solver *v = s->run.solver;
    const struct format *f = format_named(s->par->output.outformat);
    TRY(v->write ? v->write(s, h) : write_in_domains(s, f->writer, h));
    return is_last(s) ? out_publish(&s->run.late.out, &s->comm) : OK;
}

/* Writes a checkpoint, and repeats this if the output directory was removed meanwhile. */
static enum err write_twice(struct sim *s, const struct ckpt_head *h)
{
    char why[800];
    bool again;
    TRY(renew_home(s, &again));
    enum err e = write_once(s, h);
    if (e == OK) return OK;
    snprintf(why, sizeof why, "%s", err_message());
    TRY(renew_home(s, &again));
    return again ? write_once(s, h) : err_set(e, "%s", why);
}

/* Renews the cooling rates stored with the checkpoint: programs that analyse it must find
 * temperatures with the rates of this run, not with those of an earlier one. */
static void renew_rates(struct sim *s)
{
    double a = s->phys.cosmo ? s->time.aexp : 1;
    struct ckpt_rest *r = &s->run.restart.rest;
    if (!s->phys.cooling || s->comm.rank > 0 || a == s->run.out.rates_aexp) return;
    FREE(r->cooling);
    r->cooling = cool_file(s->phys.cooling, a, &r->cooling_bytes);
    s->run.out.rates_aexp = a;
}

/* Adds the state of driven turbulence to the files of the checkpoint: with RAMSES's driving its own
 * files, and a seed that is in no namelist. Rank 0. */
static void add_turbulence(struct sim *s, struct observation *o)
{
    static const enum files_kind kind[TURB_FILES] = {FILES_TURBULENCE, FILES_TURBULENCE_LAST,
                                                     FILES_TURBULENCE_NEXT};
    struct turb_files f = {0};
    if (s->comm.rank > 0) return;
    if (turb_has_state(s->phys.turb)) turb_store(s->phys.turb, s->time.t, &f);
    for (int i = 0; i < TURB_FILES && f.at[i]; i++)
        o->file[o->nfile++] = (struct ckpt_file){kind[i], f.at[i], f.bytes[i]};
    if (!s->phys.turb || s->par->turb.turb_seed != -1) return;
    struct ckpt_file *seed = &o->file[o->nfile++];
    seed->kind = FILES_TURBULENCE_SEED;
    seed->text = mem_new(16, "turbulence");
    seed->bytes = (size_t)snprintf(seed->text, 16, "%d\n", s->phys.turb_seed);
}

static enum err write_checkpoint(struct sim *s, bool backup)
{
    struct ckpt_head h;
    struct sink_run sinks = sim_sinks(s);
    TRY(sinks_store(&sinks, &s->run.restart.rest.sinks));
    TRY(stellar_store(s->phys.stellar, &s->run.restart.rest.stellar));
    char *made_by = history(s);
    sim_head(s, &h);
    h.provenance = made_by;
    h.backup = backup;
    struct observation o = sim_observation(s, &h, s->run.out.ifout);
    o.when = OBSERVE_WITHIN;
    enum err e = observers_run(&o, observers_due(&o, OBSERVE_WITHIN));
    add_turbulence(s, &o);
    h.file = o.file, h.nfile = o.nfile;
    h.tags = o.tags.id ? &o.tags : NULL;
    timer_start("io");
    double begin = timer_wall();
    restrict_coarse(s);
    renew_rates(s);
    if (e == OK) e = write_twice(s, &h);
    for (int i = 0; i < h.nfile; i++) FREE(o.file[i].text);
    FREE(o.tags.id);
    FREE(o.tags.clump);
    sim_stop_handed(s, timer_wall() - begin);
    mem_free(made_by);
    return e;
}

/* ---- publication of checkpoints ---- */

/* Removes old backups after the new checkpoint has been read back. A failure here does not end the
 * run. */
static void remove_old(struct sim *s)
{
    int keep = s->par->output.keep_last, number = s->run.late.number;
    if (keep == 0) return;
    const struct solver *v = s->run.solver;
    enum err e = (v->verify ? v->verify : ckpt_verify)(s->run.out.last_good, number, &s->comm);
    if (e == OK && s->comm.rank == 0) e = ckpt_keep_last(s->run.out.dir, number, keep);
    if (e != OK)
        log_line(-1, " The new checkpoint could not be verified, so that older ones are kept: %s",
                 err_message());
}

/* A failed backup does not end the run: the next one is due soon. A checkpoint lost with its
 * directory before it was on disk does not end the run either: the next coarse step writes
 * another. */
static enum err failed(struct sim *s, enum err e, bool on_its_way)
{
    char why[800];
    snprintf(why, sizeof why, "%s", err_message());
    if (!s->run.late.vital) {
        log_line(-1, " The backup at coarse step %d failed, the run continues: %s",
                 s->run.late.step, why);
        return OK;
    }
    if (on_its_way) TRY(renew_home(s, &s->run.out.again));
    if (s->run.out.again) return OK;
    FAIL(e, "%s; %s%s", why,
         *s->run.out.last_good ? "the last good checkpoint is " : "there is no earlier checkpoint",
         s->run.out.last_good);
}

enum err sim_publish(struct sim *s)
{
    struct sim_late *p = &s->run.late;
    if (!p->pending) return OK;
    p->pending = p->told = p->done = false;
    timer_start("io");
    enum err e = out_publish(&p->out, &s->comm);
    if (e != OK) return failed(s, e, true);
    snprintf(s->run.out.last_good, sizeof s->run.out.last_good, "%s", p->out.final);
    sim_stop_synced(s, p->out.seconds);
    if (s->comm.rank == 0) s->run.out.announce(s->run.out.last_good); /* to standard output */
    log_info(" Wrote %s", s->run.out.last_good);
    remove_old(s);
    return OK;
}

/* At the end of the run this waits: if the checkpoint is lost, the last output replaces it. */
enum err sim_publish_done(struct sim *s)
{
    const bool works = s->run.late.told && !s->run.late.done;
    return works && !sim_at_end(s) ? OK : sim_publish(s);
}

enum err sim_publish_last(struct sim *s, enum err why)
{
    char message[1024];
    if (why == OK) return sim_publish(s);
    snprintf(message, sizeof message, "%s", err_message());
    if (sim_publish(s) != OK) log_line(-1, " %s", err_message());
    return err_set(why, "%s", message);
}

/* ---- writing when it is due ---- */

/* Whether the state is finite, hence worth a restart. *thin: some cell has no positive density.
 * (collective) */
static bool state_is_finite(const struct sim *s, bool *thin)
{
    const struct parts *p = &s->parts;
    double sum = 0, min = DBL_MAX; /* 0 times an infinity or NaN is NaN */
    *thin = false;
    if (s->run.solver->finite) return s->run.solver->finite(s);
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax; l++)
        for (int v = 0; s->mesh.hydro && v < s->mesh.nvar; v++) {
            const double *u = level_gas(&s->mesh.lev[l], v)[0];
#pragma omp parallel for simd reduction(+ : sum)
            for (int64_t i = 0; i < 8 * (int64_t)s->mesh.lev[l].nown; i++) sum += 0 * u[i];
        }
    for (int l = s->mesh.levelmin; s->mesh.hydro && l <= s->mesh.levelmax; l++) {
        const double *rho = level_gas(&s->mesh.lev[l], GAS_DENSITY)[0];
#pragma omp parallel for simd reduction(min : min)
        for (int64_t i = 0; i < 8 * (int64_t)s->mesh.lev[l].nown; i++)
            min = rho[i] < min ? rho[i] : min;
    }
    for (int d = 0; d < 3; d++)
#pragma omp parallel for simd reduction(+ : sum)
        for (int64_t i = 0; i < p->n; i++) sum += 0 * (p->x[d][i] + p->v[d][i]);
    int64_t bad[2] = {!isfinite(sum + 0 * s->time.t), min <= 0};
    comm_max_i64(&s->comm, bad, 2);
    *thin = bad[1];
    return !bad[0];
}

/* Logs unsplit cells without positive density: their number, and the first by level and Morton
 * order. The run continues, as in RAMSES: solvers use smallr there. (collective) */
static void log_thin(const struct sim *s)
{
    int64_t n = 0, at[4] = {LEVEL_MAX + 1}; /* level, halves of the key, cell */
    double value = 0, x[3];
    for (int l = s->mesh.levelmin; l <= s->mesh.levelmax; l++) {
        const struct level *lv = &s->mesh.lev[l];
        for (int64_t k = 0; k < 8 * (int64_t)lv->nown; k++) {
            double rho = level_gas(lv, GAS_DENSITY)[0][k];
            if (rho > 0 || lv->child[0][k] >= 0) continue;
            if (n++ > 0) continue;
            okey key = lv->key[k / 8];
            at[0] = l, at[1] = (int64_t)(key >> 62), at[2] = (int64_t)(key & (((okey)1 << 62) - 1));
            at[3] = k % 8, value = rho;
        }
    }
    bool mine = n > 0;
    comm_add_i64(&s->comm, &n, 1);
    for (int i = 0; i < 4; i++) {
        int64_t min = mine ? at[i] : INT64_MAX;
        comm_min_i64(&s->comm, &min, 1);
        mine &= at[i] == min;
        at[i] = min;
    }
    value = mine ? value : DBL_MAX;
    comm_min_f64(&s->comm, &value, 1);
    if (n == 0) return; /* only split cells, which no solver reads */
    okey_cell_centre((okey)at[1] << 62 | (okey)at[2], (int)at[3], mesh_dx(&s->mesh, (int)at[0]), x);
    log_line(-1,
             " Warning: coarse step %d leaves %ld cell%s without positive density; the first, of "
             "level %ld at %.9g %.9g %.9g, has %.3g: %s",
             s->time.nstep_coarse, (long)n, n > 1 ? "s" : "", (long)at[0], x[0], x[1], x[2], value,
             s->phys.hydro.interpol_type == 3 ? "interpol_type=3 does not limit slopes, 1 and 2 do"
                                              : "a lower courant_factor may help");
}

static enum err write_due(struct sim *s)
{
    const struct param_output *o = &s->par->output;
    struct due d = why_due(s);
    if (o->foutput == 0) pass_times(s);
    if (!is_due(&d)) return OK;
    TRY(sim_publish(s)); /* the checkpoint before; if it is lost, this one replaces it */
    d = why_due(s);
    TRY(sim_gather(s));
    TRY(sim_device_home(s, false));
    TRY(sim_parts_home(s)); /* the clump search moves particles */
    bool thin;
    if (!state_is_finite(s, &thin)) {
        s->run.end.broken = s->run.end.done = true;
        return OK;
    }
    if (thin) log_thin(s);
    s->run.late.vital = d.time || d.asked != 0 || (d.steps && o->keep_last == 0);
    s->run.late.step = s->time.nstep_coarse;
    s->run.out.again = false;
    if (is_listed(s)) s->run.out.iout++;
    s->run.out.last_step = s->time.nstep_coarse;
    enum err e = write_checkpoint(s, o->keep_last > 0 && !d.time);
    s->run.late.number =
        s->run.out.ifout++; /* the name may be taken if only the last sync failed */
    if (e != OK) return failed(s, e, false);
    s->run.late.pending = true;
    if (is_last(s)) TRY(sim_publish(s));
    TRY(sim_observe(s, OBSERVE_OUTPUT));
    if (s->time.t >= s->run.out.tout_next) s->run.out.tout_next += o->delta_tout;
    if (s->time.aexp >= s->run.out.aout_next) s->run.out.aout_next += o->delta_aout;
    if (d.asked < 0) {
        log_info(" Stopping early as requested: the checkpoint is good, resubmit to continue");
        s->run.end.done = true;
        s->run.end.status = 75;
    }
    return OK;
}

enum err sim_output(struct sim *s)
{
    if (s->run.restart.resumed) { /* the run before has written it */
        s->run.restart.resumed = false;
        return sim_observe(s, OBSERVE_RESUME);
    }
    TRY(write_due(s));
    return s->run.end.broken ? OK : sim_observe(s, OBSERVE_STEP);
}

/* ---- the checkpoints that are there before the run begins ---- */

void sim_present(const struct sim *s, unsigned char present[SIM_NUMBERS])
{
    DIR *d = s->comm.rank == 0 ? opendir(s->run.out.dir) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *rest;
        int number = dir_output_number(e->d_name, &rest);
        if (number > 0 && !*rest) present[number] = 1;
    }
    if (d) closedir(d);
    comm_bcast(&s->comm, present, SIM_NUMBERS, 0);
}

/* Number of multiples of `period` among the remaining coarse steps. */
static int64_t count_multiples(const struct sim *s, const char *name, int period)
{
    int64_t last = s->par->run.nstepmax;
    if (period <= 0 || !param_given(s->par, "output", name) || last < s->time.nstep_coarse)
        return 0;
    return last / period - s->time.nstep_coarse / period;
}

/* Maximum number of outputs that the run can write; it may end before. */
static int64_t max_outputs(const struct sim *s)
{
    const struct param_output *o = &s->par->output;
    /* one more for an output on request */
    if (o->foutput == 0) return 1 + count_multiples(s, "fbackup", o->fbackup);
    if (param_given(s->par, "output", "delta_tout") || param_given(s->par, "output", "delta_aout"))
        return SIM_NUMBERS;
    return s->run.out.noutput - (s->run.out.iout - 1) + count_multiples(s, "foutput", o->foutput) +
           count_multiples(s, "fbackup", o->fbackup) + (s->time.nstep_coarse == 0);
}

enum err sim_check_room(const struct sim *s)
{
    enum err e = OK;
    if (s->run.out.force || s->run.end.done) return OK;
    unsigned char *present = mem_zero(SIM_NUMBERS, "start");
    sim_present(s, present);
    int64_t end = s->run.out.ifout + max_outputs(s);
    for (int i = s->run.out.ifout; i < end && i < SIM_NUMBERS && e == OK; i++)
        if (present[i])
            e = err_set(ERR_FILE,
                        "%s/output_%05d exists already, and this run may have to write it: choose "
                        "another directory (-o), or let it be replaced (--force)",
                        s->run.out.dir, i);
    mem_free(present);
    return e;
}

/* ---- provenance: this run, its measurements, then all earlier runs, newest first ---- */

/* Provenance text that checkpoints record (owner: caller, mem_free). (collective) */
static char *history(const struct sim *s)
{
    enum { ROOM = 4096 };
    char state[ROOM], *text = NULL;
    size_t n = 0;
    double cost[2] = {s->run.cost.updates_all, s->run.cost.wall_all};
    tuner_state(&s->comm, state, ROOM);
    comm_bcast(&s->comm, cost, sizeof cost, 0);
    FILE *f = open_memstream(&text, &n);
    fprintf(f, "%s", s->run.out.provenance);
    if (s->run.out.namelist_text)
        fprintf(f, "namelist: checksum %016llx\n",
                (unsigned long long)checksum_of(s->run.out.namelist_text,
                                                strlen(s->run.out.namelist_text)));
    if (cost[0] > 0)
        fprintf(f, "cost: %.4g microseconds a rank per update of a cell, on %d rank%s\n",
                1e6 * cost[1] * s->comm.size / cost[0], s->comm.size, s->comm.size > 1 ? "s" : "");
    fprintf(f, "%s", state);
    if (s->run.out.before) fprintf(f, "%s", s->run.out.before);
    return mem_close_text(f, &text, &n, "provenance");
}

/* Keeps the earlier history; choices of the tuner are kept for the newest run only. */
void sim_history_resume(struct sim *s, const struct sim_origin *from, const char *before)
{
    static const char choice[] = "exchange:";
    char *text = NULL, path[PATH_MAX];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    snprintf(path, sizeof path, "%s", from->path);
    plain_line(path);
    fprintf(f, "from: %s (%s, output %d)\n", path, from->format, from->number);
    for (const char *line = before, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (strncmp(line, choice, sizeof choice - 1) != 0) fwrite(line, 1, (size_t)(end - line), f);
    }
    FREE(s->run.out.before);
    s->run.out.before = mem_close_text(f, &text, &n, "provenance");
}
