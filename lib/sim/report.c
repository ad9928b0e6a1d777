/* sim/report: the log of a run, in the format of RAMSES: mesh, conservation, time, speed; and the
 * cost of a run in machine-readable form (simulate -j). */
#include <math.h>
#include <string.h>

#include "base/cgs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timer.h"
#include "grav/deposit_kern.h"
#include "io/file.h"
#include "sim/solver.h"

enum { PARALLEL_FROM = 256 }; /* octs */

void sim_report_mesh(struct sim *s, const char *title)
{
    log_info(" %s", title);
    for (int l = 1; l <= s->mesh.levelmax; l++)
        if (s->amr.noct[l])
            log_info(" Level %2d has %10ld grids (%8ld,%8ld,%8ld,)", l, (long)s->amr.noct[l],
                     (long)s->amr.noct_min[l], (long)s->amr.noct_max[l],
                     (long)(s->amr.noct[l] / s->comm.size));
}

/* Factor of Σ_leaf f² in the potential energy −Σ_leaf f² dx^ndim / (8π G) of a level. */
double sim_energy_factor(const struct sim *s, int l)
{
    double fourpi = s->phys.cosmo ? 1.5 * s->phys.cosmo_par.omega_m * s->time.aexp
                                  : 2 * RAMSES_TWOPI;
    return -mesh_share(&s->mesh, l) / fourpi / 2;
}

void sim_potential_energy(struct sim *s, int l)
{
    const struct level *lv = &s->mesh.lev[l];
    double fact = sim_energy_factor(s, l), top = 0;
#pragma omp parallel reduction(max : top) if (lv->nown >= PARALLEL_FROM)
    {
        struct sum_batch mine;
        double high[8] = {0}; /* one maximum would wait for each cell */
        sum_batch_begin(&mine);
#pragma omp for schedule(static)
        for (lidx i = 0; i < lv->nown; i++) {
            const double *rho = level_rho(lv)[i];
            for (int k = 0; k < 8; k++) high[k] = fabs(rho[k]) > high[k] ? fabs(rho[k]) : high[k];
            if (s->diag.counting) sum_batch_add(&mine, force_energy(lv, i, fact));
        }
        sum_batch_end(&mine);
        for (int k = 0; k < 8; k++) top = high[k] > top ? high[k] : top;
#pragma omp critical(epot)
        if (s->diag.counting) sum_join(&s->diag.sum.epot, &mine.sum);
    }
    s->phys.matter.rho_max[l] = top;
}

void sim_report_begin(struct sim *s)
{
    struct sum_totals *sum = &s->diag.sum;
    sum_init(&sum->mass);
    sum_init(&sum->ekin);
    sum_init(&sum->eint);
    sum_init(&sum->epot);
    sum_init(&sum->emag);
    s->diag.divb = 0;
    for (int d = 0; d < 3; d++) sum_init(&sum->momentum[d]);
    s->diag.counting = true;
}

static struct totals totals_get(const struct sim *s)
{
    const struct sum_totals *sum = &s->diag.sum;
    struct totals t = {.mass = sum_get(&sum->mass),
                       .ekin = sum_get(&sum->ekin),
                       .eint = sum_get(&sum->eint),
                       .epot = sum_get(&sum->epot),
                       .emag = sum_get(&sum->emag)};
    for (int d = 0; d < 3; d++) t.momentum[d] = sum_get(&sum->momentum[d]);
    return t;
}

static void report_fine(const struct sim *s, int l)
{
    char mem[64];
    if (s->par->amr.ngridmax > 0) {
        int64_t max = 0;
        for (int k = 1; k <= s->mesh.levelmax; k++) max += s->mesh.lev[k].noct;
        snprintf(mem, sizeof mem, "%4.1f%%",
                 100.0 * (double)max / (double)(s->par->amr.ngridmax + 1));
    } else {
        snprintf(mem, sizeof mem, "%.0f MB", (double)mem_now() / 1e6);
    }
    log_info(" Fine step=%7d t=%12.5E dt=%10.3E a=%10.3E mem=%s", s->time.nstep, s->time.t,
             s->time.dtnew[l], s->time.aexp, mem);
    if (s->phys.turb)
        log_info("  Current turbulent rms: %19.16g",
                 sqrt(s->mesh.ndim) * turb_rms_at(s->phys.turb, s->time.t));
}

/* Logs mass and energy; econs as RAMSES defines it, with the work of expansion integrated in
 * epot_tot_int. */
