/* simulate --watch: reads the file of the run (progress/progress.h) every half second and shows its
 * line; nothing but this file is needed, no signal, lock or log, so that the run may be on another
 * machine. On a terminal the line is live; otherwise lines follow each other, at most one each ten
 * seconds. A run that was killed cannot say so: on the same machine its process is missed; on
 * another one it is given up after a silence many times longer than its longest one so far. */
#include "watch.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/timer.h"
#include "out/program.h"
#include "progress/progress.h"

static const double PLAIN_S = 10, PATIENCE = 10, PATIENCE_MIN_S = 120, SEEN_S = 30,
                    DAMAGED_S = 15;
enum { POLL_US = 500000, STOPPED = 75 };

struct watch {
    const char *dir;
    bool found, waiting, damaged; /* the file was there; it was said that it is not, or damaged */
    struct progress p;
    double begun, changed, shown; /* timer_wall: of the watch, of the last change and line */
    double age;                   /* of the file at its last change */
};

/* One line, without repeating it. */
static void show(struct watch *w, bool last)
{
    char line[PROGRESS_COLUMNS + 1];
    const double now = timer_wall();
    const int columns = progress_columns();
    progress_line(&w->p, w->p.state == PROGRESS_RUNS ? now - w->changed + w->age : 0,
                  columns && !last ? columns : PROGRESS_COLUMNS, line, sizeof line);
    if (columns && !last) {
        log_live("%s", line);
        return;
    }
    if (!last && (w->shown > w->changed || (w->shown > 0 && now - w->shown < PLAIN_S))) return;
    log_live(NULL);
    w->shown = now;
    puts(line);
    fflush(stdout);
}

/* Reads the file again. */
static enum err look(struct watch *w)
{
    struct progress p;
    bool there;
    double age = 0;
    memset(&p, 0, sizeof p);
    TRY(progress_read(w->dir, &p, &there, &age));
    if (!there) return OK;
    const bool same = w->found && p.pid == w->p.pid && p.elapsed == w->p.elapsed &&
                      p.state == w->p.state;
    if (same) return OK;
    w->found = true;
    w->p = p;
    w->changed = timer_wall();
    w->age = fmax(age, 0);
    return OK;
}

/* Whether the run is dead: it has not said how it ended, and says nothing more. */
static bool is_lost(const struct watch *w)
{
    const double now = timer_wall(), silence = now - w->changed + w->age,
                 limit = fmax(PATIENCE_MIN_S, PATIENCE * w->p.heard_s);
    if (w->p.state > PROGRESS_RUNS) return false;
    return progress_is_gone(&w->p) || (silence > limit && now - w->begun > fmin(SEEN_S, limit));
}

/* Says once that there is nothing to watch yet. A file that is torn or damaged may be replaced by
 * the next step of its run; no run that goes on leaves it alone for long. */
static void await(struct watch *w)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%.4000s/" PROGRESS_FILE, w->dir);
    const bool there = stat(path, &st) == 0;
    const char *why = there ? "its " PROGRESS_FILE " cannot be understood"
                            : "it has no " PROGRESS_FILE;
    if (there && !w->damaged && difftime(time(NULL), st.st_mtime) > DAMAGED_S) {
        log_live(NULL);
        log_line(0, "simulate: %s: is damaged, and has not been written for %.0f s: remove it, or "
                 "start the run again; waiting for a change", path,
                 difftime(time(NULL), st.st_mtime));
        w->damaged = w->waiting = true;
    }
    if (progress_columns())
        log_live("no run has begun in %s yet: %s; waiting for %.0f s", w->dir, why,
                 timer_wall() - w->begun);
    else if (!w->waiting)
        log_line(0, "simulate: no run has begun in %s yet: %s; waiting for one", w->dir, why);
    w->waiting = true;
}

static int status_of(const struct watch *w)
{
    static const int status[PROGRESS_STATES] = {
        [PROGRESS_ENDED] = DONE, [PROGRESS_STOPPED] = STOPPED, [PROGRESS_FAILED] = TROUBLE};
    if (*w->p.message) fprintf(stderr, "simulate: %s\n", w->p.message);
    return status[w->p.state];
}

/* A directory that is not there yet can be made by a run that begins later, a file cannot. */
static enum err check_place(const char *dir)
{
    struct stat st;
    if (!*dir) FAIL(ERR_PARAM, "--watch needs the directory of a run, the -o of simulate");
    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        FAIL(ERR_FILE, "%s: is a file: --watch needs the directory of a run", dir);
    return OK;
}

static int end_watch(void)
{
    log_live(NULL);
    fprintf(stderr, "simulate: %s\n", err_message());
    return TROUBLE;
}

int watch_run(const char *dir)
{
    struct watch w = {.dir = dir, .begun = timer_wall()};
    if (check_place(dir) != OK) return end_watch();
    for (;;) {
        if (look(&w) != OK) return end_watch();
        if (w.found && (w.p.state > PROGRESS_RUNS || is_lost(&w))) break;
        if (w.found)
            show(&w, false);
        else
            await(&w);
        if (ferror(stdout)) return TROUBLE;
        usleep(POLL_US);
    }
    show(&w, true);
    if (w.p.state > PROGRESS_RUNS) return status_of(&w);
    fprintf(stderr,
            "simulate: %s: the run was last heard of at coarse step %d, %.0f s ago, and %s\n", dir,
            w.p.step, timer_wall() - w.changed + w.age,
            progress_is_gone(&w.p) ? "its process is gone without a word"
                                   : "has said nothing since: it has probably died");
    return NO;
}
