#include "base/timer.h"

#include <string.h>
#include <time.h>

#include "base/err.h"

enum { ROWS = 64 };
static struct {
    const char *label;
    double seconds;
} rows[ROWS];
static int nrow, running = -1;
static double since;

static double seconds_of(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

double timer_wall(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double timer_thread(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void timer_stop(void)
{
    double now = timer_wall();
    if (running >= 0) rows[running].seconds += now - since;
    running = -1;
    since = now;
}

void timer_start(const char *label)
{
    timer_stop();
    for (running = 0; running < nrow; running++)
        if (strcmp(rows[running].label, label) == 0) return;
    BUG_ON(nrow == ROWS);
    rows[nrow++].label = label;
}

int timer_count(void)
{
    return nrow;
}

const char *timer_label(int i)
{
    return rows[i].label;
}

double timer_seconds(int i)
{
    return rows[i].seconds;
}
