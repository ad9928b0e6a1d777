/* ramses/beyond: octs beyond the boundary of the box, of one rank's files (ckpt/boundary.h).
 *
 * RAMSES stores one oct beyond the boundary for each oct inside that touches it, on every level.
 * These octs are not part of a mesh: each is identified by its reference, the oct in the box, and
 * by the code of its coarse cell. On each level they are numbered after the octs of all ranks,
 * region by region. */
#pragma once
#include "ckpt/boundary.h"

struct ramses_out;

struct beyond {
    struct boundary_layout lay;
    int nregion;
    struct beyond_level {
        lidx *ref;                        /* [n] references, by code in the order of lay.code */
        int32_t n, first;                 /* number of the first */
        int32_t at[BOUNDARY_CODES];       /* by place in lay.code: where in ref its octs begin */
        int32_t region[BOUNDARY_MAX + 1]; /* the same by region */
    } level[LEVEL_MAX + 2];
};

/* All octs of level l whose reference the rank has, numbered from `first` on. */
void beyond_number(struct beyond *b, const struct mesh *m, int l, int32_t first);
void beyond_free(struct beyond **b);
/* Number of the oct of this code and reference, 0: there is none. */
int32_t beyond_find(const struct beyond *b, int l, int code, lidx ref);
/* Code of the i-th oct of a level; *end: where its octs end. */
int beyond_code(const struct beyond *b, int l, int32_t i, int32_t *end);
/* Where an oct beyond the boundary is · the code of the oct at x, which becomes its reference. */
void beyond_place(const struct boundary_rule *r, int l, okey ref, int64_t x[3]);
int beyond_split(int l, int64_t x[3]);
