/* io/dir: directories that get their name when they are complete, and are removed as a whole.
 * Nothing here follows a symbolic link. */
#pragma once
#include <stdbool.h>

#include "base/err.h"

MUST_USE enum err dir_sync(const char *path); /* the names in a directory */
MUST_USE enum err dir_make(const char *path); /* with those above it; there: done */
/* Removes a directory of files; RAMSES's group_NNNNN/ go with theirs, other directories in it are
 * an error. None there: done. */
MUST_USE enum err dir_remove(const char *path);
/* An error if dir_remove would not remove it: it is a link, a file, or contains directories. OK if
 * it does not exist. */
MUST_USE enum err dir_may_remove(const char *path);
/* The directory is made, for this process alone. One that a killed process left is emptied, if all
 * in it has names that are `ours`. One that another process has taken is an error. *lock: to be
 * closed when all is done (or the process ends). */
MUST_USE enum err dir_take(const char *path, bool ours(const char *name), int *lock);
/* `from` becomes `to`. A previous `to` is removed; at every moment either the old or the new one
 * exists (on file systems without an atomic exchange the old one is briefly called TO.old). Syncs
 * the parent directory. If the old one cannot be removed, the log says so, and where it is. */
MUST_USE enum err dir_replace(const char *from, const char *to);
