/* progress/pace: the time that a run still needs, from the steps that it has made.
 *
 * A run grows: its mesh refines and its steps shorten, so that the mean cost so far says little
 * about what is to come. In self-similar growth, of a blast as of cosmic structure, the work per
 * unit of time or of expansion factor is a power of it. The power is fitted to the steps, the last
 * ones with the most weight, and continued only as far as it was steady so far (a damped trend:
 * Gardner & McKenzie 1985); its amplitude is that of the last steps. Work is in cell updates,
 * which follow from the state alone; seconds per update are those of the last steps, since they
 * depend on what else the machine does. Local; nothing here affects the state. */
#pragma once
#include <stdbool.h>

enum { PACE_POINTS = 256 };

/* The run at place x (expansion factor, time, or number of the step): sums since the start. */
struct pace_point {
    double x, work, wall;
};

struct pace {
    int n, stride, skipped; /* points; steps from point to point; steps since the last point */
    struct pace_point at[PACE_POINTS];
    struct pace_point now;
};

/* Starts at place x. */
void pace_begin(struct pace *p, double x);
/* A step to place x, with its work and its seconds. */
void pace_step(struct pace *p, double x, double work, double seconds);
/* Seconds from the last step to place x; NAN: no step that tells was made yet. */
double pace_left(const struct pace *p, double x);
/* Work per second in the last steps; 0: none yet. */
double pace_speed(const struct pace *p);
/* Seconds of the next step, if it is as the last ones were. */
double pace_next(const struct pace *p);
