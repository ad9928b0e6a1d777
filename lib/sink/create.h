/* sink/create: RAMSES's sinks out of clumps (create_sinks): which clumps become one. Method:
 * docs/method/sinks.md. */
#pragma once
#include "clump/clump.h"
#include "sink/copies.h"
#include "sink/run.h"

/* No sink forms nearer to another one: two clouds measured in cells of levelmax, code units. */
double sinks_apart(const struct params *par, const struct mesh *m, double aexp);
/* At the end of a coarse step: mergers are gone, the others are on their ranks, and copies of them
 * wherever a clump may be taken by them. *c: sink_copies_free. (collective) */
MUST_USE enum err sinks_before_births(const struct sink_run *s, struct sink_copies *c);
/* The clumps that fulfil all conditions become sinks, with next to no mass: they get their seeds
 * from sinks_renew. (collective) */
MUST_USE enum err sinks_create(const struct sink_run *s, const struct clump_cores *k);
