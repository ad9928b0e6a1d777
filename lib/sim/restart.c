/* sim/restart: from a checkpoint to the state of a run on any number of ranks: its header, what is
 * known of the run before, and, by lib/resume, mesh and particles. The run resumes as if it had not
 * stopped: with the same bits if the checkpoint contains them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "comm/tuner.h"
#include "formats/formats.h"
#include "io/dir.h"
#include "resume/resume.h"
#include "sim/sim.h"

static void restore_head(struct sim *s);
static enum err restore_cosmology(struct sim *s);
static enum err take_columns(struct sim *s);
static void say_what(const struct sim *s);
static enum err restore_tuner(struct sim *s);
static enum err check_end(struct sim *s);

enum err sim_restart_open(struct sim *s)
{
    const struct params *p = s->par;
    char path[4096], out[4096];
    if (!s->restart.path && p->run.nrestart <= 0) return OK;
    if (!s->restart.path)
        snprintf(path, sizeof path, "%.4000s/output_%05d", s->out.dir, p->run.nrestart);
    const char *from = s->restart.path ? s->restart.path : path;
    s->restart.number = -1;
    TRY(source_open_state(from, p->hydro.gamma, p->hydro.smallr, &s->restart.from));
    from = s->restart.from->path;
    snprintf(out, sizeof out, "%.4000s/output_%05d", s->out.dir, s->restart.from->number);
    if (strcmp(out, from) == 0) s->restart.number = s->restart.from->number;
    snprintf(out, sizeof out, "%.4000s/output", s->out.dir);
    return dir_outside(out, from);
}

static enum err restart_read(struct sim *s)
{
    TRY(sim_check_model(s));
    restore_head(s);
    TRY(restore_cosmology(s));
    TRY(sim_physics(s));
    sim_output_setup(s);
    sim_output_resume(s);
    say_what(s);
    TRY(check_end(s));
    return err_agree(&s->comm, restore_tuner(s));
}

/* Octs and particles of the checkpoint, from its headers. */
static enum err restart_expect(struct sim *s)
{
    struct source *from = s->restart.from;
    enum err err = OK;
    memcpy(s->noct, from->numbtot, sizeof s->noct);
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

/* Octs with their values, and particles. */
static enum err restart_mesh(struct sim *s)
{
    if (s->par->run.pic) TRY(take_columns(s));
    struct sim_weights w = sim_weights(s); /* by the columns of particles, among others */
    bool hilbert = strcmp(s->par->run.ordering, "hilbert") == 0;
    struct resume r = {.from = s->restart.from,
                       .comm = &s->comm,
                       .mesh = &s->mesh,
                       .parts = s->par->run.pic ? &s->parts : NULL,
                       .drop_clouds = s->sinks != NULL,
                       .gas = &s->hydro.vars,
                       .kind = hilbert ? DOMAIN_HILBERT : DOMAIN_KSECTION,
                       .oct_cost = w.oct,
                       .part_cost = w.part[s->mesh.levelmin]};
    enum err err = resume_read(&r);
    s->dom = r.dom;
    s->diag.particles = r.particles;
    return err;
}

/* Particles of the checkpoint to their ranks. RAMSES keeps those that have left the box through its
 * boundaries, a run of ours does not. */
static enum err take_particles(struct sim *s)
{
    const struct source *f = s->restart.from;
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
    return sim_report_lost(s, n[1]);
}

static enum err restart_build(struct sim *s)
{
    TRY(err_agree(&s->comm, rest_copy(&s->restart.rest, s->restart.from)));
    TRY(restart_mesh(s));
    sim_count_octs(s);
    if (s->par->run.pic) TRY(take_particles(s));
    struct sink_run sinks = sim_sinks(s);
    TRY(sinks_restore(&sinks, &s->restart.rest.sinks, s->restart.from->path));
    source_close(&s->restart.from);
    return OK;
}

enum err sim_restart(struct sim *s)
{
    TRY(restart_read(s));
    return s->expect ? restart_expect(s) : restart_build(s);
}

static void say_what(const struct sim *s)
{
    const struct source *f = s->restart.from;
    log_info(" Restarting from %s: %s, %d file%s, coarse step %d, t=%.6E a=%.6E", f->path,
             f->format, f->npiece, f->npiece > 1 ? "s" : "", s->time.nstep_coarse, s->time.t,
             s->time.aexp);
    if (!f->exact)
        log_info(" It does not contain all bits of the state: the run resumes to round-off, not "
                 "bit for bit");
    bool sinks = s->sinks && strcmp(f->left_out, "sink particles") == 0;
    if (*f->left_out && !sinks) log_info(" Carried along unchanged: %s", f->left_out);
}

/* The transports that the run before found to be the fastest. */
static enum err restore_tuner(struct sim *s)
{
    char *text;
    size_t bytes;
    TRY(source_text(s->restart.from, FILES_HISTORY, &text, &bytes));
    char *lines = mem_new(bytes + 1, "restart");
    if (bytes) memcpy(lines, text, bytes);
    lines[bytes] = 0;
    tuner_resume(&s->comm, lines);
    if (s->comm.rank == 0) sim_history_resume(s, lines);
    mem_free(lines);
    mem_free(text);
    return OK;
}

/* A run that searches for the newest checkpoint may find itself at its end; a user who names one
 * wants to resume. */
static enum err check_end(struct sim *s)
{
    if (!sim_at_end(s)) return OK;
    if (s->par->run.nrestart >= 0)
        FAIL(ERR_PARAM,
             "%s: coarse step %d, t=%g, a=%g is at or beyond the end that the namelist sets: raise "
             "nstepmax, or tout, "
             "tend, aout or aend",
             s->restart.from->path, s->time.nstep_coarse, s->time.t, s->time.aexp);
    log_info(" The checkpoint is at the end of the run: nothing to do");
    s->end.done = true;
    return OK;
}

/* ---- header ---- */

static void restore_head(struct sim *s)
{
    const struct ckpt_head *h = &s->restart.from->head;
    s->time.t = h->t;
    s->time.nstep = h->nstep;
    s->time.nstep_coarse = h->nstep_coarse;
    memcpy(s->time.dtold, h->dtold, sizeof s->time.dtold);
    memcpy(s->time.dtnew, h->dtnew, sizeof s->time.dtnew);
    s->diag.einit = h->einit;
    s->diag.mass_tot_0 = h->mass_tot_0;
    s->matter.rho_tot = h->rho_tot;
    s->time.aexp = h->aexp;
    s->time.hexp = h->hexp;
    s->diag.aexp_old = h->aexp_old;
    s->diag.epot_tot_int = h->epot_tot_int;
    s->diag.epot_tot_old = h->epot_tot_old;
    memcpy(s->grav.safe, h->safe, sizeof s->grav.safe);
}

static enum err restore_cosmology(struct sim *s)
{
    const struct ckpt_head *h = &s->restart.from->head;
    if (!s->par->run.cosmo) return OK;
    s->refine.mass_sph = h->mass_sph;
    s->cosmo_par.omega_m = h->omega_m;
    s->cosmo_par.omega_l = h->omega_l;
    s->cosmo_par.omega_k = h->omega_k;
    s->cosmo_par.omega_b = h->omega_b;
    s->cosmo_par.h0 = h->h0;
    s->cosmo_par.aexp_ini = h->aexp_ini;
    s->cosmo_par.boxlen_ini = h->boxlen_ini;
    if (!(h->aexp > 0) || !isfinite(h->t) || !isfinite(h->hexp))
        FAIL(ERR_FORMAT,
             "%s: the expansion factor, %g, must be above 0 and the time, %g, and expansion rate "
             "finite: the checkpoint is damaged",
             s->restart.from->path, h->aexp, h->t);
    return sim_cosmology(s);
}

/* The run has the columns of its checkpoint. */
static enum err take_columns(struct sim *s)
{
    const struct part_columns *from = &s->restart.from->columns;
    s->parts.columns = *from;
    for (int c = 0; c < from->n; c++)
        if (from->has[c]) part_want(&s->parts, c);
    return sim_star_columns(s);
}
