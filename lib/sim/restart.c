/* sim/restart: from a checkpoint to the state of a run on any number of ranks: its header, the
 * parameters of the earlier run, and, by lib/resume, mesh and particles. The run resumes as if it
 * had not stopped, bit by bit if the checkpoint has full precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "comm/tuner.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "sim/sim.h"

static void restore_head(struct sim *s);
static enum err restore_cosmology(struct sim *s);
static enum err take_columns(struct sim *s);
static void log_what(const struct sim *s);
static enum err restore_tuner(struct sim *s);

static enum err check_model(struct sim *s);

const char *sim_restart_path(const struct sim *s, char buf[4096])
{
    if (s->run.restart.path) return s->run.restart.path;
    if (s->par->run.nrestart <= 0) return NULL;
    snprintf(buf, 4096, "%.4000s/output_%05d", s->run.out.dir, s->par->run.nrestart);
    return buf;
}

enum err sim_restart_from(struct sim *s, const char *from, int number)
{
    char out[4096];
    snprintf(out, sizeof out, "%.4000s/output_%05d", s->run.out.dir, number);
    s->run.restart.number = strcmp(out, from) == 0 ? number : -1;
    snprintf(out, sizeof out, "%.4000s/output", s->run.out.dir);
    return dir_outside(out, from);
}

enum err sim_restart_open(struct sim *s)
{
    const struct params *p = s->par;
    char buf[4096];
    const char *path = sim_restart_path(s, buf);
    if (!path) return OK;
    s->run.restart.number = -1;
    TRY(source_open_state(path, p->hydro.gamma, p->hydro.smallr, &s->run.restart.from));
    source_set_energies(s->run.restart.from, p->hydro.gamma_rad);
    return sim_restart_from(s, s->run.restart.from->path, s->run.restart.from->number);
}

static struct sim_origin origin(const struct sim *s)
{
    const struct source *f = s->run.restart.from;
    return (struct sim_origin){f->path, f->format, f->number, &f->head, f->state};
}

static enum err restart_read(struct sim *s)
{
    TRY(check_model(s));
    restore_head(s);
    TRY(restore_cosmology(s));
    TRY(sim_physics(s));
    sim_output_setup(s);
    const struct sim_origin from = origin(s);
    sim_output_resume(s, &from);
    log_what(s);
    TRY(sim_restart_end(s, from.path));
    return err_agree(&s->comm, restore_tuner(s));
}

/* Octs and particles of the checkpoint, from its headers. */
static enum err restart_expect(struct sim *s)
{
    struct source *from = s->run.restart.from;
    enum err err = OK;
    memcpy(s->amr.noct, from->numbtot, sizeof s->amr.noct);
    if (!s->par->run.pic) return OK;
    TRY(take_columns(s));
    if (!from->kind->ranks) return OK;
    struct source_rank *row = mem_zero(sizeof *row * (size_t)from->nwriter, "restart");
    if (s->comm.rank == 0) err = from->kind->ranks(from, row);
    for (int i = 0; i < from->nwriter; i++) {
        s->diag.particles += row[i].particles;
        mem_free(row[i].partner);
    }
    mem_free(row);
    comm_bcast(&s->comm, &s->diag.particles, sizeof s->diag.particles, 0);
    return err_agree(&s->comm, err);
}

/* Tracers of a checkpoint have no gravity, also in a run without tracers. */
static void find_tracers(struct sim *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->parts.n; i++) n += !family_has_mass(s->parts.family[i]);
    comm_add_i64(&s->comm, &n, 1);
    s->parts.tracers |= n > 0;
    if (n && s->phys.tracers == TRACER_NONE)
        log_info(" %ld tracers stay where they are: tracer=.true. and hydro=.true. move them",
                 (long)n);
}

/* Births of stars from conformal to proper times. */
static void make_proper(struct sim *s)
{
    struct parts *p = &s->parts;
    int64_t n = 0;
    for (int64_t i = 0; p->birth && s->phys.cosmo && i < p->n; i++) {
        double a, hexp;
        if (p->family[i] != FAM_STAR && p->family[i] != FAM_DEBRIS) continue;
        cosmo_at(s->phys.cosmo, p->birth[i], &a, &hexp);
        p->birth[i] = cosmo_time(s->phys.cosmo, a);
        n++;
    }
    comm_add_i64(&s->comm, &n, 1);
    log_info(" The births of %ld stars have become proper times", (long)n);
}

