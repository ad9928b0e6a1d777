/* progress/reporter: of a run: its steps come in, the line and the file go out. Rank 0. */
#pragma once
#include "progress/pace.h"
#include "progress/progress.h"

/* A point that the run will pass, by the first of these that comes; NAN: never. */
struct progress_goal {
    double place, step, seconds; /* expansion factor or time; coarse step; seconds from now */
};

/* A coarse step that was made. */
struct progress_step {
    int step;
    double t, a, dt;
    double work, seconds; /* cell updates; wall-clock time */
    double bytes;         /* memory of all ranks */
    int output;           /* number of the next output; 0: none will come */
    struct progress_goal next, end;
    double job_s; /* seconds until the job must end; NAN: not known */
};

struct progress_reporter {
    bool works;      /* this rank reports */
    const char *dir; /* directory of the file (lent); NULL: no file, or none that can be written */
    bool other;      /* the file is that of another run, until this one makes steps */
    struct progress p;
    struct pace places, steps; /* the place over work; the number of the step over work */
    double started, filled, drawn, written, logged; /* timer_wall */
};

/* Starts a run in this directory: the file says that it builds its initial state, unless there is
 * one of another run, which may still go on: this run may yet be refused. NULL: no file. */
void progress_open(struct progress_reporter *r, const char *dir);
/* The run begins to make steps at this place, expansion factor or time. */
void progress_begin(struct progress_reporter *r, bool cosmo, int step, double place);
void progress_add(struct progress_reporter *r, const struct progress_step *s);
/* Renews line and file, if that is due. Cheap: may be called between any two phases. */
void progress_tick(struct progress_reporter *r);
/* The run is over, for the reason err_message() if it failed. */
void progress_close(struct progress_reporter *r, enum progress_state why);
/* Removes the file: the run has not begun, and leaves nothing. */
void progress_cancel(struct progress_reporter *r);
