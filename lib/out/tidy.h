/* out/tidy: a program that is ended by SIGINT, SIGTERM or SIGHUP removes the checkpoint that it was
 * writing. A second signal ends it at once, as SIGKILL does; the next run then removes the
 * leftovers. Not for simulations, which finish their step (sim/stop). */
#pragma once

/* Installs the handlers; called in main. Without this call the other functions have no effect. */
void tidy_begin(void);
void tidy_hold(void); /* Delays these signals until tidy_let. */
/* Ends the delay, and sets the directory that a signal removes; "": none. */
void tidy_let(const char *path);
