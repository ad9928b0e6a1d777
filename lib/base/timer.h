/* base/timer: wall seconds by label. timer_start(label) ends the current label and starts the next
 * one, so that the labels always add up to the total. Labels are string literals. */
#pragma once

void timer_start(const char *label); /* not thread-safe */
void timer_stop(void);               /* stops the current label */
/* Number of labels, ordered by first start; name and seconds of the i-th, without a running
 * label. */
int timer_count(void);
const char *timer_label(int i);
double timer_seconds(int i);
double timer_wall(void);   /* seconds, monotonic */
double timer_thread(void); /* CPU seconds of this thread */
