/* formats/location: which checkpoint a path on a command line means, and what it is instead. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

/* The path itself; or, if it is a file of a checkpoint (ckpt/files.def), the directory that is the
 * checkpoint. */
void location_of(const char *path, char dir[PATH_MAX]);
/* An error that tells what else the path is: nothing, a file, a directory of outputs or of initial
 * conditions. OK: none of these; opening it gives the error. */
MUST_USE enum err location_explain(const char *path);

/* Paths of a command line, which are looked at before anything is written. */
struct locations {
    int n;
    char **path; /* "-" is passed over */
    bool ranks;  /* the program has --ranks: a number may be meant for it */
    bool out;    /* the last path may be meant for -o, which is not given */
};
/* An error if one of them is no checkpoint. What is in those that are is not looked at. */
MUST_USE enum err locations_check(const struct locations *p);
