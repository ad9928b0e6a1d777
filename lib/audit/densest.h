/* audit/densest: where the dark matter of a checkpoint is densest, by number: in a zoom that is
 * among the light particles. */
#pragma once
#include "ckpt/source.h"

/* Place of particle i in units of the box, 0 <= x < 1. */
void source_place(const struct source *s, const struct source_parts *q, int64_t i, double x[3]);
/* All particles of all pieces. */
MUST_USE enum err source_all_parts(struct source *s, source_parts_fn *fn, void *ctx);
/* From the fullest cell of a mesh to the mean place of the particles around it, within `radius` or
 * a cell, several times. Units of the box. */
MUST_USE enum err source_densest(struct source *s, double radius, double centre[3]);
