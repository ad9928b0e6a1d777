/* view/feed: from a checkpoint to the masses of its species, in batches. */
#pragma once
#include "ckpt/source.h"
#include "part/family.h"
#include "pk/batch.h"
#include "pk/table.h"

struct feed {
    const struct comm *c;
    int mesh[SPECIES_COUNT]; /* of each species; −1: not requested */
    int axis;                /* positions in redshift space along it; −1: none */
    struct pk *pk;           /* NULL: only add up the mass */
    double max;              /* max mass that there may be */

    /* Result: over all ranks. */
    struct pk_origin box;
    double mass;
    int64_t points[SPECIES_COUNT], cells;

    /* Private. */
    double rate; /* velocity × rate: shift in redshift space, boxes */
    struct pk_batch batch;
};

/* Reads all pieces of s, divided among the ranks. (collective, agreed) */
MUST_USE enum err feed_source(struct feed *f, struct source *s);

/* For other kinds of sources: */
void feed_begin(struct feed *f);
void feed_put(struct feed *f, enum part_species kind, const double x[3], double size, double m);
bool feed_far(const double x[3]); /* a place that no shift leads to, or none at all */
MUST_USE enum err feed_check_mass(const struct feed *f, const char *path); /* after feed_end */
/* delivers what is left; the error is agreed (collective) */
MUST_USE enum err feed_end(struct feed *f, enum err err);
