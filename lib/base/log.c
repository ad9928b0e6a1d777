#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { LIVE_COLUMNS = 240 };

static bool speaking = true;
static int verbosity_now;
static bool live; /* a live line is shown */
static char live_text[LIVE_COLUMNS + 1];
static bool live_told, live_seen, live_plain; /* log_live_to */

void log_init(bool speaks, int verbosity)
{
    speaking = speaks;
    verbosity_now = verbosity;
}

int log_verbosity(void)
{
    return verbosity_now;
}

/* Text that clears the live line. It goes out together with what follows, in one system call, so
 * that mpirun or another writer cannot come between them. */
static const char *live_clearing(void)
{
    static char blanks[2 * LIVE_COLUMNS + 3];
    if (!live) return "";
    if (!live_plain) return "\r\033[K";
    snprintf(blanks, sizeof blanks, "\r%*s\r", (int)strlen(live_text), "");
    return blanks;
}

void log_line(int level, const char *fmt, ...)
{
    if (!speaking || level > verbosity_now) return;
    const char *clear = live_clearing(), *live_again = live ? live_text : "";
    char line[1024];
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    if (n >= 0 && n < (int)sizeof line) {
        plain_nan(line);
        fprintf(stderr, "%s%s\n%s", clear, line, live_again);
    } else {
        fputs(clear, stderr);
        vfprintf(stderr, fmt, again);
        fprintf(stderr, "\n%s", live_again);
    }
    va_end(again);
    va_end(ap);
}

bool log_live_able(void)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0;
}

void log_live_to(bool seen, bool plain)
{
    live_told = true;
    live_seen = seen;
    live_plain = plain;
}

/* Whether somebody sees a live line; without log_live_to: on a terminal that can clear it. */
static bool live_is_seen(void)
{
    if (live_told) return live_seen;
    return verbosity_now >= 0 && isatty(STDERR_FILENO) && log_live_able();
}

void log_live(const char *fmt, ...)
{
    char line[LIVE_COLUMNS + 1] = "";
    if (!speaking || !live_is_seen() || (!fmt && !live)) return;
    va_list ap;
    va_start(ap, fmt);
    if (fmt) vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s%s", live_clearing(), line);
    memcpy(live_text, line, sizeof live_text);
    live = fmt != NULL;
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
