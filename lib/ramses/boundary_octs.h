/* ramses/boundary_octs: octs beyond the boundary of the box, for one rank's files
 * (ckpt/boundary.h).
 *
 * RAMSES stores one oct beyond the boundary for each oct inside that touches it, on every level.
 * These octs are not part of a mesh: each is identified by its reference, the oct in the box, and
 * by the code of its coarse cell. On each level they are numbered after the octs of all ranks,
 * region by region. */
#pragma once
#include "ckpt/boundary.h"

struct ramses_out;

struct boundary_octs {
    struct boundary_layout lay;
    int nregion;
    struct boundary_octs_level {
        lidx *ref;                  /* [n] references, sorted by code in the order of lay.code */
        int32_t n, first;           /* first: number of the first oct */
        int32_t at[BOUNDARY_CODES]; /* start in ref of each code, by index in lay.code */
        int32_t region[BOUNDARY_MAX + 1]; /* start in ref of each region */
    } level[LEVEL_MAX + 2];
};

/* Numbers all octs of level l whose reference the rank has, from `first` on. */
void boundary_octs_number(struct boundary_octs *b, const struct mesh *m, int l, int32_t first);
void boundary_octs_free(struct boundary_octs **b);
/* Number of the oct of this code and reference; 0: none. */
int32_t boundary_octs_find(const struct boundary_octs *b, int l, int code, lidx ref);
/* Code of the i-th oct of a level; *end: end of the octs of this code. */
int boundary_octs_code(const struct boundary_octs *b, int l, int32_t i, int32_t *end);
/* boundary_octs_position: coordinates of an oct beyond the boundary. The next function: code of the
 * oct at x, which is replaced by its reference. */
void boundary_octs_position(const struct boundary_rule *r, int l, okey ref, int64_t x[3]);
int boundary_octs_split(int l, int64_t x[3]);
