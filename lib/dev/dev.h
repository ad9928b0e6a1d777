/* dev: a device beside the host: its memory, streams, events, copies, launches, scans, sorts.
 *
 * One header, three back ends (backend.h): `cuda`; `host`, a device that is made of pages of this
 * machine (host.c) and shows missing copies, races and orders that nobody asked for; `none`.
 * Nothing here is collective.
 *
 * Memory of a device is an address that only its kernels and the copies here may follow. All work
 * is asynchronous: it runs after what was put into the same stream before it, at some time until
 * dev_wait of that stream returns, and what it reads and writes must stay as it is until then.
 * Streams know of each other only by events. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dev;
struct dev_stream;
struct dev_event;
struct dev_kernel; /* dev/kernel.h */

enum { DEV_WHY = 200 };

struct dev_how {
    const char *kind; /* one of those above; "auto" (or NULL): that of the build */
    int rank;         /* of this process on its node: ranks take devices in turn */
    uint64_t seed;    /* host: of its orders; 0: everything in the order of its issue */
    int devices;      /* host: of a node; 0: one */
    size_t max;       /* bytes of memory; 0: all there is */
    bool timed;       /* each launch is measured: dev_time */
};

/* NULL if there is no such device here; `why` then holds a sentence. */
struct dev *dev_open(const struct dev_how *how, char why[DEV_WHY]);
void dev_close(struct dev **d); /* waits for all streams; frees all that is left */
const char *dev_name(const struct dev *d);
int dev_processors(const struct dev *d); /* processors, which run blocks at the same time */
bool dev_is_host(const struct dev *d);   /* emulated: what it proves is bits, not speed */

/* Device memory, uninitialised, aligned to 256 bytes; `name` is a literal (lent). pointer: the
 * address of a pointer to any object. ERR_LIMIT: it does not fit, and that pointer is NULL. */
MUST_USE enum err dev_new(struct dev *d, void *pointer, size_t bytes, const char *name);
void dev_free(struct dev *d, void *p); /* nothing that uses it is under way; NULL is allowed */
/* Frees device memory when all that is in s now has run: by the next wait for s, or dev_new for
 * want of room. Other streams do not use it. */
void dev_drop(struct dev_stream *s, void *p);
/* Memory that stays from launch to launch: at least that many bytes, of any value. */
struct dev_room {
    size_t bytes;
    void *p;
};
MUST_USE enum err dev_room_need(struct dev_stream *s, struct dev_room *r, size_t bytes,
                                const char *name);
/* dev_drop of host memory (base/mem.h), which copies in s may still read. */
void dev_drop_host(struct dev_stream *s, void *p);
size_t dev_bytes(const struct dev *d); /* in use */

struct dev_stream *dev_stream_new(struct dev *d);
void dev_stream_free(struct dev_stream **s); /* waits for it */
struct dev_event *dev_event_new(struct dev *d);
void dev_event_free(struct dev_event **e);
void dev_record(struct dev_event *e, struct dev_stream *s); /* happens when s has come here */
/* Work put into s from now on runs after the last dev_record of e before this call. */
void dev_after(struct dev_stream *s, struct dev_event *e);
/* Work put into s from now on runs after all that is in `first` now. s = first: nothing happens. */
void dev_follow(struct dev_stream *s, struct dev_stream *first);
/* The host waits for all that is in s, if there may be something. ERR_LIMIT: the device failed;
 * nothing in its memory counts any more. */
MUST_USE enum err dev_wait(struct dev_stream *s);
/* The host waits for all streams, failed or not: before what they use is freed. d NULL: nothing. */
void dev_settle(struct dev *d);
/* A mark for the work in s now. passed: the host knows that it has run. reach: the host waits for
 * it, unless another wait for s was enough. */
int64_t dev_mark(const struct dev_stream *s);
bool dev_passed(const struct dev_stream *s, int64_t mark);
MUST_USE enum err dev_reach(struct dev_stream *s, int64_t mark);

/* Host to device, device to host, device to device. */
void dev_put(struct dev_stream *s, void *to, const void *from, size_t bytes);
void dev_get(struct dev_stream *s, void *to, const void *from, size_t bytes);
void dev_copy(struct dev_stream *s, void *to, const void *from, size_t bytes);
void dev_fill(struct dev_stream *s, void *to, int byte, size_t bytes);

/* args: the kernel's struct, copied at the call. No blocks: nothing happens. */
void dev_launch(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks, const void *args);
/* to[i] = from[0] + … + from[i-1], i = 0 … n: n+1 sums; from and to differ. */
void dev_scan(struct dev_stream *s, int32_t *to, const int32_t *from, int64_t n);
/* Ascending by key, stable; `value` goes along. */
void dev_sort(struct dev_stream *s, uint64_t *key, int32_t *value, int64_t n);

/* Traffic over the bus since dev_open. */
struct dev_count {
    int64_t launches, blocks, copies; /* copies between host and device */
    int64_t waits, inner; /* of the host, but for what is empty; copies and fills there */
    int64_t arrays;       /* new ones */
    int64_t put, got;     /* bytes to the device, and back */
    double inside;        /* emulated: seconds of the calling thread in waits and memory */
};
struct dev_count dev_counts(const struct dev *d);
/* Traffic of arrays of one name, the i-th of those that copies met. NULL: there are no more. */
struct dev_traffic {
    const char *name;
    int64_t put, got;
};
const struct dev_traffic *dev_traffic(const struct dev *d, int i);

/* Launches since dev_open by kernel and size: of more than `most` / 2 and up to `most` blocks. Also
 * "scan" and "sort", as if by blocks of DEV_THREADS elements. NULL: there are no more. */
struct dev_launches {
    const char *kernel;
    int64_t max, launches, blocks;
};
const struct dev_launches *dev_launches(const struct dev *d, int i);

/* How long kernel i took, of those that a `timed` device has run; after dev_wait. NULL: there are
 * no more. */
struct dev_time {
    const char *kernel;
    int64_t launches, blocks;
    double seconds;
};
const struct dev_time *dev_time(const struct dev *d, int i);
