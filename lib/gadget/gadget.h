/* gadget/gadget: the particles of a checkpoint as a snapshot of Gadget, optionally the gas too: in
 * binary as Gadget-2, in HDF5 as Gadget-4 or SWIFT.
 *
 * Types: 1 dark matter of up to 1.5 times the minimum mass, 5 heavier dark matter (as in MUSIC's
 * files; pynbody reads 2 as stars), 3 debris and other families, 4 stars, 0 gas, one particle per
 * leaf cell. Tracers, which have no mass, and the particles of sinks' clouds are left out
 * (part/families.def).
 *
 * In HDF5 heavier dark matter is type 2, as in SWIFT, and sinks are black holes, type 5.
 *
 * Units with cosmology: comoving kpc/h, 1e10 Msun/h, peculiar km/s divided by sqrt(a), gas energy
 * in (km/s)²; SWIFT: comoving Mpc, 1e10 Msun, peculiar km/s, without h; without cosmology: code
 * units. Numbers are in single precision in binary, in double precision in HDF5. */
#pragma once
#include "ckpt/source.h"
#include "part/family.h"

enum gadget_form { GADGET_FORM_BINARY, GADGET_FORM_4, GADGET_FORM_SWIFT };

struct gadget {
    enum gadget_form form;
    /* output file; several files are OUT.0, OUT.1, …, in HDF5 of OUT.hdf5 OUT.0.hdf5, … */
    const char *out;
    const char *provenance; /* program and arguments, NULL: none (lent) */
    bool gas, named;        /* true to include gas; true for block names (format 2) */
    int nfile;              /* minimum number of files */
    bool overwrite;
};

/* Writes the snapshot. name (size n) receives the path of the first file; left_out: number of
 * particles of each family that the format cannot store. Three passes. (one rank) */
MUST_USE enum err gadget_write(const struct gadget *opt, struct source *s, char *name, size_t n,
                               int64_t left_out[FAMILIES]);
