/* sink/copies: exchange of data between sinks and the ranks around them.
 *
 * sink_call sends a row of bytes for each own sink to every rank that owns an oct overlapping a
 * ball around the sink (dom/event): the receiver has a copy of the sink. In a periodic box one rank
 * may get several copies, images shifted by whole boxes, so that positions need no wrapping. Copies
 * are ordered by id, then by position, on every rank. sink_answer returns exact sums, one set per
 * copy, which are added on the owner. Messages go between neighbours alone. */
#pragma once
#include "base/sum.h"
#include "dom/event.h"
#include "sink/sink.h"

/* Parts of the run that these functions need. */
struct sink_context {
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
};

struct sink_copies {
    struct events here;   /* here.at[i]: id, position, radius; here.payload: rows */
    int *home;            /* [here.n] ranks of the sinks */
    int64_t *number;      /* [here.n] indices of the sinks on their ranks */
    int64_t n;            /* own sinks that were sent, number */
    struct event *centre; /* [n] their positions at the call */
    int64_t *which;       /* [n] their indices among own sinks */
};

/* Sends row i, `bytes` bytes, of own sinks with wants[i], or of all sinks in the box if wants is
 * NULL, to ranks within the radius, at most half a box. *out: sink_copies_free. Errors are agreed.
 * (collective) */
MUST_USE enum err sink_call(const struct sink_context *p, const struct sinks *s, const bool *wants,
                            double radius, size_t bytes, const void *rows, struct sink_copies *out);
/* Sends other rows to the copies of an earlier sink_call: copies, their order and positions are
 * unchanged. (collective) */
MUST_USE enum err sink_call_again(const struct sink_context *p, const struct sinks *s, size_t bytes,
                                  const void *rows, struct sink_copies *c);
/* Adds sums[here.n][nsum] of the copies to out[s->n][nsum] of own sinks; sinks that were not sent
 * get empty sums. (collective) */
void sink_answer(const struct sink_context *p, const struct sinks *s, const struct sink_copies *c,
                 int nsum, const struct sum *sums, struct sum *out);
void sink_copies_free(struct sink_copies *c);
/* Row of copy i. */
static inline const void *sink_row(const struct sink_copies *c, int64_t i)
{
    return c->here.payload + c->here.bytes * (size_t)i;
}
