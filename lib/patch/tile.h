/* patch/tile: boxes of octs that are advanced together, and the octs in and around such a box.
 *
 * A tile is the hull of the own octs of one cube of 8³ octs, or of several stacked cubes: planes of
 * constant z pass through it, so its height costs no memory. If half of the joint hull is filled it
 * is two cubes wide along x: less halo, and longer rows for vectors. In two dimensions, where cubes
 * are squares, it may be two cubes deep along y too. In one dimension a tile is a row of LINE_OCTS
 * octs. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "oct/mesh.h"

/* Cells of a vector. Lengths of runs are multiples of four cells: with vectors of eight, one of
 * four may end a run, since rows of small tiles are as short as that. (Faces: sweep.h.) */
#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum {
    TILE_DEPTH = 3, /* log2 of the octs per side of a cube */
    TILE_SIDE = 1 << TILE_DEPTH,
    TILE_STACK = 4, /* maximum number of stacked cubes */
    TILE_RUNS = 2 * TILE_STACK,
    TILE_WIDTH = 2 * TILE_SIDE, /* maximum octs along x */
    TILE_HEIGHT = TILE_STACK * TILE_SIDE,
    TILE_ROWS = 2 * TILE_SIDE, /* maximum octs along y, in two dimensions */
    SLOT_SIDE = TILE_ROWS + 2, /* octs per side with a halo of one */
    SLOT_WIDTH = TILE_WIDTH + 2,
    SLOT_HEIGHT = TILE_HEIGHT + 2,
    /* octs along x in one dimension: with the halo one for each bit of a mask */
    LINE_OCTS = 30,
    /* cells between the own cells of two rows: two halos of two, which runs may overlap */
    ROW_GAP = 4,
    PATCH_CELLS = (2 * TILE_WIDTH + ROW_GAP) * 2 * SLOT_SIDE,
    /* stride in doubles between variables in a plane; not near a multiple of a power of two */
    PLANE_STRIDE = PATCH_CELLS + (PATCH_CELLS % 256 == 248 ? 40 : 8),
};

/* SLOT_UNUSED: no own cell reads the slot. SLOT_MISSING and below: no oct; slot_missing gives the
 * cell of the coarser level in its position. */
enum { SLOT_UNUSED = -3, SLOT_MISSING = -16 };

struct tile {
    int nrun;
    lidx first[TILE_RUNS], count[TILE_RUNS]; /* own octs: runs of the level, cube by cube */
    int64_t x0[3];                           /* coordinates of the first oct on the level */
    int t[3];                                /* octs along x, y, z */
    bool outer;                              /* whether it has octs that other ranks need */
};

struct tile_list {
    struct tile *tile;
    lidx n, nouter; /* number of tiles; of tiles with octs that other ranks need, which come last */
};

/* Divides the own octs of level l into tiles. depth < 0: boxes of the best size for `threads`;
 * otherwise cubes of 2^depth octs. apart: cubes with octs that other ranks need are in tiles of
 * their own, so that more tiles are without. */
void tile_list_build(const struct mesh *m, int l, int depth, int threads, bool apart,
                     struct tile_list *list);
void tile_list_free(struct tile_list *list);

/* Octs in and around a tile. Slots (x,y,z) count octs, from -1 to t[d], in rows along x; masks of a
 * row have bit x+1 for slot x. Index [z+1][y+1]. */
struct slots {
    const struct tile *tile;
    /* by slot_index: oct, NBR_BOUNDARY, SLOT_*; the row of one dimension is longer than others */
    lidx oct[SLOT_HEIGHT * SLOT_SIDE * SLOT_WIDTH];
    uint32_t own[SLOT_HEIGHT][SLOT_SIDE];        /* own octs, which are advanced */
    uint32_t seen[SLOT_HEIGHT][SLOT_SIDE];       /* octs that an own cell reads */
    uint32_t exposed[6][SLOT_HEIGHT][SLOT_SIDE]; /* own octs without neighbour across face f */
    /* bit f: whether any oct of the row is in exposed[f] */
    unsigned char exposed_any[SLOT_HEIGHT][SLOT_SIDE];
};

static inline int slot_index(int x, int y, int z)
{
    return ((z + 1) * SLOT_SIDE + y + 1) * SLOT_WIDTH + x + 1;
}

/* The slots −1 … t[0] of a row; [0] is slot −1. */
static inline const lidx *slot_row(const struct slots *p, int y, int z)
{
    return p->oct + slot_index(-1, y, z);
}

/* Cell of the coarser level of a missing oct: eight times the parent oct, plus the cell. */
static inline lidx slot_missing(lidx slot)
{
    return SLOT_MISSING - slot;
}

/* Finds the octs in all slots; corners: whether octs that touch an own one only at a corner are
 * needed. */
void slots_find(struct slots *p, const struct mesh *m, int l, const struct tile *t, bool corners);

/* A part of the octs of a row: two adjacent octs that are consecutive in memory (four in a wide
 * tile), and in the last part also the halo at both ends. */
enum { SLOT_PARTS = TILE_SIDE / 2 + 1 };
static inline uint32_t slots_part(const struct slots *p, uint32_t octs, int part)
{
    bool wide = p->tile->t[0] > TILE_SIDE;
    uint32_t some = wide ? (uint32_t)15 << (4 * part + 1) : (uint32_t)3 << (2 * part + 1);
    return octs & (part == SLOT_PARTS - 1 ? some | 1 : some);
}

/* Cells a ≤ x < b of the rows through some octs of a row. */
struct span {
    int a, b;
};

static inline struct span span_of(uint32_t octs)
{
    if (!octs) return (struct span){1 << 20, -(1 << 20)};
    return (struct span){2 * __builtin_ctz(octs) - 2, 64 - 2 * __builtin_clz(octs) - 2};
}

static inline struct span span_join(struct span s, struct span t)
{
    return (struct span){s.a < t.a ? s.a : t.a, s.b > t.b ? s.b : t.b};
}
