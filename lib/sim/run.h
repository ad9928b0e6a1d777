/* sim/run: the run itself, whatever equations it solves: outputs, stop conditions, restart, cost
 * and reports. */
#pragma once
#include <stdio.h>
#include <time.h>

#include "ckpt/source.h"
#include "observe/observe.h"
#include "out/publish.h"
#include "progress/reporter.h"

struct sim;
struct solver;
struct param_change;

/* Cost of the run: wall-clock time, cell updates, maximum number of cells. */
struct sim_cost {
    double wall_start, wall_step, updates_all, wall_all;
    double t_step;  /* time of the run at the last report */
    double updates; /* cell updates of all levels and ranks */
    /* maximum number of cells of all levels after a coarse step, and leaves at that time */
    int64_t cells_most, leaves_most;
    const char *profile_path; /* simulate -j, or NULL (lent) */
    FILE *profile;            /* profile file on rank 0 during the run */
};

struct sim_out {
    const char *dir;
    /* initial working directory, and absolute path of dir; empty: not known */
    char start[4096], home[8192];
    /* Called on rank 0 for each finished checkpoint. */
    void (*announce)(const char *path);
    bool force; /* replace existing checkpoints */
    const char *namelist_text, *provenance;
    char *before; /* provenance of the checkpoint from which the run resumed; NULL: none */
    int ifout, iout, noutput;
    double *tout, *aout, tout_next, aout_next;
    char last_good[4096]; /* path of the last good checkpoint; empty: none yet */
    int last_step;        /* coarse step of the last output, or of the restart; −1: none */
    /* request of any rank before this coarse step: 0 none, 1 write, −1 write and stop */
    int asked;
    bool backup; /* backup_minutes have passed */
    bool again;  /* the last checkpoint is lost */
    /* expansion factor of the cooling table in restart.rest, on rank 0; 0: table of another run */
    double rates_aexp;
};

/* The newest checkpoint, possibly not yet on disk (output.c). */
struct sim_late {
    bool pending; /* a checkpoint waits for publication */
    bool told;    /* a reduction since the hand-over has told whether all ranks are done */
    bool done;    /* all ranks' files of the checkpoint are on disk */
    bool vital;   /* a failure of the checkpoint ends the run */
    int number, step;
    struct out_pending out;
};

/* Stop conditions (stop.c). Times are timer_wall on rank 0, seconds. */
enum { SIM_STEPS_LOGGED = 8 };
struct sim_stop {
    double end;                    /* end of the job minus minutes_dump; 0: none */
    double step[SIM_STEPS_LOGGED]; /* durations of the last coarse steps, seconds */
    double handed, synced;         /* durations of the last checkpoint: its hand-over, its syncs */
    double last_look, last_write;
    time_t begun;
    /* modification times of the job control file: last one obeyed, last one refused */
    struct timespec heeded, refused;
    bool told; /* a signal has been logged */
};

struct sim_restart {
    const char *path;    /* checkpoint to resume from; NULL: as nrestart of the namelist says */
    struct source *from; /* source of the checkpoint while it is read */
    bool change_model;   /* accept a checkpoint of another model than the namelist's */
    bool conformal; /* births of stars in the checkpoint are conformal times, and shall be proper */
    struct ckpt_rest rest; /* contents of the checkpoint that the run does not use */
    /* no output is due yet at the coarse step of the restart, which the checkpoint already holds */
    bool resumed;
    int number; /* number of the checkpoint if it is one of s->run.out.dir; else −1 */
};

struct movie_run;
struct sim_end {
    bool done;
    bool broken; /* the state contains infinities or NaNs */
    int status;  /* exit status: 0, or 75 if stopped early */
};

/* The run as such: its outputs, why it stops, where it comes from, and its cost. */
struct sim_run {
    const struct solver *solver; /* sim/solver.h; lent; NULL before sim_start: octree_solver */
    void *own;                   /* the state of the solver in addition to the mesh */
    bool gathered;               /* solver with a source: the mesh holds the state of now */
    struct sim_out out;
    struct sim_late late;
    struct sim_stop stop;
    struct sim_restart restart;
    struct sim_end end;
    struct sim_cost cost;
    struct progress_reporter progress; /* on rank 0 */
    struct observer_cost observer[OBSERVERS_MAX];
    struct movie_run *movie; /* frames to come (movie/frame.h); NULL: none */
    bool expect; /* sim_start reads headers only, and fills noct and diag.particles from them */
};
/* Logs how many particles have left the box since the last call; lost: number on all ranks since
 * the start. In a periodic box a loss is an error. */
MUST_USE enum err sim_report_lost(struct sim *s, int64_t lost);

enum { TIMING_MAX = 64 };
struct timing {
    char label[32];
    double low, mean, high; /* min, mean and max over ranks, seconds */
};
/* profile.c: the timers; returns their number (collective) */
int sim_timings(const struct sim *s, struct timing p[TIMING_MAX]);
MUST_USE enum err sim_profile_begin(struct sim *s);
void sim_profile_step(struct sim *s);
MUST_USE enum err sim_profile_end(struct sim *s);
MUST_USE enum err sim_profile_close(struct sim *s); /* (collective) */
/* output.c: whether an output of this step needs other domains than the run's, to which the run
 * returns afterwards */
bool sim_output_travels(const struct sim *s);
void sim_report_begin(struct sim *s);  /* report.c: clears the sums of a coarse step */
void sim_report(struct sim *s, int l); /* report.c: logs the lines of a step */
void sim_report_mesh(struct sim *s, const char *title);
void sim_report_step_time(struct sim *s);
void sim_report_timers(struct sim *s);
/* output.c: the output, and observers, that are due at this step (collective) */
MUST_USE enum err sim_output(struct sim *s);
/* observe.c: at the start of a run that resumes: checks what observers read from its checkpoint,
 * and writes its tables that a run that was killed has not written (collective) */
