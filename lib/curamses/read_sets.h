/* curamses/read_sets: shared by the files of the HDF5 reader: the open file, its attributes
 * and datasets. Private to curamses. */
#pragma once
#include "ckpt/asis.h"
#include "curamses/read.h"
#include "h5/parse.h"

enum { OCTS = CKPT_BATCH, PARTS = CKPT_PART_BATCH };

struct hdf5_in {
    struct h5_file file;
    const char *path; /* of the file */
    bool ours;
    bool *sums;      /* becomes false if a dataset has no checksums; NULL: not a file of Ptah */
    int64_t skip[3]; /* coarse cells below the box (physical boundaries) */
    double smallr;
    struct asis asis; /* of values that another code stored (source.foreign) */
    /* Paths of datasets, %d for the level; empty: computed. */
    char field_set[CKPT_FIELDS][64], part_set[CKPT_FIELDS][64];
    int64_t nsum;
    uint64_t *sum;
    int64_t npart;
    int64_t imetal; /* the variable that is the metallicity, from 1; 0: not known */
};

/* A dataset that is open. */
struct hdf5_open_set {
    struct h5_set h5;
    int64_t sum; /* index of its first checksum, -1: none */
    char name[64];
};

static inline struct hdf5_in *hdf5_in_of(const struct source *s)
{
    return s->impl;
}

/* Is there a group or dataset? Damage found meanwhile is kept in h->file.err. */
bool hdf5_has(struct hdf5_in *h, const char *path);
/* Reads n values of an attribute of a group or dataset into p, type d (double) or q (int64_t). If
 * it is missing, that is an error unless `may_lack`: then *p is unchanged. */
MUST_USE enum err hdf5_get_attr(struct hdf5_in *h, const char *group, const char *name, char type,
                                int64_t n, void *p, bool may_lack);
/* A whole number of lo to hi. */
MUST_USE enum err hdf5_get_count(struct hdf5_in *h, const char *group, const char *name, int64_t lo,
                                 int64_t hi, int64_t *x);
/* n < 0: any number of elements. Close it after errors too, or if it is zeroed. */
MUST_USE enum err hdf5_set_open(struct hdf5_in *h, struct hdf5_open_set *s, const char *path,
                                bool real, int64_t n, int64_t block);
void hdf5_set_close(struct hdf5_open_set *s);
/* A block, compared with its checksum and widened to 8 bytes; raw: scratch. */
MUST_USE enum err hdf5_set_load(struct hdf5_in *h, struct hdf5_open_set *s, int64_t at, int64_t n,
                                int64_t block, void *raw, void *p);
/* Blocks of the k-th of `pieces` parts of n rows. */
void hdf5_part_of(int64_t n, int64_t block, int k, int pieces, int64_t *first, int64_t *end);
