/* tree/near_priv: declarations shared by the files of tree/near. Private to tree. */
#pragma once
#include "tree/near.h"

/* Boxes of eight neighbours in the order of leaves, or of groups of eight of these and so on, by
 * which the lists of leaves are found, since the processor compares eight at a time. Groups have no
 * regard for the radix tree, so that some are wider than its nodes; still a list takes half the
 * time. */
enum { NEAR_LANES = 8, NEAR_LEVELS = 11 };

struct near_eight {
    double lo[3][NEAR_LANES], hi[3][NEAR_LANES], reach[NEAR_LANES];
};

/* Member k of group i of level l > 0 is group 8 i + k of level l - 1; of level 0, leaf 8 i + k. */
struct near_pack {
    int levels;
    int64_t n[NEAR_LEVELS]; /* members of all groups of a level; the last level has one group */
    struct near_eight *group[NEAR_LEVELS];
};

struct near_tree {
    struct near_pack pack;
    struct near_node *node; /* [2 nleaf - 1] */
    int32_t *at;            /* [nleaf] the node of each leaf */
    double slack;           /* a margin of positions for rounding */
};

static inline int32_t near_nodes(const struct near *t)
{
    return t->nleaf ? (int32_t)(2 * t->nleaf - 1) : 0;
}

static inline const struct near_node *near_leaf_node(const struct near *t, int64_t leaf)
{
    return &t->tree->node[t->tree->at[leaf]];
}

/* Groups from the boxes of leaves, and from their radii. */
void near_pack_boxes(struct near *t);
void near_pack_reach(struct near *t);
void near_pack_free(struct near_pack *p);

/* A margin of positions for rounding. */
double near_slack(const struct near_frame *f, const struct near_node *root);
struct near_cells near_cells_of(const struct near_frame *f);
