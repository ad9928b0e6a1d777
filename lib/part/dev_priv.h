/* part/dev_priv: what the files of particles on a device share. Private to part. */
#pragma once
#include "part/kernels.h"
#include "part/part_dev.h"
#include "part/priv.h"

enum { PART_SUMMERS = 512 }; /* blocks that share a sum */

/* Numbers on their way in a stream; NULL: none. */
struct part_fastest {
    struct dev_stream *s;
    int64_t n;
    double top[PART_SUMMERS];
};
struct part_sums {
    struct dev_stream *s;
    int64_t digit[4][DEV_SUM];
};

struct part_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct mirror *mirror; /* lent */
    int location;          /* of the particles */
    int64_t cap, rows;     /* particles, octs that arrays there have room for */
    void *col[COL_MAX];
    lidx *host;
    /* for work between launches: keys, or marks and their sums; order, or what changes places;
     * values that are permuted */
    uint64_t *key, *tmp;
    int32_t *order;
    int32_t *count; /* [COUNT_SIZE] */
    int64_t *digit; /* [4][DEV_SUM] */
    double *top;    /* [PART_SUMMERS] */
    struct part_fastest fastest;
    struct part_sums sums;
    int64_t *mass, *number;
    void *packets; /* of particles between ranks */
    size_t packet_bytes;
};

/* An array there, NULL before, with a byte more than none. */
MUST_USE enum err part_dev_make(struct part_dev *x, void *pointer, size_t bytes, const char *name);
void part_dev_drop(struct part_dev *x, void *pointer);
/* The columns that kernels compute with; all. */
struct part_view part_dev_view(const struct part_dev *x);
struct part_table part_dev_table(const struct part_dev *x, const struct parts *p);

/* ---- migrate_dev.c ---- */

/* Of the particles from `begin` on, of level l, which are there with its links, `away` have a host
 * that is no own oct: these go to its owner. Afterwards the particles may be here: where the device
 * has no room for those that come, the host takes them. (collective) */
void part_dev_migrate(struct part_dev *x, struct parts *p, const struct mesh *m,
                      const struct comm *c, const struct domain *d, int l, int64_t begin,
                      int64_t away);
