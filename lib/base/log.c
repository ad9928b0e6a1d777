#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static bool speaking = true, live;
static int verbosity_now;

void log_init(bool speaks, int verbosity)
{
    speaking = speaks;
    verbosity_now = verbosity;
}

int log_verbosity(void)
{
    return verbosity_now;
}

static void live_clear(void)
{
    if (live) fputs("\r\033[K", stderr);
    live = false;
}

void log_line(int level, const char *fmt, ...)
{
    if (!speaking || level > verbosity_now) return;
    live_clear();
    char line[1024];
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    if (n >= 0 && n < (int)sizeof line) {
        plain_nan(line);
        fprintf(stderr, "%s\n", line); /* one system call */
    } else {
        vfprintf(stderr, fmt, again);
        fputc('\n', stderr);
    }
    va_end(again);
    va_end(ap);
}

void log_live(const char *fmt, ...)
{
    if (!speaking || verbosity_now < 0 || !isatty(STDERR_FILENO)) return;
    live_clear();
    if (!fmt) return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fflush(stderr);
    live = true;
}

static int stdout_errno;
static bool stdout_told;

bool log_stdout_flush(void)
{
    if (fflush(stdout) != 0 && !stdout_errno) stdout_errno = errno;
    return !ferror(stdout) && !stdout_errno;
}

void log_stdout_told(void)
{
    stdout_told = true;
}

bool log_stdout_end(const char *program)
{
    if (log_stdout_flush()) return true;
    if (stdout_told) return false;
    if (stdout_errno == EPIPE) return false; /* the reader closed the pipe on purpose */
    fprintf(stderr, "%s: standard output: %s\n", program,
            stdout_errno ? strerror(stdout_errno) : "cannot write");
    return false;
}
