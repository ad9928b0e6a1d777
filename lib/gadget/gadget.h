/* gadget/gadget: the particles of a checkpoint as a Gadget-2 snapshot, optionally the gas too.
 *
 * Types: 1 dark matter of up to 1.5 times the minimum mass, 5 heavier dark matter (as in MUSIC's
 * files; pynbody reads 2 as stars), 3 debris and other families, 4 stars, 0 gas, one particle per
 * leaf cell. Tracers, which have no mass, and the particles of sinks' clouds are left out
 * (part/families.def).
 *
 * Units with cosmology: comoving kpc/h, 1e10 Msun/h, peculiar km/s divided by sqrt(a), gas energy
 * in (km/s)²; without: code units. Positions and velocities are in single precision. */
#pragma once
#include "ckpt/source.h"
#include "part/family.h"

struct gadget {
    const char *out; /* output file; several files are OUT.0, OUT.1, … */
    bool gas, named; /* true to include gas; true for block names (format 2) */
    int nfile;       /* minimum number of files */
    bool overwrite;
};

/* Writes the snapshot. name (size n) receives the path of the first file; left_out: number of
 * particles of each family that the format cannot store. Three passes. (one rank) */
MUST_USE enum err gadget_write(const struct gadget *opt, struct source *s, char *name, size_t n,
                               int64_t left_out[FAMILIES]);
