/* cooldev/kernels: arguments of the kernels in cool_kernel.c, one struct per kernel. All pointers,
 * including those of the mesh, are device addresses. Private to cooldev. */
#pragma once
#include "cool/net_kern.h"
#include "cooldev/cell_kern.h"
#include "dev/kernel.h"

/* Cools leaves over law.dt; without a table, sets them to the floor. A cell that needs a place of
 * the table that does not exist stays as it is, and asks for that place. */
struct gas_cool_args {
    const struct mesh *mesh;
    struct cooling_law law;
    int l, implicit;          /* level; true for the implicit method */
    int again;                /* whether only the cells that are left are cooled */
    unsigned char *left;      /* [8 nown] 1: the cell still has to cool */
    struct table_there table; /* node NULL: no table */
    int32_t *asked; /* number of places asked for, and then these, each once, in any order */
};

/* A node travels as its difference from what the device has at that place, from another expansion
 * factor, or zero at first: of the bits of each number, a value or a slope, that differ, the bytes
 * up to the highest that is not zero. Half a byte holds how many. */
enum { NODE_NUMBERS = 2 * RATE_COUNT, NODE_HALVES = (NODE_NUMBERS + 1) / 2, NODE_GROUP = 16 };

PTAH_HD int node_bytes(const unsigned char half[NODE_HALVES], int r)
{
    return half[r / 2] >> 4 * (r % 2) & 15;
}

/* Writes nodes, and notes the places that exist with them. */
struct table_put_args {
    const unsigned char *bytes, (*half)[NODE_HALVES]; /* of all nodes; [nodes] */
    const int32_t *first; /* first byte of each group of NODE_GROUP nodes */
    const uint16_t *node, *place;
    int nodes, places;
    struct table_node *to;
    int32_t *state;
};

/* Sets a bit for each place that was read. */
struct table_reads_args {
    const int32_t *state;
    uint32_t *bits; /* [TABLE_WORDS] */
};
enum { TABLE_WORDS = (TABLE_PLACES + 31) / 32 };

#ifndef __CUDACC__
extern const struct dev_kernel gas_cool, table_put, table_reads;
#endif
