/* swarm/fill: columns of the ghosts from their owners, one message a peer: column after column,
 * each from a multiple of eight bytes on. */
#include <string.h>

#include "base/mem.h"
#include "swarm/priv.h"

void swarm_gather(char *to, const char *from, size_t bytes, int64_t n, const int64_t *row)
{
    if (bytes == 8) {
#pragma omp parallel for schedule(static) if (n > SWARM_FEW)
        for (int64_t i = 0; i < n; i++) memcpy(to + 8 * i, from + 8 * row[i], 8);
    } else if (bytes == 1) {
        for (int64_t i = 0; i < n; i++) to[i] = from[row[i]];
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + bytes * (size_t)i, from + bytes * (size_t)row[i], bytes);
    }
}

void swarm_plan_clear(struct swarm_plan *p)
{
    if (p->packed) comm_pack_free(&p->pack);
    p->packed = false;
    p->npeer = 0;
    FREE(p->peer);
    FREE(p->out);
    FREE(p->in);
    FREE(p->row);
    FREE(p->sbytes);
    FREE(p->rbytes);
}

static size_t segment(const struct swarm_column *col, int64_t n)
{
    return (col->bytes * (size_t)n + 7) / 8 * 8;
}

static void messages_begin(struct swarm *s, int nwhich, const int *which)
{
    struct swarm_plan *p = s->plan;
    for (int k = 0; k < p->npeer; k++) {
        p->sbytes[k] = p->rbytes[k] = 0;
        for (int w = 0; w < nwhich; w++) {
            const struct swarm_column *col = &s->column[which[w]];
            p->sbytes[k] += segment(col, p->out[k + 1] - p->out[k]);
            p->rbytes[k] += segment(col, p->in[k + 1] - p->in[k]);
        }
    }
    if (p->packed)
        comm_pack_again(&p->pack, p->sbytes, p->rbytes);
    else
        comm_pack_new(&p->pack, s->comm, COMM_BULK_DP, p->npeer, p->peer, p->sbytes, p->rbytes);
    p->packed = true;
}

void swarm_fill(struct swarm *s, int nwhich, const int *which)
{
    struct swarm_plan *p = s->plan;
    if (s->comm->size == 1) return;
    messages_begin(s, nwhich, which);
    for (int k = 0; k < p->npeer; k++) {
        int64_t n = p->out[k + 1] - p->out[k];
        char *to = p->pack.out[k];
        for (int w = 0; w < nwhich; w++) {
            const struct swarm_column *col = &s->column[which[w]];
            swarm_gather(to, *col->data, col->bytes, n, p->row + p->out[k]);
            to += segment(col, n);
        }
    }
    comm_pack_send(&p->pack);
    comm_pack_receive(&p->pack);
    for (int k = 0; k < p->npeer; k++) {
        int64_t n = p->in[k + 1] - p->in[k], first = s->n + p->in[k];
        const char *from = p->pack.in[k];
        for (int w = 0; w < nwhich; w++) {
            const struct swarm_column *col = &s->column[which[w]];
            memcpy((char *)*col->data + col->bytes * (size_t)first, from, col->bytes * (size_t)n);
            from += segment(col, n);
        }
    }
    comm_pack_done(&p->pack);
}
