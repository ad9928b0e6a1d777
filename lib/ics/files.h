/* ics/files: which GRAFIC files a directory has, and whether they belong together. Files of one
 * level have the same cells, place, time and cosmology: a reader that looks at the header of one of
 * them only would mix two sets unseen. All readers of initial conditions ask here. */
#pragma once
#include "io/grafic.h"

enum { ICS_NAME = 64, ICS_FILES = 128 };

/* The file whose header is that of its level: ic_deltab, or without gas ic_velcx where there is no
 * ic_deltab; ic_d without cosmology. */
const char *ics_first_file(const char *dir, bool cosmo, bool gas);
/* Does a directory have a file whose header counts? */
bool ics_is_level(const char *dir);

/* Names of the fields in a directory, sorted. */
MUST_USE enum err ics_list_files(const char *dir, bool cosmo, char (*name)[ICS_NAME], int *n);

/* Looks at every field of the directory, whether a run will read it or not: each has to agree with
 * `head`, the header of the file `first`. Then fn, if there is one, is called with each. */
typedef enum err ics_file_fn(const struct grafic *f, const char *name, void *ctx);
MUST_USE enum err ics_check_files(const char *dir, bool cosmo, const char *first,
                                  const struct grafic_head *head, ics_file_fn *fn, void *ctx);
