/* ics/files: lists the GRAFIC files of a directory, and checks that they belong together. Files of
 * one level have the same cells, offset, time and cosmology; all headers are compared, since a
 * reader of a single header would mix two sets unnoticed. All readers of initial conditions call
 * this module. */
#pragma once
#include "ics/split.h"

enum { ICS_NAME = 64, ICS_FILES = 128 };

/* File whose header stands for its level: ic_deltab, or without gas ic_velcx if there is no
 * ic_deltab; ic_d without cosmology. */
const char *ics_first_file(const char *dir, bool cosmo, bool gas);
/* Whether a directory has a file whose header stands for a level. */
bool ics_is_level(const char *dir);

/* Names of the fields in a directory, sorted. */
MUST_USE enum err ics_list_files(const char *dir, bool cosmo, char (*name)[ICS_NAME], int *n);

/* Checks every field of the directory, whether a run will read it or not, against `head`, the
 * header of the file `first`. Then calls fn, if not NULL, for each. */
typedef enum err ics_file_fn(struct ics_file *f, const char *name, void *ctx);
MUST_USE enum err ics_check_files(const char *dir, bool cosmo, const char *first,
                                  const struct grafic_head *head, ics_file_fn *fn, void *ctx);
