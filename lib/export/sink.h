/* export/sink: the file that an export writes: under a temporary name until it is complete
 * (io/temp.h), or standard output for "-". */
#pragma once
#include "io/stream.h"

struct sink {
    FILE *f;
    struct stream stream;
    bool standard; /* standard output */
};

static inline bool sink_is_standard(const char *path)
{
    return path[0] == '-' && !path[1];
}
/* An existing file is an error unless `force`. */
MUST_USE enum err sink_open(struct sink *s, const char *path, bool force);
/* err: OK, or the error for which the file is dropped; then returned. Write errors of stdio since
 * sink_open are found here. */
MUST_USE enum err sink_close(struct sink *s, enum err err);
/* Writes bytes; false after an error, so that long loops can end. */
static inline bool sink_put(struct sink *s, const void *p, size_t bytes)
{
    return fwrite(p, 1, bytes, s->f) == bytes;
}
MUST_USE enum err sink_failed(const struct sink *s); /* the error behind a false of sink_put */
