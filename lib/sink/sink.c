/* sink: the table of sinks and their owners; see sink.h. */
#include "sink/sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct sink_column COLUMN[] = {
#define SINK_REAL(name, member, family) {name, offsetof(struct sink, member), false, family},
#define SINK_WHOLE(name, member, family) {name, offsetof(struct sink, member), true, family},
#define SINK_VECTOR(x, y, z, member, family)                                                       \
    {x, offsetof(struct sink, member[0]), false, family},                                          \
        {y, offsetof(struct sink, member[1]), false, family},                                      \
        {z, offsetof(struct sink, member[2]), false, family},
#include "sink/columns.def"
};

int sink_columns(void)
{
    return sizeof COLUMN / sizeof *COLUMN;
}

const struct sink_column *sink_column(int i)
{
    return &COLUMN[i];
}

void sinks_free(struct sinks *s)
{
    FREE(s->at);
    FREE(s->gone);
    s->n = s->cap = s->total = s->ngone = s->gone_room = 0;
}

struct sink *sinks_add(struct sinks *s, int64_t n)
{
    if (s->n + n > s->cap) {
        s->cap = 2 * s->cap + n;
        s->at = mem_grow(s->at, sizeof *s->at * (size_t)s->cap, "sinks");
    }
    struct sink *first = s->at + s->n;
    if (n) memset(first, 0, sizeof *first * (size_t)n);
    s->n += n;
    return first;
}

static bool periodic(const struct mesh *m, int d)
{
    return !m->bounded[2 * d] && !m->bounded[2 * d + 1];
}

void sink_wrap(const struct mesh *m, double x[3])
{
    for (int d = 0; d < 3; d++) {
        if (!periodic(m, d)) continue;
        if (x[d] < 0) x[d] += m->boxlen;
        if (x[d] >= m->boxlen) x[d] -= m->boxlen;
    }
}

void sink_between(const struct mesh *m, const double a[3], const double b[3], double r[3])
{
    for (int d = 0; d < 3; d++) {
        r[d] = b[d] - a[d];
        if (periodic(m, d) && r[d] > 0.5 * m->boxlen) r[d] -= m->boxlen;
        if (periodic(m, d) && r[d] < -0.5 * m->boxlen) r[d] += m->boxlen;
    }
}

bool sink_inside(const struct mesh *m, const double x[3])
{
    for (int d = 0; d < 3; d++)
        if (!(x[d] >= 0 && x[d] < m->boxlen)) return false;
    return true;
}

bool sink_reached(const struct mesh *m, const double x[3])
{
    double at[3] = {x[0], x[1], x[2]};
    sink_wrap(m, at);
    for (int d = 0; d < 3; d++) {
        double more = periodic(m, d) ? 0 : m->boxlen;
        if (!(at[d] >= -more && at[d] < m->boxlen + more)) return false;
    }
    return true;
}

/* Owner of the finest oct on this rank that contains x; if another rank has finer octs there, it
 * repeats the search. */
static int owner_of(const struct mesh *m, const struct domain *dom, const double x[3])
{
    okey key = 0;
    int level = 1;
    for (int l = 1; l <= m->levelmax; l++) {
        uint64_t q[3];
        for (int d = 0; d < 3; d++)
            q[d] = (uint64_t)(x[d] / m->boxlen * (double)((int64_t)1 << (l - 1)));
        okey k = okey_make(q[0], q[1], q[2]);
        if (l > 1 && mesh_find(&m->lev[l], k) < 0) break;
        key = k;
        level = l;
    }
    return domain_rank(dom, level, key);
}

static void recall(struct sinks *s, const struct sink *a)
{
    if (!s->recalls) return;
    MEM_ROOM(s->gone, s->ngone, s->gone_room, 16, "sinks");
    s->gone[s->ngone++] = (struct sink_gone){a->id, a->into, {a->x[0], a->x[1], a->x[2]}};
}

/* Wraps positions; drops merged sinks and sinks beyond a boundary. Returns the number of the
 * latter. */
static int64_t keep_inside(struct sinks *s, const struct mesh *m)
{
    int64_t n = 0, lost = 0;
    for (int64_t i = 0; i < s->n; i++) {
        sink_wrap(m, s->at[i].x);
        const bool merged = !(s->at[i].m > 0), inside = sink_inside(m, s->at[i].x);
        if (merged || !inside) recall(s, &s->at[i]);
        lost += !merged && !inside;
        if (!merged && inside) s->at[n++] = s->at[i];
    }
    s->n = n;
    return lost;
}

MEM_ORDER(by_id, struct sink, id)

static void send(struct sinks *s, const struct mesh *m, const struct comm *c,
                 const struct domain *d)
{
    int *rank = mem_new(sizeof *rank * (size_t)s->n + 1, "sinks");
    int64_t got;
    for (int64_t i = 0; i < s->n; i++) rank[i] = owner_of(m, d, s->at[i].x);
    struct sink *at = comm_exchange_by(c, s->at, s->n, rank, sizeof *at, &got, NULL);
    FREE(rank);
    FREE(s->at);
    s->at = at;
    s->n = s->cap = got;
}

struct sink *sinks_find(const struct sinks *s, int64_t id)
{
    return mem_find(&(struct sink){.id = id}, s->at, (size_t)s->n, sizeof *s->at, by_id);
}

enum { FOLLOW = 2 }; /* number of sends: a rank that is no neighbour may not know the finest octs */

void sinks_settle(struct sinks *s, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int64_t *lost)
{
    int64_t sum[2] = {keep_inside(s, m), s->n};
    for (int k = 0; k < FOLLOW && c->size > 1; k++) send(s, m, c, d);
    mem_sort(s->at, (size_t)s->n, sizeof *s->at, by_id);
    sum[1] = s->n;
    comm_add_i64(c, sum, 2);
    *lost = sum[0];
    s->total = sum[1];
}

struct sink *sinks_share(const struct sinks *s, const bool *marked, const struct comm *c,
                         int64_t *all)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->n; i++) n += marked[i];
    *all = n;
    comm_add_i64(c, all, 1);
    if (*all == 0) return NULL;
    struct sink *at = mem_new(sizeof *at * (size_t)(*all + n), "sinks");
    n = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (marked[i]) at[n++] = s->at[i];
    comm_union(c, n, *all, sizeof *at, at, 0, NULL);
    mem_sort(at, (size_t)*all, sizeof *at, by_id);
    return at;
}

void sinks_return(struct sinks *s, const bool *marked, const struct sink *from, int64_t all)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (!marked[i]) continue;
        const struct sink *now = mem_find(&s->at[i], from, (size_t)all, sizeof *from, by_id);
        s->at[i] = *now;
    }
}

struct sink_gas sink_gas_sum(const struct sink *s, int levelmin, int levelmax)
{
    struct sink_gas g = {0};
    for (int l = levelmin; l <= levelmax; l++) {
        g.volume += s->gas[l].volume;
        g.mass += s->gas[l].mass;
        g.thermal += s->gas[l].thermal;
        for (int d = 0; d < 3; d++) {
            g.momentum[d] += s->gas[l].momentum[d];
            g.turn[d] += s->gas[l].turn[d];
        }
    }
    return g;
}
