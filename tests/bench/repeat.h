/* Timing of benchmarks on several ranks: the slowest rank of a run counts. */
#pragma once
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/timer.h"
#include "comm/comm.h"

enum { REPEAT_MAX = 1000 };

struct repeat {
    const struct comm *comm;
    int n;
    double begin, begin_cpu, seconds[REPEAT_MAX], cpu[REPEAT_MAX];
};

static inline double repeat_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Starts the clock. (collective) */
static inline void repeat_begin(struct repeat *r)
{
    comm_barrier(r->comm);
    r->begin_cpu = repeat_cpu();
    r->begin = timer_wall();
}

/* Stops the clock. (collective) */
static inline void repeat_end(struct repeat *r)
{
    double t[2] = {timer_wall() - r->begin, repeat_cpu() - r->begin_cpu};
    comm_max_f64(r->comm, t, 2);
    if (r->n == REPEAT_MAX) return;
    r->cpu[r->n] = t[1];
    r->seconds[r->n++] = t[0];
}

static inline int repeat_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Min, median, half the interquartile range; min processor time. */
struct repeat_times {
    double min, median, spread, cpu;
};

static inline struct repeat_times repeat_times(struct repeat *r)
{
    double cpu = INFINITY;
    for (int i = 0; i < r->n; i++) cpu = fmin(cpu, r->cpu[i]);
    qsort(r->seconds, (size_t)r->n, sizeof *r->seconds, repeat_order);
    return (struct repeat_times){r->seconds[0], r->seconds[r->n / 2],
                                 0.5 * (r->seconds[3 * r->n / 4] - r->seconds[r->n / 4]), cpu};
}
