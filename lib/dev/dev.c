/* dev: code common to all back ends: choice of the back end, names, counts. */
#include "dev/dev.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/timer.h"
#include "dev/backend.h"
#include "dev/kernel.h"
#include "dev/stages.h"

enum {
    DEV_LAUNCHES = 2048, /* maximum kernels times sizes */
    DEV_SLOTS = 4096,    /* size of the hash table of launches, a power of two */
    DEV_NAMES = 64,      /* maximum array names */
    DEV_STAGED = 8       /* maximum kernels of stages */
};

/* Record of an array in device memory. */
struct dev_array {
    char *at;
    size_t bytes;
    const char *name;
    int traffic; /* index of the traffic row of the array's name; -1: never copied */
};

struct dev {
    const struct dev_ops *ops;
    void *of; /* device of the back end */
    char name[DEV_NAME];
    struct dev_count count;
    size_t bytes, max;       /* bytes in use; limit (0: none) */
    struct dev_array *array; /* [narray] arrays sorted by address */
    int narray, cap;
    struct dev_stream *streams; /* linked list of streams */
    struct dev_traffic traffic[DEV_NAMES];
    int names;
    struct dev_clock *clock; /* times of launches; NULL: not timed */
    struct dev_launches launches[DEV_LAUNCHES];
    int16_t slot[DEV_SLOTS]; /* hash table of 1 + index in launches */
    int nlaunches;
    struct {
        const struct dev_kernel *kernel;
        int blocks;
    } together[DEV_STAGED]; /* answers of the back end; NULL: none yet */
};

struct dev_stream {
    struct dev *dev;
    void *of;
    bool busy;              /* true if work may be pending */
    int64_t waits;          /* number of waits so far */
    struct dev_event *here; /* event of dev_follow, or NULL */
    struct drops {
        void **p;
        int n, cap;
    } device, host; /* pending frees of dev_drop, dev_drop_host */
    struct dev_stream *next;
};

struct dev_event {
    struct dev *dev;
    void *of;
};

static const struct dev_ops *const BACK_ENDS[] = {
    &dev_ops_host,
#ifdef PTAH_CUDA
    &dev_ops_cuda,
#endif
};

/* PTAH_DEV is set by DEV in config.mk. */
#ifndef PTAH_DEV
#define PTAH_DEV "none"
#endif

static const struct dev_ops *ops_named(const char *kind)
{
    for (size_t i = 0; i < sizeof BACK_ENDS / sizeof *BACK_ENDS; i++)
        if (strcmp(BACK_ENDS[i]->kind, kind) == 0) return BACK_ENDS[i];
    return NULL;
}

struct dev *dev_open(const struct dev_how *how, char why[DEV_WHY])
{
    const char *kind = how->kind && strcmp(how->kind, "auto") != 0 ? how->kind : PTAH_DEV;
    const struct dev_ops *ops = ops_named(kind);
    if (!ops && strcmp(kind, "cuda") == 0)
        snprintf(why, DEV_WHY, "this build has no CUDA (make DEV=cuda)");
    else if (!ops)
        snprintf(why, DEV_WHY, "neither gpu_device nor the build (make DEV=) names a device");
    if (!ops) return NULL;
    struct dev *d = mem_zero(sizeof *d, "device");
    d->ops = ops;
    d->max = how->max;
    if (how->timed) d->clock = mem_zero(sizeof *d->clock, "device");
    d->of = ops->open(how, d->clock, d->name, why);
    if (d->of) return d;
    FREE(d->clock);
    FREE(d);
    return d;
}

void dev_close(struct dev **d)
{
    if (!*d) return;
    while ((*d)->narray > 0) dev_free(*d, (*d)->array[(*d)->narray - 1].at);
    FREE((*d)->array);
    (*d)->ops->close((*d)->of);
    FREE((*d)->clock);
    FREE(*d);
}

const char *dev_name(const struct dev *d)
{
    return d->name;
}

int dev_processors(const struct dev *d)
{
    return d->ops->processors(d->of);
}

bool dev_is_host(const struct dev *d)
{
    return d->ops->host;
}

struct dev_count dev_counts(const struct dev *d)
{
    return d->count;
}

/* ---- launches ---- */

