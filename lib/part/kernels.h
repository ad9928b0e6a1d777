/* part/kernels: arguments of the particles' kernels. Each is the struct of a kernel of the same
 * name in kernels.c. Pointers are the device's; so are those of the mesh. Private to part. */
#pragma once
#include "dev/kernel.h"
#include "dev/sums.h"
#include "part/cic_kern.h"
#include "part/column.h"

enum {
    PART_DEPTH = 2, /* the octs that share a patch of a deposit are (2^PART_DEPTH)³ */
    PART_SLOTS = 6, /* octs per side of a patch, with those around */
    PART_SIDE = 10, /* its cells per side */
    PART_CELLS = PART_SIDE * PART_SIDE * PART_SIDE,
    PART_PER_BLOCK = 512 /* particles whose deposits share patches */
};

/* The columns that kernels compute with. */
struct part_view {
    double *x[3], *v[3], *m;
    int32_t *levelp, *host;
    int8_t *family;
};

/* A value of this many bytes. */
PTAH_HD void value_move(int size, void *to, const void *from)
{
    if (size == 8)
        *(uint64_t *)to = *(const uint64_t *)from;
    else if (size == 4)
        *(uint32_t *)to = *(const uint32_t *)from;
    else if (size == 2)
        *(uint16_t *)to = *(const uint16_t *)from;
    else
        *(uint8_t *)to = *(const uint8_t *)from;
}

PTAH_HD void position(const struct part_view *p, int64_t i, double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = p->x[d][i];
}

/* i: the particles of this block's threads, of begin … end-1; continues with none. */
#define PARTICLE(i, t, begin, end)                                                                 \
    const int64_t i = (begin) + (int64_t)b->index * DEV_THREADS + (t);                             \
    if (i >= (end)) continue

/* Columns that only move, and all others. */
struct part_table {
    int n;
    void *col[COL_MAX + 1];
    int8_t size[COL_MAX + 1];
};

/* Counters that kernels increment, in device memory. */
enum { COUNT_AWAY, COUNT_DESCENTS, COUNT_CHANGES, COUNT_SIZE };

/* Particles begin … end-1 of level l: positions wrapped, hosts found. Those whose host is no own
 * oct are counted. */
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

/* The columns of particles first … first+n-1 in this order: gathered into tmp, and returned. */
struct parts_gather_args {
    struct part_table table;
    int64_t first, n;
    const int32_t *order; /* [n] from `first` on */
    char *tmp;            /* columns one after the other, each part_words */
};

PTAH_HD int64_t part_words(int64_t size, int64_t n)
{
    return (size * n + 7) / 8;
}

/* mark[i]: whether particle begin + i is in a refined cell; its host becomes ~child. Those whose
 * child is no own oct are counted. */
struct parts_mark_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, n;
    int32_t *mark, *count;
};

/* Particles hosted on levelmin are counted in the finest oct that they are in, of level l:
 * count[first[l] + oct]. */
struct parts_count_args {
    const struct mesh *mesh;
    struct part_view p;
    int64_t n;
    int64_t first[LEVEL_MAX + 2];
    int32_t *count;
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

/* mark[i]: whether the host is no own oct. */
struct parts_away_args {
    const lidx *host;
    int64_t n;
    lidx nown;
    int32_t *mark;
};

/* Packets of particles, and the columns in them (priv.h). */
struct part_packets {
    void *packet;
    int n, bytes;
    void *col[COL_MAX];
    int8_t size[COL_MAX];
    int16_t at[COL_MAX];
};

/* The marked ones (index: how many are before each): their places, and packets. */
struct parts_pack_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, n;
    const int32_t *mark, *index;
    int32_t *slot;
    struct part_packets table;
};

/* n packets go to the first places of the `left` particles that left, or from `end` on. Those whose
 * oct is not own are counted. */
struct parts_unpack_args {
    const struct mesh *mesh;
    int l;
    int64_t n, left, end;
    const int32_t *slot;
    lidx *host;
    int32_t *count;
    struct part_packets table;
};

/* The last particles, those before `end`, go to the n gaps, which ascend. */
struct parts_close_args {
    struct part_table table;
    const int32_t *gap;
    int64_t n, end;
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
struct parts_sums_args {
    struct part_view p;
    int64_t begin, end;
    int moments;
    int64_t *digit; /* [1 or 4][DEV_SUM] */
};

#ifndef __CUDACC__
extern const struct dev_kernel parts_rehost, parts_disorder, parts_keys, parts_gather, parts_return,
    parts_mark, parts_count, parts_misplaced, parts_swap, parts_turn, parts_parent, parts_deposit,
    parts_kick, parts_move, parts_fastest, parts_sums, parts_away, parts_pack, parts_unpack,
    parts_close;
#endif
