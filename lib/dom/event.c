#include "dom/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* An event in transit, followed by its payload. */
struct parcel {
    struct event event;
    int64_t rank;
};

struct post {
    int64_t n, cap;
    size_t row;
    char *data; /* parcels of `row` bytes each */
};

static void post_add(struct post *p, const struct parcel *head, const void *payload)
{
    if (p->n == p->cap) {
        p->cap = 2 * p->cap + 64;
        p->data = mem_grow(p->data, p->row * (size_t)p->cap, "events");
    }
    char *to = p->data + p->row * (size_t)p->n++;
    memcpy(to, head, sizeof *head);
    memcpy(to + sizeof *head, payload, p->row - sizeof *head);
}

static enum err check_event(const struct mesh *m, const struct event *e)
{
    bool good = e->radius >= 0 && 2 * e->radius <= m->boxlen;
    for (int a = 0; a < 3; a++) good &= e->x[a] >= 0 && e->x[a] <= m->boxlen;
    if (!good)
        FAIL(ERR_LIMIT,
             "event %ld at %g %g %g with radius %g must lie in the box, whose side is %g, and be "
             "no wider than it",
             (long)e->id, e->x[0], e->x[1], e->x[2], e->radius, m->boxlen);
    return OK;
}

/* Posts one event and its periodic images to the ranks they reach. near: workspace. */
static void post_event(struct post *p, const struct domain *d, const struct mesh *m,
                       const struct event *e, const void *payload, struct rank_list *near)
{
    /* Own cells extend up to half a levelmin oct beyond the domain, which owns oct centres. */
    double box = m->boxlen, margin = 0.5 / (double)((int64_t)1 << (m->levelmin - 1));
    int reach[3];
    for (int a = 0; a < 3; a++) reach[a] = !m->bounded[2 * a] && !m->bounded[2 * a + 1];
    for (int k = 0; k < 27; k++) {
        int s[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
        struct parcel image = {.event = *e};
        double x[3];
        bool reaches = true;
        for (int a = 0; a < 3; a++) {
            double y = image.event.x[a] = e->x[a] + s[a] * box;
            x[a] = y / box;
            reaches &= abs(s[a]) <= reach[a] && y + e->radius >= 0 && y - e->radius <= box;
        }
        if (!reaches) continue;
        domain_ball(d, x, e->radius / box, margin, near);
        for (int i = 0; i < near->n; i++) {
            image.rank = near->rank[i];
            post_add(p, &image, payload);
        }
    }
}

static int event_order(const void *a, const void *b)
{
    const struct event *x = &(*(const struct parcel *const *)a)->event,
                       *y = &(*(const struct parcel *const *)b)->event;
    if (x->id != y->id) return x->id > y->id ? 1 : -1;
    for (int k = 0; k < 3; k++)
        if (x->x[k] != y->x[k]) return x->x[k] > y->x[k] ? 1 : -1;
    return 0;
}

/* Copies the rows in event order to a new block. */
static char *rows_sorted(const char *data, size_t row, int64_t n)
{
    const char **at = mem_new(sizeof *at * (size_t)n + 1, "events");
    char *out = mem_new(row * (size_t)n + 1, "events");
    for (int64_t i = 0; i < n; i++) at[i] = data + row * (size_t)i;
    mem_sort(at, (size_t)n, sizeof *at, event_order);
    for (int64_t i = 0; i < n; i++) memcpy(out + row * (size_t)i, at[i], row);
    mem_free(at);
    return out;
}

static void unpack(struct events *out, const char *rows, size_t row)
{
    out->at = mem_new(sizeof *out->at * (size_t)out->n + 1, "events");
    out->payload = mem_new(out->bytes * (size_t)out->n + 1, "events");
    for (int64_t i = 0; i < out->n; i++) {
        const char *p = rows + row * (size_t)i;
        memcpy(&out->at[i], p + offsetof(struct parcel, event), sizeof *out->at);
        memcpy(out->payload + out->bytes * (size_t)i, p + sizeof(struct parcel), out->bytes);
    }
}

/* Sends parcels to their ranks; returns the *n received parcels. */
static char *post_send(const struct post *p, const struct comm *c, int64_t *n)
{
    int *rank = mem_new(sizeof *rank * (size_t)p->n + 1, "events");
    int64_t *order = mem_new(sizeof *order * (size_t)p->n + 1, "events");
    char *rows = mem_new(p->row * (size_t)p->n + 1, "events");
    for (int64_t i = 0; i < p->n; i++)
        rank[i] = (int)((const struct parcel *)(p->data + p->row * (size_t)i))->rank;
    struct comm_counts to = comm_counts_of(p->n, rank, order);
    for (int64_t i = 0; i < p->n; i++)
        memcpy(rows + p->row * (size_t)i, p->data + p->row * (size_t)order[i], p->row);
    char *got = comm_exchange(c, rows, &to, p->row, n, NULL);
    comm_counts_free(&to);
    FREE(rows);
    FREE(order);
    FREE(rank);
    return got;
}

enum err event_route(const struct comm *c, const struct domain *d, const struct mesh *m, int64_t n,
                     const struct event *e, size_t bytes, const void *payload, struct events *out)
{
    enum err err = OK;
    /* Padding keeps parcels aligned. */
    struct post p = {.row = (sizeof(struct parcel) + bytes + 7) / 8 * 8};
    size_t padded = p.row - sizeof(struct parcel);
    *out = (struct events){.bytes = bytes};
    for (int64_t i = 0; i < n && err == OK; i++) err = check_event(m, &e[i]);
    TRY(err_agree(c, err));
    struct rank_list near = {0};
    char *room = mem_zero(padded + 1, "events");
    for (int64_t i = 0; i < n; i++) {
        if (bytes) memcpy(room, (const char *)payload + bytes * (size_t)i, bytes);
        post_event(&p, d, m, &e[i], room, &near);
    }
    char *got = post_send(&p, c, &out->n);
    char *rows = rows_sorted(got, p.row, out->n);
    unpack(out, rows, p.row);
    FREE(rows);
    FREE(got);
    FREE(room);
    FREE(near.rank);
    FREE(p.data);
    return OK;
}

enum err event_route_home(const struct comm *c, const struct domain *d, const struct mesh *m,
                          int64_t n, size_t bytes, const void *rows, struct events *out)
{
    struct event *point = mem_new(sizeof *point * (size_t)n + 1, "events");
    for (int64_t i = 0; i < n; i++) {
        memcpy(&point[i], (const char *)rows + bytes * (size_t)i, sizeof *point);
        point[i].radius = 0;
    }
    enum err err = event_route(c, d, m, n, point, bytes, rows, out);
    FREE(point);
    return err;
}

void events_free(struct events *e)
{
    FREE(e->at);
    FREE(e->payload);
    e->n = 0;
}

/* ---- sums over copies ---- */

/* Header of the sums of one copy, sent to the event's home and back; the numbers follow. */
struct message {
    int64_t from, location; /* rank of the copy; index of the copy on that rank */
    int64_t number, unused;
};

static struct message *message_at(char *rows, size_t row, int64_t i)
{
    return (struct message *)(void *)(rows + row * (size_t)i);
}

void event_sums(const struct comm *c, int64_t n, const struct event_home *home, int words,
                event_whole *here, event_whole *sum, bool back)
{
    size_t bytes = sizeof *here * (size_t)words, row = sizeof(struct message) + bytes;
    char *out = mem_new(row * (size_t)n + 1, "events");
    int *to = mem_new(sizeof *to * (size_t)n + 1, "events");
    int64_t nin, nback = 0;
    for (int64_t i = 0; i < n; i++) {
        struct message *x = message_at(out, row, i);
        *x = (struct message){.from = c->rank, .location = i, .number = home[i].number};
        memcpy(x + 1, here + i * words, bytes);
        to[i] = (int)home[i].rank;
    }
    char *in = comm_exchange_by(c, out, n, to, row, &nin, NULL), *got = NULL;
    to = mem_grow(to, sizeof *to * (size_t)nin + 1, "events");
    for (int64_t i = 0; i < nin; i++) {
        const struct message *x = message_at(in, row, i);
        for (int k = 0; k < words; k++)
            sum[x->number * words + k] += ((const event_whole *)(x + 1))[k];
    }
    for (int64_t i = 0; i < nin; i++) {
        struct message *x = message_at(in, row, i);
        memcpy(x + 1, sum + x->number * words, bytes);
        to[i] = (int)x->from;
    }
    if (back) got = comm_exchange_by(c, in, nin, to, row, &nback, NULL);
    for (int64_t i = 0; i < nback; i++) {
        const struct message *x = message_at(got, row, i);
        memcpy(here + x->location * words, x + 1, bytes);
    }
    FREE(got);
    FREE(in);
    FREE(to);
    FREE(out);
}
