/* ckpt/manifest: the list of a checkpoint's files, checksums_NNNNN.txt: name, bytes and
 * checksum of each file.
 *
 * The sums are made while the files are written, so they cost no second reading. Since every file
 * is listed, a flipped bit, a lost end and a file of another checkpoint all show. Readers of RAMSES
 * ignore the file; foreign checkpoints have none and are read unchecked. HDF5 files have checksums
 * of their own and are not listed; their text files are.
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
    struct manifest_row *row; /* rows, sorted by name once written or loaded */
};

/* Writing: each rank adds its files; the name is the last component of path. With m NULL the
 * function does nothing. */
void manifest_add(struct manifest *m, const char *path, int64_t bytes, uint64_t sum);
/* manifest_add with the signature of fort_told (io/fortran.h). */
void manifest_told(void *m, const char *path, int64_t bytes, uint64_t sum);
/* Writes dir/checksums_NNNNN.txt with the rows of all ranks, and queues its flush to disk in
 * `sync`. Only rank 0 returns an error; the caller must agree on it. (collective) */
MUST_USE enum err manifest_write(struct manifest *m, const struct comm *c, const char *dir,
                                 int number, struct sync_async *sync);
void manifest_fini(struct manifest *m);

/* Reading: *m is NULL if the checkpoint has no list. Free with manifest_free. */
MUST_USE enum err manifest_load(const char *dir, int number, struct manifest **m);
/* Parses the text of a list that was read from path. */
MUST_USE enum err manifest_parse(const char *path, const char *text, size_t n, struct manifest *m);
void manifest_free(struct manifest **m);
/* whether the run may remove the checkpoint; false without a list */
bool manifest_is_backup(const char *dir, int number);
bool manifest_has(const struct manifest *m, const char *name); /* m NULL: false */
/* Reads dir/name and compares the checksum; a file that is not listed belongs to another
 * checkpoint. With m NULL the function does nothing. */
MUST_USE enum err manifest_check_file(const struct manifest *m, const char *dir, const char *name);
/* manifest_check_file for a caller that has read the file and passes its size and checksum. */
MUST_USE enum err manifest_check_sum(const struct manifest *m, const char *dir, const char *name,
                                     int64_t bytes, uint64_t sum);
