/* formats: the formats that this build knows: recognised, opened, named. What a format is, its
 * table says (ckpt/source.h). */
#pragma once
#include "ckpt/source.h"

struct format {
    const char *name, *alias;         /* as users call it · as RAMSES's namelist does; NULL */
    const struct source_kind *reader; /* NULL: it is written only */
};

/* The format of a directory, or NULL. */
const struct format *format_of(const char *dir);
const struct format *format_named(const char *name); /* or NULL */
/* Opens a checkpoint of whatever format. */
MUST_USE enum err source_open(const char *dir, struct source **out);
/* And all of it (source_whole). */
MUST_USE enum err source_open_whole(const char *dir, enum source_mode *mode, struct source **out);
/* And its state (source_state). */
MUST_USE enum err source_open_state(const char *dir, double gamma, double smallr,
                                    struct source **out);