static void report_conservation(struct sim *s, const struct totals *t)
{
    double mcons = 0, econs = 0;
    if (s->diag.mass_tot_0 == 0)
        s->diag.mass_tot_0 = t->mass;
    else
        mcons = (t->mass - s->diag.mass_tot_0) / s->diag.mass_tot_0;
    if (s->diag.epot_tot_old != 0)
        s->diag.epot_tot_int += 0.5 * (s->diag.epot_tot_old + t->epot) *
                                log(s->time.aexp / s->diag.aexp_old);
    s->diag.epot_tot_old = t->epot;
    s->diag.aexp_old = s->time.aexp;
    if (s->diag.einit == 0)
        s->diag.einit = t->epot + t->ekin;
    else
        econs = (t->ekin + t->epot - s->diag.epot_tot_int - s->diag.einit) /
                (-(t->epot - s->diag.epot_tot_int - s->diag.einit) + t->ekin);
    if (s->time.nstep_coarse % s->par->run.ncontrol != 0) return;
    sim_report_mesh(s, "Mesh structure");
    char eint[32] = "";
    if (s->phys.hydro.pressure_fix) snprintf(eint, sizeof eint, " eint=%9.2E", t->eint);
    log_info(" Main step=%7d mcons=%9.2E econs=%9.2E epot=%9.2E ekin=%9.2E%s", s->time.nstep_coarse,
             mcons, econs, t->epot, t->ekin, eint);
    if (s->mesh.magnetic) log_info(" emag=%9.2E divb=%9.2E", t->emag, s->diag.divb);
    log_line(1, " momentum=%23.15E %23.15E %23.15E mass=%23.15E", t->momentum[0], t->momentum[1],
             t->momentum[2], t->mass);
}

void sim_report(struct sim *s, int l)
{
    bool said = false;
    if (s->time.nstep_coarse != s->diag.nstep_last) {
        struct totals t = totals_get(s);
        if (!isfinite(t.mass) || !isfinite(t.ekin) || !isfinite(t.epot) || !isfinite(t.emag)) {
            s->run.end.broken = s->run.end.done = true;
            return;
        }
        report_conservation(s, &t);
        said = s->time.nstep_coarse % s->par->run.ncontrol == 0;
        if (said) report_fine(s, l);
        if (sim_at_end(s)) {
            s->run.end.done = true;
            return;
        }
    }
    s->diag.counting = false;
    s->diag.nstep_last = s->time.nstep_coarse;
    if (!said && s->time.nstep % s->par->run.ncontrol == 0) report_fine(s, l);
}

static void count_cells(struct sim *s)
{
    int64_t cells = 0, octs = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) {
        cells += s->mesh.cells * s->amr.noct[l];
        octs += l > 1 ? s->amr.noct[l] : 0;
    }
    if (cells <= s->run.cost.cells_most) return;
    s->run.cost.cells_most = cells;
    s->run.cost.leaves_most = cells - octs;
}

/* Logs memory and work time of the ranks: see sim_balance. */
static void report_balance(const struct sim *s)
{
    struct spread m = s->amr.balance.memory, t = s->amr.balance.time;
    if (s->comm.size == 1) return;
    log_info(" Ranks (min,mean,max): held %.1f %.1f %.1f MB, work %.3f %.3f %.3f s",
             (double)m.low / 1e6, m.mean / 1e6, (double)m.high / 1e6, (double)t.low / 1e9,
             t.mean / 1e9, (double)t.high / 1e9);
}

/* Cell updates of a coarse step, counted as in RAMSES. */
static double updates(const struct sim *s)
{
    if (s->run.solver->updates) return s->run.solver->updates(s);
    double points = (double)s->amr.noct[s->mesh.levelmin] * s->mesh.cells, repeat = 1;
    for (int l = s->mesh.levelmin + 1; l <= s->mesh.levelmax; l++) {
        repeat *= s->time.nsubcycle[l - 1];
        points += (double)s->amr.noct[l] * (s->mesh.cells - 1) * repeat;
    }
    return points;
}

static void report_speed(const struct sim *s, double dt, double each, double mean)
{
    log_info(" Time elapsed since last coarse step: %9.4f s %11.4f mus/pt %11.4f mus/pt (av)", dt,
             each, mean);
    log_info(" Used memory: %8.1f MB", (double)mem_peak_rss() / 1048576.0);
    report_balance(s);
}

/* Hands the step to the live line and to those who watch the run from outside. The time of a step
 * in which the process was suspended says nothing about the next ones: it takes the time that was
 * expected of it. */
