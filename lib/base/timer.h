/* base/timer: wall seconds by label. timer_start(label) ends the current label and starts the next
 * one, so that the labels always add up to the total. Labels are string literals. */
#pragma once

void timer_start(const char *label);
void timer_stop(void);
int timer_count(void);
const char *timer_label(int i);
double timer_seconds(int i);
double timer_wall(void);   /* seconds, monotonic */
double timer_thread(void); /* seconds that the processor has worked for this thread */
