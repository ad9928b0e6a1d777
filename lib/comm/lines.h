/* comm/lines: what a pipe names. Rank 0 reads standard input, all ranks get its lines. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "comm/comm.h"

struct lines {
    long number;         /* of the line in standard input, from 1 */
    char text[PATH_MAX]; /* the line, without its end */
};

/* The next line that is not empty, in l->text (all zero before the first). *got: false after the
 * last. A line that is too long for a path, or contains a zero byte, is an error. (collective) */
MUST_USE enum err lines_next(struct lines *l, const struct comm *c, bool *got);
