/* hydro/tile: the own octs of a level in cubes of 1, 2³, 4³ or 8³ octs, and the gathering of such a
 * cube with its two-cell halo into an x-fastest patch. A tile is a run of octs that are consecutive
 * in Morton order. Private to hydro. */
#pragma once
#include "hydro/hydro.h"
#include "oct/mesh.h"

enum {
    TILE_DEPTH_MAX = 3,                      /* tiles of up to 2^3 octs per side */
    PATCH_W_MAX = (2 << TILE_DEPTH_MAX) + 4, /* cells per side with halo */
    PATCH_SLOT_MAX = (1 << TILE_DEPTH_MAX) + 2,
    /* doubles from variable to variable in a plane */
    PLANE_STRIDE = PATCH_W_MAX * PATCH_W_MAX + 8,
    /* … in a patch; both not a power of two */
    PATCH_STRIDE = PATCH_W_MAX * PATCH_W_MAX * PATCH_W_MAX + 24,
};

enum { SLOT_UNUSED = -3 }; /* a place of the patch that no own cell reads */

struct tile {
    lidx first, count; /* own octs first … first+count-1 */
    int depth;         /* 2^depth octs per side */
};

struct tile_list {
    struct tile *tile;
    lidx n;
};

/* Covers the own octs of level l with tiles of mindepth ≤ depth ≤ maxdepth so that the estimated
 * work is minimal. */
void tile_list_build(const struct mesh *m, int l, int mindepth, int maxdepth,
                     struct tile_list *list);
void tile_list_free(struct tile_list *list);

/* A gathered tile. Cell (i,j,k), each from -2 to n+1, is at (i+2) + w*((j+2) + w*(k+2)). */
struct patch {
    int t, n, w; /* octs per side, cells per side, cells per side with halo */
    const struct tile *tile;
    int64_t x0[3]; /* coordinates of its first oct on the level */
    lidx oct[PATCH_SLOT_MAX * PATCH_SLOT_MAX *
             /* by place (x+1) + (t+2)*((y+1) + (t+2)*(z+1)): oct, NBR_*, SLOT_UNUSED */
             PATCH_SLOT_MAX];
    /* place and first cell of each own oct */
    int own_slot[1 << 3 * TILE_DEPTH_MAX], own_at[1 << 3 * TILE_DEPTH_MAX];
    bool any_split, any_edge; /* a refined cell in the patch; an own oct without neighbour */
    double *u;                /* [nvar][PATCH_STRIDE] conserved */
    double *f;                /* [3][PATCH_STRIDE] acceleration (with gravity) */
    unsigned char *split;     /* [PATCH_STRIDE] 1: the cell is refined */
};

/* corners: whether the halo's eight corner octs (and their like) are needed. */
void patch_gather(struct patch *p, const struct mesh *m, int l, const struct tile *t,
                  const struct hydro_par *par, bool corners);
