#include "sink/copies.h"

#include <string.h>

#include "base/mem.h"

/* Label before each row of a message: rank of the sink, and its index there. */
struct label {
    int64_t home, number;
};

void sink_copies_free(struct sink_copies *c)
{
    events_free(&c->here);
    FREE(c->home);
    FREE(c->number);
    FREE(c->centre);
    FREE(c->which);
    *c = (struct sink_copies){.n = 0};
}

/* Moves labels to separate arrays, and closes the gaps between rows. */
static void unpack(struct sink_copies *c, size_t bytes)
{
    int64_t n = c->here.n;
    size_t row = c->here.bytes;
    c->home = mem_grow(c->home, sizeof *c->home * (size_t)n + 1, "sinks");
    c->number = mem_grow(c->number, sizeof *c->number * (size_t)n + 1, "sinks");
    for (int64_t i = 0; i < n; i++) {
        struct label k;
        char *from = c->here.payload + row * (size_t)i;
        memcpy(&k, from, sizeof k);
        c->home[i] = (int)k.home;
        c->number[i] = k.number;
        memmove(c->here.payload + bytes * (size_t)i, from + sizeof k, bytes);
    }
    c->here.bytes = bytes;
}

static enum err route(const struct sink_context *p, size_t bytes, const void *rows,
                      struct sink_copies *c)
{
    size_t row = sizeof(struct label) + bytes;
    char *out = mem_new(row * (size_t)c->n + 1, "sinks");
    for (int64_t k = 0; k < c->n; k++) {
        struct label label = {p->comm->rank, c->which[k]};
        memcpy(out + row * (size_t)k, &label, sizeof label);
        if (bytes)
            memcpy(out + row * (size_t)k + sizeof label,
                   (const char *)rows + bytes * (size_t)c->which[k], bytes);
    }
    enum err err = event_route(p->comm, p->dom, p->mesh, c->n, c->centre, row, out, &c->here);
    FREE(out);
    if (err == OK) unpack(c, bytes);
    return err;
}

enum err sink_call(const struct sink_context *p, const struct sinks *s, const bool *wants,
                   double radius, size_t bytes, const void *rows, struct sink_copies *out)
{
    struct sink_copies c = {.n = 0};
    c.centre = mem_new(sizeof *c.centre * (size_t)s->n + 1, "sinks");
    c.which = mem_new(sizeof *c.which * (size_t)s->n + 1, "sinks");
    for (int64_t i = 0; i < s->n; i++) {
        const struct sink *a = &s->at[i];
        if ((wants && !wants[i]) || !sink_inside(p->mesh, a->x)) continue;
        c.centre[c.n] = (struct event){
            .id = a->id, .x = {a->x[0], a->x[1], a->x[2]}, .radius = radius};
        c.which[c.n++] = i;
    }
    *out = c;
    return route(p, bytes, rows, out);
}

enum err sink_call_again(const struct sink_context *p, const struct sinks *s, size_t bytes,
                         const void *rows, struct sink_copies *c)
{
    events_free(&c->here);
    return route(p, bytes, rows, c);
}

/* Sends the sums of a copy contiguously, after the index of its sink. */
void sink_answer(const struct sink_context *p, const struct sinks *s, const struct sink_copies *c,
                 int nsum, const struct sum *sums, struct sum *out)
{
    int64_t n = c->here.n, got;
    size_t each = sizeof *sums * (size_t)nsum, row = sizeof(int64_t) + each;
    char *send = mem_new(row * (size_t)n + 1, "sinks");
    for (int64_t i = 0; i < n; i++) {
        memcpy(send + row * (size_t)i, &c->number[i], sizeof(int64_t));
        memcpy(send + row * (size_t)i + sizeof(int64_t), sums + nsum * i, each);
    }
    char *in = comm_exchange_by(p->comm, send, n, c->home, row, &got, NULL);
    for (int64_t i = 0; i < s->n * nsum; i++) sum_init(&out[i]);
    struct sum *part = mem_new(each + 1, "sinks");
    for (int64_t i = 0; i < got; i++) {
        int64_t at;
        memcpy(&at, in + row * (size_t)i, sizeof at);
        memcpy(part, in + row * (size_t)i + sizeof at, each);
        for (int k = 0; k < nsum; k++) sum_join(&out[at * nsum + k], &part[k]);
    }
    FREE(part);
    FREE(in);
    FREE(send);
}
