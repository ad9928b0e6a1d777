/* inspect: what the files of this program share. */
#pragma once
#include <stdbool.h>

#include "ckpt/ramses_read.h"

struct options {
    bool json, digest, quiet;
    int verbose;
    const char *field; /* map of this field, or NULL */
    const char *out;   /* picture; NULL: FIELD_NNNNN.png */
    int axis;          /* line of sight: 0, 1, 2 */
    int pixels;        /* a side of the map */
    bool many;         /* more than one snapshot: say which */
    int npath;
    char **paths;
};

/* Each reads the whole snapshot once and prints to stdout. `path` is what the user called it. */
MUST_USE enum err summary_print(struct ramses *r, const char *path, const struct options *o);
MUST_USE enum err digest_print(struct ramses *r, const char *path, const struct options *o);
MUST_USE enum err map_draw(struct ramses *r, const char *path, const struct options *o);
void json_string(const char *s); /* quoted, on stdout */
