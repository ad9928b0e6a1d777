/* base/timer: wall seconds by label. timer_start(label) ends the current label and starts the next
 * one, so that the labels always add up to the total. Labels are string literals. */
#pragma once

void timer_start(const char *label); /* not from several threads at a time */
void timer_stop(void);               /* no label runs */
/* The labels so far, by their first start: how many; name and seconds of the i-th, without those of
 * a label that still runs. */
int timer_count(void);
const char *timer_label(int i);
double timer_seconds(int i);
double timer_wall(void);   /* seconds, monotonic */
double timer_thread(void); /* seconds that the processor has worked for this thread */