static void report_progress(struct sim *s, double seconds, double points)
{
    struct progress_reporter *r = &s->run.progress;
    if (!r->works) return;
    const bool suspended = sim_was_suspended();
    const double speed = pace_speed(&r->places);
    const struct progress_step step = {.step = s->time.nstep_coarse,
                                       .t = s->time.t,
                                       .a = s->time.aexp,
                                       .dt = s->time.t - s->run.cost.t_step,
                                       .work = points,
                                       .seconds = suspended && speed > 0 ? points / speed : seconds,
                                       .bytes = (double)s->amr.balance.memory.sum,
                                       .output = s->par->output.foutput > 0 ? s->run.out.ifout : 0,
                                       .next = sim_next_output(s),
                                       .end = sim_end_goal(s),
                                       .job_s = sim_job_left(s)};
    s->run.cost.t_step = s->time.t;
    progress_add(r, &step);
}

/* Logs the time of the last coarse step and microseconds per cell update,
 * and reports the progress. */
void sim_report_step_time(struct sim *s)
{
    double now = timer_wall(), dt = now - s->run.cost.wall_step, points = updates(s);
    s->run.cost.wall_step = now;
    count_cells(s);
    if (s->time.nstep_coarse > 1) {
        s->run.cost.updates_all += points;
        s->run.cost.wall_all += dt;
    }
    double each = dt * 1e6 * s->comm.size / points;
    double mean = s->run.cost.updates_all > 0
                      ? s->run.cost.wall_all * 1e6 * s->comm.size / s->run.cost.updates_all
                      : each;
    const bool told = !s->run.solver->told || s->run.solver->told(s);
    if (told) report_speed(s, dt, each, mean);
    report_progress(s, dt, points);
}

void sim_report_timers(struct sim *s)
{
    timer_stop();
    struct timing p[TIMING_MAX];
    int n = sim_timings(s, p);
    double total = 1e-9;
    for (int i = 0; i < n; i++) total += p[i].mean;
    if (s->comm.size == 1) {
        log_info("     seconds         %%    STEP");
        for (int i = 0; i < n; i++)
            if (p[i].mean / total > 0.001)
                log_info("%12.3f    %6.1f    %s", p[i].mean, 100 * p[i].mean / total, p[i].label);
        log_info("%12.3f    %6.1f    TOTAL", total, 100.0);
        observers_report(s->run.observer, total);
        return;
    }
    log_info("     minimum       average       maximum       %%   TIMER");
    for (int i = 0; i < n; i++)
        log_info("%12.3f  %12.3f  %12.3f  %6.1f   %s", p[i].low, p[i].mean, p[i].high,
                 100 * p[i].mean / total, p[i].label);
    log_info("%12.3f  %6.1f    TOTAL", total, 100.0);
    observers_report(s->run.observer, total);
}

/* ---- simulate -j: a line of JSON per coarse step, and a last one with times by phase and memory
 * by name. Sums are over ranks. Nothing here affects the state. ---- */

enum { LABEL = 32, NAMES = 256 };

enum err sim_profile_begin(struct sim *s)
{
    enum err e = OK;
    if (!s->run.cost.profile_path) return OK;
    if (s->comm.rank == 0) e = file_append(s->run.cost.profile_path, &s->run.cost.profile);
    return err_agree(&s->comm, e);
}

static int64_t octs_all(const struct sim *s)
{
    int64_t n = 0;
    for (int l = 1; l <= s->mesh.levelmax; l++) n += s->amr.noct[l];
    return n;
}

/* held: heap as counted by base/mem; rss: resident memory as counted by the system. */
void sim_profile_step(struct sim *s)
{
    if (!s->run.cost.profile_path) return;
    int64_t sum[3] = {(int64_t)mem_now(), (int64_t)mem_rss(), s->parts.n};
    comm_add_i64(&s->comm, sum, 3);
    if (!s->run.cost.profile) return;
    fprintf(
        s->run.cost.profile,
        "{\"step\":%d,\"ranks\":%d,\"time\":%.17g,\"aexp\":%.17g,\"wall_s\":%.6f,\"updates\":%.17g,"
        "\"octs\":%ld,"
        "\"particles\":%ld,"
        "\"held_bytes\":%ld,\"rss_bytes\":%ld}\n",
        s->time.nstep_coarse, s->comm.size, s->time.t, s->time.aexp,
        timer_wall() - s->run.cost.wall_start, s->run.cost.updates, (long)octs_all(s), (long)sum[2],
        (long)sum[0], (long)sum[1]);
    fflush(s->run.cost.profile);
}

