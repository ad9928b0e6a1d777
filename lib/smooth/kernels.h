/* smooth/kernels: arguments of the kernels of smooth_dev.c. All pointers are device addresses.
 * Private to smooth. */
#pragma once
#include "dev/kernel.h"
#include "smooth/pair_kern.h"

/* A block evaluates the particles of a leaf of the tree, eight threads each. A leaf has at most
 * SMOOTH_ROWS particles, unless more have one key: then these are several batches. */
enum {
    SMOOTH_ROWS = 16,
    SMOOTH_THREADS = SMOOTH_ROWS * SMOOTH_PARTS,
    SMOOTH_TESTS = 32, /* candidates that a thread compares between two barriers */
    SMOOTH_TILE = SMOOTH_TESTS * SMOOTH_PARTS
};
/* Counters: particles whose h lies beyond their reach, and those without h. */
enum { SMOOTH_COUNT_BEYOND, SMOOTH_COUNT_FAULTS, SMOOTH_COUNTERS };

/* The tree (tree/near_dev.h). begin: [list_first[leaf] + leaf + i] candidates before leaf i of the
 * list of a leaf; last, the number of all. */
struct smooth_tree_args {
    int32_t n, own, nleaf; /* points; numbers below `own` are own particles */
    double period[3];
    const int32_t *order, *first, *list_first, *list;
    int32_t *begin;
    const double *x[3];
};

/* smooth_sort: to[k][i] := from[k][order[i]] */
struct smooth_sort_args {
    int32_t n;
    const int32_t *order;
    const double *from[6];
    double *to[6];
};

/* smooth_reaches: reach of own particles, factor × h; of others 0. */
struct smooth_reaches_args {
    int32_t n, own;
    double factor;
    const double *h;
    double *reach;
};

struct smooth_density_args {
    struct smooth_tree_args tree;
    struct smooth_par par;
    double everywhere;
    const double *v[3], *a[3]; /* in the order of the tree */
    /* by number: */
    const double *reach, *u;
    double *h, *omega, *divv, *alpha_loc;
    int8_t *fault;
    int64_t *counter;
};

/* smooth_pairs: from numbers to the order of the tree. reach: by number, R h. It counts particles
 * whose h or Ω is not positive. */
struct smooth_pairs_args {
    int32_t n;
    struct smooth_par par;
    const int32_t *order;
    struct {
        const double *x[3], *v[3], *u, *h, *alpha, *omega;
    } from;
    double *reach, *reach2;
    int64_t *counter;
#define ROW(name) double *name;
    SMOOTH_PAIR(ROW)
#undef ROW
};

struct smooth_forces_args {
    struct smooth_tree_args tree;
    struct smooth_par par;
    const double *reach2; /* in the order of the tree, as the rows of pairs */
#define ROW(name) const double *name;
    SMOOTH_PAIR(ROW)
#undef ROW
    /* by number: */
    const int8_t *type;
    double *a[3], *du, *vsig, *near;
};

#ifndef __CUDACC__
extern const struct dev_kernel smooth_candidates, smooth_sort, smooth_reaches, smooth_pairs,
    smooth_density_m4, smooth_density_m6, smooth_forces_m4, smooth_forces_m6;
#endif
