/* How the benchmarks on several ranks take times: a run counts with its slowest rank. */
#pragma once
#include <math.h>
#include <stdlib.h>

#include "base/timer.h"
#include "comm/comm.h"

enum { REPEAT_MOST = 1000 };

struct repeat {
    const struct comm *comm;
    int n;
    double begin, seconds[REPEAT_MOST];
};

/* (collective) */
static inline void repeat_begin(struct repeat *r)
{
    comm_barrier(r->comm);
    r->begin = timer_wall();
}

/* (collective) */
static inline void repeat_end(struct repeat *r)
{
    double t = timer_wall() - r->begin;
    comm_max_f64(r->comm, &t, 1);
    if (r->n < REPEAT_MOST) r->seconds[r->n++] = t;
}

static inline int repeat_order(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Least, median, and half of the distance of the quartiles. */
struct repeat_times {
    double least, median, spread;
};

static inline struct repeat_times repeat_times(struct repeat *r)
{
    qsort(r->seconds, (size_t)r->n, sizeof *r->seconds, repeat_order);
    return (struct repeat_times){r->seconds[0], r->seconds[r->n / 2],
                                 0.5 * (r->seconds[3 * r->n / 4] - r->seconds[r->n / 4])};
}
