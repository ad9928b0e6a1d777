/* progress/reporter: see reporter.h. The line is drawn at most twice a second, the file is written
 * every two seconds at most, and at least every ten while phases follow each other. A file that
 * cannot be written does not end the run. */
#include "progress/reporter.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/timer.h"
#include "io/temp.h"

static const double DRAW_S = 0.5, WRITE_S = 2, BEAT_S = 10;
/* The log has the time left after 5 s, then whenever the run is a quarter older, at most each 10
 * minutes. */
static const double LOG_FIRST_S = 5, LOG_GROWTH = 0.25, LOG_MAX_S = 600;

static void write_file(struct progress_reporter *r)
{
    const double now = timer_wall();
    if (!r->dir || r->other) return;
    if (r->written > 0) r->p.heard_s = fmax(r->p.heard_s, now - r->written);
    r->p.elapsed = now - r->started;
    r->written = now;
    if (progress_write(r->dir, &r->p) == OK) return;
    log_line(0, " %s; the run continues, and cannot be watched", err_message());
    r->dir = NULL;
}

/* An expectation of seconds as of now. */
static double from_now(const struct progress_reporter *r, double seconds)
{
    return seconds - (timer_wall() - r->filled);
}

static void draw(struct progress_reporter *r)
{
    char line[PROGRESS_COLUMNS + 1];
    const int columns = progress_columns();
    r->drawn = timer_wall();
    if (!columns) return;
    progress_line(&r->p, r->drawn - r->filled,
                  columns < PROGRESS_COLUMNS ? columns : PROGRESS_COLUMNS, line, sizeof line);
    log_live("%s", line);
}

static void path_of(const struct progress_reporter *r, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.4000s/" PROGRESS_FILE, r->dir);
}

void progress_open(struct progress_reporter *r, const char *dir)
{
    char path[PATH_MAX];
    r->works = true;
    r->dir = dir;
    r->started = r->filled = timer_wall();
    r->p = (struct progress){.state = PROGRESS_STARTS,
                             .a = NAN,
                             .t = NAN,
                             .dt = NAN,
                             .end = NAN,
                             .step_s = NAN,
                             .output_s = NAN,
                             .end_s = NAN,
                             .job_s = NAN};
    progress_self(&r->p);
    if (dir) {
        path_of(r, path);
        temp_sweep(path); /* of a killed run */
        r->other = access(path, F_OK) == 0;
    }
    write_file(r);
    draw(r);
}

void progress_begin(struct progress_reporter *r, bool cosmo, int step, double place)
{
    if (!r->works) return;
    r->p.state = PROGRESS_RUNS;
    r->other = false;
    r->p.cosmo = cosmo;
    r->p.step = step;
    r->p.t = r->p.a = place;
    r->filled = timer_wall();
    pace_begin(&r->places, place);
    pace_begin(&r->steps, step);
    write_file(r);
}

/* Seconds to a goal; NAN: never, or not known yet. */
static double seconds_to(const struct progress_reporter *r, const struct progress_goal *g)
{
    /* fmin ignores NAN */
    const double place = isfinite(g->place) ? pace_left(&r->places, g->place) : NAN;
    const double step = isfinite(g->step) ? pace_left(&r->steps, g->step) : NAN;
    return fmin(fmin(place, step), g->seconds);
}

/* Seconds since the start at which the log has the time left. */
static double log_due(const struct progress_reporter *r)
{
    const double before = r->logged - r->started;
    return r->logged > 0 ? before + fmin(LOG_GROWTH * before, LOG_MAX_S) : LOG_FIRST_S;
}

static void log_left(struct progress_reporter *r)
{
    char end[40], output[40], more[80] = "";
    if (!isfinite(r->p.end_s)) return;
    r->logged = r->filled;
    progress_duration(r->p.end_s, end, sizeof end);
    progress_duration(r->p.output_s, output, sizeof output);
    if (r->p.output > 0 && isfinite(r->p.output_s))
        snprintf(more, sizeof more, ", %s to output %d", output, r->p.output);
    log_info(" Time left: about %s%s", end, more);
}

/* Estimates the times left after the last step. */
static void estimate(struct progress_reporter *r, const struct progress_step *s)
{
    struct progress *p = &r->p;
    r->filled = timer_wall();
    p->output_s = seconds_to(r, &s->next);
    p->end_s = seconds_to(r, &s->end);
    p->job_s = s->job_s;
    p->updates_s = pace_speed(&r->places);
    p->step_s = pace_next(&r->places);
}

void progress_add(struct progress_reporter *r, const struct progress_step *s)
{
    if (!r->works) return;
    struct progress *p = &r->p;
    const double now = timer_wall();
    const bool draws = now - r->drawn >= DRAW_S, writes = now - r->written >= WRITE_S,
               tells = now - r->started >= log_due(r);
    pace_step(&r->places, p->cosmo ? s->a : s->t, s->work, s->seconds);
    pace_step(&r->steps, s->step, s->work, s->seconds);
    p->step = s->step, p->t = s->t, p->a = s->a, p->dt = s->dt;
    p->bytes = s->bytes;
    p->output = s->output;
    p->end = s->end.place;
    /* progress_tick may have drawn the line meanwhile: its estimates must not grow old for that */
    if (draws || writes || tells || now - r->filled >= DRAW_S) estimate(r, s);
    if (tells) log_left(r);
    if (writes) write_file(r);
    if (draws) draw(r);
}

void progress_tick(struct progress_reporter *r)
{
    if (!r->works) return;
    const double now = timer_wall();
    if (now - r->drawn >= DRAW_S) draw(r);
    if (now - r->written < BEAT_S || !r->dir) return;
    /* the numbers of the last step, as of now */
    const struct progress was = r->p;
    r->p.output_s = from_now(r, was.output_s);
    r->p.end_s = from_now(r, was.end_s);
    r->p.job_s = from_now(r, was.job_s);
    write_file(r);
    r->p.output_s = was.output_s, r->p.end_s = was.end_s, r->p.job_s = was.job_s;
}

void progress_close(struct progress_reporter *r, enum progress_state why)
{
    if (!r->works) return;
    r->works = false;
    log_live(NULL);
    r->p.state = why;
    r->p.output = 0;
    r->p.output_s = r->p.end_s = NAN;
    if (why == PROGRESS_ENDED) r->p.end_s = 0;
    if (why == PROGRESS_FAILED) snprintf(r->p.message, sizeof r->p.message, "%s", err_message());
    write_file(r);
}

void progress_cancel(struct progress_reporter *r)
{
    char path[PATH_MAX];
    if (!r->works) return;
    r->works = false;
    log_live(NULL);
    if (!r->dir || r->other) return;
    path_of(r, path);
    unlink(path);
}
