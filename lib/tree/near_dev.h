/* tree/near_dev: the tree of tree/near made on a device (lib/dev): the same order, leaves, nodes
 * and lists, to the last bit. All pointers are of the device. Work is queued in the stream that
 * near_dev_new gets, which is lent until near_dev_free; near_dev_new waits for its end. */
#pragma once
#include "dev/dev.h"
#include "tree/near.h"

struct near_dev {
    struct near_frame frame;
    int64_t n, nleaf;
    int32_t *order;         /* [n] sorted position → number of the point */
    double *x[3];           /* [n] sorted positions */
    int32_t *first;         /* [nleaf+1] first sorted position of each leaf */
    struct near_node *node; /* [2 nleaf - 1] near_kern.h */
    int32_t *at;            /* [nleaf] the node of each leaf */
    double slack;           /* margin of positions for rounding */
    struct near_dev_work *work;
};

/* Points in device memory, lent for the call (near_new). Positions are not checked: the caller
 * knows that they are finite, and inside the frame along periodic axes. ERR_LIMIT: the device has
 * too little memory, or failed. */
MUST_USE enum err near_dev_new(struct dev *d, struct dev_stream *s, const struct near_points *p,
                               const struct near_frame *frame, int leaf, struct near_dev **out);
void near_dev_free(struct near_dev **t);

/* near_reach, queued in the stream. */
void near_dev_reach(struct near_dev *t, const double *reach);

/* Lists of all leaves: near_leaves with the largest radius of the leaf itself. */
struct near_dev_lists {
    int32_t *first; /* [nleaf+1] */
    int32_t *leaf;  /* 2 leaf + wraps, ascending */
    int64_t n;      /* entries of all lists */
    struct dev_room room[2];
};
/* Zero before the first use; used for several trees in turn. The lists are ready at the end of the
 * stream. ERR_LIMIT: as above, or more than 2^31 - 1 entries. */
MUST_USE enum err near_dev_find(struct near_dev *t, bool mutual, struct near_dev_lists *lists);
void near_dev_lists_free(struct dev_stream *s, struct near_dev_lists *lists);
