/* onefile: what checkpoints of a single HDF5 file have in common (lib/grid, lib/sphfile):
 *
 *     /header      attributes: solver, version, it, t, dt, keys and values (numbers by name), …
 *     /parameters, /history   texts
 *     /ptah/checksum
 *
 * and text files beside it, which the list of checksums has. Reading is local, and by Ptah's own
 * parser of HDF5: no number in a file is trusted. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "ckpt/files.h"
#include "comm/comm.h"
#include "h5/parse.h"
#include "out/publish.h"

enum { ONEFILE_KEYS = 64, ONEFILE_NAME = 32, ONEFILE_PARTS = 64 };

/* Numbers by name, in the order of the file. */
struct onefile_keys {
    int n;
    char name[ONEFILE_KEYS][ONEFILE_NAME];
    double value[ONEFILE_KEYS];
};
void onefile_set(struct onefile_keys *k, const char *name, double value); /* adds or replaces */
bool onefile_get(const struct onefile_keys *k, const char *name, double *value);
bool onefile_same_keys(const struct onefile_keys *a, const struct onefile_keys *b);

/* The times of the next outputs (tout_next, iout, ifout), which digests leave out; a number that is
 * missing stays as it is in h. */
void onefile_set_next(struct onefile_keys *k, const struct ckpt_head *h);
void onefile_get_next(const struct onefile_keys *k, struct ckpt_head *h);

/* Numbers that every header has. */
struct onefile_head {
    double t, dt; /* time, and length of the last step */
    int64_t it;   /* steps so far */
    const struct onefile_keys *keys;
};
/* Fails if names are not lower-case words of letters, digits and underscores, or occur twice. what:
 * of the names, for messages. */
MUST_USE enum err onefile_check_names(const char *file, const char *what, int n,
                                      const char (*name)[ONEFILE_NAME]);
MUST_USE enum err onefile_check_head(const struct onefile_head *h, const char *file);

/* ---- reading ---- */

struct onefile {
    struct h5_file h5;
    char path[PATH_MAX], file[PATH_MAX]; /* the directory; the HDF5 file */
    int number;
    int64_t nsum;
    uint64_t *sum; /* checksums of the blocks of all datasets */
};
/* Whether a path is a directory with one file of this kind, or a file in it. */
bool onefile_is(const char *path, enum files_kind kind);
/* Opens the file and compares solver and version of its header. Call onefile_close after errors
 * too. */
MUST_USE enum err onefile_open(struct onefile *f, const char *path, enum files_kind kind,
                               const char *solver, int version);
void onefile_close(struct onefile *f);
/* Attributes of /header: at most `max` numbers, whose number becomes *n (0: it is missing), exactly
 * one number, and a list of names. type: d or q. */
MUST_USE enum err onefile_numbers(struct onefile *f, const char *name, char type, int64_t *n,
                                  int64_t max, void *p);
MUST_USE enum err onefile_one(struct onefile *f, const char *name, char type, void *p);
MUST_USE enum err onefile_names(struct onefile *f, const char *name, int max,
                                char (*names)[ONEFILE_NAME], int *n);
/* Names that are an attribute of any object. */
MUST_USE enum err onefile_names_of(struct onefile *f, const char *object, const char *name, int max,
                                   char (*names)[ONEFILE_NAME], int *n);
MUST_USE enum err onefile_keys(struct onefile *f, struct onefile_keys *k);
/* Index of the first checksum of a dataset of n blocks. */
MUST_USE enum err onefile_sum(struct onefile *f, int64_t at, const char *name, int64_t n,
                              int64_t *sum);
/* Reads a dataset of one block, at most `max` elements; *p is NULL if there is none. Two zero bytes
 * follow the elements. (owner: caller, mem_free) */
MUST_USE enum err onefile_small(struct onefile *f, const char *name, char type, int64_t max,
                                void **p, int64_t *n);
/* The namelist or the history (owner: caller, mem_free); NULL: it is empty. */
MUST_USE enum err onefile_text(struct onefile *f, bool history, char **text, size_t *bytes);
/* Checks the text files beside the HDF5 file against the list of checksums. */
MUST_USE enum err onefile_check_files(const struct onefile *f);

/* ---- writing ---- */

struct hdf5_file;
/* The attributes that every header has; called by a fill of hdf5/file.h, on rank 0. */
void onefile_fill_head(struct hdf5_file *f, const struct onefile_head *h, const char *solver,
                       int version);
void onefile_fill_texts(struct hdf5_file *f, const char *namelist, const char *provenance);
/* Makes the directory o->tmp and its text files, calls write, whose errors all ranks need not
 * share, and hands the files over. (collective, agreed) */
typedef enum err onefile_write_fn(void *ctx);
MUST_USE enum err onefile_write(struct ckpt_out *o, struct out_pending *out,
                                onefile_write_fn *write, void *ctx);

/* ---- digests ----
 *
 * The number of a value is a finaliser of 64 bits (as in splitmix64) of its bits, xored with a word
 * for its place and one for the name of its array, in two halves with other constants; those of all
 * values are added. */

/* The words of a name. */
void onefile_words(const char *name, uint64_t word[2]);
/* Adds n values of 8 bytes, from place number `at` on. */
void onefile_add(uint64_t sum[2], const uint64_t word[2], int64_t n, const void *values,
                 int64_t at);
void onefile_add_named(uint64_t sum[2], const char *name, double value);
/* Adds it, t, dt and the keys but those that begin with `next_`. */
void onefile_add_head(uint64_t sum[2], const struct onefile_head *h);
/* Sums of n ≤ ONEFILE_PARTS digests over the ranks. (collective) */
void onefile_sum_ranks(const struct comm *c, uint64_t (*digest)[2], int n);
void onefile_join(int n, uint64_t (*part)[2], uint64_t digest[2]); /* one digest of n */
