/* brick: a uniform periodic mesh, divided among the ranks in bricks of cells with halos.
 *
 * The mesh has n[0] × n[1] × n[2] cells. Along axis d it is cut into p[d] parts whose widths differ
 * by one cell at most; the brick at p[0] × p[1] × p[2] coordinates belongs to one rank. Ranks may
 * have no cells, if the mesh cannot be divided among all of them. Arrays of a field have the own
 * cells and a halo of `halo` cells on each side, x fastest. No result may depend on the division.
 *
 * The division minimises the time of a step, max(work, exchange), where the exchange costs the
 * surface of width `halo` (Pekkilä et al. 2022, equations 4 and 5), first among nodes, then within
 * one; a node has a box of bricks, and bricks are given to ranks in Morton order, so that
 * neighbours are ranks of one node.
 *
 * The halo consists of 26 segments: 6 faces, 12 edges, 8 corners. Those beyond an axis that is cut
 * come from the neighbour in their direction; segments for one rank travel in one message. Along an
 * axis that is not cut the halo is copied within the brick, also from cells several widths away if
 * the mesh is narrower than the halo. */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"

enum { BRICK_HALO_MAX = 4, BRICK_SEGMENTS = 26 };

struct brick_plan; /* segments, peers and buffers (brick/fill.h) */

struct brick {
    int64_t n[3];     /* cells of the mesh */
    int p[3], at[3];  /* parts along each axis; coordinates of this rank */
    int halo;         /* width of the halo in cells */
    int64_t first[3]; /* first own cell along each axis */
    int own[3];       /* number of own cells along each axis; all 0: this rank has no cells */
    /* Numbers from a cell to the next one along each axis; stride[0] is 1. Cell (x, y, z) of this
     * brick, counted from its first own cell, from −halo on, is number
     * start + x + y*stride[1] + z*stride[2] of the array of a field (brick_cell). start and the
     * strides are multiples of 8: in an array of base/mem, the first own cell of each row begins a
     * cache line. No stride is a multiple of 512, whose rows or planes would share few sets of a
     * cache. */
    int64_t stride[3], start;
    size_t size; /* numbers in the array of a field, with halos and padding; 0: no cells */
    struct brick_plan *plan;
    const struct comm *comm; /* lent */
};

static inline int64_t brick_cell(const struct brick *b, int64_t x, int64_t y, int64_t z)
{
    return b->start + x + y * b->stride[1] + z * b->stride[2];
}

/* Divides the mesh for the ranks of c. p: parts along each axis to use, whose product is at most
 * the number of ranks; {0}: the best ones. Error, in one sentence: a mesh that p cannot divide,
 * since parts would be narrower than the halo. (collective, agreed) */
MUST_USE enum err brick_init(struct brick *b, const struct comm *c, const int64_t n[3], int halo,
                             const int p[3]);
void brick_fini(struct brick *b);

/* The parts along each axis with the shortest step for this many ranks, `node` of which share a
 * node: all divisions with parts of at least `halo` cells are compared, by the cells of their
 * largest brick, then by its surface. So parts divide n evenly where any such division exists.
 * Local. */
void brick_best(const int64_t n[3], int ranks, int node, int halo, int p[3]);
/* The first own cell of the brick at coordinate i of p along an axis of n cells; that of
 * coordinate i + 1, also if this is p, follows its last one. */
int64_t brick_first(int64_t n, int p, int i);
/* The rank that has the brick at these coordinates, modulo p, and the coordinates of a rank (false:
 * the rank has no cells). */
int brick_rank(const struct brick *b, const int at[3]);
bool brick_at(const struct brick *b, int rank, int at[3]);

/* Fills the halos of nfield fields: begin packs and sends, end receives and unpacks; brick_fill is
 * both. Between the two the own cells may be read; begin fills the halo beyond axes that are not
 * cut, beside own cells. The pointers are copied, the fields are lent until end. Ranks without
 * cells call both (field may be NULL). (collective) */
void brick_fill_begin(struct brick *b, int nfield, double *const *field);
void brick_fill_end(struct brick *b);
void brick_fill(struct brick *b, int nfield, double *const *field);
/* Whether later fills include the corners of the halo, as they do at first. Without corners a brick
 * in a mesh that is cut along three axes has 18 messages, not 26, and corners have any value.
 * Between fills, equal on all ranks. */
void brick_corners(struct brick *b, bool corners);
/* Whether the halo beside own cells beyond axes that are not cut has its values before later
 * fills, which then leave it as it is (fd_substep stores it): for all fields of these fills. At
 * first it has not. Local. */
void brick_beside(struct brick *b, bool valid);
/* The box of own cells that may be computed between begin and end, and the at most six slabs around
 * it for which halos of other ranks are read: lo[i] to hi[i] in the coordinates of the brick, each
 * own cell in one of them. Returns the number of boxes; box 0 is the inner one, which may be empty.
 * Along an axis that is not cut it has all cells. */
int brick_boxes(const struct brick *b, int lo[7][3], int hi[7][3]);

/* Counts since brick_init, of this rank: messages that it has sent, their bytes, and bytes of halos
 * copied within the brick. */
struct brick_counts {
    int64_t fills, messages, bytes, copied;
};
struct brick_counts brick_counts(const struct brick *b);
