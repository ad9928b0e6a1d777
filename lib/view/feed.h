/* view/feed: reads the masses of the species in a checkpoint, in batches. */
#pragma once
#include "ckpt/source.h"
#include "part/family.h"
#include "pk/batch.h"
#include "pk/table.h"

struct feed {
    const struct comm *c;
    int mesh[SPECIES_COUNT]; /* mesh of each species; −1: species not requested */
    int axis;                /* axis along which positions are in redshift space; −1: none */
    struct pk *pk;           /* meshes to fill; NULL: only sum the mass */
    double max;              /* upper limit of the total mass */

    /* result over all ranks */
    struct pk_origin box;
    double mass;
    int64_t points[SPECIES_COUNT], cells;

    /* Private members. */
    double rate; /* displacement in redshift space per velocity, boxes */
    struct pk_batch batch;
};

/* Reads all pieces of s, divided among the ranks. (collective, agreed) */
MUST_USE enum err feed_source(struct feed *f, struct source *s);

/* Functions for other kinds of sources. */
void feed_begin(struct feed *f);
void feed_put(struct feed *f, enum part_species kind, const double x[3], double size, double m);
/* whether a position is not finite, or too far from the box for any displacement */
bool feed_far(const double x[3]);
/* checks the total mass; after feed_end */
MUST_USE enum err feed_check_mass(const struct feed *f, const char *path);
/* delivers the remaining batch; errors are agreed (collective) */
MUST_USE enum err feed_end(struct feed *f, enum err err);
