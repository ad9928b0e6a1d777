/* dev: a compute device: memory, streams, events, copies, launches, scans, sorts.
 *
 * One header, three back ends (backend.h): `cuda`; `host`, an emulated device in the memory of this
 * machine (host.c) that exposes missing copies, races and missing ordering; `none`. No function is
 * collective.
 *
 * A device address may be dereferenced only by kernels and used only in the copies below. All work
 * is asynchronous: an operation runs after the operations issued to its stream before it, at some
 * time until dev_wait of that stream returns; its operands must not change before. Streams are
 * ordered among each other only by events. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dev;
struct dev_stream;
struct dev_event;
struct dev_kernel; /* defined in dev/kernel.h */

enum { DEV_WHY = 200 };

struct dev_how {
    const char *kind; /* back end by name; "auto" or NULL: back end of the build */
    int rank;         /* rank of this process on its node; ranks use devices in turn */
    uint64_t seed;    /* emulated device: seed of the execution order; 0: order of issue */
    int devices;      /* emulated device: devices per node; 0: one */
    size_t max;       /* memory limit in bytes; 0: none */
    bool timed;       /* true to measure each launch (dev_time) */
    bool apart;       /* emulated device: blocks of a launch never wait for each other, so that it
                         has no kernels of stages (dev_together in dev/stages.h) */
};

/* Opens a device. NULL if the device does not exist; `why` then holds a sentence. */
struct dev *dev_open(const struct dev_how *how, char why[DEV_WHY]);
void dev_close(struct dev **d); /* waits for all streams and frees all remaining memory */
const char *dev_name(const struct dev *d);
int dev_processors(const struct dev *d); /* number of multiprocessors, which run concurrently */
bool dev_is_host(const struct dev *d);   /* true for an emulated device, without valid timings */

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
size_t dev_bytes(const struct dev *d); /* bytes in use */

struct dev_stream *dev_stream_new(struct dev *d);
void dev_stream_free(struct dev_stream **s); /* waits for the stream */
struct dev_event *dev_event_new(struct dev *d);
void dev_event_free(struct dev_event **e);
void dev_record(struct dev_event *e, struct dev_stream *s); /* marks this point of s */
/* Makes later work in s run after the last dev_record of e before this call. */
void dev_after(struct dev_stream *s, struct dev_event *e);
/* Makes later work in s run after all work now in `first`. No effect if s = first. */
void dev_follow(struct dev_stream *s, struct dev_stream *first);
/* Waits for all work in s, if there may be any. ERR_LIMIT: the device failed, and the contents of
 * its memory are lost. */
MUST_USE enum err dev_wait(struct dev_stream *s);
/* Waits for all streams, failed or not, before memory used by them is freed. d NULL: no effect. */
void dev_settle(struct dev *d);
/* dev_mark marks the current end of s. dev_passed: the host knows that the marked work has run.
 * dev_reach: the host waits for the marked work, unless an earlier wait for s covered it. */
int64_t dev_mark(const struct dev_stream *s);
bool dev_passed(const struct dev_stream *s, int64_t mark);
MUST_USE enum err dev_reach(struct dev_stream *s, int64_t mark);

/* Copies: host to device, device to host, device to device. */
void dev_put(struct dev_stream *s, void *to, const void *from, size_t bytes);
void dev_get(struct dev_stream *s, void *to, const void *from, size_t bytes);
void dev_copy(struct dev_stream *s, void *to, const void *from, size_t bytes);
void dev_fill(struct dev_stream *s, void *to, int byte, size_t bytes);

/* args: the kernel's struct, copied at the call. Without blocks there is no launch. */
void dev_launch(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks, const void *args);
/* Exclusive prefix sums to[i] = from[0] + … + from[i-1], i = 0 … n; from and to differ. */
void dev_scan(struct dev_stream *s, int32_t *to, const int32_t *from, int64_t n);
/* Stable sort by ascending key; `value` is permuted with it. */
void dev_sort(struct dev_stream *s, uint64_t *key, int32_t *value, int64_t n);

/* Counts of work and traffic since dev_open. */
struct dev_count {
    /* numbers of launches, of blocks, and of copies between host and device */
    int64_t launches, blocks, copies;
    int64_t waits, inner; /* waits of the host for pending work; copies and fills on the device */
    int64_t arrays;       /* allocated arrays */
    int64_t put, got;     /* bytes to the device, and back */
    double inside; /* emulated device: seconds of the calling thread in waits and allocation */
};
struct dev_count dev_counts(const struct dev *d);
/* Traffic of arrays of one name; the i-th name in order of first copy. NULL beyond the last. */
struct dev_traffic {
    const char *name;
    int64_t put, got;
};
const struct dev_traffic *dev_traffic(const struct dev *d, int i);

/* Launches since dev_open by kernel and size class: more than `max` / 2 and up to `max` blocks.
 * "scan" and "sort" count in blocks of DEV_THREADS elements. NULL beyond the last. */
struct dev_launches {
    const char *kernel;
    int64_t max, launches, blocks;
};
const struct dev_launches *dev_launches(const struct dev *d, int i);

/* Time of kernel i of a `timed` device; valid after dev_wait. NULL beyond the last. */
struct dev_time {
    const char *kernel;
    int64_t launches, blocks;
    double seconds;
};
const struct dev_time *dev_time(const struct dev *d, int i);
