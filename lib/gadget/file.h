/* gadget/file: the files of a Gadget-2 snapshot, one or several: format 1, or format 2 with block
 * names.
 *
 * All offsets follow from the counts, so that particles of any type may come in any order: each is
 * written at its offset in all blocks. Files have temporary names until all are complete. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "io/temp.h"

enum gadget_type {
    GADGET_NONE = -1,
    GADGET_GAS,
    GADGET_DM,
    GADGET_OTHER = 3,
    GADGET_STAR,
    GADGET_HEAVY,
    GADGET_TYPES
};
enum gadget_block {
    GADGET_POS,
    GADGET_VEL,
    GADGET_ID,
    GADGET_MASS,
    GADGET_U,
    GADGET_RHO,
    GADGET_HSML,
    GADGET_BLOCKS
};

struct gadget_out {
    /* Members set by the caller. */
    const char *path; /* output path, lent */
    int64_t count[GADGET_TYPES];
    double mass[GADGET_TYPES]; /* particle mass by type; 0: masses differ and are in block MASS */
    double time, redshift, box, omega_m, omega_l, h;
    bool stars, metals;
    bool wide_ids, named; /* 8-byte ids · format 2 */
    bool overwrite;
    int nfile; /* minimum number of files; raised to the limit of 32-bit record lengths */

    /* Private members. */
    int fd[GADGET_TYPES], file[GADGET_TYPES];
    int64_t done[GADGET_TYPES];
    int made;          /* number of files under temporary names */
    struct temp first; /* file 0 until completion */
};

MUST_USE enum err gadget_create(struct gadget_out *g);
/* Writes the next n particles of a type. Elements have the types of the file: three floats, an id
 * of 4 or 8 bytes, a float. */
MUST_USE enum err gadget_put(struct gadget_out *g, enum gadget_type type, int64_t n,
                             const void *const block[GADGET_BLOCKS]);
/* Completes the snapshot after all particles have been written: renames the files; name (size n)
 * receives the path of the first. */
MUST_USE enum err gadget_finish(struct gadget_out *g, char *name, size_t n);
void gadget_drop(struct gadget_out *g); /* after an error; keeps the error message */