/* Particles of the checkpoint to their ranks. RAMSES keeps those that have left the box through its
 * boundaries, a run of ours does not. */
static enum err take_particles(struct sim *s)
{
    const struct source *f = s->run.restart.from;
    double far;
    int64_t n[2] = {part_outside(&s->parts, &s->mesh, source_rounding(f), &far), 0};
    TRY(part_take(&s->parts, &s->mesh, &s->comm, s->dom));
    n[1] = s->parts.lost;
    comm_add_i64(&s->comm, n, 2);
    comm_max_f64(&s->comm, &far, 1);
    if (n[0])
        log_info(
            " %ld particles of the checkpoint lie up to %.3g outside of the periodic box: they "
            "are brought back into it",
            (long)n[0], far);
    s->diag.particles -= n[1];
    if (s->run.restart.conformal) make_proper(s);
    find_tracers(s);
    return sim_report_lost(s, n[1]);
}

/* A run without light cones does not renew these columns: what they say becomes old. */
static void forget_cones(struct parts *p)
{
    for (int c = COL_CONE_X; c <= COL_CONE_Z; c++)
        if (p->col[c]) memset(p->col[c], 0, sizeof(int32_t) * (size_t)p->n);
}

static enum err restart_build(struct sim *s)
{
    TRY(err_agree(&s->comm, rest_copy(&s->run.restart.rest, s->run.restart.from)));
    if (s->par->run.pic) TRY(take_columns(s));
    TRY(sim_mesh_read(s, s->run.restart.from, s->par->run.pic ? &s->parts : NULL));
    sim_count_octs(s);
    sim_use_threads(s);
    if (s->par->run.pic) TRY(take_particles(s));
    struct sink_run sinks = sim_sinks(s);
    TRY(sinks_restore(&sinks, &s->run.restart.rest.sinks, s->run.restart.from->path));
    TRY(stellar_restore(&sinks, s->phys.stellar, &s->run.restart.rest.stellar,
                        s->run.restart.from->path));
    if (!param_cone_crossing(s->par)) forget_cones(&s->parts);
    enum err err = err_about(sim_check_field(s), s->run.restart.from->path);
    source_close(&s->run.restart.from);
    return err;
}

enum err sim_restart(struct sim *s)
{
    TRY(restart_read(s));
    return s->run.expect ? restart_expect(s) : restart_build(s);
}

static void log_what(const struct sim *s)
{
    const struct source *f = s->run.restart.from;
    log_info(" Restarting from %s: %s, %d file%s, coarse step %d, t=%.6E a=%.6E", f->path,
             f->format, f->npiece, f->npiece > 1 ? "s" : "", s->time.nstep_coarse, s->time.t,
             s->time.aexp);
    if (!f->exact)
        log_info(" It does not contain all bits of the state: the run resumes to round-off, not "
                 "bit for bit");
    const char *used = s->phys.stellar && f->stellar->n ? "sink particles, stellar objects"
                                                        : "sink particles";
    bool sinks = s->phys.sinks && strcmp(f->left_out, used) == 0;
    if (*f->left_out && !sinks) log_info(" Carried along unchanged: %s", f->left_out);
}

/* Restores the transports that the earlier run found fastest. */
static enum err restore_tuner(struct sim *s)
{
    char *text;
    size_t bytes;
    TRY(source_text(s->run.restart.from, FILES_HISTORY, &text, &bytes));
    char *lines = mem_new(bytes + 1, "restart");
    if (bytes) memcpy(lines, text, bytes);
    lines[bytes] = 0;
    tuner_resume(&s->comm, lines);
    const struct sim_origin from = origin(s);
    if (s->comm.rank == 0) sim_history_resume(s, &from, lines);
    mem_free(lines);
    mem_free(text);
    return OK;
}

/* A run that searches for the newest checkpoint may find that the run is complete; a user who names
 * a checkpoint wants to resume. */
enum err sim_restart_end(struct sim *s, const char *path)
{
    if (!sim_at_end(s)) return OK;
    if (s->par->run.nrestart >= 0)
        FAIL(ERR_PARAM,
             "%s: coarse step %d, t=%g, a=%g is at or beyond the end that the namelist sets: raise "
             "nstepmax, or tout, "
             "tend, aout or aend",
             path, s->time.nstep_coarse, s->time.t, s->time.aexp);
    log_info(" The checkpoint is at the end of the run: nothing to do");
    s->run.end.done = true;
    return OK;
}

/* ---- header ---- */

