/* dev/host: an emulated device, to test device code without a device.
 *
 * Device memory is inaccessible to the host (host_memory.c): a missing copy ends the program with
 * the name of the array. Streams are queues. Nothing in them runs before the host waits, and then
 * as late as the order of streams and events allows: the awaited stream runs, others at random.
 * Blocks of a launch run in parallel in random order, and so do the threads of a block in each
 * phase (kernel.h), all from a seed: a race or a missing barrier or event changes results from seed
 * to seed. Shared memory of a block is initialised to NaN. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/timer.h"
#include "dev/backend.h"
#include "dev/host_memory.h"
#include "dev/kernel.h"
#include "dev/stages.h"

enum { STREAMS = 64, ARGS = 4096 };
enum kind { MOVE, FILL, LAUNCH, RECORD, AFTER, SCAN, SORT };

struct host_event {
    int64_t recorded, happened; /* numbers of records requested and completed */
};

struct op {
    enum kind kind;
    enum dev_way way;
    void *to;
    const void *from;
    int byte, stages;
    int64_t n; /* number of bytes, blocks or elements, or number of a record */
    const struct dev_kernel *kernel;
    struct host_event *event;
    void *args;
};

struct host_stream {
    struct op *op;
    int first, n, cap;
};

struct host_dev {
    struct host_memory *memory;
    struct host_stream *stream[STREAMS];
    uint64_t seed, random;
    bool apart;
    struct dev_clock *clock;
};

static void *host_open(const struct dev_how *how, struct dev_clock *c, char name[DEV_NAME],
                       char why[DEV_WHY])
{
    struct host_dev *d = mem_zero(sizeof *d, "device");
    d->memory = host_memory_new();
    d->seed = d->random = how->seed;
    d->clock = c;
    d->apart = how->apart;
    int n = how->devices > 0 ? how->devices : 1;
    snprintf(name, DEV_NAME, "emulated device %d of %d", how->rank % n, n);
    return d;
}

static int host_processors(const void *dev)
{
    return 8;
}

static int host_together(void *dev, void *stream, const struct dev_kernel *k)
{
    const struct host_dev *d = dev;
    return d->apart ? 0 : host_processors(d);
}

static void *host_alloc(void *dev, size_t bytes, const char *name)
{
    struct host_dev *d = dev;
    return host_memory_take(d->memory, bytes, name);
}

static void host_release(void *dev, void *p, size_t bytes)
{
    struct host_dev *d = dev;
    host_memory_give(d->memory, p);
}

/* ---- queues ---- */

static void *host_stream_new(void *dev)
{
    struct host_dev *d = dev;
    int i = 0;
    while (i < STREAMS && d->stream[i]) i++;
    BUG_ON(i == STREAMS);
    return d->stream[i] = mem_zero(sizeof *d->stream[i], "device");
}

static void *host_event_new(void *dev)
{
    return mem_zero(sizeof(struct host_event), "device");
}

static void host_event_free(void *dev, void *event)
{
    mem_free(event);
}

static void put(struct host_stream *s, struct op op)
{
    MEM_ROOM(s->op, s->n, s->cap, 64, "device");
    s->op[s->n++] = op;
}

/* Checks the memory that a copy accesses; kernel accesses are checked by page protection. */
static void check_move(const struct host_dev *d, enum dev_way way, const void *to, const void *from,
                       size_t bytes)
{
    BUG_ON(way != DEV_GET && !host_memory_name(d->memory, to, bytes));
    BUG_ON(way != DEV_PUT && !host_memory_name(d->memory, from, bytes));
    BUG_ON(way == DEV_GET && host_memory_touches(d->memory, to, bytes));
    BUG_ON(way == DEV_PUT && host_memory_touches(d->memory, from, bytes));
}

static void host_move(void *dev, void *stream, enum dev_way way, void *to, const void *from,
                      size_t bytes)
{
    check_move(dev, way, to, from, bytes);
    put(stream, (struct op){.kind = MOVE, .way = way, .to = to, .from = from, .n = (int64_t)bytes});
}

static void host_fill(void *dev, void *stream, void *to, int byte, size_t bytes)
{
    check_move(dev, DEV_COPY, to, to, bytes);
    put(stream, (struct op){.kind = FILL, .to = to, .byte = byte, .n = (int64_t)bytes});
}

static void host_launch(void *dev, void *stream, const struct dev_kernel *k, int64_t blocks,
                        int stages, const void *args)
{
    BUG_ON(k->args > ARGS);
    struct op op = {.kind = LAUNCH,
                    .kernel = k,
                    .n = blocks,
                    .stages = stages,
                    .args = mem_new(k->args, "device")};
    memcpy(op.args, args, k->args);
    put(stream, op);
}

static void host_record(void *dev, void *event, void *stream)
{
    struct host_event *e = event;
    put(stream, (struct op){.kind = RECORD, .event = e, .n = ++e->recorded});
}

static void host_after(void *dev, void *stream, void *event)
{
    struct host_event *e = event;
    put(stream, (struct op){.kind = AFTER, .event = e, .n = e->recorded});
}

static void host_scan(void *dev, void *stream, int32_t *to, const int32_t *from, int64_t n)
{
    put(stream, (struct op){.kind = SCAN, .to = to, .from = from, .n = n});
}

static void host_sort(void *dev, void *stream, uint64_t *key, int32_t *value, int64_t n)
{
    put(stream, (struct op){.kind = SORT, .to = key, .args = value, .n = n});
}

/* ---- execution ---- */

