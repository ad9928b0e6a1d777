/* sim/run: the time loop. An iteration is a coarse step, i.e. a step of the solver (struct solver);
 * the phases of the octree are in step.c. */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "comm/share.h"
#include "comm/tuner.h"
#include "movie/frame.h"
#include "phys/yields.h"
#include "sim/solver.h"

/* Counts that are summed over all ranks between coarse steps. */
struct step_counts {
    /* particles present, and particles that have left the box so far */
    int64_t parts, lost;
    int64_t over_octs, over_parts; /* ranks above ngridmax and npartmax */
    int64_t stop, write, backup;   /* ranks with a request to stop, write, or back up */
};

/* One reduction for the counts, the load of the ranks, and the changes of the next refinement. */
static void counts_add(struct sim *s, struct step_counts *t)
{
    struct numbers {
        struct step_counts totals;
        int64_t load[2];
        struct adapt_changes change[SIM_CHANGES];
    } n = {.totals = *t};
    enum {
        N = sizeof n / sizeof(int64_t),
        LOAD = offsetof(struct numbers, load) / sizeof(int64_t)
    };
    int64_t own[N];
    struct spread all[N];
    sim_balance_own(s, n.load);
    memcpy(n.change, sim_refine_count(s), sizeof n.change);
    memcpy(own, &n, sizeof n);
    comm_spread(&s->comm, N, own, all);
    sim_balance_measured(s, all + LOAD);
    for (int i = 0; i < N; i++) own[i] = all[i].sum;
    memcpy(&n, own, sizeof n);
    sim_refine_counted(s, n.change);
    *t = n.totals;
}

static struct step_counts counts_get(struct sim *s)
{
    const struct param_amr *a = &s->par->amr;
    int asked = sim_asked_for(s);
    struct step_counts t = {.parts = s->parts.n,
                            .lost = s->parts.lost,
                            .over_octs = a->ngridmax > 0 && mesh_own_octs(&s->mesh) > a->ngridmax,
                            .over_parts = a->npartmax > 0 && s->parts.n > a->npartmax,
                            .stop = asked<0, .write = asked> 0,
                            .backup = sim_backup_due(s)};
    counts_add(s, &t);
    s->run.out.backup = t.backup > 0;
    s->run.out.asked = t.stop ? -1 : t.write ? 1 : 0;
    return t;
}

static int64_t max_of_all(const struct sim *s, int64_t n)
{
    comm_max_i64(&s->comm, &n, 1);
    return n;
}

static enum err check_limits(const struct sim *s, const struct step_counts *t)
{
    const struct param_amr *a = &s->par->amr;
    int64_t octs = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) octs += s->amr.noct[l];
    if (t->over_octs)
        FAIL(ERR_LIMIT,
             "a rank needs %ld octs but amr_params/ngridmax is %ld: raise it, or leave it out for "
             "no limit",
             (long)max_of_all(s, mesh_own_octs(&s->mesh)), (long)a->ngridmax);
    if (a->ngridtot > 0 && octs > a->ngridtot)
        FAIL(ERR_LIMIT,
             "the mesh needs %ld octs but amr_params/ngridtot is %ld: raise it, or leave it out "
             "for no limit",
             (long)octs, (long)a->ngridtot);
    if (t->over_parts)
        FAIL(ERR_LIMIT,
             "a rank holds %ld particles but amr_params/npartmax is %ld: raise it, or leave it out "
             "for no limit",
             (long)max_of_all(s, s->parts.n), (long)a->npartmax);
    if (a->nparttot > 0 && t->parts > a->nparttot)
        FAIL(ERR_LIMIT,
             "there are %ld particles but amr_params/nparttot is %ld: raise it, or leave it out "
             "for no limit",
             (long)t->parts, (long)a->nparttot);
    return OK;
}

/* Reports particles that crossed a boundary and were removed. In a periodic box this is an
 * error. */
enum err sim_report_lost(struct sim *s, int64_t lost)
{
    if (lost > s->diag.lost && !mesh_has_boundaries(&s->mesh))
        FAIL(ERR_LIMIT,
             "%ld particles moved further than the box is wide, or are no longer finite, at coarse "
             "step %d, t=%g: look at the initial state, or lower courant_factor",
             (long)(lost - s->diag.lost), s->time.nstep_coarse, s->time.t);
    if (lost > s->diag.lost)
        log_info(" %ld particles have left the box through its boundaries, %ld in all",
                 (long)(lost - s->diag.lost), (long)lost);
    s->diag.lost = lost;
    return OK;
}

static enum err advance(struct sim *s);

/* Logs that nstepmax ends the run without an output, as in RAMSES, and which steps are lost. */
static void report_end(const struct sim *s)
{
    log_info(" Run completed");
    if (s->run.out.last_step == s->time.nstep_coarse || s->par->output.foutput == 0) return;
    log_info(" nstepmax=%d has ended the run: coarse steps after %d are in no checkpoint: give a "
             "multiple of foutput",
             s->par->run.nstepmax, s->run.out.last_step);
}

