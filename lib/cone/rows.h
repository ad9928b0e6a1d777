/* cone/rows: the events of a slice as rows of numbers, and their order over all ranks.
 *
 * A row is a key of three words, the replica and the identity of a particle, cell or sink, then
 * values of 8 bytes in code units. Rows in the order of their keys do not depend on ranks. Private
 * to cone. */
#pragma once
#include "cone/cone.h"

enum { CONE_KEY = 3 };

/* Values of every row, and of the rows of particles, cells and sinks. */
enum {
    ROW_POSITION,
    ROW_VELOCITY = 3,
    ROW_REDSHIFT = 6,
    ROW_MASS,
    ROW_ID, /* int64_t, as the family */
    ROW_FAMILY,
    ROW_BIRTH,
    ROW_METAL,
    ROW_PARTICLE,
    ROW_SIZE = ROW_REDSHIFT + 1,
    ROW_GAS, /* density, pressure, scalars, then the potential */
    /* of sinks, behind mass and identity: the columns of cone_sink_column */
    ROW_SINK = ROW_ID + 1,
    /* of galaxies, behind mass and identity; int64_t, but for the mass of the stars */
    ROW_KIND = ROW_ID + 1,
    ROW_CLUMP,
    ROW_STARS,
    ROW_GALAXY
};

/* Further values of a sink in the order of cuRAMSES's files: birth time, masses, angular momentum
 * and spin. Returns column i of a table of sinks, NULL if it has none. */
enum { SINK_VALUES = 12 };
const struct catalog_column *cone_sink_column(const struct catalog *t, int i);

struct cone_rows {
    int width; /* values of a row */
    int64_t n, room;
    uint64_t *at; /* [n][CONE_KEY + width] */
};

static inline uint64_t *cone_row(const struct cone_rows *r, int64_t i)
{
    return r->at + i * (CONE_KEY + r->width);
}

static inline double cone_value(const struct cone_rows *r, int64_t i, int v)
{
    double x;
    __builtin_memcpy(&x, cone_row(r, i) + CONE_KEY + v, sizeof x);
    return x;
}

static inline int64_t cone_whole(const struct cone_rows *r, int64_t i, int v)
{
    return (int64_t)cone_row(r, i)[CONE_KEY + v];
}

/* Sets the key of a row by a replica and an identity of 128 bits. */
void cone_row_key(const int32_t image[3], uint64_t high, uint64_t low, uint64_t *row);
/* The replica of row i. */
void cone_row_image(const struct cone_rows *r, int64_t i, int32_t image[3]);
/* Rows of the particles of events, in the frame of the view. */
void cone_rows_of(const struct cone_slice *s, struct cone_rows *out);
/* Rows of the leaf cells whose centres have events, in order. */
void cone_rows_gas(const struct cone_slice *s, struct cone_rows *out);
/* Rows of the sinks that have events, in order: on rank 0. */
void cone_rows_sinks(const struct cone_slice *s, struct cone_rows *out);
/* Rows of the galaxies whose particles have events, in order: on rank 0. (collective) */
void cone_rows_galaxies(const struct cone_slice *s, struct cone_rows *out);
/* Orders the rows of this rank. */
void cone_rows_sort(struct cone_rows *r);
/* Orders the rows of all ranks: this rank gets *first … *first + n − 1, and *first is a multiple
 * of `block`. Returns the number of all. (collective) */
int64_t cone_rows_deal(struct cone_rows *r, const struct comm *c, int64_t block, int64_t *first);
void cone_rows_free(struct cone_rows *r);
