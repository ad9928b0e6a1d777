/* part/kernels: arguments of the particles' kernels. Each is the struct of a kernel of the same
 * name in part_kernel.c. Pointers are the device's; so are those of the mesh. Private to part. */
#pragma once
#include "base/sum.h"
#include "dev/kernel.h"
#include "part/column.h"
#include "part/part_kern.h"

enum {
    PART_DEPTH = 2, /* the octs that share a patch of a deposit are (2^PART_DEPTH)³ */
    PART_SLOTS = 6, /* octs per side of a patch, with those around */
    PART_EDGE = 10, /* its cells per side */
    PART_CELLS = PART_EDGE * PART_EDGE * PART_EDGE,
    PART_PER_BLOCK = 512 /* particles whose deposits share patches */
};

/* The columns that kernels compute with. */
struct part_view {
    double *x[3], *v[3], *m;
    int32_t *levelp, *host;
    int8_t *family;
};

/* Columns that only move, and all others. */
struct part_table {
    int n;
    void *col[COL_MOST + 1];
    int8_t size[COL_MOST + 1];
};

/* What kernels count, in memory of the device. */
enum { COUNT_LOST, COUNT_DESCENTS, COUNT_CHANGES, COUNT_SIZE };

/* Particles begin … end-1 of level l: positions wrapped, hosts found. Those beyond a boundary are
 * counted, and stay as they are. */
struct parts_rehost_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, end;
    int32_t *count;
};

/* Descents of hosts, and changes of the row of 2^near octs. */
struct parts_disorder_args {
    const lidx *host;
    int64_t n;
    int near;
    int32_t *count;
};

/* key[i]: host; order[i]: i. */
struct parts_keys_args {
    const lidx *host;
    int64_t n;
    uint64_t *key;
    int32_t *order;
};

/* to[i] = from[order[i]], values of `size` bytes. */
struct parts_gather_args {
    const void *from;
    const int32_t *order;
    int64_t n;
    int size;
    void *to;
};

/* mark[i]: whether particle begin + i is in a refined cell; its host becomes ~child. */
struct parts_mark_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, n;
    int32_t *mark;
};

/* Of the marked ones (index: how many are before each) those that are among the first `middle`, and
 * of the others those that are not: as many of either. */
struct parts_misplaced_args {
    const int32_t *mark, *index;
    int64_t n, middle;
    int32_t *up, *down;
};

/* Particles begin + up[k] and begin + down[k] change places, k < *count. */
struct parts_swap_args {
    struct part_table table;
    const int32_t *up, *down, *count;
    int64_t begin;
};

/* host: ~host, or parent[host]. */
struct parts_turn_args {
    lidx *host;
    int64_t begin, end;
};
struct parts_parent_args {
    const struct mesh *mesh;
    int l; /* of the hosts */
    lidx *host;
    int64_t begin, end;
};

/* mass, number (or NULL): [noct][8]. */
struct parts_deposit_args {
    const struct mesh *mesh;
    struct part_view p;
    struct deposit_rule rule;
    int l, depth;
    int64_t begin, end;
    int64_t *mass, *number;
};

/* Boundaries, and what is done with the force. */
struct parts_kick_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, end;
    int gravity, is_static, reflect; /* bit f: face f */
    double dtnew[LEVEL_MAX], dtold[LEVEL_MAX];
};
struct parts_move_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, end;
    int gravity, is_static, reflect;
    double dt;
};

/* out[block]: the highest speed along an axis. */
struct parts_fastest_args {
    struct part_view p;
    int64_t begin, end;
    double *out;
};

/* Digits of exact sums (base/sum.h): of kinetic energy; or of mass and first moments. */
enum { PART_SUM = SUM_DIGITS + 1 }; /* the last: infinities and NaNs */
struct parts_sums_args {
    struct part_view p;
    int64_t begin, end;
    int moments;
    int64_t *digit; /* [1 or 4][PART_SUM] */
};

#ifndef __CUDACC__
extern const struct dev_kernel parts_rehost, parts_disorder, parts_keys, parts_gather, parts_mark,
    parts_misplaced, parts_swap, parts_turn, parts_parent, parts_deposit, parts_kick, parts_move,
    parts_fastest, parts_sums;
#endif
