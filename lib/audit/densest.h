/* audit/densest: the position of maximum number density of dark matter in a checkpoint; in a zoom
 * this is among the light particles. */
#pragma once
#include "ckpt/source.h"

/* Position of particle i in units of the box, 0 <= x < 1. */
void source_position(const struct source *s, const struct source_parts *q, int64_t i, double x[3]);
/* Calls fn for all particles of all pieces. */
MUST_USE enum err source_all_parts(struct source *s, source_parts_fn *fn, void *ctx);
/* Finds the position of maximum density, in units of the box. The search starts from the cell with
 * the most particles and moves several times to the mean position of the particles within `radius`,
 * or within a cell if that is larger. */
MUST_USE enum err source_densest(struct source *s, double radius, double centre[3]);
