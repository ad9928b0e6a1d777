/* io/fortran: Fortran sequential unformatted files.
 *
 * A record is its length as int32, the payload, the length again. A payload above 2^31-9 bytes is
 * split into sub-records as by gfortran: the leading length is negative where another sub-record
 * follows, the trailing length where one came before.
 *
 * Writing goes through one buffer. The first error is kept: later calls do nothing, and fort_close
 * returns it, so that callers need no checks between records. Reading validates lengths against
 * each other, the file's size and the caller's expectation; errors name file, record and byte.
 * Files of the other byte order are recognised by their first length; values are returned in native
 * order. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/err.h"
#include "io/async.h"
#include "io/sync_async.h"

enum { FORT_SUB = 2147483639 }; /* longest sub-record, bytes */

/* Callback at the close of a file, with its path, size and checksum (base/checksum). */
typedef void fort_told(void *ctx, const char *path, int64_t bytes, uint64_t sum);

struct fort_out {
    int fd;
    enum err err;
    char *path;
    int64_t at; /* file offset of the buffer */
    char *buf;  /* buffered bytes */
    size_t fill;
    char *rows[2]; /* scratch buffers of fort_table */
    int64_t left;  /* bytes left of the record being written */
    int64_t sub, sub_left;
    int64_t sub_max; /* maximum bytes of a sub-record: FORT_SUB; smaller in tests */
    struct checksum sum;
    /* set after fort_create: tables are written by a second thread while they are filled */
    bool beside;
    struct async async;
    /* set after fort_create: list of files to sync and close later; NULL: fort_close does both */
    struct sync_async *sync;
    fort_told *told; /* callback of the checksum; NULL: no checksum */
    void *told_ctx;
    bool first;
};

void fort_create(struct fort_out *f, const char *path, fort_told *told, void *ctx);
void fort_begin(struct fort_out *f, int64_t bytes); /* begins a record of this length */
void fort_put(struct fort_out *f, const void *p, size_t n);
void fort_end(struct fort_out *f);
void fort_record(struct fort_out *f, const void *p, size_t n); /* begin, put, end */
void fort_i4(struct fort_out *f, int32_t x);                   /* record of one number */
void fort_r8(struct fort_out *f, double x);

/* Writes nrow records of n elements of `elem` bytes, filled together in one pass over memory: fill
 * is called for consecutive ranges of elements and stores element first+i of record r at rows +
 * r*stride + i*elem (aligned). Records must be shorter than FORT_SUB (octs of a rank are limited by
 * RAMSES's 32-bit cell indices). */
typedef void fort_fill(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride);
void fort_table(struct fort_out *f, int nrow, size_t elem, int64_t n, fort_fill *fill,
                const void *ctx);
/* Flushes, syncs (or adds the file to `sync`) and closes; returns the first error since
 * fort_create. */
MUST_USE enum err fort_close(struct fort_out *f);

struct fort_in {
    int fd;
    char *path;
    int64_t size, at; /* bytes of the file; offset of the next record */
    int64_t record;   /* number of the next record, from 1 */
    bool swap;        /* whether the byte order is not the native one */
    bool narrow;      /* whether fort_get_real has read reals of 4 bytes */
    char *win;        /* window of bytes last read, for short reads */
    int64_t win_at, win_n;
    struct fort_seen { /* ranges already added to the checksum by long reads */
        bool wanted;
        struct checksum sum;
        int64_t n, room, next; /* next: index of the range that will probably grow next */
        struct fort_range {
            int64_t at, end;
        } * range;
    } seen;
};

struct fort_rec {
    int64_t number, at; /* number from 1; offset of the first length */
    int64_t bytes;      /* bytes of the payload */
    int64_t sub;        /* bytes of each sub-record but the last */
};

MUST_USE enum err fort_open(struct fort_in *f, const char *path);
/* Closes a file, also one that is zeroed or whose opening failed. */
void fort_shut(struct fort_in *f);
/* Reads the lengths of the next record, and moves on to the record after it. */
MUST_USE enum err fort_next(struct fort_in *f, const char *what, struct fort_rec *r);
MUST_USE enum err fort_expect(struct fort_in *f, const char *what, int64_t bytes,
                              /* fort_next for a record that must have this length */
                              struct fort_rec *r);
/* fort_load reads elements first..first+n-1 of `width` bytes each, fort_get the whole next record
 * of n such elements. */
MUST_USE enum err fort_load(struct fort_in *f, const struct fort_rec *r, int width, int64_t first,
                            size_t n, void *p);
MUST_USE enum err fort_get(struct fort_in *f, const char *what, int width, void *p, size_t n);
/* Reads elements first..first+n-1 of a record of `total` reals, of 4 or 8 bytes. */
MUST_USE enum err fort_load_real(struct fort_in *f, const struct fort_rec *r, int64_t total,
                                 int64_t first, size_t n, double *x);
/* Whether threads can read `bytes` of a record at a time: without the window, and from a single
 * sub-record. */
bool fort_is_plain(const struct fort_rec *r, int64_t bytes);
/* Reads elements first..first+n-1 of nrow records of `total` reals each, in parallel threads:
 * elements of r[k] go to x[k]. */
MUST_USE enum err fort_load_rows(struct fort_in *f, int nrow, const struct fort_rec *r,
                                 int64_t total, int64_t first, size_t n, double *const *x);
MUST_USE enum err fort_next_real(struct fort_in *f, const char *what, int64_t total,
                                 struct fort_rec *r);
MUST_USE enum err fort_get_real(struct fort_in *f, const char *what, double *x, size_t n);
MUST_USE enum err fort_get_i4(struct fort_in *f, const char *what, int32_t *x);
/* Skips n records of any length. */
MUST_USE enum err fort_skip(struct fort_in *f, const char *what, int n);
/* Starts a checksum of all bytes read. fort_sum reads the bytes that were skipped and returns the
 * checksum of the whole file, so that most of the file is read only once. Between the two calls no
 * bytes may be read twice, except by short reads. */
void fort_watch(struct fort_in *f);
MUST_USE enum err fort_sum(struct fort_in *f, uint64_t *sum);
MUST_USE enum err fort_at_end(const struct fort_in *f); /* error if bytes follow */
