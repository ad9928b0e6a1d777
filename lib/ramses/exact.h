/* ramses/exact: files exact_NNNNN.outRRRRR with the part of the state that a RAMSES snapshot loses.
 * RAMSES and its readers ignore these files.
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

/* padded, so that rows of a tile do not share a few cache sets */
enum { EXACT_PITCH = GAS_TILE + 8 };

struct exact_out {
    const struct ramses_out *out;
    const char *path; /* path of the file (lent) */
    int parts;        /* number of tiles of a batch that may be processed in parallel */
    /* [parts][8 nvar][EXACT_PITCH] true values of a tile, of a magnetic field, too; filled by the
     * writer */
    double *value;

    /* The following are private. */
    int fd;
    int64_t at;
    struct checksum sum;
    struct crc_rows crc; /* checksums of the true values */
    uint64_t *any;       /* [parts] bits in which any value differs */
    /* low bytes of the differences; flags of tiles with larger differences */
    unsigned char *low, *large;
    uint64_t *word; /* differences in tiles with larger ones */
    /* Thread that compresses and writes the previous chunk while the next is computed. */
    struct async async;
    int level, n;
    uint32_t planes, crc_of_chunk;
    unsigned char *plane, *packed;
    size_t cut, room; /* bytes in plane; capacity of packed */
};

MUST_USE enum err exact_create(struct exact_out *x, const struct ramses_out *out, const char *path);
/* Cell c of octs at..at+n-1 of a batch, in one of the parts. */
struct exact_cells {
    int part, at, n, c;
};
/* Stores the differences of cells, a tile: u: true values; prim: values of the hydro file; rows by
 * variable; b: rows of the magnetic field, NULL: none. Tiles of a part must be consecutive. */
void exact_differ(struct exact_out *x, struct exact_cells k, const double *const *u,
                  const double *const *prim, const double *const *b);
/* Joins the parts so far, which are adjacent in the batch; more may follow. */
void exact_join(struct exact_out *x);
/* Ends a batch: CKPT_BATCH own octs of a level, fewer at its end. */
MUST_USE enum err exact_put(struct exact_out *x, int level, int n);
/* Closes the file; must be called after errors too, and may be called if x is zeroed with fd -1.
 * Returns the given error, or its own. */
MUST_USE enum err exact_close(struct exact_out *x, enum err err);

struct exact_in {
    int fd;
    char *path;
    int64_t at, size;
    int nvar;
    struct gas_energies energy;
    double gamma, smallr; /* parameters with which the differences were computed */
    double t, tout_next, aout_next;
    int nstep_coarse;
    unsigned char safe[LEVEL_MAX + 2];
    double far[4];

    /* The following are private, for the current batch. */
    int level, n;
    uint32_t planes, sum;
    unsigned char *bytes;
    struct crc_rows crc;
};

/* Opens the file of rank `file` of `ncpu` and checks its header. exact_shut must be called after
 * errors too, and may be called if x is zeroed. */
MUST_USE enum err exact_open(struct exact_in *x, const char *path, int ncpu, int file);
void exact_shut(struct exact_in *x);
/* Begins the next batch of n octs (CKPT_BATCH, fewer at the end of a level), in `parts` parts that
 * may be processed in parallel. */
MUST_USE enum err exact_begin(struct exact_in *x, int level, int n, int parts);
/* Corrects cell c of octs at..at+n-1: values computed by gas_conserved, rows by variable, become
 * the true ones. Octs of a part must be consecutive. */
void exact_correct(struct exact_in *x, int part, int at, int n, int c, double *const *u);
/* Ends a batch, after all its octs have been corrected: compares the checksum of the values, which
 * covers the hydro file as well. */
MUST_USE enum err exact_end(struct exact_in *x);
MUST_USE enum err exact_skip(struct exact_in *x, int level, int n); /* skips a batch */
MUST_USE enum err exact_at_end(const struct exact_in *x);