/* Row of a kernel and size class. A kernel always gives the same pointer, which is compared. */
static struct dev_launches *launches_of(struct dev *d, const char *kernel, int64_t max)
{
    uint64_t key = ((uint64_t)(uintptr_t)kernel + (uint64_t)max) * 0x9e3779b97f4a7c15u;
    for (uint64_t at = key >> 32;; at++) {
        int16_t *i = &d->slot[at % DEV_SLOTS];
        if (*i > 0 && d->launches[*i - 1].kernel == kernel && d->launches[*i - 1].max == max)
            return &d->launches[*i - 1];
        if (*i > 0) continue;
        BUG_ON(d->nlaunches == DEV_LAUNCHES);
        d->launches[d->nlaunches] = (struct dev_launches){kernel, max, 0, 0};
        *i = (int16_t)++d->nlaunches;
        return &d->launches[d->nlaunches - 1];
    }
}

static void count(struct dev *d, const char *kernel, int64_t blocks)
{
    int64_t max = 1;
    while (max < blocks) max *= 2;
    struct dev_launches *row = launches_of(d, kernel, max);
    row->launches++;
    row->blocks += blocks;
}

const struct dev_launches *dev_launches(const struct dev *d, int i)
{
    return i < d->nlaunches ? &d->launches[i] : NULL;
}

/* ---- times ---- */

void dev_clock_add(struct dev_clock *c, const char *kernel, int64_t blocks, double seconds)
{
    int i = 0;
    while (i < c->n && strcmp(c->of[i].kernel, kernel) != 0) i++;
    BUG_ON(i == DEV_TIMES);
    if (i == c->n) c->of[c->n++] = (struct dev_time){.kernel = kernel};
    c->of[i].launches++;
    c->of[i].blocks += blocks;
    c->of[i].seconds += seconds;
}

const struct dev_time *dev_time(const struct dev *d, int i)
{
    return d->clock && i < d->clock->n ? &d->clock->of[i] : NULL;
}

/* ---- memory ---- */

