/* formats/location: resolves paths on a command line to checkpoints, and explains other paths. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/* The path itself, or for a file of a checkpoint (ckpt/files.def) the checkpoint's directory. */
void location_of(const char *path, char dir[PATH_MAX]);
/* Returns an error that explains a path that is no checkpoint: missing, a file, a directory of
 * outputs or of initial conditions. OK for anything else, which is reported on opening. */
MUST_USE enum err location_explain(const char *path);

/* Paths of a command line, checked before anything is written. */
struct locations {
    int n;
    char **path; /* paths; "-" is skipped */
    bool ranks;  /* true if the program has --ranks, for which a number may be meant */
    bool out;    /* true if -o is missing, for which the last path may be meant */
};
/* An error if a path is no checkpoint. Contents of checkpoints are not checked. */
MUST_USE enum err locations_check(const struct locations *p);
