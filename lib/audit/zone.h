/* audit/zone: a region of the periodic box: a sphere, or a set of cells. Positions and lengths in
 * units of the box.
 *
 * Cells are kept as intervals of the Morton curve, so that memory scales with the surface of the
 * region and not with its volume. */
#pragma once
#include <stddef.h>

#include "base/err.h"
#include "oct/okey.h"

struct span {
    okey from, to; /* cells of the finest possible level: from <= key < to */
};

struct zone {
    bool sphere;
    double centre[3], radius;
    int64_t n, room, max; /* max: memory limit in spans */
    struct span *span;    /* spans, ascending and disjoint after zone_end */
};

void zone_begin(struct zone *z, size_t memory);
/* Adds cell c of oct `key` of level l to the region. */
MUST_USE enum err zone_add(struct zone *z, int l, okey key, int c);
void zone_end(struct zone *z);
void zone_free(struct zone *z);
double zone_volume(const struct zone *z);
bool zone_holds(const struct zone *z, const double x[3]);
/* Squared distance of x from the centre of the sphere or the nearest cell, at most `max`. */
double zone_far2(const struct zone *z, const double x[3], double max);
