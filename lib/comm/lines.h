/* comm/lines: paths read from a pipe. Rank 0 reads standard input; all ranks receive its lines. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "comm/comm.h"

struct lines {
    long number;         /* line number in standard input, from 1 */
    char text[PATH_MAX]; /* text of the line without newline */
};

/* Reads the next nonempty line into l->text (zero *l before the first call). *got is false after
 * the last line. A line longer than a path, or with a zero byte, is an error. (collective) */
MUST_USE enum err lines_next(struct lines *l, const struct comm *c, bool *got);
