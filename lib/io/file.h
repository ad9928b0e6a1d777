/* io/file: complete files that are on disk when the call returns, or an error with the reason.
 * Directories: io/dir. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Opens those of the descriptors 0, 1 and 2 that are closed on /dev/null: 0 for writing and 1 for
 * reading, so that a read of standard input and a write to standard output fail as before. */
void file_fill_standard(void);
/* All n bytes at offset `at`, through interruptions and short writes. */
MUST_USE enum err file_write_at(int fd, const char *path, const void *p, size_t n, int64_t at);
enum { FILE_SOON = 1 << 16 }; /* fewer bytes are not worth asking */
/* These bytes have been written and will be synced: the disk may begin with them now, which
 * shortens the sync. A hint, without errors. */
void file_write_soon(int fd, size_t n, int64_t at);
/* file_write_soon for all bytes that the file has. */
void file_write_all_soon(int fd);
/* All n bytes from offset `at`; the file ending before is an error. */
MUST_USE enum err file_read_at(int fd, const char *path, void *p, size_t n, int64_t at);
/* Reserves disk space for bytes that will be written out of order: faster than allocating piece by
 * piece. */
void file_reserve(int fd, int64_t at, int64_t n);
/* Syncs and closes. The descriptor is closed in any case. */
MUST_USE enum err file_close_synced(int fd, const char *path);
/* Syncs the file without closing it. */
MUST_USE enum err file_sync(int fd, const char *path);

/* "a file", "a directory", "a pipe" and so on, from st_mode. */
const char *file_kind(unsigned mode);
/* All that programs read is opened here (make lint). Opens a regular file for reading; does not
 * wait for anything else. fd -1 after errors. */
MUST_USE enum err file_open(const char *path, int *fd, int64_t *size);
/* file_open for a file that need not be regular; waits for the writer of a FIFO. The caller limits
 * how much is read. */
MUST_USE enum err file_open_any(const char *path, int *fd);
/* A new file of that name, for reading and writing; whatever is there is an error. Only in a
 * directory that is this process's alone; elsewhere io/temp. */
MUST_USE enum err file_create(const char *path, int *fd);
/* One that file_create has made: for writing by another rank. */
MUST_USE enum err file_reopen(const char *path, int *fd);
/* An error if something is there to which file_append would not append. */
MUST_USE enum err file_may_append(const char *path);
/* A file of the user's, to which lines are appended; it is created if it is missing. Links are
 * followed; a pipe or a directory is an error. */
MUST_USE enum err file_append(const char *path, FILE **f);
/* Reads the content of the file and a final NUL into a new block (owner: caller, FREE); more than
 * `most` bytes are an error. */
MUST_USE enum err file_load(const char *path, size_t max, char **text, size_t *n);
/* file_load for a file that need not be regular; waits for a pipe. "-" is standard input. */
MUST_USE enum err file_load_any(const char *path, size_t max, char **text, size_t *n);
bool file_exists(const char *path);
/* drops the system's cache of it, so that it is read from the disk */
void file_forget(const char *path);
