/* io/file: files that are complete and synced when the call returns; errors give the reason.
 * Directories: io/dir. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Opens /dev/null on closed standard descriptors: 0 for writing and 1 for reading, so that reads of
 * standard input and writes to standard output fail as before. */
void file_fill_standard(void);
/* Writes all n bytes at offset `at`, through interruptions and short writes. */
MUST_USE enum err file_write_at(int fd, const char *path, const void *p, size_t n, int64_t at);
enum { FILE_SOON = 1 << 16 }; /* minimum number of bytes of a request */
/* Requests that the kernel start writing these bytes, which shortens the later sync. A hint; errors
 * are ignored. */
void file_write_soon(int fd, size_t n, int64_t at);
/* Requests the start of writing of all bytes of the file. */
void file_write_all_soon(int fd);
/* Reads all n bytes from offset `at`; an earlier end of the file is an error. */
MUST_USE enum err file_read_at(int fd, const char *path, void *p, size_t n, int64_t at);
/* Reserves disk space for bytes that will be written out of order, which is faster than allocation
 * block by block. */
void file_reserve(int fd, int64_t at, int64_t n);
/* Syncs and closes. The descriptor is closed in any case. */
MUST_USE enum err file_close_synced(int fd, const char *path);
/* Syncs the file without closing it. */
MUST_USE enum err file_sync(int fd, const char *path);

/* "a file", "a directory", "a pipe" and so on, from st_mode. */
const char *file_kind(unsigned mode);
/* The end of a sentence on a path that does not exist, after a failed call: "", or that a shell
 * leaves ~ in quotes as it is. */
const char *file_hint(const char *path);
/* Opens a regular file for reading; never blocks. All input of the programs is opened here (make
 * lint). fd -1 after errors. */
MUST_USE enum err file_open(const char *path, int *fd, int64_t *size);
/* Opens a file that need not be regular for reading; waits for the writer of a FIFO. The caller
 * limits the bytes read. */
MUST_USE enum err file_open_any(const char *path, int *fd);
/* Creates a file for reading and writing; an existing entry is an error. Only for directories that
 * this process holds alone; elsewhere io/temp. */
MUST_USE enum err file_create(const char *path, int *fd);
/* Opens a file made by file_create for writing by another rank. */
MUST_USE enum err file_reopen(const char *path, int *fd);
/* Checks that file_append can append to the path, if it exists. */
MUST_USE enum err file_may_append(const char *path);
/* Opens a user's file for appending lines; it is created if it does not exist. Links are followed;
 * a pipe or a directory is an error. */
MUST_USE enum err file_append(const char *path, FILE **f);
/* Reads the content of a file and a final NUL into a new block (owner: caller, FREE); more than
 * `max` bytes are an error. */
MUST_USE enum err file_load(const char *path, size_t max, char **text, size_t *n);
/* Reads a file that need not be regular, as file_load; waits for a pipe. "-" is standard input. */
MUST_USE enum err file_load_any(const char *path, size_t max, char **text, size_t *n);
bool file_exists(const char *path);
/* Drops the file from the page cache, so that it is read from the disk. */
void file_forget(const char *path);
