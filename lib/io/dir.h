/* io/dir: directories that get their final name when they are complete, and are removed as a whole.
 * Symbolic links are never followed. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

/* Suffixes of output_NNNNN while a checkpoint is written, replaced, removed. */
#define DIR_TMP ".tmp"
#define DIR_OLD ".old"
#define DIR_REMOVED ".removed"

/* Number of a checkpoint from its name output_NNNNN, five digits; *rest: the rest of the name, ""
 * if there is none. −1: not a checkpoint. */
int dir_output_number(const char *name, const char **rest);
MUST_USE enum err dir_sync(const char *path); /* Syncs the entries of a directory. */
/* Creates a directory and its parents; no error if it exists. */
MUST_USE enum err dir_make(const char *path);
/* Checks that files can be created in a directory. If it does not exist and `made` is not NULL,
 * creates it (but not its parents; *made: whether it was created); otherwise checks its parent. */
MUST_USE enum err dir_ready(const char *path, bool *made);
void dir_unmake(const char *path); /* Removes a directory if it is empty. */
/* Error if `path`, which need not exist, would lie in the directory `dir` of a checkpoint, or below
 * it. */
MUST_USE enum err dir_outside(const char *path, const char *dir);
/* Error if the file system of `path`, which need not exist, has no room for so many bytes. */
MUST_USE enum err dir_has_room(const char *path, double bytes);
/* Removes a directory of files, and RAMSES's group_NNNNN/ in it; other directories in it are an
 * error. No error if it does not exist. */
MUST_USE enum err dir_remove(const char *path);
/* Checks that dir_remove would remove the directory. Error if it is a link, a file, or contains
 * directories; OK if it does not exist. */
MUST_USE enum err dir_may_remove(const char *path);
/* Creates a directory and locks it for this process. A directory left by a killed process is
 * emptied if `ours` accepts all names in it. Error if another process holds it for ten more
 * seconds. *lock: descriptor that holds the lock; close it at the end (or end the process). */
MUST_USE enum err dir_take(const char *path, bool ours(const char *name), int *lock);
/* Whether no process has locked the directory by dir_take; false also where locks are not
 * supported. */
bool dir_is_idle(const char *path);
/* Renames `from` to `to`. A previous `to` is removed; at every moment either the old or the new one
 * exists (on file systems without an atomic exchange the old one is briefly called TO.old). Syncs
 * the parent directory. If the old one cannot be removed, the log reports it and its path. */
MUST_USE enum err dir_replace(const char *from, const char *to);
/* dir_replace without syncing the parent directory. */
MUST_USE enum err dir_swap(const char *from, const char *to);
/* Writes all that the file system of the directory still holds in memory to disk. */
MUST_USE enum err dir_flush(const char *dir);