MUST_USE enum err sim_measure_missing(struct sim *s);
/* output.c: waits until the pending checkpoint, if any, is on disk, and publishes it (collective,
 * agreed) */
MUST_USE enum err sim_publish(struct sim *s);
/* output.c: sim_publish at the end of a coarse step, unless a reduction has told that it would have
 * to wait, and steps follow (collective, agreed) */
MUST_USE enum err sim_publish_done(struct sim *s);
/* output.c: sim_publish at the end of a run that ended with error `why` or OK; returns `why` if it
 * is an error, else that of sim_publish (collective, agreed) */
MUST_USE enum err sim_publish_last(struct sim *s, enum err why);
/* output.c: the header of a checkpoint of the state */
void sim_head(const struct sim *s, struct ckpt_head *h);
/* observe.c: the state with this header, as observers see it (observe/observe.h) */
struct observation sim_observation(struct sim *s, const struct ckpt_head *h, int number);
/* observe.c: runs the observers due at this occasion, OBSERVE_… (collective, agreed) */
MUST_USE enum err sim_observe(struct sim *s, int when);
/* The checkpoint from which a run resumes, as outputs need it. */
struct sim_origin {
    const char *path, *format;
    int number;
    const struct ckpt_head *head;
    bool times; /* head has tout_next and aout_next */
};
/* output.c: records the provenance of the checkpoint from which the run resumes. Rank 0. */
void sim_history_resume(struct sim *s, const struct sim_origin *from, const char *text);
void sim_output_setup(struct sim *s);
/* output.c: resumes numbers and times of outputs from this checkpoint */
void sim_output_resume(struct sim *s, const struct sim_origin *from);
/* restart.c: the path of the checkpoint from which the run resumes, to buf if the namelist gives a
 * number; NULL: it begins at the start */
const char *sim_restart_path(const struct sim *s, char buf[4096]);
/* restart.c: takes the number of the checkpoint `from` if it is one of this run's directory, which
 * must not lie in it */
MUST_USE enum err sim_restart_from(struct sim *s, const char *from, int number);
/* restart.c: compares the parameters of the run that wrote the checkpoint with this run's, and
 * `more`, unless NULL: the log lists all changes; an error if they make another model of it. */
MUST_USE enum err sim_compare(const struct sim *s, const struct params *was,
                              const struct param_change *more, const char *path);
/* restart.c: sim_compare with the namelist of the checkpoint, which may be NULL. Rank 0. */
MUST_USE enum err sim_compare_namelist(const struct sim *s, const char *text, size_t bytes,
                                       const char *path);
/* restart.c: an error if the end of the run is reached already; or, for a run that looks for the
 * newest checkpoint, s->run.end.done. path: of the checkpoint */
MUST_USE enum err sim_restart_end(struct sim *s, const char *path);
/* restart.c: opens s->run.restart.from, if the run resumes from a checkpoint */
MUST_USE enum err sim_restart_open(struct sim *s);
MUST_USE enum err sim_restart(struct sim *s); /* restart.c: the state of s->run.restart.from */
/* observe.c: octs and values of a source become those of the mesh, which has none, with balanced
 * domains; its particles, unless parts is NULL, are where they were read (collective) */
MUST_USE enum err sim_mesh_read(struct sim *s, struct source *from, struct parts *parts);
/* observe.c: before the mesh is read between steps: it holds the state, if the solver keeps that
 * elsewhere (collective, agreed) */
MUST_USE enum err sim_gather(struct sim *s);
enum { SIM_NUMBERS = 100000 }; /* output_00001 to output_99999 */
/* output.c: marks the checkpoints in the directory of outputs (collective) */
void sim_present(const struct sim *s, unsigned char present[SIM_NUMBERS]);
/* output.c: fails if an existing checkpoint is in the way of one of this run's and may not be
 * replaced (collective) */
MUST_USE enum err sim_check_room(const struct sim *s);
bool sim_at_end(const struct sim *s); /* output.c: time or step limit reached */
/* output.c: when the next output is due, and when the run ends */
struct progress_goal sim_next_output(const struct sim *s);
struct progress_goal sim_end_goal(const struct sim *s);
void sim_stop_setup(struct sim *s); /* stop.c: called when the run begins */
/* stop.c: checks that the job control file, if present, can be read */
MUST_USE enum err sim_check_orders(const struct sim *s);
/* stop.c: whether any rank has caught a signal to stop (collective) */
bool sim_caught(const struct sim *s);
/* stop.c: after a coarse step, the request known to this rank: 0 none, 1 write, −1 write and
 * stop */
int sim_asked_for(struct sim *s);
/* stop.c: whether a backup is due; true on rank 0 only */
bool sim_backup_due(const struct sim *s);
/* stop.c: seconds until the run must stop for the end of its job; NAN: no limit is known. Rank 0 */
double sim_job_left(const struct sim *s);
/* stop.c: whether the process was stopped and continued (Ctrl-Z, fg) since the last call */
bool sim_was_suspended(void);
/* stop.c: the system has taken a checkpoint, or has it on disk; records the seconds that took. */
void sim_stop_handed(struct sim *s, double seconds);
void sim_stop_synced(struct sim *s, double seconds);
/* stop.c: logs a signal that has arrived, and renews the live line; may be called at any time */
void sim_poll(struct sim *s);
