/* io/stream: a temporary file (io/temp.h) that is written through stdio. */
#pragma once
#include <stdio.h>

#include "io/temp.h"

struct stream {
    FILE *f;
    struct temp temp;
};

/* s->f writes to what stream_close gives the name path. */
MUST_USE enum err stream_open(struct stream *s, const char *path);
/* why: errno of what went wrong meanwhile, or 0. Syncs, and closes in any case. */
MUST_USE enum err stream_close(struct stream *s, int why);
void stream_drop(struct stream *s); /* closes; there is no file */
