/* swarm/send: sends particles to the owners of their positions, as packets of all columns that
 * move. */
#include <string.h>

#include "base/mem.h"
#include "swarm/priv.h"

size_t swarm_batch = (size_t)1 << 24;

static size_t packet_bytes(const struct swarm *s)
{
    size_t sum = 0;
    for (int k = 0; k < s->ncolumn; k++) sum += s->column[k].moves ? s->column[k].bytes : 0;
    return sum;
}

static void pack(const struct swarm *s, int64_t i, char *to)
{
    for (int k = 0; k < s->ncolumn; k++) {
        const struct swarm_column *col = &s->column[k];
        if (!col->moves) continue;
        memcpy(to, (const char *)*col->data + col->bytes * (size_t)i, col->bytes);
        to += col->bytes;
    }
}

static void unpack(struct swarm *s, int64_t i, const char *from)
{
    for (int k = 0; k < s->ncolumn; k++) {
        const struct swarm_column *col = &s->column[k];
        if (!col->moves) continue;
        memcpy((char *)*col->data + col->bytes * (size_t)i, from, col->bytes);
        from += col->bytes;
    }
}

static void row_move(struct swarm *s, int64_t from, int64_t to)
{
    for (int k = 0; k < s->ncolumn; k++) {
        const struct swarm_column *col = &s->column[k];
        char *data = *col->data;
        if (col->moves)
            memcpy(data + col->bytes * (size_t)to, data + col->bytes * (size_t)from, col->bytes);
    }
}

/* Particles that leave: their rows, ascending, and their new owners. Rows before `filled` have got
 * other particles already. */
struct leavers {
    int64_t n, filled;
    int64_t *row;
    int *rank;
};

static struct leavers leavers_find(const struct swarm *s)
{
    int *rank = mem_new(sizeof *rank * (size_t)s->n + 1, "swarm exchange"), me = s->comm->rank;
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n) if (s->n > SWARM_FEW)
    for (int64_t i = 0; i < s->n; i++) {
        okey key = swarm_home(&s->plan->home, (double[3]){s->x[0][i], s->x[1][i], s->x[2][i]});
        rank[i] = domain_rank(s->dom, SWARM_LEVEL, key);
        n += rank[i] != me;
    }
    struct leavers l = {.n = n, .rank = rank};
    l.row = mem_new(sizeof *l.row * (size_t)n + 1, "swarm exchange");
    n = 0;
    for (int64_t i = 0; n < l.n; i++)
        if (rank[i] != me) {
            rank[n] = rank[i];
            l.row[n++] = i;
        }
    return l;
}

/* Sends the leavers begin..end-1; arrivals take the rows of those that have left, then new ones. */
static void send_some(struct swarm *s, struct leavers *l, int64_t begin, int64_t end)
{
    size_t bytes = packet_bytes(s);
    int64_t nin;
    char *out = mem_new(bytes * (size_t)(end - begin) + 1, "swarm exchange");
    for (int64_t k = begin; k < end; k++) pack(s, l->row[k], out + bytes * (size_t)(k - begin));
    char *in = comm_exchange_by(s->comm, out, end - begin, l->rank + begin, bytes, &nin, NULL);
    FREE(out);
    int64_t more = nin - (end - l->filled);
    if (more > 0) s->reserve(s->owner, s->n + more);
    for (int64_t k = 0; k < nin; k++) {
        int64_t i = l->filled < end ? l->row[l->filled++] : s->n++;
        unpack(s, i, in + bytes * (size_t)k);
    }
    FREE(in);
}

/* The last particles take the rows that have stayed empty. */
static void holes_close(struct swarm *s, const struct leavers *l)
{
    for (int64_t k = l->n; k > l->filled; k--) {
        int64_t hole = l->row[k - 1], last = --s->n;
        if (hole != last) row_move(s, last, hole);
    }
}

void swarm_send(struct swarm *s)
{
    if (s->comm->size == 1) return;
    struct leavers l = leavers_find(s);
    int64_t per = (int64_t)(swarm_batch / packet_bytes(s)) + 1, turns = (l.n + per - 1) / per;
    comm_max_i64(s->comm, &turns, 1);
    for (int64_t k = 0; k < turns; k++) {
        int64_t begin = k * per < l.n ? k * per : l.n, end = begin + per < l.n ? begin + per : l.n;
        send_some(s, &l, begin, end);
    }
    holes_close(s, &l);
    FREE(l.row);
    FREE(l.rank);
}
