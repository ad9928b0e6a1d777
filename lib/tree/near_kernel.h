/* tree/near_kernel: arguments of the kernels of tree/near_dev; each struct belongs to the kernels
 * named beside it. All pointers are of the device. Private to tree. */
#pragma once
#include "dev/kernel.h"
#include "tree/near_kern.h"

enum {
    NEAR_RUN = 32, /* most points of one key that one thread sorts */
    NEAR_LONG = 0, /* counters: runs that are longer */
    NEAR_TOTAL,    /* entries of all lists */
    NEAR_COUNTERS
};

/* near_keys: keys of positions, and order[i] := i. near_ids: the ids as keys, in the order of
 * numbers. near_again: keys of the points in their order. near_copy: to[k][i] := x[k][order[i]]. */
struct near_sort_args {
    int64_t n;
    struct near_cells cells;
    const double *x[3];
    const int64_t *id;
    uint64_t *key;
    int32_t *order;
    double *to[3];
};

/* near_ties: sorts runs of equal keys by id. near_mark: mark[i], whether a leaf begins at i. */
struct near_runs_args {
    struct near_cutting cut;
    const int64_t *id;
    int32_t *order, *mark;
    int64_t *counter;
};

/* near_first: first points and keys of leaves; index: the exclusive sum of mark. */
struct near_first_args {
    struct near_cutting cut;
    const int32_t *mark, *index;
    int32_t *first, nleaf;
    radix_key *key;
};

/* near_inner, near_count_chain (chain[k]: nodes that begin with leaf k, itself among them) and
 * near_put (sum: the exclusive sum of chain). */
struct near_nodes_args {
    struct radix_nodes r;
    int32_t *chain;
    const int32_t *sum;
    int32_t *at, *where;
    struct near_node *node;
};

/* near_boxes and near_reaches, from the leaves upwards. */
struct near_up_args {
    int32_t nleaf;
    const int32_t *first, *parent, *at, *where, *order;
    const double *x[3], *reach;
    int32_t *arrived; /* [nleaf] 0: no child of an inner node is there yet */
    struct near_node *node;
};

/* near_count and near_fill: begin: the exclusive sum of count. */
struct near_lists_args {
    int32_t nleaf;
    bool mutual;
    double period[3], slack;
    const int32_t *at;
    const struct near_node *node;
    int32_t *count;
    const int32_t *begin;
    int32_t *leaf;
    int64_t *counter;
};

#ifndef __CUDACC__
extern const struct dev_kernel near_keys, near_ids, near_again, near_copy, near_ties, near_mark,
    near_first, near_inner, near_count_chain, near_put, near_boxes, near_reaches, near_count,
    near_fill;
#endif
