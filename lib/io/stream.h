/* io/stream: a file that is written through stdio and gets its name when it is complete. A device,
 * a pipe or a FIFO of that name is written to directly. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct stream {
    FILE *f;
    char path[PATH_MAX], part[PATH_MAX]; /* part: the name until the end; empty: it has its own */
};

/* An error if something is there that would be replaced (no device or the like), unless forced. */
MUST_USE enum err stream_may_write(const char *path, bool force);
/* s->f writes to what stream_close gives the name path. */
MUST_USE enum err stream_open(struct stream *s, const char *path);
/* why: errno of what went wrong meanwhile, or 0. Syncs, and closes in any case. */
MUST_USE enum err stream_close(struct stream *s, int why);
void stream_drop(struct stream *s); /* closes; there is no file */
/* Removes an unfinished file that nobody writes any more. */
bool stream_clear(const char *part);
/* The length of NAME if this is the name of an unfinished file NAME; 0: it is none. */
size_t stream_is_part(const char *name);