static void restore_head(struct sim *s)
{
    const struct ckpt_head *h = &s->run.restart.from->head;
    s->time.t = h->t;
    s->time.nstep = h->nstep;
    s->time.nstep_coarse = h->nstep_coarse;
    memcpy(s->time.dtold, h->dtold, sizeof s->time.dtold);
    memcpy(s->time.dtnew, h->dtnew, sizeof s->time.dtnew);
    s->diag.einit = h->einit;
    s->diag.mass_tot_0 = h->mass_tot_0;
    s->phys.matter.rho_tot = h->rho_tot;
    s->time.aexp = h->aexp;
    s->time.hexp = h->hexp;
    s->diag.aexp_old = h->aexp_old;
    s->diag.epot_tot_int = h->epot_tot_int;
    s->diag.epot_tot_old = h->epot_tot_old;
    memcpy(s->phys.grav.safe, h->safe, sizeof s->phys.grav.safe);
    s->phys.matter.mass = h->far[0];
    memcpy(s->phys.matter.com, &h->far[1], sizeof s->phys.matter.com);
    sim_rt_resume(s, &h->radiation);
    sim_keep_monopole(s);
}

static enum err restore_cosmology(struct sim *s)
{
    const struct ckpt_head *h = &s->run.restart.from->head;
    if (!s->par->run.cosmo) return OK;
    s->amr.refine.mass_sph = h->mass_sph;
    s->phys.cosmo_par.omega_m = h->omega_m;
    s->phys.cosmo_par.omega_l = h->omega_l;
    s->phys.cosmo_par.omega_k = h->omega_k;
    s->phys.cosmo_par.omega_b = h->omega_b;
    s->phys.cosmo_par.h0 = h->h0;
    s->phys.cosmo_par.aexp_ini = h->aexp_ini;
    s->phys.cosmo_par.boxlen_ini = h->boxlen_ini;
    if (!(h->aexp > 0) || !isfinite(h->t) || !isfinite(h->hexp))
        FAIL(ERR_FORMAT,
             "%s: the expansion factor, %g, must be above 0 and the time, %g, and expansion rate "
             "finite: the checkpoint is damaged",
             s->run.restart.from->path, h->aexp, h->t);
    return sim_cosmology(s);
}

/* Gives the run the particle columns of its checkpoint. */
static enum err take_columns(struct sim *s)
{
    const struct part_columns *from = &s->run.restart.from->columns;
    s->parts.columns = *from;
    for (int c = 0; c < from->n; c++)
        if (from->has[c]) part_want(&s->parts, c);
    return sim_more_columns(s);
}

/* ---- comparison of the checkpoint with the namelist ---- */

/* A checkpoint contains the namelist of its run, and a header with facts about the run. Both are
 * compared with the parameters of this run. A difference in a parameter that defines the model
 * stops the run, unless option --change-model was given; the log lists all changes. A namelist of
 * another program may be missing or unreadable: then only the header is compared. */
struct changes {
    const struct sim *s;
    int model, told;
    char list[600]; /* differences, for one message */
};

/* Checks for differences that no option can accept. */
static enum err check_possible(const struct sim *s)
{
    const struct ckpt_head *h = &s->run.restart.from->head;
    const struct params *p = s->par;
    const char *path = s->run.restart.from->path;
    if (p->run.hydro && !h->hydro)
        FAIL(ERR_PARAM,
             "%s: has no gas, but this run has run_params/hydro=.true.: set hydro=.false.", path);
    if (p->run.pic && !h->particles)
        FAIL(ERR_PARAM,
             "%s: has no particles, but this run has run_params/pic=.true.: set pic=.false.", path);
    if (p->run.cosmo != h->cosmo)
        FAIL(ERR_PARAM, "%s: was made with run_params/cosmo=%s, which must be the same here", path,
             h->cosmo ? ".true." : ".false.");
    double box = p->run.cosmo ? 1 : p->amr.boxlen,
           fuzz = s->run.restart.from->narrow ? 1e-6 : 1e-12;
    if (!(fabs(h->boxlen - box) <= fuzz * box))
        FAIL(ERR_PARAM,
             "%s: was made with amr_params/boxlen=%.15g, but this run has %.15g: set boxlen as it "
             "was",
             path, h->boxlen, box);
    return OK;
}

