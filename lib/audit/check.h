/* audit/check: is a checkpoint complete and consistent?
 *
 * Damage is reported to a callback, one call each: file, location, description. After CHECK_MAX
 * reports of one kind further ones are only counted, and their number is reported once. Damage does
 * not end the check of what can still be checked. Nothing is collective.
 *
 * CHECK_WHOLE reads each file once, in batches. It checks the markers and lengths of every record,
 * counts and levels of the tree for consistency, every checksum present (the list of files, the
 * exact_ files, the blocks of HDF5), the counts in text files, and looks for files that are missing
 * or belong to no rank. CHECK_ALL also checks every oct, cell and particle. CHECK_ALL needs 16
 * bytes per oct and, in passes bounded by `memory`, 8 (variables + 2) bytes per oct for the
 * restriction, 148 for a magnetic field, and 8 bytes per particle for the ids. Each pass reads the
 * files again. */
#pragma once
#include "ckpt/source.h"

enum check_depth { CHECK_WHOLE = 1, CHECK_ALL };

struct damage {
    const char *file, *location, *what; /* location: record, byte, level, position …; or empty */
};

typedef void check_fn(const struct damage *d, void *ctx);

struct check_how {
    enum check_depth depth;
    size_t memory; /* memory limit, bytes */
    check_fn *fn;
    void *ctx;
};

struct check_found {
    int64_t damages;
    int64_t octs, leaves, particles;
    bool sums; /* presence of checksums of the values */
    /* particles not with the rank of their levelmin oct; damage only in checkpoints of Ptah */
    int64_t strays;
    /* particles beyond the boundaries of a box that is not periodic, which RAMSES keeps */
    int64_t beyond;
    /* cells with negative pressure, a by-product of the scheme in cold gas (CHECK_ALL, gas) */
    int64_t cold;
    /* maximum relative difference of a split cell from the mean of its children (CHECK_ALL, gas) */
    double restricted;
    /* Magnetic fields on faces (CHECK_ALL): maximum difference of both copies of a face, or of a
     * face from the mean of the finer faces on it, relative to the strongest field; maximum |div B|
     * dx of a leaf cell, relative to its field. */
    bool magnetic;
    double copies, divergence;
};

/* Checks the checkpoint in dir. An error means that no checkpoint exists or that the check cannot
 * run; damage is no error. */
MUST_USE enum err ckpt_check(const char *dir, const struct check_how *how,
                             struct check_found *found);
