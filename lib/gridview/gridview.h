/* gridview: maps of checkpoints of uniform meshes (grid/grid.h), of any field, or any value that
 * follows from the fields. */
#pragma once
#include "grid/grid.h"
#include "view/map.h"

/* Draws it. r: becomes what titles and labels show of the checkpoint; zero before. map_free must be
 * called after errors too. */
MUST_USE enum err gridview_map(struct map *m, struct source *r, struct grid *g,
                               const struct map_options *o);
