/* h5/parse: reads HDF5 files without HDF5's library, which crashes, hangs or exhausts memory on
 * damaged files.
 *
 * It supports what checkpoints consist of: superblocks 0 to 3; groups of any kind, except soft and
 * external links; attributes; datasets of integers and reals, contiguous, compact, or, with one
 * dimension, chunked, with any chunk index of HDF5 1.0 to 2.0 and HDF5's own filters (deflate,
 * shuffle, Fletcher's checksum). Anything else is an error with a message. Checksums of metadata
 * are verified where there are any. No number in the file is trusted: what is read must lie inside
 * the file, what is allocated is bounded by its size (deflated data: 1032 times) or by a constant,
 * and walks have a budget.
 *
 * The first damage found is kept in f->err, with its message; after it nothing is found. So callers
 * may make several requests and check f->err once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { H5_FILTERS = 4, H5_PAGES = 8, H5_PAGE = 32768, H5_DIMENSIONS = 5 };

struct h5_file {
    int fd;
    char path[4096];
    int64_t size;       /* bytes */
    int offset, length; /* bytes of an address, of a length */
    int64_t root;
    enum err err;
    unsigned char *page[H5_PAGES]; /* of metadata, read last */
    int64_t page_at[H5_PAGES];
};

struct h5_value { /* an attribute */
    char type;    /* d f, q i h b, Q I H B: unsigned, s: string of n bytes */
    int64_t n;
    unsigned char *data; /* owner: caller, FREE */
};

struct h5_type {
    char name; /* 0: none that is known */
    bool swap;
    int bits; /* of an integer: cuRAMSES's of 8 bytes have 32 */
    int64_t size;
};

/* How a dataset's chunks are found; the numbers are those of the file. */
enum h5_index { H5_TREE, H5_SINGLE, H5_IMPLICIT, H5_FIXED, H5_EXTENSIBLE };

struct h5_chunk {
    int64_t at, bytes; /* at −1: it is not there */
    uint64_t skipped;  /* bit i: filter i was not applied */
};

struct h5_set {
    char type;
    struct h5_type stored;
    int64_t n;
    int64_t at;    /* contiguous: first byte; chunked: its index */
    int64_t chunk; /* elements, 0: not chunked */
    enum h5_index index;
    bool partial_plain;     /* the last chunk has no filters if it is not full */
    struct h5_chunk single; /* H5_SINGLE, with filters */
    struct h5_chunk *table; /* H5_FIXED, H5_EXTENSIBLE, from the first look on */
    int nfilter, filter[H5_FILTERS];
    unsigned char *part; /* compact: all, chunked: one chunk, elements from `first` */
    int64_t first;
};

MUST_USE enum err h5_open(struct h5_file *f, const char *path);
void h5_close(struct h5_file *f);
/* Address of the object `path` (a/b/c, empty: the root), 0: there is none. */
int64_t h5_find(struct h5_file *f, const char *path);
/* Calls fn for every link of a group until it returns true; the result is then true. at: address of
 * the object, 0 where it is behind a soft or external link, which is an error in h5_find. */
typedef bool h5_link_fn(struct h5_file *f, const char *name, int64_t at, void *ctx);
bool h5_each(struct h5_file *f, int64_t group, h5_link_fn *fn, void *ctx);
bool h5_attr(struct h5_file *f, int64_t object, const char *name, struct h5_value *v);
/* name: for errors. */
MUST_USE enum err h5_set_open(struct h5_file *f, int64_t object, const char *name,
                              struct h5_set *s);
/* h5_set_open with several dimensions, the last one fastest, if it is contiguous or compact. */
MUST_USE enum err h5_table_open(struct h5_file *f, int64_t object, const char *name,
                                struct h5_set *s);
MUST_USE enum err h5_set_read(struct h5_file *f, struct h5_set *s, const char *name, int64_t first,
                              int64_t n, void *p);
void h5_set_close(struct h5_set *s);

int h5_size(char type); /* bytes of an element */
/* to double or int64; raw and out may not overlap */
void h5_widen(char type, int64_t n, const void *raw, void *out);
uint32_t h5_metadata_sum(const unsigned char *p, size_t n); /* Jenkins's lookup3 */
