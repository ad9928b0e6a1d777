/* ckpt/batch: checkpoints are read in batches of bounded size. This header has their size, and how
 * a reader learns which of them are wanted. The columns of particles are in part/column.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "oct/mesh.h"
#include "part/column.h"

#ifndef CKPT_OCTS /* the build for fuzzing has smaller ones, to be fast */
#define CKPT_OCTS 8192
#endif
/* CKPT_PITCH is the distance of the rows of a batch in memory. Rows a power of two apart would
 * share a few cache sets. */
enum {
    CKPT_FIELDS = 128,
    CKPT_BATCH = CKPT_OCTS,
    CKPT_PITCH = CKPT_BATCH + 40,
    CKPT_PART_BATCH = 4 * CKPT_OCTS
};

/* A field of cells or a column of particles. */
struct ckpt_field {
    char name[48];
    char type; /* of a particle column: d f (batch: double), q i h b (batch: int64) */
};

/* The rest of a batch that is not wanted is not read, and nothing of it is passed on. */
struct ckpt_pick {
    bool (*octs)(void *ctx, int level, int n, const okey *key);    /* false: none of these */
    bool (*parts)(void *ctx, int64_t n, const double *const x[3]); /* false: none of these */
    void *ctx;
};

/* Sums over what has been read. */
struct ckpt_counts {
    int64_t octs[LEVEL_MAX + 2], split[LEVEL_MAX + 2], particles;
};
