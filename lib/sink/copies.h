/* sink/copies: what sinks have to say to the ranks around them, and what these answer.
 *
 * A call sends a row of bytes for each own sink to every rank that owns an oct which the ball
 * around it meets (dom/event): there it is a copy. In a periodic box one rank may get several
 * copies of a sink, images with places shifted by whole boxes: nothing is to be wrapped. Copies are
 * ordered by id, then by place, on every rank. Answers are exact sums, one set per copy, which the
 * owner gets joined. Messages go between neighbours alone. */
#pragma once
#include "base/sum.h"
#include "dom/event.h"
#include "sink/sink.h"

/* Parts of the run that the functions of this file need. */
struct sink_context {
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
};

struct sink_copies {
    struct events here;   /* here.at[i]: id, place, radius; here.payload: the rows */
    int *home;            /* [here.n] the rank of the sink … */
    int64_t *number;      /* … and its place there */
    int64_t n;            /* own sinks that called: */
    struct event *centre; /* [n] where they were */
    int64_t *which;       /* [n] their places among the sinks */
};

/* Own sinks with wants[i], or all in the box if wants is NULL, call with row i of `bytes` bytes; at
 * most half a box far. *out: sink_copies_free. On error all ranks return it. (collective) */
MUST_USE enum err sink_call(const struct sink_context *p, const struct sinks *s, const bool *wants,
                            double radius, size_t bytes, const void *rows, struct sink_copies *out);
/* The sinks of a sink_call call again, from where they were then, with other rows: the copies are
 * the same, in the same order, and have these rows. (collective) */
MUST_USE enum err sink_call_again(const struct sink_context *p, const struct sinks *s, size_t bytes,
                                  const void *rows, struct sink_copies *c);
/* sums[here.n][nsum] of the copies → out[s->n][nsum] of the own sinks, joined; those that did not
 * call get empty sums. (collective) */
void sink_answer(const struct sink_context *p, const struct sinks *s, const struct sink_copies *c,
                 int nsum, const struct sum *sums, struct sum *out);
void sink_copies_free(struct sink_copies *c);
/* The row of copy i. */
static inline const void *sink_row(const struct sink_copies *c, int64_t i)
{
    return c->here.payload + c->here.bytes * (size_t)i;
}
