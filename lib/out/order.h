/* out/order: delivers the rows of all ranks in one global order, in windows of bounded size.
 *
 * Each rank has rows sorted by a key. order_init finds, for every multiple of `window`, the key
 * below which so many rows of all ranks lie, by bisection for all windows at once. Then, in each
 * round, each rank receives one window with its rows merged. The contents and order of windows
 * depend on the keys alone, not on the ranks that had the rows. (Rows with equal keys are in the
 * order of ranks.) */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"
#include "oct/mesh.h"

typedef unsigned __int128 order_key;
typedef order_key order_key_fn(const void *ctx, int64_t i); /* key of own row i */

struct order {
    const struct comm *c;
    order_key_fn *fn;
    const void *ctx;
    int64_t n, total; /* number of own rows, of rows on all ranks */
    int64_t window, nwindow, nround;
    int64_t *cut;        /* [nwindow + 1] number of own rows before each window */
    int64_t send, nsend; /* first row and number of own rows to send in this round */
    int64_t first, nrow; /* first row and number of rows of the window that this rank receives */
    order_key *key;      /* [nrow] keys of the window */

    /* The following are private. */
    int64_t *count, *from; /* [size] numbers of rows to and from each rank */
    /* [window] index of the received row at each position of the window; buffer for merging */
    int64_t *slot, *slot_more;
    order_key *key_more;
    bool in_order;
    char *got, *slab; /* buffers whose memory order_move lends */
    char **ahead;     /* [nahead] columns received, for order_move */
    int nahead, next;
};

/* Initialises o; keys are below 2^bits. (collective) */
void order_init(struct order *o, const struct comm *c, int64_t n, order_key_fn *fn, const void *ctx,
                int bits, int64_t window);
void order_fini(struct order *o);
/* round: 0..nround-1; sets send … key (collective) */
void order_round(struct order *o, int64_t round);
/* Columns moved together, with one wait; order_move then returns them in turn. (collective) */
struct order_column {
    const void *rows;
    size_t bytes; /* bytes of a row */
};
void order_ahead(struct order *o, int n, const struct order_column *column);
/* Moves a column: rows are own rows send..send+nsend-1. Returns the rows of the window, lent until
 * the next call. (collective) */
const void *order_move(struct order *o, const void *rows, size_t bytes);

/* ---- particles ---- */

/* Order by the Morton key of the position in cells of level ORDER_LEVEL, then by family and id; an
 * id of more than 56 bits is replaced by a hash of it. */
enum { ORDER_LEVEL = 21 };
struct order_ranked {
    uint64_t key, more; /* Morton key of the position; family and id */
    int64_t i;
};
void order_rank(const struct mesh *m, const double x[3], int8_t family, int64_t id, int64_t i,
                struct order_ranked *r);
/* Sorts r; `other` is a buffer. Returns the array that holds the result. The sort is stable. */
struct order_ranked *order_sort(struct order_ranked *r, struct order_ranked *other, int64_t n);
/* Position of particle i in this order, as the Morton key of an oct of level LEVEL_MAX. */
okey order_cell(const struct mesh *box, const double *const x[3], int64_t i);