enum err sim_run(struct sim *s)
{
    sim_count_octs(s);
    if (!s->run.solver->start)
        sim_report_mesh(s, s->run.restart.resumed ? "Mesh structure of the checkpoint"
                                                  : "Initial mesh structure");
    log_info(" Starting time integration");
    sim_stop_setup(s);
    TRY(sim_profile_begin(s));
    s->run.cost.wall_step = timer_wall();
    s->run.progress.p.ranks = s->comm.size, s->run.progress.p.threads = s->comm.threads;
    progress_begin(&s->run.progress, s->phys.cosmo != NULL, s->time.nstep_coarse,
                   s->phys.cosmo ? s->time.aexp : s->time.t);
    /* A coarse step is reported in the next one; the step before the checkpoint is reported now. */
    s->diag.nstep_last = s->run.restart.resumed && s->time.nstep_coarse > 0
                             ? s->time.nstep_coarse - 1
                             : s->time.nstep_coarse;
    TRY(sim_measure_missing(s));
    if (s->run.restart.resumed) movie_resume(s->run.movie, s->time.t, s->time.aexp);
    TRY(sim_publish_last(s, advance(s)));
    sim_receive_gas(s); /* pending if the run ended within a step */
    log_live(NULL);
    if (s->run.end.broken)
        FAIL(ERR_LIMIT,
             "mass or energy is no longer finite at coarse step %d, t=%g: look at the initial "
             "state, or lower %s; earlier checkpoints are good",
             s->time.nstep_coarse, s->time.t,
             s->run.solver->advice ? s->run.solver->advice : "courant_factor");
    if (s->run.end.status == 0) report_end(s);
    log_info(" Total elapsed time: %.3f s", timer_wall() - s->run.cost.wall_start);
    sim_report_timers(s);
    sim_device_report(s);
    TRY(sim_profile_end(s));
    if (log_verbosity() >= 1 && s->comm.rank == 0) mem_print(stderr);
    return OK;
}

/* A coarse step of a solver with a single time step for all levels: the minimum over ranks, reduced
 * together with the totals of the report. */
static enum err coarse_step(struct sim *s)
{
    const struct solver *v = s->run.solver;
    struct sim_time *t = &s->time;
    int l = s->mesh.levelmin;
    TRY(sim_output(s));
    if (s->run.end.done) return OK;
    timer_start(v->name);
    sim_poll(s);
    double dt = v->dt(s);
    struct comm_minima min = {1, &dt};
    v->totals(s);
    comm_sums_min(&s->comm, (struct sum *)&s->diag.sum, SIM_SUMS, &min);
    t->dtold[l] = t->dtnew[l];
    t->dtnew[l] = dt;
    sim_report(s, l);
    if (s->run.end.done) return OK;
    if (v->source) mesh_empty(&s->mesh);
    s->run.gathered = false;
    TRY(v->step(s, dt));
    t->t += dt;
    t->nstep++;
    return OK;
}

static enum err advance(struct sim *s)
{
    struct step_counts t = counts_get(s);
    while (!s->run.end.done) {
        comm_mark(&s->comm);
        TRY(check_limits(s, &t));
        sim_report_begin(s);
        TRY(s->run.solver->coarse ? s->run.solver->coarse(s) : coarse_step(s));
        if (s->run.end.done) break;
        s->time.nstep_coarse++;
        sim_device_step(s);
        t = counts_get(s);
        /* between steps no rank reads shared memory, so trimming depends on no timing */
        comm_share_trim(s->comm.share);
        TRY(sim_publish_done(s));
        mem_trim(); /* buffers of an output are not kept for the next one */
        TRY(sim_report_lost(s, t.lost));
        sim_rt_report(s);
        sim_report_step_time(s);
        sim_profile_step(s);
    }
    return OK;
}

void sim_fini(struct sim *s)
{
    if (s->run.solver && s->run.solver->fini) s->run.solver->fini(s);
    sim_device_close(s);
    mesh_fini(&s->mesh);
    part_fini(&s->parts);
    grav_fini(&s->phys.grav);
    fifth_free(&s->phys.fifth);
    patch_scratch_free(&s->phys.hydro.scratch);
    domain_free(s->dom);
    domain_free(s->amr.balance.next);
    source_close(&s->run.restart.from);
    rest_free(&s->run.restart.rest);
    if (s->phys.cosmo) cosmo_free(s->phys.cosmo);
    response_free(&s->phys.neutrino);
    cool_free(s->phys.cooling);
    rt_free(&s->phys.rt);
    yields_free(s->phys.yields);
    stellar_end(&s->phys.stellar);
    sinks_end(&s->phys.sinks);
    tracer_flux_free(&s->phys.flux);
    turb_free(&s->phys.turb);
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        FREE(s->phys.matter.moments[l]);
        FREE(s->phys.matter.rho_top[l]);
    }
    FREE(s->run.out.tout);
    FREE(s->run.out.aout);
    FREE(s->run.out.before);
    FREE(s->run.movie);
    tuner_free(&s->comm.tuner);
    comm_share_free(&s->comm.share);
}