int sim_timings(const struct sim *s, struct timing p[TIMING_MAX])
{
    int n = timer_count();
    char label[TIMING_MAX][LABEL] = {{0}};
    double low[TIMING_MAX] = {0}, high[TIMING_MAX], mean[TIMING_MAX];
    for (int i = 0; i < n; i++) snprintf(label[i], sizeof label[i], "%s", timer_label(i));
    /* ranks may have met labels in another order, or not at all */
    comm_bcast(&s->comm, label, sizeof label, 0);
    for (int i = 0; i < TIMING_MAX; i++) {
        for (int j = 0; j < n; j++)
            if (!strcmp(timer_label(j), label[i])) low[i] = timer_seconds(j);
        high[i] = mean[i] = low[i];
    }
    comm_min_f64(&s->comm, low, TIMING_MAX);
    comm_max_f64(&s->comm, high, TIMING_MAX);
    comm_add_f64(&s->comm, mean, TIMING_MAX);
    for (n = 0; n < TIMING_MAX && label[n][0]; n++) {
        p[n] = (struct timing){.low = low[n], .mean = mean[n] / s->comm.size, .high = high[n]};
        memcpy(p[n].label, label[n], sizeof label[n]);
    }
    return n;
}

static void phases_put(struct sim *s)
{
    struct timing p[TIMING_MAX];
    int n = sim_timings(s, p);
    if (!s->run.cost.profile) return;
    fputs("\"phases_s\":{", s->run.cost.profile);
    for (int i = 0; i < n; i++)
        fprintf(s->run.cost.profile, "%s\"%s\":[%.6f,%.6f,%.6f]", i ? "," : "", p[i].label,
                p[i].low, p[i].mean, p[i].high);
    fputs("},", s->run.cost.profile);
}

/* Rows of rank 0 by name, summed over ranks; memory under names that only other ranks have is in
 * the total. */
static void memory_put(struct sim *s)
{
    char name[NAMES][LABEL] = {{0}};
    int64_t row[NAMES][3] = {{0}}, total[2] = {(int64_t)mem_peak(), (int64_t)mem_peak_rss()};
    for (int i = 0; i < mem_rows() && i < NAMES; i++)
        snprintf(name[i], sizeof name[i], "%s", mem_row(i).name);
    comm_bcast(&s->comm, name, sizeof name, 0);
    for (int i = 0; i < mem_rows(); i++)
        for (int j = 0; j < NAMES && name[j][0]; j++) {
            struct mem_row r = mem_row(i);
            if (strncmp(name[j], r.name, LABEL - 1) != 0) continue;
            row[j][0] += (int64_t)r.at_peak;
            row[j][1] += (int64_t)r.peak;
            row[j][2] += (int64_t)r.now;
            break;
        }
    comm_add_i64(&s->comm, row[0], 3 * NAMES);
    comm_add_i64(&s->comm, total, 2);
    if (!s->run.cost.profile) return;
    fprintf(s->run.cost.profile, "\"peak_bytes\":%ld,\"peak_rss_bytes\":%ld,\"memory_bytes\":{",
            (long)total[0], (long)total[1]);
    for (int j = 0; j < NAMES && name[j][0]; j++)
        fprintf(s->run.cost.profile, "%s\"%s\":[%ld,%ld,%ld]", j ? "," : "", name[j],
                (long)row[j][0], (long)row[j][1], (long)row[j][2]);
    fputs("}", s->run.cost.profile);
}

enum err sim_profile_close(struct sim *s)
{
    enum err e = OK;
    if (s->run.cost.profile) {
        bool bad = ferror(s->run.cost.profile);
        bad |= fclose(s->run.cost.profile) != 0;
        s->run.cost.profile = NULL;
        if (bad)
            e = err_set(ERR_FILE, "%s: the profile cannot be written", s->run.cost.profile_path);
    }
    return err_agree(&s->comm, e);
}

enum err sim_profile_end(struct sim *s)
{
    if (!s->run.cost.profile_path) return OK;
    int64_t particles = s->parts.n;
    comm_add_i64(&s->comm, &particles, 1);
    if (s->run.cost.profile) {
        fprintf(s->run.cost.profile,
                "{\"status\":%d,\"ranks\":%d,\"threads\":%d,\"steps\":%d,\"updates\":%.17g,\"wall_"
                "s\":%.6f,",
                s->run.end.status, s->comm.size, s->comm.threads, s->time.nstep_coarse,
                s->run.cost.updates, timer_wall() - s->run.cost.wall_start);
        fprintf(s->run.cost.profile, "\"cells_most\":%ld,\"leaves_most\":%ld,\"particles\":%ld,",
                (long)s->run.cost.cells_most, (long)s->run.cost.leaves_most, (long)particles);
    }
    phases_put(s);
    memory_put(s);
    if (s->run.cost.profile) fputs("}\n", s->run.cost.profile);
    return sim_profile_close(s);
}
