/* atlas/over: parts of the drawing of a map. Private to atlas; for its tests. */
#pragma once
#include "atlas/atlas.h"

/* Draws a map at a place. */
void atlas_draw_at(struct canvas *c, const struct map *m, double x, double y, bool with_bar);
/* The values of its contours; returns their number. */
int atlas_levels(const struct map *m, double level[MAP_CONTOURS_MAX]);
double atlas_ruler(double room); /* the largest round number up to room */
