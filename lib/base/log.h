/* base/log: messages, on stderr. Only rank 0 of a run prints (log_init). */
#pragma once
#include <stdbool.h>

void log_init(bool speaks, int verbosity); /* verbosity: -1 quiet, 0 normal, 1 and up more */
int log_verbosity(void);
void log_line(int level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* prints if level <= verbosity */
#define log_info(...) log_line(0, __VA_ARGS__)
/* Prints a live line that the next call overwrites; lines of the log are printed above it. Only on
 * a terminal, unless log_live_to has said otherwise. NULL clears the line. */
void log_live(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Whether somebody sees live lines (progress/progress.h), whatever standard error is. plain: blanks
 * clear the line instead of an escape code. */
void log_live_to(bool seen, bool plain);
/* Whether TERM names a terminal that can clear a line. */
bool log_live_able(void);

/* Flushes standard output. False if any write failed so far; log_stdout_end reports the failure. */
bool log_stdout_flush(void);
/* Records that a failure of standard output was reported, to silence log_stdout_end. */
void log_stdout_told(void);
/* Call at the end of a program. False if standard output could not be written; the failure is
 * reported, unless the reader closed the pipe. */
bool log_stdout_end(const char *program);
