/* sink/create: formation of RAMSES's sinks from clumps (create_sinks). Method:
 * docs/method/sinks.md. */
#pragma once
#include "clump/clump.h"
#include "sink/copies.h"
#include "sink/run.h"

/* Minimum distance of a new sink from other sinks, two cloud radii in cells of levelmax, code
 * units. */
double sinks_apart(const struct params *par, const struct mesh *m, double aexp);
/* At the end of a coarse step: removes merged sinks, sends the others to their owners, and makes
 * copies wherever a sink may claim a clump. *c: sink_copies_free. (collective) */
MUST_USE enum err sinks_before_births(const struct sink_run *s, struct sink_copies *c);
/* A sink forms only where the gas is denser than this, code units. */
double sinks_birth_density(const struct sink_run *s);
/* Turns the clumps that fulfil all conditions into sinks of negligible mass; sinks_renew gives them
 * their seeds. (collective) */
MUST_USE enum err sinks_create(const struct sink_run *s, const struct clump_cores *k);
