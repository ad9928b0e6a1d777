/* part/block: blocks of octs that share one patch of the mesh. Private to part.
 *
 * The cloud of a particle at x is a cube of one cell size dx around it: it overlaps the 2³ cells
 * that start at floor(x/dx − ½), with weights w and 1−w per direction, w the fraction of x/dx − ½.
 * A particle inside its host reaches the host's cells and the next ones: 4³.
 *
 * A block is the 1, 2³ or 4³ octs that share an ancestor. Its patch has the cells of these octs and
 * the adjacent ones, up to 10³, and serves all their particles. A block is the unit of work of a
 * thread, or of a thread block of a GPU: links are found once for each block, by descending from
 * the ancestor and its 26 neighbours, and particles address cells relative to it. On hosts,
 * particles that are too few for a block of 2³ octs have no patch: each finds the cells of its
 * cloud alone. */
#pragma once

#include "part/part.h"

enum {
    BLOCK_DEPTH_MAX = 2,
    BLOCK_OCTS = 1 << 3 * BLOCK_DEPTH_MAX,
    BLOCK_SLOTS = (1 << BLOCK_DEPTH_MAX) + 2, /* octs per side with the octs around */
    BLOCK_SIDE = 2 * (1 << BLOCK_DEPTH_MAX) + 2,
    BLOCK_CELLS = BLOCK_SIDE * BLOCK_SIDE * BLOCK_SIDE,
    CLOUDS = 64 /* number of particles whose clouds are found together */
};

struct block {
    int level; /* level; < 0: no block yet */
    int depth; /* log2 of the octs per side */
    int width; /* cells per side of the patch */
    lidx low, high;
    bool whole; /* whether all octs in and around it exist */
    /* cell coordinates of the patch's first cell; differences from base are taken modulo wrap+1 */
    int64_t base[3], wrap[3];
    /* octs of the block and around, x fastest, 2 + 2^depth per side */
    lidx oct[BLOCK_SLOTS * BLOCK_SLOTS * BLOCK_SLOTS];
    /* by oct low, low+1, …: position in the patch of the first cell that its particles reach, 8
     * bits per axis; last entry: out of any patch */
    int32_t slot[BLOCK_OCTS + 1];
};

/* Sets the block of 2^depth octs per side, or of the greatest depth that exists, that contains oct
 * o of level l. A ghost is a block of one oct. */
void block_set(struct block *b, const struct mesh *m, int l, lidx o, int depth);

/* Depth of the block that pays off for the next particles, host[0..n-1]; ≤ max. */
int block_depth(const struct mesh *m, int l, int64_t n, const lidx *host, int max);

static inline bool block_has(const struct block *b, lidx o)
{
    return o >= b->low && o < b->high;
}

/* Whether the first of particles host[0..n-1] outside of the block is a stray, followed closely by
 * others of the block. */
static inline bool block_stray(const struct block *b, int64_t n, const lidx *host)
{
    for (int64_t k = 1; k < n && k < 4; k++)
        if (block_has(b, host[k])) return true;
    return false;
}

/* End of the particles from `from` on, of n with these hosts, that the block serves; the hosts of
 * `left` ≥ n particles are known. */
static inline int block_end(const struct block *b, int64_t left, const lidx *host, int from, int n)
{
    uint32_t octs = (uint32_t)(b->high - b->low);
    int out = 0, to = from + 1;
#pragma omp simd reduction(+ : out)
    for (int k = from; k < n; k++) out += (uint32_t)(host[k] - b->low) >= octs;
    if (out == 0) return n;
    while (to < n && (block_has(b, host[to]) || block_stray(b, left - to, host + to))) to++;
    return to;
}

/* Clouds of particles: coordinates of their first cells (whole numbers), weights, and positions in
 * the patch of a block. */
struct clouds {
    double cell[3][CLOUDS], w[3][CLOUDS];
    int32_t at[CLOUDS];
};

/* Finds the first cells and weights on level l of the clouds of particles begin … begin+n-1. */
void clouds_find(struct clouds *c, const struct parts *p, const struct mesh *m, int l,
                 int64_t begin, int n);
/* Finds at[k] of particles from … to-1: the position of the cloud's first cell in the patch, x
 * fastest with BLOCK_SIDE per side; -1 if the cloud is outside of the patch or of the 4³ cells of
 * its host. key: keys of the hosts. Strays have a position in a whole block only. */
void clouds_put(struct clouds *c, const struct block *b, const okey *key, const lidx *host,
                int from, int to);

/* Position in the patch, as clouds_put finds it, of one cloud whose host has this key; -1: outside.
 */
int block_put_one(const struct block *b, okey host, const int64_t cell[3]);

/* Eight cells of a cloud, x fastest: octs, or NBR_NONE, and cells in the octs. */
struct cells {
    lidx oct[8];
    int at[8];
};

/* Finds the eight cells of the cloud that begins at cell[] of level l. false: the cloud is outside
 * of the 4³ cells of its host, or beyond a boundary, or l is 1. */
bool cells_find(struct cells *c, const struct mesh *m, int l, lidx host, const int64_t cell[3]);

/* Cell coordinates of particle i's cloud on level l, and its weights. */
static inline void cloud_find(const struct parts *p, const struct mesh *m, int l, int64_t i,
                              int64_t cell[3], double w[3])
{
    cloud_at(m, l, (double[3]){p->x[0][i], p->x[1][i], p->x[2][i]}, cell, w);
}
