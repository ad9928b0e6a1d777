/* ramses/exact: what a RAMSES snapshot loses, in files exact_NNNNN.outRRRRR beside it. RAMSES and
 * its readers ignore them.
 *
 * RAMSES files hold primitive variables; momentum and energy made from them again differ in the
 * last bits. For each value of this rank's octs, in the order of the hydro file, the file has the
 * difference between the bits of the true value and those of gas_conserved's, mostly 0 or ±1,
 * compressed. It also has the few numbers of a run that RAMSES does not keep. */
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
/* Cell c of octs at..at+n-1 of a batch, n <= GAS_TILE: true values and what the hydro file has
 * of them, rows by variable. */
void exact_differ(struct exact_out *x, int at, int n, int c, const double *const *u,
                  const double *const *prim);
/* A batch is whole: CKPT_BATCH own octs of a level, fewer at its end. */
MUST_USE enum err exact_put(struct exact_out *x, int level, int n);
/* After errors too, or zeroed with fd -1: returns the error given, or its own. */
MUST_USE enum err exact_close(struct exact_out *x, enum err err);

struct exact_in {
    int fd;
    char *path;
    int64_t at, size;
    int nvar;
    double gamma, smallr; /* that the differences are made for */
    double t, tout_next, aout_next;
    int nstep_coarse;
    unsigned char safe[LEVEL_MAX + 2];
    unsigned char *bytes; /* scratch */
    uint64_t *word;
};

/* Opens the file of rank `file` of `ncpu`; checks that it belongs to them. Shut after errors too,
 * or zeroed. */
MUST_USE enum err exact_open(struct exact_in *x, const char *path, int ncpu, int file);
void exact_shut(struct exact_in *x);
/* The next batch of n octs (CKPT_BATCH, fewer at the end of a level): u[8*v+c][n] as
 * gas_conserved made them become the true ones. A checksum over these covers the hydro file as
 * well. */
MUST_USE enum err exact_correct(struct exact_in *x, int level, int n, double *const *u);
MUST_USE enum err exact_skip(struct exact_in *x, int level, int n); /* the next batch is not read */
MUST_USE enum err exact_at_end(const struct exact_in *x);
