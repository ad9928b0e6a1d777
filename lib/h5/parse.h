/* h5/parse: reads HDF5 files without HDF5's library, which crashes, hangs or exhausts memory on
 * damaged files.
 *
 * Supported is the part of HDF5 that checkpoints use: superblocks 0 to 3; groups of any kind,
 * except soft and external links; attributes; datasets of integers and reals, contiguous, compact,
 * or chunked along the first dimension, with any chunk index of HDF5 1.0 to 2.0 and HDF5's own
 * filters (deflate, shuffle, Fletcher's checksum). Anything else is an error with a message.
 * Checksums of metadata are verified where the file has them. No number in the file is trusted:
 * every read must lie inside the file, every allocation is bounded by the file's size (deflated
 * data: 1032 times) or by a constant, and every walk has a budget.
 *
 * The first damage found is kept in f->err, with its message; later calls find nothing. A caller
 * may thus make several requests and check f->err once. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { H5_FILTERS = 4, H5_PAGES = 8, H5_PAGE = 32768, H5_DIMENSIONS = 5 };

struct h5_file {
    int fd;
    char path[4096];
    int64_t size;       /* bytes of the file */
    int offset, length; /* bytes of an address, bytes of a length */
    int64_t root;
    enum err err;
    unsigned char *page[H5_PAGES]; /* most recently read pages of metadata */
    int64_t page_at[H5_PAGES];
};

struct h5_value { /* value of an attribute */
    char type; /* element type: d f real, q i h b signed, Q I H B unsigned, s string of n bytes */
    int64_t n;
    unsigned char *data; /* value bytes (owner: caller, FREE) */
};

struct h5_type {
    char name; /* element type as in h5_value; 0: unsupported */
    bool swap;
    int bits; /* significant bits of an integer: 32 in cuRAMSES's integers of 8 bytes */
    int64_t size;
};

/* Chunk index of a dataset, numbered as in the file format. */
enum h5_index { H5_TREE, H5_SINGLE, H5_IMPLICIT, H5_FIXED, H5_EXTENSIBLE };

struct h5_chunk {
    int64_t at, bytes; /* address, −1: no such chunk; bytes stored */
    uint64_t skipped;  /* mask of filters not applied, bit i: filter i */
};

struct h5_set {
    char type;
    struct h5_type stored;
    int64_t n;
    int ndim;                   /* 0: a scalar */
    int64_t dim[H5_DIMENSIONS]; /* the last one fastest */
    int64_t at;    /* address of the data (contiguous) or of the chunk index (chunked) */
    int64_t chunk; /* elements per chunk; 0: not chunked */
    int64_t row;   /* elements per step along the first dimension, with chunks */
    enum h5_index index;
    bool partial_plain;     /* a partial last chunk has no filters */
    struct h5_chunk single; /* the chunk of H5_SINGLE, with filters */
    struct h5_chunk *table; /* chunks of H5_FIXED and H5_EXTENSIBLE, read at the first access */
    int nfilter, filter[H5_FILTERS];
    /* data: all of them (compact) or one chunk, from element `first` (chunked) */
    unsigned char *part;
    int64_t first;
};

MUST_USE enum err h5_open(struct h5_file *f, const char *path);
void h5_close(struct h5_file *f);
/* Address of the object at `path` (a/b/c; empty: the root); 0: no such object. */
int64_t h5_find(struct h5_file *f, const char *path);
/* Calls fn for every link of a group until fn returns true, and returns true then. at: address of
 * the object; 0: a soft or external link, which is an error in h5_find. */
typedef bool h5_link_fn(struct h5_file *f, const char *name, int64_t at, void *ctx);
bool h5_each(struct h5_file *f, int64_t group, h5_link_fn *fn, void *ctx);
bool h5_attr(struct h5_file *f, int64_t object, const char *name, struct h5_value *v);
/* Opens a dataset; name: for messages. */
MUST_USE enum err h5_set_open(struct h5_file *f, int64_t object, const char *name,
                              struct h5_set *s);
/* Opens a dataset of several dimensions, the last one fastest; chunks must have whole rows. */
MUST_USE enum err h5_table_open(struct h5_file *f, int64_t object, const char *name,
                                struct h5_set *s);
MUST_USE enum err h5_set_read(struct h5_file *f, struct h5_set *s, const char *name, int64_t first,
                              int64_t n, void *p);
void h5_set_close(struct h5_set *s);

int h5_size(char type); /* bytes of an element */
/* Converts to double or int64; raw and out must not overlap. */
void h5_widen(char type, int64_t n, const void *raw, void *out);
uint32_t h5_metadata_sum(const unsigned char *p, size_t n); /* lookup3 checksum (Jenkins) */
