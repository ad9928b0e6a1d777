/* dev: what all back ends have in common: the choice, names, counts. */
#include "dev/dev.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "dev/backend.h"
#include "dev/kernel.h"

enum {
    DEV_LAUNCHES = 2048, /* kernels times sizes */
    DEV_NAMES = 64       /* of arrays */
};

struct dev {
    const struct dev_ops *ops;
    void *of; /* the back end's */
    char name[DEV_NAME];
    struct dev_count count;
    size_t bytes;
    struct dev_array *first;
    struct dev_traffic traffic[DEV_NAMES];
    int names;
    struct dev_clock *clock; /* NULL: not timed */
    struct dev_launches launches[DEV_LAUNCHES];
    int nlaunches;
};

/* What is known of an array; in a list. */
struct dev_array {
    char *at;
    size_t bytes;
    const char *name;
    struct dev_array *next;
};

struct dev_stream {
    struct dev *dev;
    void *of;
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

/* config.mk: DEV */
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
        snprintf(why, DEV_WHY, "neither gpu_device nor the build (make DEV=) names one");
    if (!ops) return NULL;
    struct dev *d = mem_zero(sizeof *d, "device");
    d->ops = ops;
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
    while ((*d)->first) dev_free(*d, (*d)->first->at);
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

static void count(struct dev *d, const char *kernel, int64_t blocks)
{
    int64_t most = 1;
    int i = 0;
    while (most < blocks) most *= 2;
    while (i < d->nlaunches &&
           (d->launches[i].most != most || strcmp(d->launches[i].kernel, kernel) != 0))
        i++;
    BUG_ON(i == DEV_LAUNCHES);
    if (i == d->nlaunches) d->launches[d->nlaunches++] = (struct dev_launches){kernel, most, 0, 0};
    d->launches[i].launches++;
    d->launches[i].blocks += blocks;
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

enum err dev_new(struct dev *d, void **p, size_t bytes, const char *name)
{
    *p = d->ops->alloc(d->of, bytes, name);
    if (!*p)
        FAIL(ERR_LIMIT, "%.1f MB of '%s' do not fit into %s, of which %.1f MB are in use",
             1e-6 * (double)bytes, name, d->name, 1e-6 * (double)d->bytes);
    struct dev_array *a = mem_new(sizeof *a, "device");
    *a = (struct dev_array){*p, bytes, name, d->first};
    d->first = a;
    d->bytes += bytes;
    return OK;
}

void dev_free(struct dev *d, void *p)
{
    if (!p) return;
    struct dev_array **at = &d->first;
    while (*at && (*at)->at != p) at = &(*at)->next;
    BUG_ON(!*at); /* not an array of this device */
    struct dev_array *a = *at;
    *at = a->next;
    d->bytes -= a->bytes;
    mem_free(a);
    d->ops->release(d->of, p);
}

size_t dev_bytes(const struct dev *d)
{
    return d->bytes;
}

/* ---- streams and events ---- */

struct dev_stream *dev_stream_new(struct dev *d)
{
    struct dev_stream *s = mem_new(sizeof *s, "device");
    *s = (struct dev_stream){d, d->ops->stream_new(d->of)};
    return s;
}

void dev_stream_free(struct dev_stream **s)
{
    if (!*s) return;
    (*s)->dev->ops->stream_free((*s)->dev->of, (*s)->of);
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
    s->dev->ops->record(s->dev->of, e->of, s->of);
}

void dev_after(struct dev_stream *s, struct dev_event *e)
{
    s->dev->ops->after(s->dev->of, s->of, e->of);
}

enum err dev_wait(struct dev_stream *s)
{
    char why[DEV_WHY];
    s->dev->count.waits++;
    if (!s->dev->ops->wait(s->dev->of, s->of, why))
        FAIL(ERR_LIMIT, "%s failed: %s", s->dev->name, why);
    return OK;
}

/* ---- work ---- */

static void move(struct dev_stream *s, enum dev_way way, void *to, const void *from, size_t bytes)
{
    if (bytes > 0) s->dev->ops->move(s->dev->of, s->of, way, to, from, bytes);
}

/* The line of the array there. */
static struct dev_traffic *traffic(struct dev *d, const void *at)
{
    const struct dev_array *a = d->first;
    int i = 0;
    while (a && ((const char *)at < a->at || (const char *)at >= a->at + a->bytes)) a = a->next;
    const char *name = a ? a->name : "?";
    while (i < d->names && strcmp(d->traffic[i].name, name) != 0) i++;
    BUG_ON(i == DEV_NAMES);
    if (i == d->names) d->traffic[d->names++].name = name;
    return &d->traffic[i];
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
    move(s, DEV_COPY, to, from, bytes);
}

void dev_fill(struct dev_stream *s, void *to, int byte, size_t bytes)
{
    if (bytes > 0) s->dev->ops->fill(s->dev->of, s->of, to, byte, bytes);
}

void dev_launch(struct dev_stream *s, const struct dev_kernel *k, int64_t blocks, const void *args)
{
    if (blocks == 0) return;
    BUG_ON(blocks < 0 || blocks > INT32_MAX);
    s->dev->count.launches++;
    s->dev->count.blocks += blocks;
    count(s->dev, k->name, blocks);
    s->dev->ops->launch(s->dev->of, s->of, k, blocks, args);
}

void dev_scan(struct dev_stream *s, int32_t *to, const int32_t *from, int64_t n)
{
    count(s->dev, "scan", dev_blocks(n));
    s->dev->ops->scan(s->dev->of, s->of, to, from, n);
}

void dev_sort(struct dev_stream *s, uint64_t *key, int32_t *value, int64_t n)
{
    count(s->dev, "sort", dev_blocks(n));
    s->dev->ops->sort(s->dev->of, s->of, key, value, n);
}
