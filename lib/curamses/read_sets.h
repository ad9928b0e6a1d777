/* curamses/read_sets: shared by the files of the HDF5 reader: the open file, its attributes
 * and datasets. Private to curamses. */
#pragma once
#include "ckpt/asis.h"
#include "curamses/read.h"
#include "h5/parse.h"

enum { OCTS = CKPT_BATCH, PARTS = CKPT_PART_BATCH };

struct hdf5_in {
    struct h5_file file;
    const char *path; /* path of the file */
    bool ours;
    bool *sums;      /* becomes false if a dataset has no checksums; NULL: not a file of Ptah */
    int64_t skip[3]; /* coarse cells below the box, with physical boundaries */
    double smallr;
    struct asis asis; /* conversion of values stored by another code (source.foreign) */
    bool lacks_field; /* the energy of a state from another code lacks that of its magnetic field */
    /* Paths of datasets, with %d for the level; empty: computed. */
    char field_set[CKPT_FIELDS][64], part_set[CKPT_FIELDS][64];
    int64_t nsum;
    uint64_t *sum;
    int64_t npart;
    int64_t imetal; /* variable index of metallicity, from 1; 0: unknown */
};

/* An open dataset. */
struct hdf5_open_set {
    struct h5_set h5;
    int64_t sum; /* index of the dataset's first checksum, -1: none */
    char name[64];
};

static inline struct hdf5_in *hdf5_in_of(const struct source *s)
{
    return s->impl;
}

/* Whether a group or dataset exists. Damage found during the search is kept in h->file.err. */
bool hdf5_has(struct hdf5_in *h, const char *path);
/* Reads n values of an attribute of a group or dataset into p, type d (double) or q (int64_t). A
 * missing attribute is an error unless may_lack; then *p is unchanged. */
MUST_USE enum err hdf5_get_attr(struct hdf5_in *h, const char *group, const char *name, char type,
                                int64_t n, void *p, bool may_lack);
/* Reads an integer attribute between lo and hi. */
MUST_USE enum err hdf5_get_count(struct hdf5_in *h, const char *group, const char *name, int64_t lo,
                                 int64_t hi, int64_t *x);
/* Opens a dataset; n < 0: any number of elements. Close it after errors too; s may be zero. */
MUST_USE enum err hdf5_set_open(struct hdf5_in *h, struct hdf5_open_set *s, const char *path,
                                bool real, int64_t n, int64_t block);
void hdf5_set_close(struct hdf5_open_set *s);
/* Reads a block, compares its checksum and widens its elements to 8 bytes; raw: workspace. */
MUST_USE enum err hdf5_set_load(struct hdf5_in *h, struct hdf5_open_set *s, int64_t at, int64_t n,
                                int64_t block, void *raw, void *p);
/* Rows first..end-1 of part k of `pieces` parts of n rows, in whole blocks. */
void hdf5_part_of(int64_t n, int64_t block, int k, int pieces, int64_t *first, int64_t *end);
