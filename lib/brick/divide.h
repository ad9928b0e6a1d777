/* brick/divide: which rank has which brick. Private to brick.
 *
 * Nodes take boxes of near[0] × near[1] × near[2] bricks in Morton order, and the ranks of a node
 * take those of its box in Morton order. If no such boxes exist, near is 1 along each axis. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct brick_place {
    int p[3], near[3];
    int node; /* ranks from a box to the next one */
};

/* The boxes with the fewest halo cells from other nodes; each node has `node` consecutive ranks. */
struct brick_place brick_place_new(const int64_t n[3], int ranks, int node, int halo,
                                   const int p[3]);
int brick_place_rank(const struct brick_place *w, const int at[3]);
bool brick_place_at(const struct brick_place *w, int rank, int at[3]);
