/* brick/fill: segments and buffers of the exchange of halos. Private to brick. */
#pragma once
#include "brick/brick.h"
#include "brick/divide.h"
#include "comm/pack.h"

/* A segment of the halo in direction d: its cells are those that the neighbour in that direction
 * has, and the neighbour in the opposite direction gets cells of this brick. Only directions of
 * axes that are cut have one. */
struct segment {
    int to[3], from[3]; /* first cell of the halo; first own cell that is sent */
    int len[3];
    int source, target;     /* indices of the peers */
    int64_t in, out, cells; /* first cells of a field within their messages; number of cells */
};

struct brick_plan {
    struct brick_place place;
    bool corners;
    bool beside; /* brick_beside */
    int nseg, npeer;
    struct segment seg[BRICK_SEGMENTS];
    int peer[BRICK_SEGMENTS];
    int64_t sent[BRICK_SEGMENTS], received[BRICK_SEGMENTS]; /* cells, for each peer */

    int nfield, room; /* fields of the fill under way, 0: none; room for pointers */
    double **field;
    size_t bytes[2 * BRICK_SEGMENTS];
    struct comm_pack pack;
    bool packed; /* pack exists */
    struct brick_counts counts;
};

void brick_plan_new(struct brick *b);
void brick_plan_free(struct brick *b);
/* Begins a fill: keeps the fields, and gets buffers for their messages if the mesh is cut. */
void brick_plan_begin(struct brick *b, int nfield, double *const *field);
/* Whether any rank gets halos from another one. */
bool brick_is_cut(const struct brick *b);
