/* sim/run: the run as such, whatever it solves: its outputs, what stops it, where it resumes from,
 * its cost and its reports. */
#pragma once
#include <stdio.h>
#include <time.h>

#include "ckpt/source.h"
#include "observe/observe.h"
#include "out/publish.h"

struct sim;
struct solver;

/* Cost of the run: wall-clock time, updates of cells, most cells. */
struct sim_cost {
    double wall_start, wall_step, updates_all, wall_all;
    double updates; /* of cells, all levels, by all ranks */
    /* most cells of all levels after a coarse step, and the leaves among them */
    int64_t cells_most, leaves_most;
    const char *profile_path; /* simulate -j, or NULL (lent) */
    FILE *profile;            /* on rank 0, while the run lasts */
};

struct sim_out {
    const char *dir;
    char start[4096], home[8192]; /* where the run began, and dir from there; empty: not known */
    /* Called for each finished checkpoint, on rank 0. */
    void (*announce)(const char *path);
    bool force; /* replace checkpoints that are there */
    const char *namelist_text, *provenance;
    char *before; /* history of the checkpoint that the run resumed from; NULL: none */
    int ifout, iout, noutput;
    double *tout, *aout, tout_next, aout_next;
    char last_good[4096]; /* checkpoint; empty: none yet */
    int last_step;        /* the coarse step of the last output, or of the restart; −1: none */
    /* before this coarse step, by any rank: 0 nothing, 1 write, −1 write and stop */
    int asked;
    bool backup; /* backup_minutes have passed */
    bool again;  /* the last checkpoint is lost */
    /* expansion factor of the table of cooling in restart.rest, on rank 0; 0: not of this run */
    double rates_aexp;
};

/* The newest checkpoint, which may be on its way to the disk (output.c). */
struct sim_late {
    bool there; /* a checkpoint is to be published */
    bool done;  /* and all ranks' files are on disk */
    bool vital; /* the run ends if it fails */
    int number, step;
    double handed; /* seconds until the system had it */
    struct out_pending out;
};

/* When the run must stop, and what asks for it (stop.c). Seconds of timer_wall, on rank 0. */
enum { SIM_STEPS_LOGGED = 8 };
struct sim_stop {
    double end; /* of the job, less minutes_dump; 0: none */
    double step
        [SIM_STEPS_LOGGED]; /* seconds of the last coarse steps; write: of the last checkpoint */
    double write;
    double last_look, last_write;
    time_t begun;
    /* changes of the job control file that have been acted on, or could not be */
    struct timespec heeded, refused;
    bool told; /* of a signal */
};

struct sim_restart {
    const char *path;      /* checkpoint to resume from, or NULL: nrestart of the namelist says */
    struct source *from;   /* it, while it is read */
    bool change_model;     /* its model may be another than the namelist's */
    struct ckpt_rest rest; /* contents that the run does not use */
    /* before its first output would be due: that is the checkpoint it comes from */
    bool resumed;
    int number; /* of that checkpoint, if it is one of s->run.out.dir; else −1 */
};

struct sim_end {
    bool done;
    bool broken; /* the state holds infinities or NaNs */
    int status;  /* exit status: 0, 75 stopped early */
};

/* The run as such: its outputs, why it stops, where it comes from, and its cost. */
struct sim_run {
    const struct solver *solver; /* sim/solver.h; lent; NULL before sim_start: octree_solver */
    void *own;                   /* the state that the solver keeps beside the mesh */
    bool gathered;               /* solver with a source: the mesh holds the state of now */
    struct sim_out out;
    struct sim_late late;
    struct sim_stop stop;
    struct sim_restart restart;
    struct sim_end end;
    struct sim_cost cost;
    bool expect; /* sim_start reads headers only: noct and diag.particles are what they say */
};
/* Says how many particles have left the box since the last time; lost: of all ranks, from the start
 * on. In a periodic box it is an error that any have. */
MUST_USE enum err sim_report_lost(struct sim *s, int64_t lost);

enum { TIMING_MAX = 64 };
struct timing {
    char label[32];
    double low, mean, high; /* seconds, over ranks */
};
/* profile.c: the timers, how many (collective) */
int sim_timings(const struct sim *s, struct timing p[TIMING_MAX]);
MUST_USE enum err sim_profile_begin(struct sim *s);
void sim_profile_step(struct sim *s);
MUST_USE enum err sim_profile_end(struct sim *s);
MUST_USE enum err sim_profile_close(struct sim *s); /* (collective) */
/* output.c: an output of this step is laid out by other domains than the run's, to which the run
 * returns */
bool sim_output_travels(const struct sim *s);
void sim_report_begin(struct sim *s);  /* report.c: empty sums of a coarse step */
void sim_report(struct sim *s, int l); /* report.c: step lines */
void sim_report_mesh(struct sim *s, const char *title);
void sim_report_step_time(struct sim *s);
void sim_report_timers(struct sim *s);
/* output.c: the output, and observers, that are due at this step (collective) */
MUST_USE enum err sim_output(struct sim *s);
/* observe.c: at the start of a run that resumes: tables beside its checkpoint that a run that was
 * killed has not written (collective) */
MUST_USE enum err sim_measure_missing(struct sim *s);
/* output.c: waits until the checkpoint on its way, if any, is on disk, and gives it its name.
 * (collective, agreed) */
MUST_USE enum err sim_publish(struct sim *s);
/* output.c: the same at the end of the run, which has this error or none: that is what it returns,
 * before its own (collective, agreed) */
MUST_USE enum err sim_publish_last(struct sim *s, enum err why);
/* output.c: the header of a checkpoint of the state */
void sim_head(const struct sim *s, struct ckpt_head *h);
/* observe.c: the state with this header, for observers (observe/observe.h) */
struct observation sim_observation(struct sim *s, const struct ckpt_head *h, int number);
/* observe.c: observers that are due at this occasion, OBSERVE_… (collective, agreed) */
MUST_USE enum err sim_observe(struct sim *s, int when);
/* output.c: the run resumes from a checkpoint with this provenance */
void sim_history_resume(struct sim *s, const char *text);
void sim_output_setup(struct sim *s);
/* output.c: what was written before the checkpoint s->run.restart.from */
void sim_output_resume(struct sim *s);
/* restart.c: s->run.restart.from, if the run resumes from a checkpoint */
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
void sim_present(const struct sim *s, unsigned char there[SIM_NUMBERS]);
/* output.c: none is in the way of this run's, or they may be replaced (collective) */
MUST_USE enum err sim_check_room(const struct sim *s);
bool sim_at_end(const struct sim *s); /* output.c: time or step limit reached */
void sim_stop_setup(struct sim *s);   /* stop.c: once the run begins */
/* stop.c: a job control file that is there can be read */
MUST_USE enum err sim_check_orders(const struct sim *s);
bool sim_caught(const struct sim *s); /* stop.c: a rank was asked to stop (collective) */
/* stop.c: after a coarse step, what this rank was asked for: 0 nothing, 1 write, −1 and stop */
int sim_asked_for(struct sim *s);
bool sim_backup_due(const struct sim *s);           /* stop.c: rank 0 knows */
void sim_stop_wrote(struct sim *s, double seconds); /* stop.c: a checkpoint took so long */
/* stop.c: at any time: says that a signal has come */
void sim_poll(struct sim *s);
