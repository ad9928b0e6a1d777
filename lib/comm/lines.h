/* comm/lines: what a pipe names. Rank 0 reads standard input, all ranks get its lines. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "comm/comm.h"

struct lines {
    char *text; /* the line, without its end */
    bool bad;   /* standard input could not be read */

    size_t room; /* private */
};

/* The next line that is not empty, in l->text ({0} before the first); false after the last.
 * (collective) */
bool lines_next(struct lines *l, const struct comm *c);
void lines_free(struct lines *l);
