/* out/order: the rows of all ranks in one global order, passed on in windows of bounded size.
 *
 * Each rank has rows sorted by a key. order_init finds, for every multiple of `window`, the key
 * below which so many rows of all ranks lie, by bisection over all windows at once. Then, round by
 * round, each rank receives one window with its rows merged. Which rows are in which window, and
 * their order, depends on the keys alone, not on the ranks that had them. (Rows with equal keys are
 * in order of rank.) */
#pragma once
#include <stdbool.h>

#include "comm/comm.h"
#include "oct/mesh.h"

typedef unsigned __int128 order_key;
typedef order_key order_key_fn(const void *ctx, int64_t i); /* of own row i */

struct order {
    const struct comm *c;
    order_key_fn *fn;
    const void *ctx;
    int64_t n, total; /* own rows · of all ranks */
    int64_t window, nwindow, nround;
    int64_t *cut;        /* [nwindow + 1] own rows before each window */
    int64_t send, nsend; /* of this round: own rows to be sent, one range */
    int64_t first, nrow; /* of this round: the window this rank receives */
    order_key *key;      /* [nrow] */

    /* Private. */
    int64_t *count, *from; /* by rank */
    /* [window]; place: position in the window of row j of those received */
    int64_t *slot, *slot_more;
    order_key *key_more;
    bool in_order;
    char *got, *slab; /* memory that order_move lends */
    char **ahead;     /* [nahead] columns received, for order_move */
    int nahead, next;
};

/* Keys are below 2^bits. (collective) */
void order_init(struct order *o, const struct comm *c, int64_t n, order_key_fn *fn, const void *ctx,
                int bits, int64_t window);
void order_fini(struct order *o);
void order_round(struct order *o, int64_t round); /* 0..nround-1; sets send … key (collective) */
/* Moves several columns at once, with one wait instead of one each; order_move then returns them in
 * turn. (collective) */
struct order_column {
    const void *rows;
    size_t bytes; /* of a row */
};
void order_ahead(struct order *o, int n, const struct order_column *column);
/* Moves a column: rows are own rows send..send+nsend-1. Returns that of the window, lent until the
 * next call. (collective) */
const void *order_move(struct order *o, const void *rows, size_t bytes);

/* ---- particles ---- */

/* By the Morton key of the position, in cells of this level; then by family and id, in the place of
 * an id of more than 56 bits by a hash of it. */
enum { ORDER_LEVEL = 21 };
struct order_ranked {
    uint64_t key, more; /* Morton key of the position · family, id */
    int64_t i;
};
void order_rank(const struct mesh *m, const double x[3], int8_t family, int64_t id, int64_t i,
                struct order_ranked *r);
/* Returns which of both arrays has the result; equal ones stay as they are. */
struct order_ranked *order_sort(struct order_ranked *r, struct order_ranked *other, int64_t n);
/* The place of particle i in that order, as the Morton key of an oct of level LEVEL_MAX. */
okey order_cell(const struct mesh *box, const double *const x[3], int64_t i);
