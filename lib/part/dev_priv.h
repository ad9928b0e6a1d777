/* part/dev_priv: structs and functions shared by the files of particles on a device. Private to
 * part. */
#pragma once
#include "dev/digits.h"
#include "part/kernels.h"
#include "part/part_dev.h"
#include "part/priv.h"

enum { PART_SUMMERS = 512 }; /* number of partial sums */

/* Results being copied to the host; stream NULL: none. */
struct part_fastest {
    struct dev_stream *s;
    int64_t n;
    double top[PART_SUMMERS];
};
struct part_sums {
    struct dev_stream *s;
    int64_t digit[4][DEV_SUM];
    struct dev_digits digits; /* these on their way */
};

struct part_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct mirror *mirror; /* mirror of the mesh (lent) */
    int location;          /* LOCATION_… of the particles */
    int64_t cap, rows;     /* capacity of the device arrays in particles and octs */
    void *col[COL_MAX];
    lidx *host;
    /* Work arrays: keys, or marks and their prefix sums; order, or indices to swap; values being
     * permuted. */
    uint64_t *key, *tmp;
    int32_t *order;
    int32_t *count; /* [COUNT_SIZE] counters of kernels */
    int64_t *digit; /* [4][DEV_SUM] digits of sums */
    double *top;    /* [PART_SUMMERS] maximum speeds */
    struct part_fastest fastest;
    struct part_sums sums;
    int64_t *mass, *number;
    void *packets; /* packets of particles between ranks */
    size_t packet_bytes;
    struct dev_room few; /* few particles and their indices, or a list of them */
};

/* Allocates a device array, at least one byte; *pointer must be NULL before. */
MUST_USE enum err part_dev_make(struct part_dev *x, void *pointer, size_t bytes, const char *name);
void part_dev_drop(struct part_dev *x, void *pointer);
/* part_dev_view: columns that kernels compute with; part_dev_table: all columns. */
struct part_view part_dev_view(const struct part_dev *x);
struct part_table part_dev_table(const struct part_dev *x, const struct parts *p);

/* ---- migrate_dev.c ---- */

/* Sends the `away` particles of level l, from `begin` on, whose host is no own oct to their owners.
 * Particles and the links of the level must be on the device. Afterwards the particles may be on
 * the host: if the arrivals do not fit into device memory, the host takes them. (collective) */
void part_dev_migrate(struct part_dev *x, struct parts *p, const struct mesh *m,
                      const struct comm *c, const struct domain *d, int l, int64_t begin,
                      int64_t away);
