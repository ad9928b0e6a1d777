/* dom/ghost_dev: exchanges of ghosts (dom/ghost) of arrays in device memory.
 *
 * A kernel packs the rows of all arrays, one copy brings them to the host, which sends them;
 * received rows go to the device in one copy, and a kernel unpacks them. Messages have the layout
 * of dom/ghost: a rank may have its arrays on a device and its peer on the host. Functions are
 * collective with their counterparts in dom/ghost. */
#pragma once
#include "dev/dev.h"
#include "dom/ghost.h"

/* Buffers, and the device lists of the levels' plans. */
struct ghost_dev;
/* Creates the state; d and s are lent. */
MUST_USE enum err ghost_dev_new(struct ghost_dev **g, struct dev *d, struct dev_stream *s);
void ghost_dev_free(struct ghost_dev **g); /* the stream must be empty */

/* A plan (lent) and its lists on the device, which are sent at the first exchange. The caller
 * zeroes it, sets plan, and drops it before the plan is freed, with an empty stream. */
struct ghost_dev_plan {
    const struct xplan *plan;
    lidx *list; /* device lists: send, recv, sfirst, rfirst */
};
/* Sends the lists to the device, without waiting, unless they exist. A caller that has made the
 * lists on the device may omit the lists of the plan, if all arrays are on the device. */
MUST_USE enum err ghost_dev_plan_need(struct ghost_dev *g, struct ghost_dev_plan *q);
void ghost_dev_plan_drop(struct ghost_dev *g, struct ghost_dev_plan *q);
/* The plan of level l, lent until the octs of the level change. */
MUST_USE enum err ghost_dev_level(struct ghost_dev *g, const struct mesh *m, int l,
                                  struct ghost_dev_plan **q);

enum { GHOST_DEV_ARRAYS = FIELD_ALL };
struct ghost_dev_arrays {
    int n;
    void *arr[GHOST_DEV_ARRAYS];
    size_t stride[GHOST_DEV_ARRAYS];
    bool here[GHOST_DEV_ARRAYS]; /* true for a host array, false for a device array */
    /* Row of each oct in device arrays; −1: no row, sends zeros and ignores received values. NULL:
     * the row is the oct. */
    const lidx *row;
};

/* An exchange, owned by the caller. Several may be in progress, and end in any order. */
struct ghost_dev_rows {
    struct ghost_dev *of; /* state of the exchanges; NULL: no exchange in progress */
    bool back;            /* true for the direction from ghosts to owners */
    struct ghost_rows rows;
    const struct ghost_dev_plan *plan;
    int buffer;
};

/* ghost_rows_begin and ghost_rows_end for device arrays, in 8-byte words if all strides are
 * multiples of 8. begin waits for the stream; end does not. Work issued between them may change
 * rows of own octs. ERR_LIMIT: the device has too little memory, and nothing has been sent: the
 * caller does the exchange on the host instead. */
MUST_USE enum err ghost_dev_rows_begin(struct ghost_dev_rows *x, struct ghost_dev *g,
                                       const struct comm *c, enum comm_use use,
                                       struct ghost_dev_plan *q, int narr, void *const *arr,
                                       const size_t *stride);
void ghost_dev_rows_end(struct ghost_dev_rows *x, int narr, void *const *arr, const size_t *stride);
/* ghost_dev_rows_begin and ghost_dev_rows_end for arrays of which those with here[i] are in host
 * memory; used as a pair. */
MUST_USE enum err ghost_dev_mixed_begin(struct ghost_dev_rows *x, struct ghost_dev *g,
                                        const struct comm *c, enum comm_use use,
                                        struct ghost_dev_plan *q,
                                        const struct ghost_dev_arrays *arrays);
void ghost_dev_mixed_end(struct ghost_dev_rows *x, const struct ghost_dev_arrays *arrays);
/* ghost_cells_begin and ghost_cells_end for a device array. */
MUST_USE enum err ghost_dev_cells_begin(struct ghost_dev_rows *x, struct ghost_dev *g,
                                        const struct comm *c, enum comm_use use,
                                        struct ghost_dev_plan *q, const int cell[4],
                                        double (*arr)[8]);
void ghost_dev_cells_end(struct ghost_dev_rows *x, const int cell[4], double (*arr)[8]);
/* ghost_add_i64 for device arrays. ERR_LIMIT as for ghost_dev_rows_begin. */
MUST_USE enum err ghost_dev_add_i64(struct ghost_dev *g, const struct comm *c,
                                    struct ghost_dev_plan *q, int narr, int64_t (*const *arr)[8]);
