/* ckpt/manifest: what a checkpoint consists of, in its file checksums_NNNNN.txt: name, bytes and
 * checksum of each file.
 *
 * The sums are made while the files are written, so they cost no second reading. Since every file
 * is listed, a flipped bit, a lost end and a file of another checkpoint all show. Readers of RAMSES
 * ignore the file; checkpoints of others have none and are read unchecked. HDF5 files have sums
 * of their own and are not listed, the texts beside them are.
 *
 *     ptah-checksums 1
 *     backup                                          if the run that wrote it may remove it
 * (keep_last) SUM BYTES NAME                                  one a file, SUM: base/checksum in 16
 * hexadecimal digits SUM end                                         of all lines before */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "comm/comm.h"
#include "io/sync_async.h"

struct manifest_row {
    char name[48];
    int64_t bytes;
    uint64_t sum;
};

struct manifest {
    bool backup;
    int64_t n, room;
    struct manifest_row *row; /* sorted by name once written or loaded */
};

/* Writing: each rank adds its files (the last part of path is the name; with m NULL nothing is
 * done). */
void manifest_add(struct manifest *m, const char *path, int64_t bytes, uint64_t sum);
/* manifest_add in the form of a fort_told (io/fortran.h). */
void manifest_told(void *m, const char *path, int64_t bytes, uint64_t sum);
/* Writes dir/checksums_NNNNN.txt with the rows of all ranks, and hands it to `later`. Only rank 0's
 * error is returned: agree on it. (collective) */
MUST_USE enum err manifest_write(struct manifest *m, const struct comm *c, const char *dir,
                                 int number, struct sync_async *sync);
void manifest_fini(struct manifest *m);

/* Reading: *m NULL if the checkpoint has no such file. Free with manifest_free. */
MUST_USE enum err manifest_load(const char *dir, int number, struct manifest **m);
/* modes of loading */
MUST_USE enum err manifest_parse(const char *path, const char *text, size_t n, struct manifest *m);
void manifest_free(struct manifest **m);
bool manifest_is_backup(const char *dir, int number);          /* by its first lines; no file: no */
bool manifest_has(const struct manifest *m, const char *name); /* m NULL: no */
/* Reads dir/name and compares it; a file that is not listed belongs to another checkpoint. With m
 * NULL nothing is done. */
MUST_USE enum err manifest_check_file(const struct manifest *m, const char *dir, const char *name);
/* manifest_check_file where the caller has read the file and gives its size and sum. */
MUST_USE enum err manifest_check_sum(const struct manifest *m, const char *dir, const char *name,
                                     int64_t bytes, uint64_t sum);
