/* audit/check: is a checkpoint complete and consistent?
 *
 * Damage is reported to a callback, one call each: file, place, what; a check that fails often is
 * cut off after some of them, and how many more there are is said once. What can be checked in
 * spite of a damage still is. Nothing is collective.
 *
 * CHECK_WHOLE reads each file once, in batches: every record's marks and lengths, counts against
 * each other, the levels of the tree against each other, each checksum that there is (the list of
 * files, the exact_ files, HDF5's blocks), the text files' counts, files that are missing or belong
 * to no rank. CHECK_ALL looks at every oct, cell and particle too: 16 bytes per oct and, in turns
 * bounded by `memory`, 8 (variables + 2) bytes per oct for the restriction and 8 bytes per particle
 * for the ids; each turn reads the files again. */
#pragma once
#include "ckpt/source.h"

enum check_depth { CHECK_WHOLE = 1, CHECK_ALL };

struct damage {
    const char *file, *place, *what; /* place: record, byte, level, position …; may be empty */
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
    /* cells whose pressure is not positive, though the energy is (CHECK_ALL, gas) */
    int64_t cold;
    /* max relative difference of a split cell from its children (CHECK_ALL, gas) */
    double restricted;
};

/* An error is trouble: no checkpoint there, or one that cannot be judged. */
MUST_USE enum err ckpt_check(const char *dir, const struct check_how *how,
                             struct check_found *found);
