/* sim/stop: why a run writes a checkpoint that is not in its namelist, or ends early: a signal, the
 * end of its job, the job control file, the time since the last checkpoint.
 *
 * A checkpoint holds the state at the start of a coarse step, since levels are at different times
 * within one. A request is noticed between any two phases, and logged; it is obeyed at the end of
 * the coarse step. Before the end of the job the run stops as soon as the longest of the last steps
 * and another checkpoint would not fit into the time left. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "base/timer.h"
#include "io/table.h"
#include "sim/sim.h"

static volatile sig_atomic_t caught, suspended;
static int log_flags = -1; /* file status flags of stderr, if it is a pipe; else −1 */

/* When mpirun ends a run it stops reading the log, and a write to the full pipe would block until
 * the rank is killed. The handler makes stderr non-blocking; lines may be lost. */
static void on_signal(int number)
{
    caught = number;
    bool deaf = number == SIGTERM || number == SIGHUP;
    if (deaf && log_flags >= 0) fcntl(STDERR_FILENO, F_SETFL, log_flags | O_NONBLOCK);
}

static void on_continue(int number)
{
    (void)number;
    suspended = 1;
}

/* Keeps SIGHUP ignored under nohup, and SIGINT in background jobs of a shell. */
static void catch_unless_ignored(int number, const struct sigaction *a)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, a, NULL);
}

void sim_catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct stat st;
    if (fstat(STDERR_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        log_flags = fcntl(STDERR_FILENO, F_GETFL);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGUSR1, &a, NULL);
    sigaction(SIGUSR2, &a, NULL);
    catch_unless_ignored(SIGHUP, &a);
    a.sa_flags |= SA_RESETHAND; /* Ctrl-C twice ends the program at once */
    catch_unless_ignored(SIGINT, &a);
    sigaction(SIGCONT, &(struct sigaction){.sa_handler = on_continue, .sa_flags = SA_RESTART},
              NULL);
}

bool sim_was_suspended(void)
{
    const bool was = suspended;
    suspended = 0;
    return was;
}

bool sim_caught(const struct sim *s)
{
    int64_t any = caught != 0;
    comm_max_i64(&s->comm, &any, 1);
    return any;
}

/* ---- the end of the job ---- */

/* Seconds since the epoch at which Slurm will end this job; 0: not known. Slurm 23 and later set
 * SLURM_JOB_END_TIME; for older versions squeue is run. */
static double end_of_slurm_job(void)
{
    const char *end = getenv("SLURM_JOB_END_TIME"), *job = getenv("SLURM_JOB_ID");
    char ask[120], said[64] = "";
    struct tm at = {.tm_isdst = -1};
    int64_t told;
    if (end && text_whole(&end, &told) && !*end && told > 0) return (double)told;
    if (!job || !*job || job[strspn(job, "0123456789_")] || strlen(job) > 40) return 0;
    snprintf(ask, sizeof ask, "timeout 20 squeue -h -j %s -o %%e 2>/dev/null", job);
    FILE *f = popen(ask, "r");
    if (!f) return 0;
    if (!fgets(said, sizeof said, f)) *said = 0;
    pclose(f);
    return strptime(said, "%Y-%m-%dT%H:%M:%S", &at) ? (double)mktime(&at) : 0;
}

/* Rank 0 decides for all ranks, by its own clock. */
void sim_stop_setup(struct sim *s)
{
    const struct param_output *o = &s->par->output;
    double now = timer_wall(), margin = 60 * o->minutes_dump;
    s->run.stop.last_look = s->run.stop.last_write = now;
    s->run.stop.begun = time(NULL);
    if (o->walltime_hrs > 0)
        s->run.stop.end = s->run.cost.wall_start + 3600 * o->walltime_hrs - margin;
    if (o->walltime_hrs >= 0 || s->comm.rank > 0) return;
    double end = end_of_slurm_job();
    if (end <= 0) return;
    s->run.stop.end = now + end - (double)time(NULL) - margin;
    log_info(
        " The batch system ends this job in %.0f s: the run stops %g minutes (minutes_dump) before",
        s->run.stop.end + margin - now, o->minutes_dump);
}

static double longest_step(const struct sim *s)
{
    double max = 0;
    for (int i = 0; i < SIM_STEPS_LOGGED; i++)
        if (s->run.stop.step[i] > max) max = s->run.stop.step[i];
    return max;
}

/* The expected time until a checkpoint that is written next is on disk: syncs of one that is not
 * published yet come first. */
static double checkpoint_time(const struct sim *s, double now)
{
    const struct sim_stop *t = &s->run.stop;
    const double rest = s->run.late.pending ? t->synced - (now - t->last_write) : 0;
    return t->handed + t->synced + fmax(rest, 0);
}

