/* audit/check: is a checkpoint complete and consistent?
 *
 * Damage is reported to a callback, one call each: file, place, what. After CHECK_MAX reports of
 * one kind the others are only counted, and their number is reported once. Damage does not end the
 * check of what can still be checked. Nothing is collective.
 *
 * CHECK_WHOLE reads each file once, in batches. It checks the markers and lengths of every record,
 * counts and levels of the tree for consistency, every checksum that there is (the list of files,
 * the exact_ files, the blocks of HDF5), the counts in text files, and looks for files that are
 * missing or belong to no rank. CHECK_ALL also checks every oct, cell and particle. It needs 16
 * bytes per oct and, in passes bounded by `memory`, 8 (variables + 2) bytes per oct for the
 * restriction and 8 bytes per particle for the ids. Each pass reads the files again. */
#pragma once
#include "ckpt/source.h"

enum check_depth { CHECK_WHOLE = 1, CHECK_ALL };

struct damage {
    const char *file, *location, *what; /* place: record, byte, level, position …; may be empty */
};

typedef void check_fn(const struct damage *d, void *ctx);

struct check_how {
    enum check_depth depth;
    size_t memory; /* bytes */
    check_fn *fn;
    void *ctx;
};

struct check_found {
    int64_t damages;
    int64_t octs, leaves, particles;
    bool sums; /* checksums cover the values */
    /* particles that are not with the rank of their levelmin oct; damage only in our own
     * checkpoints */
    int64_t strays;
    /* particles beyond the boundaries of a box that is not periodic, which RAMSES keeps */
    int64_t beyond;
    /* cells whose pressure is negative, as the scheme leaves cold gas (CHECK_ALL, gas) */
    int64_t cold;
    /* max relative difference of a split cell from its children (CHECK_ALL, gas) */
    double restricted;
};

/* An error means that there is no checkpoint, or that it cannot be checked. */
MUST_USE enum err ckpt_check(const char *dir, const struct check_how *how,
                             struct check_found *found);
