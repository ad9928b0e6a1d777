/* ckpt/batch: checkpoints are read in batches of bounded size. This header defines the sizes and
 * the selection of batches by the caller. Particle columns are in part/column.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "oct/mesh.h"
#include "part/column.h"

#ifndef CKPT_OCTS /* smaller in the fuzzing build, for speed */
#define CKPT_OCTS 8192
#endif
/* CKPT_PITCH is the stride between rows of a batch in memory, in values. Rows a power of two apart
 * would share a few cache sets. */
enum {
    CKPT_FIELDS = 128,
    CKPT_BATCH = CKPT_OCTS,
    CKPT_PITCH = CKPT_BATCH + 40,
    CKPT_PART_BATCH = 4 * CKPT_OCTS
};

/* A field of cells or a column of particles. */
struct ckpt_field {
    char name[48];
    char type; /* column type of particles: d f (batch: double), q i h b (batch: int64) */
};

/* Selection of batches by the keys of octs or the positions of particles. The other data of an
 * unselected batch are neither read nor passed on. */
struct ckpt_pick {
    bool (*octs)(void *ctx, int level, int n, const okey *key);    /* false: skip the batch */
    bool (*parts)(void *ctx, int64_t n, const double *const x[3]); /* false: skip the batch */
    void *ctx;
};

/* Where the values of a batch go, in SOURCE_STORED of formats that can put them there at once; octs
 * of three dimensions. Called with the tree of the batch, before its values are read: replaces
 * pointers of val, [8*field + cell] rows of n values, by those of the caller's memory. Rows of the
 * cells of a field must be equally far apart. */
struct source_octs;
struct ckpt_place {
    void (*octs)(void *ctx, const struct source_octs *o, double **val);
    void *ctx;
};

/* Totals of the data read so far. */
struct ckpt_counts {
    int64_t octs[LEVEL_MAX + 2], split[LEVEL_MAX + 2], particles;
};