static bool is_time_up(const struct sim *s)
{
    double now = timer_wall(), step = longest_step(s), write = checkpoint_time(s, now);
    if (!s->run.stop.end || now + step + write <= s->run.stop.end) return false;
    log_info(" The job ends in %.0f s, minutes_dump not counted; the last steps took up to %.1f s, "
             "a checkpoint %.1f s",
             s->run.stop.end - now, step, write);
    return true;
}

double sim_job_left(const struct sim *s)
{
    return s->run.stop.end > 0 ? s->run.stop.end - timer_wall() : NAN;
}

void sim_stop_handed(struct sim *s, double seconds)
{
    s->run.stop.last_write = timer_wall();
    s->run.stop.handed = seconds;
}

void sim_stop_synced(struct sim *s, double seconds)
{
    s->run.stop.last_write = timer_wall();
    s->run.stop.synced = seconds;
}

/* ---- the job control file ---- */

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Reads an order: what[0] coarse step, what[1] action. */
static enum err next_order(struct table *t, bool *got, int what[2])
{
    double x[2];
    TRY(table_next(t, got));
    if (!*got) return OK;
    TRY(table_row(t, 2, "a coarse step and an action", x));
    for (int i = 0; i < 2; i++) {
        what[i] = fabs(x[i]) < 1e9 ? (int)x[i] : 0;
        if (what[i] != x[i])
            FAIL(ERR_FORMAT,
                 "%s: line %ld: %g is not a whole number: expected a coarse step and an action",
                 t->path, (long)table_line(t), x[i]);
    }
    return OK;
}

/* Reads lines "step action": 1 write at this coarse step, -1 write and stop. Step 0 means now, once
 * for each modification of the file since the run began. */
static enum err poll_orders(struct sim *s, struct table *t, const struct stat *st, int *action)
{
    bool changed = st->st_mtime >= s->run.stop.begun && !same_time(st->st_mtim, s->run.stop.heeded);
    for (;;) {
        bool got;
        int what[2] = {0};
        TRY(next_order(t, &got, what));
        if (!got) return OK;
        if (what[0] == 0 && changed) s->run.stop.heeded = st->st_mtim;
        if (what[0] == 0 ? changed : what[0] == s->time.nstep_coarse)
            *action = what[1] < 0 ? -1 : 1;
    }
}

/* Opens the job control file if it exists; st: its status. */
static enum err open_orders(const struct sim *s, struct table *t, struct stat *st, bool *exists)
{
    enum { BYTES_MAX = 1 << 20 };
    const char *path = s->par->run.jobcontrolfile;
    *exists = *path && stat(path, st) == 0;
    if (!*exists) return OK;
    return err_of_param(table_open(t, path, TABLE_NOTES, BYTES_MAX), "run_params/jobcontrolfile");
}

enum err sim_check_orders(const struct sim *s)
{
    struct table t;
    struct stat st;
    enum err err = OK;
    int what[2] = {0};
    bool got;
    TRY(open_orders(s, &t, &st, &got));
    if (!got) return OK;
    while (err == OK && got) err = next_order(&t, &got, what);
    table_close(&t);
    return err;
}

/* An unreadable job control file does not end the run: the log reports it, once for each change. */
static int job_control(struct sim *s)
{
    struct table t;
    struct stat st = {0};
    struct timespec before = s->run.stop.heeded;
    int action = 0;
    bool exists;
    enum err err = open_orders(s, &t, &st, &exists);
    if (err == OK && exists) {
        err = poll_orders(s, &t, &st, &action);
        table_close(&t);
    }
    if (err == OK) return action;
    if (!same_time(s->run.stop.refused, st.st_mtim))
        log_info(" %s; the job control file is ignored", err_message());
    s->run.stop.refused = st.st_mtim;
    s->run.stop.heeded = before;
    return 0;
}

/* ---- requests between coarse steps ---- */

int sim_asked_for(struct sim *s)
{
    double now = timer_wall();
    s->run.stop.step[s->time.nstep_coarse % SIM_STEPS_LOGGED] = now - s->run.stop.last_look;
    s->run.stop.last_look = now;
    if (caught) return -1;
    if (s->comm.rank > 0) return 0;
    return is_time_up(s) ? -1 : job_control(s);
}

bool sim_backup_due(const struct sim *s)
{
    double every = 60 * s->par->output.backup_minutes;
    return s->comm.rank == 0 && every > 0 && timer_wall() - s->run.stop.last_write >= every;
}

/* ---- requests within a coarse step ---- */

void sim_poll(struct sim *s)
{
    progress_tick(&s->run.progress);
    if (!caught || s->run.stop.told || s->comm.rank > 0) return;
    double left = longest_step(s) - (timer_wall() - s->run.stop.last_look);
    s->run.stop.told = true;
    log_info(" Signal %d (%s): a checkpoint follows this coarse step, in about %.0f s%s", caught,
             strsignal(caught), left > 0 ? left : 0,
             caught == SIGINT ? "; a second Ctrl-C ends the run at once" : "");
}