/* Number of arrays that begin at `at` or before. */
static int arrays_to(const struct dev *d, const void *at)
{
    int low = 0, high = d->narray;
    while (low < high) {
        int middle = (low + high) / 2;
        if (d->array[middle].at <= (const char *)at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void array_add(struct dev *d, const struct dev_array *a)
{
    int i = arrays_to(d, a->at);
    MEM_ROOM(d->array, d->narray, d->cap, 64, "device");
    memmove(&d->array[i + 1], &d->array[i], sizeof *a * (size_t)(d->narray++ - i));
    d->array[i] = *a;
}

static void drops_free(struct dev_stream *s)
{
    while (s->device.n > 0) dev_free(s->dev, s->device.p[--s->device.n]);
    while (s->host.n > 0) mem_free(s->host.p[--s->host.n]);
}

/* Frees the arrays of pending dev_drop calls; false if there were none. */
static bool drops_flush(struct dev *d)
{
    bool any = false;
    for (struct dev_stream *s = d->streams; s; s = s->next) {
        any |= s->device.n > 0;
        if (s->device.n > 0 && dev_wait(s) != OK) return false;
    }
    return any;
}

/* CPU time of the calling thread for an emulated device, which runs on the host; else 0. */
static double clock_of(const struct dev *d)
{
    return d->ops->host ? timer_thread() : 0;
}

static void *alloc(struct dev *d, size_t bytes, const char *name)
{
    if (d->max && (bytes > d->max || d->bytes > d->max - bytes)) return NULL;
    double begin = clock_of(d);
    void *p = d->ops->alloc(d->of, bytes, name);
    d->count.inside += clock_of(d) - begin;
    return p;
}

enum err dev_new(struct dev *d, void *pointer, size_t bytes, const char *name)
{
    d->count.arrays++;
    void *p = alloc(d, bytes, name);
    if (!p && drops_flush(d)) p = alloc(d, bytes, name);
    memcpy(pointer, &p, sizeof p);
    if (!p)
        FAIL(ERR_LIMIT, "%.1f MB of '%s' do not fit into %s, of which %.1f MB are in use",
             1e-6 * (double)bytes, name, d->name, 1e-6 * (double)d->bytes);
    array_add(d, &(struct dev_array){p, bytes, name, -1});
    d->bytes += bytes;
    return OK;
}

void dev_free(struct dev *d, void *p)
{
    if (!p) return;
    double begin = clock_of(d);
    int i = arrays_to(d, p) - 1;
    BUG_ON(i < 0 || d->array[i].at != p); /* not an array of this device */
    size_t bytes = d->array[i].bytes;
    memmove(&d->array[i], &d->array[i + 1], sizeof *d->array * (size_t)(--d->narray - i));
    d->bytes -= bytes;
    d->ops->release(d->of, p, bytes);
    d->count.inside += clock_of(d) - begin;
}

static void drop(struct dev_stream *s, struct drops *d, void *p)
{
    if (!p) return;
    MEM_ROOM(d->p, d->n, d->cap, 64, "device");
    d->p[d->n++] = p;
    if (!s->busy) drops_free(s);
}

void dev_drop(struct dev_stream *s, void *p)
{
    drop(s, &s->device, p);
}

enum err dev_room_need(struct dev_stream *s, struct dev_room *r, size_t bytes, const char *name)
{
    if (r->p && r->bytes >= bytes) return OK;
    dev_drop(s, r->p);
    r->bytes = 0;
    TRY(dev_new(s->dev, &r->p, bytes + 1, name));
    r->bytes = bytes;
    return OK;
}

void dev_drop_host(struct dev_stream *s, void *p)
{
    drop(s, &s->host, p);
}

size_t dev_bytes(const struct dev *d)
{
    return d->bytes;
}

/* ---- streams and events ---- */

struct dev_stream *dev_stream_new(struct dev *d)
{
    struct dev_stream *s = mem_new(sizeof *s, "device");
    *s = (struct dev_stream){.dev = d, .of = d->ops->stream_new(d->of), .next = d->streams};
    return d->streams = s;
}

void dev_stream_free(struct dev_stream **s)
{
    if (!*s) return;
    struct dev_stream **at = &(*s)->dev->streams;
    while (*at != *s) at = &(*at)->next;
    *at = (*s)->next;
    (*s)->dev->ops->stream_free((*s)->dev->of, (*s)->of);
    drops_free(*s);
    dev_event_free(&(*s)->here);
    FREE((*s)->device.p);
    FREE((*s)->host.p);
    FREE(*s);
}

struct dev_event *dev_event_new(struct dev *d)
{
    struct dev_event *e = mem_new(sizeof *e, "device");
    *e = (struct dev_event){d, d->ops->event_new(d->of)};
    return e;
}

void dev_event_free(struct dev_event **e)
{
    if (!*e) return;
    (*e)->dev->ops->event_free((*e)->dev->of, (*e)->of);
    FREE(*e);
}

void dev_record(struct dev_event *e, struct dev_stream *s)
{
    s->busy = true;
    s->dev->ops->record(s->dev->of, e->of, s->of);
}

void dev_after(struct dev_stream *s, struct dev_event *e)
{
    s->busy = true;
    s->dev->ops->after(s->dev->of, s->of, e->of);
}

void dev_follow(struct dev_stream *s, struct dev_stream *first)
{
    if (s == first || !first->busy) return;
    if (!first->here) first->here = dev_event_new(first->dev);
    dev_record(first->here, first);
    dev_after(s, first->here);
}

/* Waits for a stream; false if the device failed. */
static bool wait_for(struct dev_stream *s, char why[DEV_WHY])
{
    struct dev *d = s->dev;
    if (!s->busy) return true;
    double begin = clock_of(d);
    d->count.waits++;
    bool ok = d->ops->wait(d->of, s->of, why);
    s->busy = false;
    s->waits++;
    d->count.inside += clock_of(d) - begin;
    drops_free(s);
    return ok;
}

enum err dev_wait(struct dev_stream *s)
{
    char why[DEV_WHY];
    if (!wait_for(s, why)) FAIL(ERR_LIMIT, "%s failed: %s", s->dev->name, why);
    return OK;
}

int64_t dev_mark(const struct dev_stream *s)
{
    return s->waits;
}

bool dev_passed(const struct dev_stream *s, int64_t mark)
{
    return s->waits > mark || !s->busy;
}

enum err dev_reach(struct dev_stream *s, int64_t mark)
{
    return dev_passed(s, mark) ? OK : dev_wait(s);
}

void dev_settle(struct dev *d)
{
    char why[DEV_WHY];
    for (struct dev_stream *s = d ? d->streams : NULL; s; s = s->next) (void)wait_for(s, why);
}

/* ---- work ---- */

static void move(struct dev_stream *s, enum dev_way way, void *to, const void *from, size_t bytes)
{
    if (bytes == 0) return;
    s->busy = true;
    s->dev->ops->move(s->dev->of, s->of, way, to, from, bytes);
}

static int traffic_line(struct dev *d, const char *name)
{
    int i = 0;
    while (i < d->names && d->traffic[i].name != name && strcmp(d->traffic[i].name, name) != 0) i++;
    BUG_ON(i == DEV_NAMES);
    if (i == d->names) d->traffic[d->names++].name = name;
    return i;
}

/* Traffic row of the array that contains `at`. */
static struct dev_traffic *traffic(struct dev *d, const void *at)
{
    int i = arrays_to(d, at) - 1;
    struct dev_array *a = i >= 0 ? &d->array[i] : NULL;
    if (!a || (const char *)at >= a->at + a->bytes) return &d->traffic[traffic_line(d, "?")];
    if (a->traffic < 0) a->traffic = traffic_line(d, a->name);
    return &d->traffic[a->traffic];
}

const struct dev_traffic *dev_traffic(const struct dev *d, int i)
{
    return i < d->names ? &d->traffic[i] : NULL;
}

void dev_put(struct dev_stream *s, void *to, const void *from, size_t bytes)
{
    s->dev->count.copies++;
    s->dev->count.put += (int64_t)bytes;
    traffic(s->dev, to)->put += (int64_t)bytes;
    move(s, DEV_PUT, to, from, bytes);
}

void dev_get(struct dev_stream *s, void *to, const void *from, size_t bytes)
{
    s->dev->count.copies++;
    s->dev->count.got += (int64_t)bytes;
    traffic(s->dev, from)->got += (int64_t)bytes;
    move(s, DEV_GET, to, from, bytes);
}

void dev_copy(struct dev_stream *s, void *to, const void *from, size_t bytes)
{
    s->dev->count.inner++;
    move(s, DEV_COPY, to, from, bytes);
}

void dev_fill(struct dev_stream *s, void *to, int byte, size_t bytes)
{
    if (bytes == 0) return;
    s->busy = true;
    s->dev->count.inner++;
    s->dev->ops->fill(s->dev->of, s->of, to, byte, bytes);
}

static void launch(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks, int stages,
                   const void *args)
{
    s->busy = true;
    s->dev->count.launches++;
    s->dev->count.blocks += blocks;
    count(s->dev, k->name, blocks);
    s->dev->ops->launch(s->dev->of, s->of, k, blocks, stages, args);
}

void dev_launch(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks, const void *args)
{
    if (blocks == 0) return;
    BUG_ON(blocks < 0 || blocks > INT32_MAX);
    launch(s, k, blocks, 0, args);
}

int dev_together(struct dev_stream *s, const struct dev_kernel *k)
{
    struct dev *d = s->dev;
    int i = 0;
    while (i < DEV_STAGED && d->together[i].kernel && d->together[i].kernel != k) i++;
    BUG_ON(i == DEV_STAGED);
    if (d->together[i].kernel) return d->together[i].blocks;
    d->together[i].kernel = k;
    s->busy = true;
    return d->together[i].blocks = d->ops->together(d->of, s->of, k);
}

void dev_launch_stages(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks,
                       const void *args)
{
    const int stages = ((const struct dev_stages *)args)->stages;
    if (blocks == 0 || stages == 0) return;
    BUG_ON(blocks < 0 || blocks > dev_together(s, k) || stages < 0);
    launch(s, k, blocks, stages, args);
}

void dev_stage_count(struct dev_stream *s, const char *name, int64_t blocks)
{
    count(s->dev, name, blocks);
}

void dev_scan(struct dev_stream *s, int32_t *to, const int32_t *from, int64_t n)
{
    s->busy = true;
    count(s->dev, "scan", dev_blocks(n));
    s->dev->ops->scan(s->dev->of, s->of, to, from, n);
}

void dev_sort(struct dev_stream *s, uint64_t *key, int32_t *value, int64_t n)
{
    s->busy = true;
    count(s->dev, "sort", dev_blocks(n));
    s->dev->ops->sort(s->dev->of, s->of, key, value, n);
}