/* Reads the parameters of the run that wrote the checkpoint. */
static enum err read_model(const struct sim *s, struct params *was)
{
    const struct ckpt_head *h = &s->run.restart.from->head;
    char *text = NULL;
    size_t bytes;
    int left_out = 0;
    TRY(source_text(s->run.restart.from, FILES_NAMELIST, &text, &bytes));
    bool read = !text || param_read_loose(was, text, bytes, "its namelist", &left_out) == OK;
    bool known = text && read && bytes > 0;
    if (!read) log_info(" %s", err_message());
    if (!known) {
        log_info(" %s contains no readable namelist: only its header is compared with this run's",
                 s->run.restart.from->path);
        *was = *s->par;
    }
    if (left_out > 0)
        log_info(" %d settings in the namelist of the checkpoint are not known to this program",
                 left_out);
    mem_free(text);
    if (s->par->hydro.npassive < 0) was->hydro.npassive = -1; /* as many as there are */
    was->run.ndim = h->ndim;
    was->run.mhd = h->magnetic;
    was->run.nener = param_given(s->par, "run", "nener") ? h->energy.n : s->par->run.nener;
    was->run.cosmo = h->cosmo;
    was->run.hydro = h->hydro;
    was->run.pic = h->particles;
    was->run.poisson = h->gravity;
    was->amr.levelmin = h->levelmin;
    was->amr.levelmax = h->levelmax;
    was->amr.boxlen = s->par->amr.boxlen; /* compared by check_possible */
    bool same_gamma = s->run.restart.from->narrow &&
                      fabs(h->gamma - s->par->hydro.gamma) <= 1e-6 * h->gamma;
    if (h->hydro) was->hydro.gamma = same_gamma ? s->par->hydro.gamma : h->gamma;
    return OK;
}

/* Whether the only change is a higher levelmax, which leaves the state valid. */
static bool only_deeper(const struct sim *s, const struct param_change *change)
{
    return strcmp(change->name, "amr_params/levelmax") == 0 && s->run.restart.from &&
           s->par->amr.levelmax > s->run.restart.from->head.levelmax;
}

static void tell(void *ctx, const struct param_change *change)
{
    struct changes *c = ctx;
    size_t n = strlen(c->list), room = sizeof c->list - n;
    if (c->s->run.restart.change_model || !change->model || only_deeper(c->s, change)) {
        log_info(" Changed since the checkpoint: %s=%.80s, it was %.80s", change->name, change->is,
                 change->was);
        return;
    }
    c->model++;
    if (room < 200) return;
    snprintf(c->list + n, room, "%s%s=%.40s (now %.40s)", n ? ", " : "", change->name, change->was,
             change->is);
    c->told++;
}

enum err sim_compare(const struct sim *s, const struct params *was, const struct param_change *more,
                     const char *path)
{
    struct changes c = {.s = s};
    param_compare(was, s->par, tell, &c);
    if (more) tell(&c, more);
    if (c.model)
        FAIL(ERR_PARAM, "%s: was made with %s%s; --change-model resumes it with the new values",
             path, c.list, c.model > c.told ? ", and other differences" : "");
    return OK;
}

enum err sim_compare_namelist(const struct sim *s, const char *text, size_t bytes, const char *path)
{
    int left_out = 0;
    struct params *was = mem_zero(sizeof *was, "parameters");
    enum err err = param_read_loose(was, text ? text : "", bytes, "its namelist", &left_out);
    if (err == OK) err = sim_compare(s, was, NULL, path);
    mem_free(was);
    return err;
}

static enum err check_changes(struct sim *s)
{
    char old[16], new[16];
    int had = s->run.restart.from->head.nvar, have = s->mesh.nvar;
    struct param_change scalars = {
        .name = "the number of gas variables", .model = true, .was = old, .is = new};
    TRY(check_possible(s));
    struct params *was = mem_zero(sizeof *was, "parameters");
    enum err err = read_model(s, was);
    s->run.restart.conformal = s->par->run.convert_birth_times && !was->run.use_proper_time;
    if (s->run.restart.conformal) was->run.use_proper_time = true;
    const bool remapped = param_given(s->par, "run", "remap_pscalar");
    snprintf(old, sizeof old, "%d", had);
    snprintf(new, sizeof new, "%d", have);
    if (err == OK)
        err = sim_compare(s, was, s->par->run.hydro && had != have && !remapped ? &scalars : NULL,
                          s->run.restart.from->path);
    mem_free(was);
    return err;
}

static enum err check_model(struct sim *s)
{
    TRY(err_agree(&s->comm, s->comm.rank == 0 ? check_changes(s) : OK));
    comm_bcast(&s->comm, &s->run.restart.conformal, sizeof s->run.restart.conformal, 0);
    return OK;
}
