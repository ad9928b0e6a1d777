/* out/tidy: a program that SIGINT, SIGTERM or SIGHUP ends removes the checkpoint that it was
 * writing. A second signal ends it at once, as SIGKILL does; the next run then removes what is
 * left. Not for runs, which finish their step (sim/stop). */
#pragma once

void tidy_begin(void); /* in main; without it the other two change nothing */
void tidy_hold(void);  /* such a signal waits from here ... */
/* ... to here, and from now on removes this directory; "": none */
void tidy_let(const char *path);
