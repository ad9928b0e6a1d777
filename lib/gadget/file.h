/* gadget/file: the files of a snapshot of Gadget, one or several, in a layout: binary of format 1,
 * or of format 2 with block names; HDF5 as Gadget-4 or as SWIFT writes it.
 *
 * All offsets are known from the start, so that particles of any type may come in any order: each
 * is written at its offset in all blocks. Files have temporary names until all are complete. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cosmo/cosmo.h"
#include "io/temp.h"

enum gadget_type {
    GADGET_NONE = -1,
    GADGET_GAS,
    GADGET_DM,
    GADGET_COARSE, /* heavy dark matter in HDF5 */
    GADGET_OTHER,
    GADGET_STAR,
    GADGET_HEAVY, /* heavy dark matter in binary files */
    GADGET_HOLE = GADGET_HEAVY,
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
    GADGET_BH_MASS, /* HDF5 */
    GADGET_BLOCKS
};

struct gadget_out;
/* The layout of files: gadget_binary, gadget_hdf5. */
struct gadget_layout {
    bool creates; /* whether `make` creates the file; otherwise it gets a descriptor */
    int (*files)(const struct gadget_out *g); /* least number of files */
    void (*name)(const struct gadget_out *g, int file, char path[PATH_MAX]);
    enum err (*make)(struct gadget_out *g, int file, int fd, const char *path);
    bool (*has)(const struct gadget_out *g, int block, int type);
    int64_t (*size)(const struct gadget_out *g, int block); /* bytes of a row */
    /* Offset of the first row of a type. */
    int64_t (*at)(const struct gadget_out *g, int file, int type, int block);
};
extern const struct gadget_layout gadget_binary, gadget_hdf5;

struct gadget_out {
    /* Members set by the caller. */
    const struct gadget_layout *layout;
    const char *path; /* output path, lent */
    int64_t count[GADGET_TYPES];
    double mass[GADGET_TYPES]; /* particle mass by type; 0: masses differ and are in block MASS */
    double time, redshift, box, omega_m, omega_l, h;
    struct cosmo_dark dark;
    bool stars, metals;
    /* HDF5: layout of SWIFT; expansion; density of baryons; units in cgs, with h^-1 except in SWIFT
     */
    bool swift, comoving;
    double omega_b, length_cm, mass_g, speed_cm;
    double gamma;           /* of the gas */
    const char *provenance; /* program and arguments; lent */
    bool wide_ids, named;   /* 8-byte ids · format 2 */
    bool overwrite;
    int nfile; /* minimum number of files; raised to the limit of 32-bit record lengths */

    /* Private members. */
    int fd[GADGET_TYPES], file[GADGET_TYPES];
    int64_t done[GADGET_TYPES];
    int made; /* number of files under temporary names */
    /* file 0 until completion; where the layout creates its files, an empty file with the lock */
    struct temp first;
    int64_t (*offset)[GADGET_TYPES][GADGET_BLOCKS]; /* HDF5: [nfile] offsets */
};

MUST_USE enum err gadget_create(struct gadget_out *g);
/* Writes the next n particles of a type. Elements have the types of the file: three floats, an id
 * of 4 or 8 bytes, a float; in HDF5 doubles and ids of 8 bytes. */
MUST_USE enum err gadget_put(struct gadget_out *g, enum gadget_type type, int64_t n,
                             const void *const block[GADGET_BLOCKS]);
/* Completes the snapshot after all particles have been written: renames the files; name (size n)
 * receives the path of the first. */
MUST_USE enum err gadget_finish(struct gadget_out *g, char *name, size_t n);
void gadget_drop(struct gadget_out *g); /* after an error; keeps the error message */
/* The header of a binary file with these numbers of particles. */
enum { GADGET_HEADER = 256 };
void gadget_header(const struct gadget_out *g, const int64_t here[GADGET_TYPES],
                   char head[GADGET_HEADER]);
/* Particles of a type in a file. */
int64_t gadget_count(const struct gadget_out *g, int file, int type);
