/* tracer/feed: tracers from files. Private to tracer. */
#pragma once
#include "tracer/tracer.h"

/* Fills in particle i, appended before, as a gas tracer at rest. */
void tracer_init(struct tracer_run *r, int64_t i, const double x[3], double m, int64_t id);
/* Appends the tracers of tracer_feed; ids in the order of the file, from `next` on. *n: number on
 * this rank. (collective, agreed) */
MUST_USE enum err tracers_feed(struct tracer_run *r, int64_t next, int64_t *n);
/* Number of tracers in tracer_feed. (collective, agreed) */
MUST_USE enum err tracers_feed_count(struct tracer_run *r, double *n);
/* Whether a cell is a leaf that gets tracers. */
bool tracer_is_cell(const struct params *p, const struct level *lv, lidx i, int c);
