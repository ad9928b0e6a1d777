/* io/stream: a temporary file (io/temp.h) written through stdio. */
#pragma once
#include <stdio.h>

#include "io/temp.h"

struct stream {
    FILE *f;
    struct temp temp;
};

/* Opens a temporary file for stream s->f; stream_close renames it to path. */
MUST_USE enum err stream_open(struct stream *s, const char *path);
/* Syncs and closes in any case. why: errno of an earlier failure, or 0. */
MUST_USE enum err stream_close(struct stream *s, int why);
void stream_drop(struct stream *s); /* closes and removes the file */
