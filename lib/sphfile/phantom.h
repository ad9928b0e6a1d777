/* sphfile/phantom: dump files of Phantom (Price et al. 2018), full and small, tagged, of either
 * byte order. What is not a column of ours is kept and written back, so that a dump that is read
 * and written is the same byte for byte. Functions are local. */
#pragma once
#include "sphfile/sphfile.h"

/* Types of numbers, in the order of the file. */
enum phantom_kind {
    PHANTOM_INT,
    PHANTOM_I1,
    PHANTOM_I2,
    PHANTOM_I4,
    PHANTOM_I8,
    PHANTOM_REAL, /* 8 bytes, or 4 in small dumps */
    PHANTOM_R4,
    PHANTOM_R8,
    PHANTOM_KINDS
};
enum { PHANTOM_TAG = 16, PHANTOM_ID = 100 };

struct phantom_array {
    char tag[PHANTOM_TAG + 1];
    enum phantom_kind kind;
    void *data;         /* n values in the byte order of this machine */
    int64_t record, at; /* number of the record, from 1, and its byte in the file, for messages */
};
struct phantom_number { /* of the header, in the order of the file; tags repeat */
    char tag[PHANTOM_TAG + 1];
    enum phantom_kind kind;
    double real;
    int64_t integer;
};
struct phantom_block {
    int64_t n;
    int narray;
    struct phantom_array *array;
};
struct phantom {
    char path[PATH_MAX], id[PHANTOM_ID + 1];
    bool swap;      /* bytes are those of the other order */
    int real_bytes; /* of PHANTOM_REAL */
    int version;
    int nnumber;
    struct phantom_number *number;
    int nblock;
    struct phantom_block *block; /* particles, sinks, … */
};
bool phantom_is(const char *path);
/* Reads a dump. The structure of the file, its tags and all counts are checked, not the values of
 * arrays. */
MUST_USE enum err phantom_read(const char *path, struct phantom **out);
MUST_USE enum err phantom_write(const char *path, const struct phantom *d);
void phantom_free(struct phantom **d);
const struct phantom_number *phantom_find(const struct phantom *d, const char *tag); /* the first */
int phantom_bytes(const struct phantom *d, enum phantom_kind kind); /* of a number */

/* Particles, parameters and sinks of a dump as of a checkpoint of ours, whose values are checked.
 * Without α and div v these are alpha_min and 0; without u or velocities (small dumps) an error.
 * Particles that Phantom has marked as dead (h < 0) are left out. Accelerations and heating rates
 * are 0: the caller evaluates them before its first step (number `fresh` of the header, 1). The
 * kernel is the one whose usual hfact is nearest. h->sink is owned by the caller (mem_free). p gets
 * the particles after those that it has. */
MUST_USE enum err phantom_particles(const struct phantom *d, struct sphfile_head *h,
                                    struct smooth_par *par, struct smooth *p);
/* A full dump of a checkpoint: h, α and div v in single precision, as Phantom has them. An error:
 * one of these is beyond its range. */
MUST_USE enum err phantom_of(const struct sphfile_head *h, const struct smooth_par *par,
                             const struct smooth *p, struct phantom **out);
