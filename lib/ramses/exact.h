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
#include "ramses/out.h"

struct exact_out {
    const struct ramses_out *out;
    const char *path; /* lent */
    /* [8 nvar][CKPT_PITCH]: the true values, filled in by the writer of the hydro file */
    double *value;

    /* Private. */
    int fd;
    int64_t at;
    struct checksum sum;
    uint64_t *word;
    unsigned char *plane, *packed;
    size_t room; /* bytes in packed */
};

MUST_USE enum err exact_create(struct exact_out *x, const struct ramses_out *out, const char *path);
/* Cell c of octs at..at+n-1 of a batch, n <= GAS_TILE: true values and those in the hydro file,
 * rows by variable. */
void exact_differ(struct exact_out *x, int at, int n, int c, const double *const *u,
                  const double *const *prim);
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
    unsigned char *bytes; /* scratch */
    uint64_t *word;
};

/* Opens the file of rank `file` of `ncpu` and checks that it is that file. Shut it after errors
 * too, or if x is zeroed. */
MUST_USE enum err exact_open(struct exact_in *x, const char *path, int ncpu, int file);
void exact_shut(struct exact_in *x);
/* The next batch of n octs (CKPT_BATCH, fewer at the end of a level): u[8*v+c][n] as computed by
 * gas_conserved become the true values. A checksum over these covers the hydro file as well. */
MUST_USE enum err exact_correct(struct exact_in *x, int level, int n, double *const *u);
MUST_USE enum err exact_skip(struct exact_in *x, int level, int n); /* the next batch is not read */
MUST_USE enum err exact_at_end(const struct exact_in *x);
