/* io/temp: a file under a temporary name, in the directory of the final name that it gets when it
 * is complete. The programs write all files outside of directories of their own this way.
 *
 * The temporary name is NAME.ptah-XXXXXX.part, with six random characters. The file is always
 * created: an existing file or link is never opened. It is locked until it has its final name or is
 * dropped, so that the next program that writes NAME can recognise and remove the leftover of a
 * killed process. A link with the final name is replaced, not followed. Local. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { TEMP_TAG = 6 };

struct temp {
    int fd;              /* descriptor for reading and writing; -1: closed */
    char path[PATH_MAX]; /* final path */
    char name[PATH_MAX]; /* temporary path; "": none, as the final one is a device or a pipe */
    char tag[TEMP_TAG + 1];
};

/* Error if path names an existing file that would be replaced (not a device or the like), unless
 * force. */
MUST_USE enum err temp_may_write(const char *path, bool force);

/* Whether the directory of a file is there. */
bool temp_has_folder(const char *path);

/* Creates a temporary file. If path names a device or a pipe, opens it for direct writing instead,
 * and waits up to two seconds for the reader of a pipe. After an error temp_drop is not needed. */
MUST_USE enum err temp_create(struct temp *t, const char *path);
/* temp_create without a search for leftovers, for files that share a directory with thousands of
 * others; temp_sweep_all removes the leftovers of all files of a directory. */
MUST_USE enum err temp_create_quick(struct temp *t, const char *path);
void temp_sweep_all(const char *dir);
/* Temporary name of another file, PATH.N, of a set whose first file is t, PATH.0; it is not treated
 * as a leftover as long as t is locked. */
MUST_USE enum err temp_name(const struct temp *t, const char *path, char name[PATH_MAX]);
/* Removes leftovers of killed processes under temporary names of this file and of a set PATH.N.
 * Files that cannot be removed stay. temp_create calls it. */
void temp_sweep(const char *path);
/* Length of NAME if the argument is a temporary name of NAME, or NAME.part of earlier versions;
 * otherwise 0. */
size_t temp_is(const char *name);
/* Removes a file under a temporary name, unless a process holds it. */
bool temp_clear(const char *path);
/* Locks the directory of a set before its files are renamed, so that two programs do not mix their
 * sets; waits at most two seconds for another program. temp_turn_end releases the lock. */
int temp_turn(const char *path);
void temp_turn_end(int turn);
/* Syncs the file. */
MUST_USE enum err temp_sync(const struct temp *t);
/* Renames the file to its final name, without syncing the directory, and closes it. After an error
 * the file is dropped. */
MUST_USE enum err temp_publish(struct temp *t);
/* Closes and removes the file. */
void temp_drop(struct temp *t);
