/* io/sync_async: syncs and closes written files on a second thread while the run continues. Until
 * sync_wait has returned OK no file is safe on disk. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "io/async.h"

struct sync_file {
    int fd;
    char *path;
};

/* List of files to sync; initialised with zeros. */
struct sync_async {
    int64_t n, room;
    struct sync_file *file;
    struct async async, early; /* thread of the syncs; thread of early requests for writing */
    int soon;                  /* descriptor of the file of the current early request */
    double begun, ended;       /* timer_wall at the begin and end of the syncs */
};

/* Requests that the kernel start writing these bytes. With a full disk queue a request blocks, so
 * it runs on the thread `early`, and is dropped while one is running. l NULL: the request is made
 * by the caller's thread. A hint; errors are ignored. */
void sync_soon(struct sync_async *l, int fd, size_t n, int64_t at);
/* Adds a written file to the list, which closes it; callable by any thread, before sync_begin. l
 * NULL: syncs and closes the file at once. */
MUST_USE enum err sync_close(struct sync_async *l, int fd, const char *path);
/* Creates a file with these n bytes, and adds it to the list. */
MUST_USE enum err sync_save(struct sync_async *l, const char *path, const void *p, size_t n);
/* Adds the entries of a directory to the list. */
MUST_USE enum err sync_dir(struct sync_async *l, const char *path);
/* Syncs and closes all files on the second thread, in the order in which they were added. */
MUST_USE enum err sync_begin(struct sync_async *l);
bool sync_is_done(struct sync_async *l); /* whether the syncs have ended or failed; does not wait */
/* Waits for the syncs. Returns the first error, with its message. */
MUST_USE enum err sync_wait(struct sync_async *l);
double sync_seconds(const struct sync_async *l); /* duration of the syncs in seconds, once done */
void sync_fini(struct sync_async *l); /* Waits; closes files that were not synced; l is zeroed. */
