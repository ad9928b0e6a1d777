/* sphview: maps of smoothed particles by their kernels (deposit/deposit.h), without an octree. */
#pragma once
#include "deposit/particles.h"
#include "view/map.h"

/* Whether a map of this checkpoint is drawn by kernels. Maps of the level and of the greatest
 * value, and those with outlines of octs or with lines, need the octree. */
bool sphview_draws(const char *path, const struct map_options *o);
/* Draws it. r: becomes what titles and labels show of the checkpoint; zero before. map_free must be
 * called after errors too. */
MUST_USE enum err sphview_map(struct map *m, struct source *r, const struct deposit_particles *s,
                              const struct map_options *o);
/* A value of all particles, q[s->p.n]; an error: there is none of this name, or one is not
 * finite. */
MUST_USE enum err sphview_values(const struct deposit_particles *s, const char *name, double *q);
