/* io/temp: a file under a temporary name, beside the name that it gets when it is complete. All
 * that programs write outside of a directory of their own is written so.
 *
 * The temporary name is NAME.ptah-XXXXXX.part, with six characters drawn at random. The file is
 * created: no file or link that is there is opened. It is locked until it has its final name or is
 * dropped, so that the next program that writes NAME knows what a killed one has left, and removes
 * it. A link of the final name is replaced, not followed. Local. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { TEMP_TAG = 6 };

struct temp {
    int fd;              /* for reading and writing; -1: none */
    char path[PATH_MAX]; /* the name that it gets */
    char name[PATH_MAX]; /* the name that it has; "": the final one, as it is a device or a pipe */
    char tag[TEMP_TAG + 1];
};

/* An error if something is there that would be replaced (no device or the like), unless forced. */
MUST_USE enum err temp_may_write(const char *path, bool force);
/* Creates it. A device or a pipe of that name is opened instead, to be written to directly; the
 * reader of a pipe is waited for, but not for long. After an error there is nothing to drop. */
MUST_USE enum err temp_create(struct temp *t, const char *path);
/* The temporary name of another file, PATH.N, of a set whose first file is t, PATH.0: it is not
 * taken for a leftover as long as t is locked. */
MUST_USE enum err temp_name(const struct temp *t, const char *path, char name[PATH_MAX]);
/* Removes what killed programs have left under temporary names of this file and of a set PATH.N.
 * Files that cannot be removed stay. temp_create calls it. */
void temp_sweep(const char *path);
/* The length of NAME if this is a temporary name of NAME, or NAME.part of earlier versions; 0: it
 * is none. */
size_t temp_is(const char *name);
/* Removes a file under a temporary name, unless a program holds it. */
bool temp_clear(const char *path);
/* Before the files of a set get their names: another program that gives names to a set in the same
 * directory is waited for, at most two seconds, so that the set is not a mixture. */
int temp_turn(const char *path);
void temp_turn_end(int turn);
/* Syncs it. */
MUST_USE enum err temp_sync(const struct temp *t);
/* Gives it its name, which the disk need not know yet, and closes it. After an error it is
 * dropped. */
MUST_USE enum err temp_publish(struct temp *t);
/* Closes and removes it. */
void temp_drop(struct temp *t);
