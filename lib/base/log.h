/* base/log: messages, on stderr. Only rank 0 of a run prints (log_init). */
#pragma once
#include <stdbool.h>

void log_init(bool speaks, int verbosity); /* verbosity: -1 quiet, 0 normal, 1.. more */
int log_verbosity(void);
void log_line(int level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3))); /* printed if level <= verbosity */
#define log_info(...) log_line(0, __VA_ARGS__)
/* One live line that the next call overwrites; only when stderr is a terminal. NULL clears it. */
void log_live(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Flushes standard output: false if something failed, now or before; log_stdout_end reports it. */
bool log_stdout_flush(void);
/* Whoever found standard output broken has said so: log_stdout_end does not say it again. */
void log_stdout_told(void);
/* At the end of a program: false if standard output could not be written; reports it on stderr,
 * unless the reader has closed the pipe. */
bool log_stdout_end(const char *program);
