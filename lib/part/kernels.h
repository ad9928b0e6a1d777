/* part/kernels: arguments of the particle kernels. Each struct belongs to the kernel of the same
 * name in kernels.c or migrate_kernel.c. All pointers, including pointers in the mesh, are device
 * pointers. Private to part. */
#pragma once
#include "dev/kernel.h"
#include "dev/sums.h"
#include "part/cic_kern.h"
#include "part/column.h"

enum {
    PART_DEPTH = 2, /* log2 of the octs per side that share a patch of a deposit */
    PART_SLOTS = 6, /* octs per side of a patch with the octs around */
    PART_SIDE = 10, /* cells per side of a patch */
    PART_CELLS = PART_SIDE * PART_SIDE * PART_SIDE,
    PART_PER_BLOCK = 512 /* number of particles whose deposits share patches */
};

/* Columns that kernels compute with. */
struct part_view {
    double *x[3], *v[3], *m;
    int32_t *levelp, *host;
    int8_t *family;
};

/* Copies a value of `size` bytes. */
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

/* Sets i to the particle of thread t, of begin … end-1; skips threads without one. */
#define PARTICLE(i, t, begin, end)                                                                 \
    const int64_t i = (begin) + (int64_t)b->index * DEV_THREADS + (t);                             \
    if (i >= (end)) continue

/* All columns, for kernels that only move them. */
struct part_table {
    int n;
    void *col[COL_MAX + 1];
    int8_t size[COL_MAX + 1];
};

/* Counters in device memory that kernels increment. */
enum { COUNT_AWAY, COUNT_DESCENTS, COUNT_CHANGES, COUNT_SIZE };

/* Wraps positions and finds the hosts of particles begin … end-1 of level l. Counts particles whose
 * host is no own oct. */
struct parts_rehost_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, end;
    int32_t *count;
};

/* Counts descents of hosts, and changes of the row of 2^near octs. */
struct parts_disorder_args {
    const lidx *host;
    int64_t n;
    int near;
    int32_t *count;
};

/* Sets key[i] := host, order[i] := i. */
struct parts_keys_args {
    const lidx *host;
    int64_t n;
    uint64_t *key;
    int32_t *order;
};

/* Permutes the columns of particles first … first+n-1: gathers them into tmp in this order, and
 * copies them back. */
struct parts_gather_args {
    struct part_table table;
    int64_t first, n;
    const int32_t *order; /* [n] order, from `first` on */
    char *tmp;            /* columns one after the other, part_words each */
};

PTAH_HD int64_t part_words(int64_t size, int64_t n)
{
    return (size * n + 7) / 8;
}

/* Sets mark[i] if particle begin + i is in a refined cell; its host becomes ~child. Counts
 * particles whose child is no own oct. */
struct parts_mark_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, n;
    int32_t *mark, *count;
};

/* Counts the particles hosted on levelmin by the finest oct that contains them: count[first[l] +
 * oct], l being its level. */
struct parts_count_args {
    const struct mesh *mesh;
    struct part_view p;
    int64_t n;
    int64_t first[LEVEL_MAX + 2];
    int32_t *count;
};

/* Lists marked particles among the first `middle`, and unmarked ones after these; both lists have
 * the same length. index: exclusive prefix sum of mark. */
struct parts_misplaced_args {
    const int32_t *mark, *index;
    int64_t n, middle;
    int32_t *up, *down;
};

/* Swaps particles begin + up[k] and begin + down[k], k < *count. */
struct parts_swap_args {
    struct part_table table;
    const int32_t *up, *down, *count;
    int64_t begin;
};

/* Replaces host by ~host (parts_turn_args) or by parent[host] (parts_parent_args). */
struct parts_turn_args {
    lidx *host;
    int64_t begin, end;
};
struct parts_parent_args {
    const struct mesh *mesh;
    int l; /* level of the hosts */
    lidx *host;
    int64_t begin, end;
};

/* Sets mark[i] if the host is no own oct. */
struct parts_away_args {
    const lidx *host;
    int64_t n;
    lidx nown;
    int32_t *mark;
};

/* Packets of particles, and their columns (priv.h). */
struct part_packets {
    void *packet;
    int n, bytes;
    void *col[COL_MAX];
    int8_t size[COL_MAX];
    int16_t at[COL_MAX];
};

/* Stores the indices of marked particles in slot, and their packets. index: exclusive prefix sum of
 * mark. */
struct parts_pack_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, n;
    const int32_t *mark, *index;
    int32_t *slot;
    struct part_packets table;
};

/* Unpacks n packets into the first slots of the `left` particles that left, then from `end` on.
 * Counts packets whose oct is not own. */
struct parts_unpack_args {
    const struct mesh *mesh;
    int l;
    int64_t n, left, end;
    const int32_t *slot;
    lidx *host;
    int32_t *count;
    struct part_packets table;
};

/* Moves the last particles before `end` into the n gaps, which ascend. */
struct parts_close_args {
    struct part_table table;
    const int32_t *gap;
    int64_t n, end;
};

/* parts_take: copies the columns of the particles `at` to tmp, one column after the other, as many
 * words as part_words says; parts_give: back. */
struct parts_few_args {
    struct part_table table;
    int64_t n;
    const int32_t *at;
    char *tmp;
};

/* Lists particles begin … end-1 of a family, with another tag, that were born after `first` and not
 * after `last`. */
struct parts_born_args {
    int64_t begin, end;
    const int8_t *family, *tag;
    const double *birth;
    int of, other;
    double first, last;
    int32_t *count, *list;
};

/* Finds the largest id, out[block], at least 0. */
struct parts_ids_args {
    const int64_t *id;
    int64_t n;
    int64_t *out;
};

/* Deposits mass and number (or NULL): [noct][8]. */
struct parts_deposit_args {
    const struct mesh *mesh;
    struct part_view p;
    struct deposit_rule rule;
    int l, depth;
    int64_t begin, end;
    int64_t *mass, *number;
};

/* Kicks, or kicks and moves, particles; the members hold boundaries and flags. */
struct parts_kick_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, end;
    int gravity, is_static, reflect; /* reflect: bit f: face f is a mirror */
    int tracers;                     /* whether there may be tracers, which stay as they are */
    unsigned frozen;                 /* families that do, too (part/family.h) */
    double dtnew[LEVEL_MAX], dtold[LEVEL_MAX];
};
struct parts_move_args {
    const struct mesh *mesh;
    struct part_view p;
    int l;
    int64_t begin, end;
    int gravity, is_static, reflect, tracers;
    unsigned frozen;
    double dt;
};

/* Finds the maximum speed along an axis, out[block]. */
struct parts_fastest_args {
    struct part_view p;
    int64_t begin, end;
    int tracers; /* whether there may be tracers, which do not count */
    double *out;
};

/* Computes digits of exact sums (base/sum.h), either kinetic energy or mass and first moments. */
struct parts_sums_args {
    struct part_view p;
    int64_t begin, end;
    int moments;
    int64_t *digit; /* [1 or 4][DEV_SUM] digits of the sums */
};

#ifndef __CUDACC__
extern const struct dev_kernel parts_rehost, parts_disorder, parts_keys, parts_gather, parts_return,
    parts_mark, parts_count, parts_misplaced, parts_swap, parts_turn, parts_parent, parts_deposit,
    parts_kick, parts_move, parts_fastest, parts_sums, parts_away, parts_pack, parts_unpack,
    parts_close, parts_take, parts_give, parts_born, parts_ids;
#endif
