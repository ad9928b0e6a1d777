/* ramses/exact: the part of the state that a RAMSES snapshot loses, in files exact_NNNNN.outRRRRR
 * beside it. RAMSES and its readers ignore them.
 *
 * RAMSES files contain primitive variables; momentum and energy computed from them differ in the
 * last bits. For each value of the octs of this rank, in the order of the hydro file, the file has
 * the difference between the bits of the true value and those of the value that gas_conserved
 * computes, mostly 0 or ±1, compressed. It also has the few numbers of a run that RAMSES does not
 * store. */
#pragma once
#include "base/checksum.h"
#include "ckpt/gas.h"
#include "io/async.h"
#include "ramses/crc.h"
#include "ramses/out.h"

enum { EXACT_PITCH = GAS_TILE + 8 }; /* rows of a tile do not share a few cache sets */

struct exact_out {
    const struct ramses_out *out;
    const char *path; /* lent */
    int parts;        /* tiles of a batch that may be at work at the same time */
    double *value;    /* [parts][8 nvar][EXACT_PITCH]: the true values of a tile, by the writer */

    /* Private. */
    int fd;
    int64_t at;
    struct checksum sum;
    struct crc_rows crc;        /* of the true values */
    uint64_t *any;              /* [parts] the bits that differ somewhere */
    unsigned char *low, *large; /* the last bytes; tiles in which others differ */
    uint64_t *word;             /* the differences in these */
    /* The last chunk, which is packed and written while the next is computed. */
    struct async async;
    int level, n;
    uint32_t planes, crc_of_chunk;
    unsigned char *plane, *packed;
    size_t cut, room; /* bytes in plane; room in packed */
};

MUST_USE enum err exact_create(struct exact_out *x, const struct ramses_out *out, const char *path);
/* Cell c of octs at..at+n-1 of a batch, a tile, by one of the parts: true values and those in the
 * hydro file, rows by variable. The tiles of a part follow each other. */
void exact_differ(struct exact_out *x, int part, int at, int n, int c, const double *const *u,
                  const double *const *prim);
/* The parts so far are side by side in the batch; more may follow. */
void exact_join(struct exact_out *x);
/* Ends a batch: CKPT_BATCH own octs of a level, fewer at its end. */
MUST_USE enum err exact_put(struct exact_out *x, int level, int n);
/* Call it after errors too, or if x is zeroed with fd -1. Returns the error given, or its own. */
MUST_USE enum err exact_close(struct exact_out *x, enum err err);

struct exact_in {
    int fd;
    char *path;
    int64_t at, size;
    int nvar;
    double gamma, smallr; /* with which the differences were computed */
    double t, tout_next, aout_next;
    int nstep_coarse;
    unsigned char safe[LEVEL_MAX + 2];

    /* Private: of a batch. */
    int level, n;
    uint32_t planes, sum;
    unsigned char *bytes;
    struct crc_rows crc;
};

/* Opens the file of rank `file` of `ncpu` and checks that it is that file. Shut it after errors
 * too, or if x is zeroed. */
MUST_USE enum err exact_open(struct exact_in *x, const char *path, int ncpu, int file);
void exact_shut(struct exact_in *x);
/* The next batch of n octs (CKPT_BATCH, fewer at the end of a level), in which `parts` may be at
 * work at the same time. */
MUST_USE enum err exact_begin(struct exact_in *x, int level, int n, int parts);
/* Cell c of octs at..at+n-1: values as computed by gas_conserved, rows by variable,
 * become the true ones. The octs of a part follow each other. */
void exact_correct(struct exact_in *x, int part, int at, int n, int c, double *const *u);
/* All octs of the batch have been corrected: compares the checksum over the values, which covers
 * the hydro file as well. */
MUST_USE enum err exact_end(struct exact_in *x);
MUST_USE enum err exact_skip(struct exact_in *x, int level, int n); /* the next batch is not read */
MUST_USE enum err exact_at_end(const struct exact_in *x);
