/* sim/stop: why a run writes a checkpoint that is not in its namelist, or ends early: a signal, the
 * end of its job, the job control file, the time since the last checkpoint.
 *
 * A checkpoint holds the state at the start of a coarse step, since levels are at different times
 * within one. So a request is noticed at once, between the phases of any level, and answered by a
 * sentence; it is granted when the coarse step has ended. The end of the job is foreseen: the run
 * stops if the longest of the last steps and another checkpoint would not fit. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/timer.h"
#include "sim/sim.h"

static volatile sig_atomic_t caught;
static int log_flags = -1; /* of stderr, if that is a pipe */

/* mpirun that ends a run reads no more of its log: a write into the full pipe would wait until the
 * rank is killed. So it no longer waits; lines may be lost. */
static void on_signal(int number)
{
    caught = number;
    if (number == SIGTERM && log_flags >= 0) fcntl(STDERR_FILENO, F_SETFL, log_flags | O_NONBLOCK);
}

void sim_catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    struct stat st;
    if (fstat(STDERR_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        log_flags = fcntl(STDERR_FILENO, F_GETFL);
    sigaction(SIGTERM, &a, NULL);
    sigaction(SIGUSR1, &a, NULL);
    sigaction(SIGUSR2, &a, NULL);
    a.sa_flags |= SA_RESETHAND; /* Ctrl-C twice ends the program at once */
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &a, NULL); /* a shell's background jobs ignore it */
}

bool sim_caught(const struct sim *s)
{
    int64_t any = caught != 0;
    comm_max_i64(&s->comm, &any, 1);
    return any;
}

/* ---- the end of the job ---- */

/* Seconds since the epoch at which Slurm will end this job; 0: not known. The variable is of Slurm
 * 23 and later; before, squeue tells. */
static double end_of_slurm_job(void)
{
    const char *end = getenv("SLURM_JOB_END_TIME"), *job = getenv("SLURM_JOB_ID");
    char ask[120], said[64] = "";
    struct tm at = {.tm_isdst = -1};
    if (end && atoll(end) > 0) return (double)atoll(end);
    if (!job || !*job || job[strspn(job, "0123456789_")] || strlen(job) > 40) return 0;
    snprintf(ask, sizeof ask, "timeout 20 squeue -h -j %s -o %%e 2>/dev/null", job);
    FILE *f = popen(ask, "r");
    if (!f) return 0;
    if (!fgets(said, sizeof said, f)) *said = 0;
    pclose(f);
    return strptime(said, "%Y-%m-%dT%H:%M:%S", &at) ? (double)mktime(&at) : 0;
}

/* Rank 0 decides for all, by its own clock. */
void sim_stop_setup(struct sim *s)
{
    const struct param_output *o = &s->par->output;
    double now = timer_wall(), margin = 60 * o->minutes_dump;
    s->stop.last_look = s->stop.last_write = now;
    s->stop.begun = time(NULL);
    if (o->walltime_hrs > 0) s->stop.end = s->cost.wall_start + 3600 * o->walltime_hrs - margin;
    if (o->walltime_hrs >= 0 || s->comm.rank > 0) return;
    double end = end_of_slurm_job();
    if (end <= 0) return;
    s->stop.end = now + end - (double)time(NULL) - margin;
    log_info(" The batch system ends this job in %.0f s: the run stops in time, %g minutes "
             "(minutes_dump) before",
             s->stop.end + margin - now, o->minutes_dump);
}

static double longest_step(const struct sim *s)
{
    double most = 0;
    for (int i = 0; i < SIM_STEPS_KEPT; i++)
        if (s->stop.step[i] > most) most = s->stop.step[i];
    return most;
}

static bool is_time_up(const struct sim *s)
{
    double now = timer_wall(), step = longest_step(s);
    if (!s->stop.end || now + step + s->stop.write <= s->stop.end) return false;
    log_info(" The job ends in %.0f s, minutes_dump not counted; the last steps took up to %.1f s, "
             "a checkpoint %.1f s",
             s->stop.end - now, step, s->stop.write);
    return true;
}

void sim_stop_wrote(struct sim *s, double seconds)
{
    s->stop.last_write = timer_wall();
    s->stop.write = seconds;
}

/* ---- the job control file ---- */

/* Lines "step action": 1 write at that coarse step, -1 write and stop. Step 0 means now, if the
 * file has changed since the run began, once for each change. */
static int job_control(struct sim *s)
{
    int action = 0, step, what;
    const char *path = s->par->run.jobcontrolfile;
    struct stat st;
    FILE *f = *path ? fopen(path, "r") : NULL;
    if (!f) return 0;
    bool changed = fstat(fileno(f), &st) == 0 && st.st_mtime >= s->stop.begun &&
                   (st.st_mtim.tv_sec != s->stop.heeded.tv_sec ||
                    st.st_mtim.tv_nsec != s->stop.heeded.tv_nsec);
    while (fscanf(f, "%d %d", &step, &what) == 2) {
        if (step == 0 && changed) s->stop.heeded = st.st_mtim;
        if (step == 0 ? changed : step == s->time.nstep_coarse) action = what < 0 ? -1 : 1;
    }
    fclose(f);
    return action;
}

/* ---- asked between coarse steps ---- */

int sim_asked_for(struct sim *s)
{
    double now = timer_wall();
    s->stop.step[s->time.nstep_coarse % SIM_STEPS_KEPT] = now - s->stop.last_look;
    s->stop.last_look = now;
    if (caught) return -1;
    if (s->comm.rank > 0) return 0;
    return is_time_up(s) ? -1 : job_control(s);
}

bool sim_backup_due(const struct sim *s)
{
    double every = 60 * s->par->output.backup_minutes;
    return s->comm.rank == 0 && every > 0 && timer_wall() - s->stop.last_write >= every;
}

/* ---- within a coarse step ---- */

void sim_heed(struct sim *s)
{
    if (!caught || s->stop.told || s->comm.rank > 0) return;
    double left = longest_step(s) - (timer_wall() - s->stop.last_look);
    s->stop.told = true;
    log_info(" Signal %d (%s): a checkpoint follows this coarse step, in about %.0f s%s", caught,
             strsignal(caught), left > 0 ? left : 0,
             caught == SIGINT ? "; another Ctrl-C ends the run at once" : "");
}
