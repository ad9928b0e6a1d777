/* progress/line: the line about a run, for any width. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "progress/progress.h"

enum { PART = 64 };

void progress_duration(double seconds, char *text, size_t n)
{
    if (!isfinite(seconds)) {
        snprintf(text, n, "-");
        return;
    }
    const double s = fmax(seconds, 0);
    if (s < 59.5)
        snprintf(text, n, "%.0f s", s);
    else if (s < 600)
        snprintf(text, n, "%d min %02d s", (int)(s + 0.5) / 60, (int)(s + 0.5) % 60);
    else if (s < 3570)
        snprintf(text, n, "%.0f min", s / 60);
    else if (s < 86400)
        snprintf(text, n, "%d h %02d min", (int)(s + 30) / 3600, (int)(s + 30) % 3600 / 60);
    else if (s < 365 * 86400.0)
        snprintf(text, n, "%d d %d h", (int)(s / 86400), (int)fmod(s, 86400) / 3600);
    else
        snprintf(text, n, "over a year");
}

/* x with a metric prefix and three digits. */
static void metric(double x, const char *unit, char *text)
{
    static const char prefix[] = " kMGTPE";
    int k = 0;
    for (; x >= 999.5 && prefix[k + 1]; k++) x /= 1000;
    snprintf(text, PART, "%.3g %.*s%s", x, k > 0, prefix + k, unit);
}

static void time_left(const char *format, double seconds, char *text)
{
    char left[PART / 2];
    progress_duration(seconds, left, sizeof left);
    if (isfinite(seconds)) snprintf(text, PART, format, left);
}

/* The seconds that a step has lasted, where that is long. */
static void duration_of_step(const struct progress *p, double since, char *text)
{
    char now[PART / 3], all[PART / 3];
    if (since < 5 || p->state != PROGRESS_RUNS) return;
    progress_duration(since, now, sizeof now);
    progress_duration(p->step_s, all, sizeof all);
    if (p->step_s > 0)
        snprintf(text, PART, "(for %s of %s)", now, all);
    else
        snprintf(text, PART, "(for %s)", now);
}

/* The parts of the line, in their order. */
enum { STEP, STEP_TIME, PLACE, DT, SPEED, MEMORY, OUTPUT, JOB, END, PARTS };

static void fill(const struct progress *p, double since, char part[PARTS][PART])
{
    static const char *const said[PROGRESS_STATES] = {"starting", "", "completed", "stopped early",
                                                      "failed"};
    const bool over = p->state > PROGRESS_RUNS;
    if (p->state != PROGRESS_RUNS)
        snprintf(part[STEP], PART, "%s%s%.0d", said[p->state], p->step > 0 ? ", step " : "",
                 p->step);
    else
        snprintf(part[STEP], PART, "step %d", p->step);
    if (p->state == PROGRESS_STARTS) return;
    duration_of_step(p, since, part[STEP_TIME]);
    snprintf(part[PLACE], PART, p->cosmo ? "z=%.4g" : "t=%.5g", p->cosmo ? 1 / p->a - 1 : p->t);
    if (over) {
        time_left("after %s", p->elapsed, part[END]);
        return;
    }
    if (p->dt > 0) snprintf(part[DT], PART, "dt=%.3g", p->dt);
    if (p->updates_s > 0) metric(p->updates_s, "updates/s", part[SPEED]);
    if (p->bytes > 0) metric(p->bytes, "B", part[MEMORY]);
    char format[PART];
    snprintf(format, sizeof format, "output %d in %%s", p->output);
    if (p->output > 0) time_left(format, p->output_s - since, part[OUTPUT]);
    if (p->job_s < p->end_s || !isfinite(p->end_s))
        time_left("job ends in %s", p->job_s - since, part[JOB]);
    time_left("ends in %s", p->end_s - since, part[END]);
}

void progress_line(const struct progress *p, double since, int columns, char *line, size_t n)
{
    static const int by_weight[PARTS] = {STEP,  END,    PLACE,     OUTPUT, JOB,
                                         SPEED, MEMORY, STEP_TIME, DT};
    char part[PARTS][PART] = {{0}};
    bool shown[PARTS] = {false};
    int used = 0;
    fill(p, since, part);
    for (int i = 0; i < PARTS; i++) {
        const int length = (int)strlen(part[by_weight[i]]), gap = used > 0 ? 2 : 0;
        if (!length || used + gap + length > columns) continue;
        shown[by_weight[i]] = true;
        used += gap + length;
    }
    *line = 0;
    for (int i = 0; i < PARTS; i++) {
        const size_t at = strlen(line);
        if (shown[i]) snprintf(line + at, n - at, "%s%s", at ? "  " : "", part[i]);
    }
}
