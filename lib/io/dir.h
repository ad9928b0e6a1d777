/* io/dir: directories that get their name when they are complete, and are removed as a whole.
 * Nothing here follows a symbolic link. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Suffixes of output_NNNNN while a checkpoint is written, replaced, removed. */
#define DIR_TMP ".tmp"
#define DIR_OLD ".old"
#define DIR_REMOVED ".removed"

/* The number in the name output_NNNNN of a checkpoint, five digits; *rest: what follows, "" if it
 * is the whole name. −1: another name. */
int dir_output_number(const char *name, const char **rest);
MUST_USE enum err dir_sync(const char *path); /* the names in a directory */
MUST_USE enum err dir_make(const char *path); /* with its parents; nothing to do if it exists */
/* An error if no files can be created in it. If it is missing and `made` is given, it is created
 * (not its parents; *made tells); else its parent is looked at. */
MUST_USE enum err dir_ready(const char *path, bool *made);
void dir_unmake(const char *path); /* nothing happens if files are in it */
/* An error if `path`, which need not exist, would lie in the directory `dir` of a checkpoint, or
 * below it. */
MUST_USE enum err dir_outside(const char *path, const char *dir);
/* Removes a directory of files, and RAMSES's group_NNNNN/ in it; other directories in it are an
 * error. Nothing to do if it does not exist. */
MUST_USE enum err dir_remove(const char *path);
/* An error if dir_remove would not remove it: it is a link, a file, or contains directories. OK if
 * it does not exist. */
MUST_USE enum err dir_may_remove(const char *path);
/* Creates the directory for this process alone. One that a killed process left is emptied if `ours`
 * accepts all names in it. One that another process uses, for ten seconds more, is an error. *lock:
 * close it at the end (or end the process). */
MUST_USE enum err dir_take(const char *path, bool ours(const char *name), int *lock);
/* Does no process hold it by dir_take? False where locks do not tell. */
bool dir_is_idle(const char *path);
/* `from` becomes `to`. A previous `to` is removed; at every moment either the old or the new one
 * exists (on file systems without an atomic exchange the old one is briefly called TO.old). Syncs
 * the parent directory. If the old one cannot be removed, the log reports it and its path. */
MUST_USE enum err dir_replace(const char *from, const char *to);