/* Runs the blocks of a launch in parallel, in random order. */
static void run_blocks(struct host_dev *d, const struct op *op)
{
    const struct dev_kernel *k = op->kernel;
    uint64_t random = d->seed ? dev_random(&d->random) | 1 : 0;
    struct dev_block order = {.random = random};
    struct dev_walk w = dev_walk(&order, (int)op->n);
#pragma omp parallel
    {
        void *shared = mem_new(k->shared + 1, "device");
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < op->n; i++) {
            int at = (int)((w.at + i * w.step) % op->n);
            uint64_t own = random + (uint64_t)at;
            struct dev_block b = {at, (int)op->n, random ? dev_random(&own) | 1 : 0};
            memset(shared, 0xff, k->shared);
            k->host(op->args, shared, &b);
        }
        mem_free(shared);
    }
}

/* Runs a launch: its blocks, once for each stage. */
static void run_launch(struct host_dev *d, const struct op *op)
{
    struct dev_stages *each = op->args;
    if (op->stages == 0) run_blocks(d, op);
    for (int i = 0; i < op->stages; i++) {
        each->stage = i;
        run_blocks(d, op);
    }
}

static void run_scan(const struct op *op)
{
    int32_t *to = op->to, sum = 0;
    const int32_t *from = op->from;
    for (int64_t i = 0; i < op->n; i++) {
        to[i] = sum;
        sum += from[i];
    }
    to[op->n] = sum;
}

/* Radix sort by bytes from the lowest to the highest, each pass stable. */
static void run_sort(const struct op *op)
{
    uint64_t *key = op->to, *key2 = mem_new(sizeof *key2 * (size_t)op->n + 1, "device");
    int32_t *value = op->args, *value2 = mem_new(sizeof *value2 * (size_t)op->n + 1, "device");
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t at[257] = {0};
        for (int64_t i = 0; i < op->n; i++) at[(key[i] >> shift & 255) + 1]++;
        for (int c = 0; c < 256; c++) at[c + 1] += at[c];
        for (int64_t i = 0; i < op->n; i++) {
            int64_t to = at[key[i] >> shift & 255]++;
            key2[to] = key[i];
            value2[to] = value[i];
        }
        memcpy(key, key2, sizeof *key * (size_t)op->n);
        memcpy(value, value2, sizeof *value * (size_t)op->n);
    }
    mem_free(key2);
    mem_free(value2);
}

/* Runs the next operation of the stream; false if it must wait for an event. */
static bool run_next(struct host_dev *d, struct host_stream *s)
{
    double begin;
    struct op op = s->op[s->first];
    if (op.kind == AFTER && op.event->happened < op.n) return false;
    switch (op.kind) {
    case MOVE:
        memcpy(op.to, op.from, (size_t)op.n);
        break;
    case FILL:
        memset(op.to, op.byte, (size_t)op.n);
        break;
    case LAUNCH:
        begin = timer_wall();
        run_launch(d, &op);
        if (d->clock) dev_clock_add(d->clock, op.kernel->name, op.n, timer_wall() - begin);
        mem_free(op.args);
        break;
    case RECORD:
        op.event->happened = op.n;
        break;
    case AFTER:
        break;
    case SCAN:
        run_scan(&op);
        break;
    case SORT:
        run_sort(&op);
        break;
    }
    if (++s->first == s->n) s->first = s->n = 0;
    return true;
}

/* A stream other than s with work that can run, or NULL. */
static struct host_stream *other_stream(struct host_dev *d, const struct host_stream *s)
{
    int from = d->seed ? (int)(dev_random(&d->random) % STREAMS) : 0;
    for (int i = 0; i < STREAMS; i++) {
        struct host_stream *t = d->stream[(from + i) % STREAMS];
        if (!t || t == s || t->n == 0) continue;
        const struct op *op = &t->op[t->first];
        if (op->kind != AFTER || op->event->happened >= op->n) return t;
    }
    return NULL;
}

/* Runs the stream to its end, and operations of other streams as required or at random. */
static bool host_wait(void *dev, void *stream, char why[DEV_WHY])
{
    struct host_dev *d = dev;
    struct host_stream *s = stream;
    if (s->n == 0) return true;
    host_memory_open(d->memory);
    while (s->n > 0) {
        bool stray = d->seed && dev_random(&d->random) % 4 == 0;
        struct host_stream *t = stray ? other_stream(d, s) : NULL;
        if (t) run_next(d, t);
        if (run_next(d, s)) continue;
        t = other_stream(d, s);
        BUG_ON(!t); /* deadlock: streams wait for one another */
        run_next(d, t);
    }
    host_memory_close(d->memory);
    return true;
}

static void host_stream_free(void *dev, void *stream)
{
    struct host_dev *d = dev;
    struct host_stream *s = stream;
    char why[DEV_WHY];
    host_wait(dev, stream, why);
    for (int i = 0; i < STREAMS; i++)
        if (d->stream[i] == s) d->stream[i] = NULL;
    FREE(s->op);
    mem_free(s);
}

static void host_close(void *dev)
{
    struct host_dev *d = dev;
    for (int i = 0; i < STREAMS; i++)
        if (d->stream[i]) host_stream_free(d, d->stream[i]);
    host_memory_free(&d->memory);
    mem_free(d);
}

const struct dev_ops dev_ops_host = {
    .kind = "host",
    .host = true,
    .open = host_open,
    .close = host_close,
    .processors = host_processors,
    .together = host_together,
    .alloc = host_alloc,
    .release = host_release,
    .stream_new = host_stream_new,
    .stream_free = host_stream_free,
    .event_new = host_event_new,
    .event_free = host_event_free,
    .record = host_record,
    .after = host_after,
    .wait = host_wait,
    .move = host_move,
    .fill = host_fill,
    .launch = host_launch,
    .scan = host_scan,
    .sort = host_sort,
};
