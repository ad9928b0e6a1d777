/* simulate --watch: follows a run from outside. */
#pragma once

/* Shows how far the run with outputs in dir is, until it ends. Returns the exit status: that of the
 * run; NO: it died without a word. */
int watch_run(const char *dir);
