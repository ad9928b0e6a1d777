/* dom/ghost_dev: exchanges of ghosts (dom/ghost) of arrays in the memory of a device.
 *
 * A kernel packs the rows of all arrays, one copy brings them to the host, which sends them; what
 * comes goes there in one copy, and a kernel unpacks it. Messages are those of dom/ghost: a rank
 * may have its arrays on a device and its peer on the host. Collective with both. */
#pragma once
#include "dev/dev.h"
#include "dom/ghost.h"

/* Buffers, and the lists of the levels' plans there. */
struct ghost_dev;
/* d and s are lent. */
MUST_USE enum err ghost_dev_new(struct ghost_dev **g, struct dev *d, struct dev_stream *s);
void ghost_dev_free(struct ghost_dev **g); /* the stream is empty */

/* A plan and its lists there, which are sent at the first exchange. The plan is lent. The caller
 * zeroes it, sets plan, and drops it before the plan ends; the stream is empty then. */
struct ghost_dev_plan {
    const struct xplan *plan;
    lidx *list; /* there: send, recv, sfirst, rfirst */
};
/* The lists are there, on their way. A caller that has made them there may leave out those of the
 * plan, if all arrays are there. */
MUST_USE enum err ghost_dev_plan_need(struct ghost_dev *g, struct ghost_dev_plan *q);
void ghost_dev_plan_drop(struct ghost_dev *g, struct ghost_dev_plan *q);
/* The plan of level l: lent until the level's octs change. */
MUST_USE enum err ghost_dev_level(struct ghost_dev *g, const struct mesh *m, int l,
                                  struct ghost_dev_plan **q);

enum { GHOST_DEV_ARRAYS = FIELD_ALL };
struct ghost_dev_arrays {
    int n;
    void *arr[GHOST_DEV_ARRAYS];
    size_t stride[GHOST_DEV_ARRAYS];
    bool here[GHOST_DEV_ARRAYS]; /* else there */
    /* There: the row of each oct in arrays there; −1: it has none, sends zeros and ignores what
     * comes. NULL: each oct has its own. */
    const lidx *row;
};

/* One exchange on its way; the caller's. Several may be at a time, ended in any order. */
struct ghost_dev_rows {
    struct ghost_dev *of; /* NULL: nothing is on its way */
    bool back;            /* from ghosts to their owners */
    struct ghost_rows rows;
    const struct ghost_dev_plan *plan;
    int buffer;
};

/* As ghost_rows_begin and _end; arrays are the device's, strides multiples of 8 if one is. begin
 * waits for the stream; end does not. What is put into the stream between them may change rows of
 * own octs. ERR_LIMIT: the device has too little memory, and nothing has been sent: the caller does
 * the exchange on the host instead. */
MUST_USE enum err ghost_dev_rows_begin(struct ghost_dev_rows *x, struct ghost_dev *g,
                                       const struct comm *c, enum comm_use use,
                                       struct ghost_dev_plan *q, int narr, void *const *arr,
                                       const size_t *stride);
void ghost_dev_rows_end(struct ghost_dev_rows *x, int narr, void *const *arr, const size_t *stride);
/* ghost_dev_rows_begin and _end where arrays with here[i] are in host memory; used as a pair. */
MUST_USE enum err ghost_dev_mixed_begin(struct ghost_dev_rows *x, struct ghost_dev *g,
                                        const struct comm *c, enum comm_use use,
                                        struct ghost_dev_plan *q,
                                        const struct ghost_dev_arrays *arrays);
void ghost_dev_mixed_end(struct ghost_dev_rows *x, const struct ghost_dev_arrays *arrays);
/* As ghost_cells_begin and _end. */
MUST_USE enum err ghost_dev_cells_begin(struct ghost_dev_rows *x, struct ghost_dev *g,
                                        const struct comm *c, enum comm_use use,
                                        struct ghost_dev_plan *q, const int cell[4],
                                        double (*arr)[8]);
void ghost_dev_cells_end(struct ghost_dev_rows *x, const int cell[4], double (*arr)[8]);
/* As ghost_add_i64; arrays are the device's. ERR_LIMIT as above. */
MUST_USE enum err ghost_dev_add_i64(struct ghost_dev *g, const struct comm *c,
                                    struct ghost_dev_plan *q, int narr, int64_t (*const *arr)[8]);
