/* audit/compare: compares two checkpoints field by field, whatever their formats and ranks.
 *
 * Leaf cells are matched by place, particles by id and family, values by the name of their field.
 * Octs and particles are compared in passes: in each pass those of the first checkpoint whose place
 * (or id) belongs to it by a hash are kept with their values, and the second checkpoint is read and
 * compared with them. So memory is bounded by `memory`, and each pass reads both once. Results do
 * not depend on the passes. */
#pragma once
#include "ckpt/source.h"

struct compare_how {
    double rtol, atol; /* equal: |a - b| <= atol + rtol max(|a|, |b|) */
    size_t memory;     /* bytes */
};

struct compare_field {
    char name[64];
    int in_a, in_b;      /* its index there, -1: not there */
    bool real, location; /* a number, not a whole one · a coordinate, maybe in a box that repeats */
    int64_t differing;   /* values */
    double max, max_rel;
    double at[3], at_rel[3]; /* place in code units (cells) */
    int level, level_rel;    /* cells */
    int64_t id, id_rel;      /* particles */
    double l1, norm;         /* sums of |a - b| and |a|; of cells, times their volume */
};

struct compare_value { /* of the header */
    char name[32];
    double a, b;
    bool differs;
};

struct compared {
    bool same;
    int64_t leaves, leaves_a, leaves_b; /* in both · in one only */
    int64_t parts, parts_a, parts_b;
    int nfield, npart_field, nvalue;
    struct compare_field field[2 * CKPT_FIELDS], part[2 * CKPT_FIELDS];
    struct compare_value value[128];
    int turns, part_turns;
    int nsink_field; /* sinks, paired by their ids */
    int64_t sinks, sinks_a, sinks_b;
    struct compare_field sink[2 * CATALOG_COLUMNS];
};

/* The result is large: allocate it. */
MUST_USE enum err ckpt_compare(const char *a, const char *b, const struct compare_how *how,
                               struct compared *c);
