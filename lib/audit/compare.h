/* audit/compare: compares two checkpoints field by field, whatever their formats and ranks.
 *
 * Leaf cells are matched by position, particles by id and family, values by the name of their
 * field. Octs and particles are compared in passes: a hash of the position (or id) selects the
 * pass. In each pass the selected items of the first checkpoint are kept with their values, and the
 * second checkpoint is read and compared. So memory is bounded by `memory`, and each pass reads
 * both once. Results do not depend on the passes. */
#pragma once
#include "ckpt/source.h"

struct compare_how {
    double rtol, atol; /* tolerances; equal if |a - b| <= atol + rtol max(|a|, |b|) */
    size_t memory;     /* memory limit, bytes */
};

struct compare_field {
    char name[64];
    int in_a, in_b;      /* index of the field in each checkpoint, -1: absent */
    bool real, location; /* floating-point values · a coordinate, periodic if the box is */
    int64_t differing;   /* number of differing values */
    double max, max_rel;
    double at[3], at_rel[3]; /* positions of the maxima in code units (cells) */
    int level, level_rel;    /* levels of the maxima (cells) */
    int64_t id, id_rel;      /* ids of the maxima (particles) */
    double l1, norm;         /* sums of |a - b| and |a|, weighted by volume for cells */
};

struct compare_value { /* a real number of the header */
    char name[32];
    double a, b;
    bool differs;
};

struct compared {
    bool same;
    int64_t leaves, leaves_a, leaves_b; /* leaves in both · in one only */
    int64_t parts, parts_a, parts_b;
    int nfield, npart_field, nvalue;
    struct compare_field field[2 * CKPT_FIELDS], part[2 * CKPT_FIELDS];
    struct compare_value value[128];
    int turns;
    int nsink_field; /* number of sink fields; sinks are paired by id */
    int64_t sinks, sinks_a, sinks_b;
    struct compare_field sink[2 * CATALOG_COLUMNS];
};

/* Compares two checkpoints. The result is large, so the caller should allocate it on the heap. */
MUST_USE enum err ckpt_compare(const char *a, const char *b, const struct compare_how *how,
                               struct compared *c);
