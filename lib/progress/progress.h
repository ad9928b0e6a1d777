/* progress: how far a run is: the line that a person watches, and the file progress.json in the
 * directory of outputs, by which the run is watched from outside (simulate --watch), on another
 * machine, too. Rank 0 only; nothing here affects the state. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The states of a run. */
enum progress_state {
    PROGRESS_STARTS,  /* builds its initial state */
    PROGRESS_RUNS,    /* makes steps */
    PROGRESS_ENDED,   /* its end is reached */
    PROGRESS_STOPPED, /* it stopped early with a checkpoint; exit status 75 */
    PROGRESS_FAILED,  /* exit status 2 */
    PROGRESS_STATES
};

/* Numbers that are not known are NAN, or 0 where that cannot be. Seconds are counted from the time
 * at which the struct was filled. */
struct progress {
    enum progress_state state;
    bool cosmo;
    int step, output, ranks, threads; /* coarse step; number of the next output; 0: none is due */
    double t, a, dt;                  /* code units; expansion factor */
    double end;                       /* expansion factor or time of the end; NAN: none */
    double elapsed;                   /* wall-clock seconds since the start of the run */
    double step_s;                    /* seconds of a coarse step */
    double output_s, end_s, job_s;    /* seconds to next output, end of the run, end of its job */
    double updates_s, bytes;          /* updates per second; memory of all ranks */
    double heard_s;                   /* longest time between two versions of the file so far */
    int64_t pid, born;                /* process of rank 0, and its start in ticks since boot */
    char host[136];                   /* machine, and name space of its processes */
    char message[256];                /* why it failed */
};

/* The line, at most `columns` characters: what matters least is left out first. since: seconds
 * since *p was filled. */
void progress_line(const struct progress *p, double since, int columns, char *line, size_t n);
/* "2 h 13 min"; "-" if not known. */
void progress_duration(double seconds, char *text, size_t n);

enum { PROGRESS_COLUMNS = 240 }; /* most columns of a line */
#define PROGRESS_FILE "progress.json"

/* Fills host, pid and born. */
void progress_self(struct progress *p);
/* Replaces the file in dir, at once for readers, without waiting for the disk. */
MUST_USE enum err progress_write(const char *dir, const struct progress *p);
/* Reads the file in dir. *there: it exists and is complete; otherwise *p is unchanged. age: seconds
 * since it was written, by the clocks of both machines. */
MUST_USE enum err progress_read(const char *dir, struct progress *p, bool *there, double *age);
/* Whether the process that wrote it is known to be gone: it ran on this machine. */
bool progress_is_gone(const struct progress *p);

/* ---- a run that is watched by its file (eye.c) ---- */

struct progress_eye {
    const char *dir;
    bool found; /* the file was there */
    struct progress p;
    double begun, changed; /* timer_wall: of the watch, of the last change */
    double age;            /* of the file at its last change */
};
/* Reads the file again, after dir and begun are set. *news: it has changed, unless news is NULL. */
MUST_USE enum err progress_look(struct progress_eye *e, bool *news);
/* Whether the run is dead: it has not said how it ended, and its process is gone; or, on another
 * machine, it has said nothing for many times longer than its longest silence so far. */
bool progress_is_lost(const struct progress_eye *e);
/* Whether it is over, in whatever way. */
bool progress_is_over(const struct progress_eye *e);
/* Seconds since the numbers were true. */
double progress_since(const struct progress_eye *e);

/* Who follows runs looks at their files at this interval, in microseconds, and without a terminal
 * prints a line at most each so many seconds. */
enum { PROGRESS_POLL_US = 500000, PROGRESS_PLAIN_S = 10 };

/* ---- the terminal (terminal.c) ---- */

enum progress_wish { PROGRESS_AUTO, PROGRESS_NEVER, PROGRESS_ALWAYS };

/* Finds out whether a person watches standard error: it is a terminal, or the pipe of an mpirun
 * whose standard error is one. TERM=dumb: no. */
void progress_watch(enum progress_wish wish);
/* Columns of that terminal now; 0: nobody watches, or the program is in the background. */
int progress_columns(void);
/* Clears the live line before standard output is written, which may be the same terminal. Behind a
 * launcher, which reads both streams by itself, it waits until the line is cleared. */
void progress_step_aside(void);
