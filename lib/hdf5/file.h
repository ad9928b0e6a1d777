/* hdf5/file: an HDF5 file of datasets of one to three dimensions that all ranks write at once.
 *
 * All ranks add the same datasets; hdf5_create lets rank 0 lay out the file with HDF5, all space
 * allocated, and close it. Then each rank writes its parts with plain writes at the offsets that
 * HDF5 chose: nothing is collective, no data pass through HDF5, a failure is an errno, and any
 * build of HDF5 can be used. The offsets of deflated datasets are not known in advance: ranks
 * filter their chunks, and rank 0 stores the chunks of a turn in rank order. So the bytes do not
 * depend on the number of ranks, provided that all ranks have one window of equal size per turn.
 *
 * Datasets are cut into blocks (the chunks of deflated ones), each with a checksum (base/checksum).
 * The dataset /ptah/checksum contains all of them; the attribute `checksum` of a dataset is the
 * index of its first checksum. */
#pragma once
#include <stdbool.h>

#include "base/checksum.h"
#include "comm/comm.h"
#include "hdf5/driver.h"
#include "io/sync_async.h"

enum { HDF5_DIMENSIONS = 3 };

struct hdf5_set {
    char path[64];
    /* d double, q i h b: integers of 8, 4, 2, 1 bytes, Q I B: unsigned, 8, 4 and 1 bytes */
    char type;
    int64_t n, block;
    int ndim;
    int64_t dim[HDF5_DIMENSIONS]; /* the last one fastest; their product is n */
    bool made;                    /* rank 0 has created it (hdf5_make_sets) */
    int64_t sum;                  /* index of the dataset's first checksum */
    int64_t at;                   /* byte offset in the file */
    int64_t id;                   /* HDF5 id (rank 0, deflated files) */
};

struct hdf5_file {
    const struct comm *c;
    char path[4096];
    int deflate; /* compression level, 0: none */
    bool plain;  /* set after hdf5_init: without checksums; parts may begin and end anywhere */
    int nset, room;
    struct hdf5_set *set;
    int64_t nsum, nsmall, sum_at, sum_id; /* counts, offset and id of checksums */
    uint64_t *sum;
    int64_t id, driver;
    struct hdf5_sink sink;
    int fd;
    struct sync_async *sync; /* closes the file, if set after hdf5_init; NULL: hdf5_close does */
    char *packed;            /* deflated chunks of this turn */
    int64_t npacked;
    enum err err; /* first error of this rank */
};

void hdf5_init(struct hdf5_file *f, const struct comm *c, const char *path, int deflate);
void hdf5_fini(struct hdf5_file *f); /* call after errors too */
int hdf5_add(struct hdf5_file *f, char type, int64_t n, int64_t block, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Gives a dataset several dimensions, the last one fastest; not for deflated files. */
void hdf5_shape(struct hdf5_file *f, int set, int ndim, const int64_t *dim);

/* Called by fill on rank 0: attributes of a group, which is created if necessary, and datasets that
 * are written at once. */
typedef void hdf5_fill(struct hdf5_file *f, const void *ctx);
void hdf5_attr(struct hdf5_file *f, const char *group, const char *name, char type, int64_t n,
               const void *p);
void hdf5_text(struct hdf5_file *f, const char *group, const char *name, const char *text);
void hdf5_small(struct hdf5_file *f, const char *path, char type, int64_t n, const void *p);
/* A single number or text, without a dimension, and a list of n texts of `width` bytes. object: a
 * group, which must exist, or a dataset after hdf5_make_sets. */
void hdf5_scalar(struct hdf5_file *f, const char *object, const char *name, char type,
                 const void *p);
void hdf5_word(struct hdf5_file *f, const char *object, const char *name, const char *text);
void hdf5_list(struct hdf5_file *f, const char *object, const char *name, int64_t n, size_t width,
               const char *texts);
/* Creates the datasets now, so that they can have attributes. */
void hdf5_make_sets(struct hdf5_file *f);
/* Adds a text, padded with newlines to whole pages, so that another text of similar length leaves
 * the rest of the file in place. */
void hdf5_words(struct hdf5_file *f, const char *path, const char *text);

/* Creates the file. (collective, agreed) */
MUST_USE enum err hdf5_create(struct hdf5_file *f, hdf5_fill *fill, const void *ctx);
/* Writes n elements of a dataset from `first` on; first must be a multiple of block, and n too
 * unless the elements are the last; n may be 0. An error is kept in f->err. */
void hdf5_put(struct hdf5_file *f, int set, int64_t first, int64_t n, const void *p);
/* Ends a turn: stores the data passed to hdf5_put by each rank since the last turn, a window of
 * some datasets. (collective with deflate) */
void hdf5_turn(struct hdf5_file *f);
MUST_USE enum err hdf5_close(struct hdf5_file *f); /* writes checksums (collective, agreed) */
