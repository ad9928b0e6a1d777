/* io/sync_async: files that the system has whole and the disk not yet. A thread beside syncs and
 * closes them while the run continues. Until sync_wait has returned OK none of them is safe. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "io/async.h"

struct sync_file {
    int fd;
    char *path;
};

/* Zeroed at first. */
struct sync_async {
    int64_t n, room;
    struct sync_file *file;
    struct async async, early; /* the syncs · what asks the disk to begin before them */
    int soon;                  /* the file about which it is asked */
    double begun, ended;       /* timer_wall of the syncs */
};

/* These bytes have been written: the disk may begin with the file. Where the disk's queue is full,
 * asking it takes as long as the disk does, so that it is asked beside, and not while it is being
 * asked. l NULL: at once, about these bytes. A hint, without errors. */
void sync_soon(struct sync_async *l, int fd, size_t n, int64_t at);
/* A file that is written: from now on it is l's; from any thread, before sync_begin. l NULL: it is
 * synced and closed at once. */
MUST_USE enum err sync_close(struct sync_async *l, int fd, const char *path);
/* A new file with these n bytes. */
MUST_USE enum err sync_save(struct sync_async *l, const char *path, const void *p, size_t n);
/* The names in a directory. */
MUST_USE enum err sync_dir(struct sync_async *l, const char *path);
/* Syncs all, in the order in which they came, and closes them: beside. */
MUST_USE enum err sync_begin(struct sync_async *l);
bool sync_is_done(struct sync_async *l); /* without waiting; failed or not */
/* Waits. The first error, with its sentence. */
MUST_USE enum err sync_wait(struct sync_async *l);
double sync_seconds(const struct sync_async *l); /* seconds of the syncs, once they are done */
void sync_fini(struct sync_async *l);            /* waits; closes what was not begun; as zeroed */
