/* multipole/multipole_priv: cells, lists and particles of the tree. Private to multipole.
 *
 * Positions are integers of Q_BITS bits an axis in a cube around the particles of all ranks; a key
 * interleaves the first LEVELS bits of each axis, the x bit lowest. */
#pragma once
#include "multipole/multipole.h"

enum { Q_BITS = 46, LEVELS = 42, KEY_BITS = 3 * LEVELS, FEW = 3, GROUP_LEAVES = 3 };

typedef unsigned __int128 mkey;
typedef __int128 whole; /* holds sums of squares of positions of 2^34 particles */

struct cube {
    double lo[3], unit; /* unit: side / 2^Q_BITS, a power of two */
};

/* A particle on its way to the rank of its key. */
struct body {
    mkey key;
    int64_t id, row; /* row: of the sender, or number as received */
    double x[3], h, omega;
};

/* Sums over particles, exact in any order. Offsets of positions are from the corner of the cell. */
struct moments {
    int64_t n;
    whole first[3], second[6]; /* xx, yy, zz, xy, xz, yz */
    double lo[3], hi[3], h;    /* box of the particles, largest h */
};

struct cell {
    mkey key;               /* of its corner */
    double centre[3], mass; /* mass: number of particles */
    double quad[6];         /* traceless, Σ 3 d_i d_j − d² δ_ij; xx, yy, zz, xy, xz, yz */
    double lo[3], hi[3];    /* box of the particles */
    double open2;           /* square of the distance of the centre below which it is opened */
    double reach;           /* largest radius of softening of the particles */
    int64_t skip, first, n; /* skip: next cell beyond this one; first, n: particles if split is
                                    false; first −1: they are not here */
    int level;
    bool split, own; /* own: all particles are those of this rank */
};

/* Cells in the order of keys, a cell before those within it. Particles: own ones in the order of
 * keys, then those of other ranks. */
struct forest {
    const struct multipole_par *par;
    double support; /* of the kernel, in h */
    enum smooth_kernel kernel;
    struct cube cube;
    int64_t ncell, room;
    struct cell *cell;
    struct moments *sum;            /* [ncell] of own particles, until the cells are complete */
    int64_t n, all, nroom;          /* own particles; with those of other ranks */
    double *x[3], *h, *back, *zeta; /* back: 1/h. zeta: ζ/Ω C/h⁴, per G and mass of a particle */
    mkey low, end;                  /* own range of keys */
};

/* Whether a cell of own particles is a group, or part of one. A group may be several cells that are
 * not split, which share the search for what acts on them. */
static inline bool in_group(const struct multipole_par *p, const struct cell *c)
{
    return c->own && (!c->split || c->n <= (int64_t)GROUP_LEAVES * p->leaf);
}

/* cells.c */
struct cube multipole_cube(const struct comm *c, const struct smooth *s);
mkey multipole_key(const struct cube *q, const double x[3]);
void multipole_sort(int64_t n, struct body *b);
/* The first of the sorted bodies b[begin..end) whose key is at least `key`. */
int64_t multipole_find(const struct body *b, int64_t begin, int64_t end, mkey key);
void forest_grow(struct forest *f, const struct body *b);
/* Keys of a cell of a level span 2^(KEY_BITS − 3 level). */
static inline mkey key_span(int level)
{
    return (mkey)1 << (KEY_BITS - 3 * level);
}
void moments_zero(struct moments *m);
/* Adds the sums of `from`, whose corner is `offset` from the corner of `to`. */
void moments_add(struct moments *to, const struct moments *from, const int64_t offset[3]);
void cell_finish(const struct forest *f, struct cell *c, const struct moments *m);
void forest_particles(struct forest *f, int64_t room);
int64_t forest_cell(struct forest *f);
void forest_free(struct forest *f);

/* list.c: what acts on a group. Arrays are padded to multiples of 8 with terms of weight 0. */
struct terms {
    int64_t n, room;
    double *at[10];
};
enum { TERM_X, TERM_Y, TERM_Z, TERM_MASS, TERM_QUAD, TERM_BACK = TERM_QUAD, TERM_ZETA };
struct lists {
    struct terms far, plain, soft; /* cells; particles beyond the softening; the others */
};
void lists_find(const struct forest *f, const struct cell *group, struct lists *l);
void lists_soft(const struct forest *f, const struct cell *group, struct lists *l);
void lists_free(struct lists *l);
/* Whether a cell acts as a whole on all particles of a box whose radii of softening are at most
 * reach. */
bool multipole_acts(const struct cell *c, const double lo[3], const double hi[3], double reach);

/* pull.c: acceleration and potential, per G and mass of a particle. */
void multipole_pull(const struct forest *f, const struct lists *l, int64_t i, double result[4]);
/* Σ ∂φ/∂h of particle i, per mass of a particle. */
double soften_slope(const struct forest *f, const struct lists *l, int64_t i);

/* deal.c: ranges of keys. */
/* The rows of all ranks, in any order (owner: caller, FREE). */
void *multipole_gather(const struct comm *c, const void *row, int64_t n, size_t bytes,
                       int64_t *total);
/* Sends bodies to the ranks of their keys: *b, *n become those received, in order of keys, with
 * their numbers as received in `row`; `from`: how many from each rank. Sets the own range. */
void forest_deal(const struct comm *c, struct forest *f, struct body **b, int64_t *n,
                 struct comm_counts *from);
/* join.c: cells and particles of other ranks. */
/* Particles that were sent, in order, to each rank. */
struct sent {
    struct comm_counts to;
    int64_t n, *particle;
};
/* Completes cells that several ranks have, and gets cells and particles of other ranks. */
void forest_join(const struct comm *c, struct forest *f, struct sent *s);
/* Gets zeta of the particles of other ranks. */
void forest_zeta(const struct comm *c, struct forest *f, struct sent *s);
void sent_free(struct sent *s);
