/* io/fortran: Fortran sequential unformatted files.
 *
 * A record is its length as int32, the payload, the length again. A payload above 2^31-9 bytes is
 * cut into sub-records as gfortran does: the leading length is negative where another sub-record
 * follows, the trailing one where one came before.
 *
 * Writing goes through one buffer. An error is kept: later calls do nothing, and fort_close returns
 * it, so that the caller reads as a list of records. Reading trusts nothing: lengths are checked
 * against each other, the file's size and what the caller expects; errors name file, record and
 * byte. Files of machines with the other byte order are known by their first length; numbers come
 * out in ours. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/err.h"
#include "io/async.h"
#include "io/sync_async.h"

enum { FORT_SUB = 2147483639 }; /* longest sub-record, bytes */

/* Called when a file is closed, with its path, size and sum (base/checksum). */
typedef void fort_told(void *ctx, const char *path, int64_t bytes, uint64_t sum);

struct fort_out {
    int fd;
    enum err err;
    char *path;
    int64_t at; /* where the buffer is written in the file */
    char *buf;  /* bytes that wait */
    size_t fill;
    char *rows[2]; /* scratch of fort_table */
    int64_t left;  /* of the record being written */
    int64_t sub, sub_left;
    int64_t sub_max; /* FORT_SUB; smaller in tests */
    struct checksum sum;
    bool beside; /* set after fort_create: tables are written while they are filled */
    struct async async;
    struct sync_async *sync; /* set after fort_create: who syncs and closes it; NULL: fort_close */
    fort_told *told;         /* NULL: no sum is needed */
    void *told_ctx;
    bool first;
};

void fort_create(struct fort_out *f, const char *path, fort_told *told, void *ctx);
void fort_begin(struct fort_out *f, int64_t bytes); /* a record of this length, written in pieces */
void fort_put(struct fort_out *f, const void *p, size_t n);
void fort_end(struct fort_out *f);
void fort_record(struct fort_out *f, const void *p, size_t n); /* begin, put, end */
void fort_i4(struct fort_out *f, int32_t x);                   /* a record of one number */
void fort_r8(struct fort_out *f, double x);

/* nrow records of n elements of `elem` bytes, made together because one pass over memory gives all
 * of them: fill is called for consecutive ranges of elements and stores element first+i of record r
 * at rows + r*stride + i*elem (aligned). Records here stay below FORT_SUB (octs of a rank are
 * limited by RAMSES's 32-bit cell indices). */
typedef void fort_fill(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride);
void fort_table(struct fort_out *f, int nrow, size_t elem, int64_t n, fort_fill *fill,
                const void *ctx);
/* flush, sync (or hand it to `later`), close; the first error of all since create */
MUST_USE enum err fort_close(struct fort_out *f);

struct fort_in {
    int fd;
    char *path;
    int64_t size, at; /* of the file · of the next record */
    int64_t record;   /* number of the next record, from 1 */
    bool swap;        /* the bytes of its numbers are in the other order: big-endian */
    bool narrow;      /* fort_get_real has seen reals of 4 bytes */
    char *win;        /* the bytes read last, for short reads */
    int64_t win_at, win_n;
    struct fort_seen { /* what long reads have added to the file's checksum */
        bool wanted;
        struct checksum sum;
        int64_t n, room, next; /* next: range that probably goes on next */
        struct fort_range {
            int64_t at, end;
        } * range;
    } seen;
};

struct fort_rec {
    int64_t number, at; /* number from 1, byte of its first length */
    int64_t bytes;      /* payload */
    int64_t sub;        /* bytes of each sub-record but the last */
};

MUST_USE enum err fort_open(struct fort_in *f, const char *path);
void fort_shut(struct fort_in *f); /* also after a failed open, or zeroed */
/* steps over one record */
MUST_USE enum err fort_next(struct fort_in *f, const char *what, struct fort_rec *r);
MUST_USE enum err fort_expect(struct fort_in *f, const char *what, int64_t bytes,
                              struct fort_rec *r); /* of this length */
/* Elements first..first+n-1 of `width` bytes each · a whole record of n such elements. */
MUST_USE enum err fort_load(struct fort_in *f, const struct fort_rec *r, int width, int64_t first,
                            size_t n, void *p);
MUST_USE enum err fort_get(struct fort_in *f, const char *what, int width, void *p, size_t n);
/* Elements first..first+n-1 of a record of `total` reals, of 4 or 8 bytes. */
MUST_USE enum err fort_load_real(struct fort_in *f, const struct fort_rec *r, int64_t total,
                                 int64_t first, size_t n, double *x);
/* Elements first..first+n-1 of nrow records of `total` reals each, by all threads: elements of r[k]
 * go to x[k]. */
MUST_USE enum err fort_load_rows(struct fort_in *f, int nrow, const struct fort_rec *r,
                                 int64_t total, int64_t first, size_t n, double *const *x);
MUST_USE enum err fort_next_real(struct fort_in *f, const char *what, int64_t total,
                                 struct fort_rec *r);
MUST_USE enum err fort_get_real(struct fort_in *f, const char *what, double *x, size_t n);
MUST_USE enum err fort_get_i4(struct fort_in *f, const char *what, int32_t *x);
/* n records of any length */
MUST_USE enum err fort_skip(struct fort_in *f, const char *what, int n);
/* From here on what is read is also summed. fort_sum reads what was skipped and returns the sum of
 * the whole file, so that most of it is read only once. Nothing may be read twice in between,
 * except short reads. */
void fort_watch(struct fort_in *f);
MUST_USE enum err fort_sum(struct fort_in *f, uint64_t *sum);
MUST_USE enum err fort_at_end(const struct fort_in *f); /* an error if anything follows */
