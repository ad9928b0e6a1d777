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

static const double DAMAGED_S = 15;

struct watch {
    struct progress_eye eye;
    bool waiting, damaged; /* it was said that there is no file, that it is damaged */
    double shown;          /* timer_wall of the last line */
};

/* One line, without repeating it. */
static void show(struct watch *w, bool last)
{
    char line[PROGRESS_COLUMNS + 1];
    const double now = timer_wall();
    const int columns = progress_columns();
    progress_line(&w->eye.p, w->eye.p.state == PROGRESS_RUNS ? progress_since(&w->eye) : 0,
                  columns && !last ? columns : PROGRESS_COLUMNS, line, sizeof line);
    if (columns && !last) {
        log_live("%s", line);
        return;
    }
    if (!last && (w->shown > w->eye.changed || (w->shown > 0 && now - w->shown < PROGRESS_PLAIN_S)))
        return;
    log_live(NULL);
    w->shown = now;
    puts(line);
    fflush(stdout);
}

/* Says once that there is nothing to watch yet. A file that is torn or damaged may be replaced by
 * the next step of its run; no run that goes on leaves it alone for long. */
static void await(struct watch *w)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%.4000s/" PROGRESS_FILE, w->eye.dir);
    const bool there = stat(path, &st) == 0;
    const char *why = there ? "its " PROGRESS_FILE " cannot be understood"
                            : "it has no " PROGRESS_FILE;
    if (there && !w->damaged && difftime(time(NULL), st.st_mtime) > DAMAGED_S) {
        log_live(NULL);
        log_line(0,
                 "simulate: %s: is damaged, and has not been written for %.0f s: remove it, or "
                 "start the run again; waiting for a change",
                 path, difftime(time(NULL), st.st_mtime));
        w->damaged = w->waiting = true;
    }
    if (progress_columns())
        log_live("no run has begun in %s yet: %s; waiting for %.0f s", w->eye.dir, why,
                 timer_wall() - w->eye.begun);
    else if (!w->waiting)
        log_line(0, "simulate: no run has begun in %s yet: %s; waiting for one", w->eye.dir, why);
    w->waiting = true;
}

static int status_of(const struct watch *w)
{
    static const int status[PROGRESS_STATES] = {
        [PROGRESS_ENDED] = DONE, [PROGRESS_STOPPED] = STOPPED, [PROGRESS_FAILED] = TROUBLE};
    if (*w->eye.p.message) fprintf(stderr, "simulate: %s\n", w->eye.p.message);
    return status[w->eye.p.state];
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
    struct watch w = {.eye = {.dir = dir, .begun = timer_wall()}};
    if (check_place(dir) != OK) return end_watch();
    for (;;) {
        if (progress_look(&w.eye, NULL) != OK) return end_watch();
        if (progress_is_over(&w.eye)) break;
        if (w.eye.found)
            show(&w, false);
        else
            await(&w);
        if (ferror(stdout)) return TROUBLE;
        usleep(PROGRESS_POLL_US);
    }
    show(&w, true);
    if (w.eye.p.state > PROGRESS_RUNS) return status_of(&w);
    fprintf(stderr,
            "simulate: %s: the run was last heard of at coarse step %d, %.0f s ago, and %s\n", dir,
            w.eye.p.step, progress_since(&w.eye),
            progress_is_gone(&w.eye.p) ? "its process is gone without a word"
                                       : "has said nothing since: it has probably died");
    return NO;
}
