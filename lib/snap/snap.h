/* snap: particles in snapshots and initial conditions of Gadget and its relatives (Springel 2005;
 * Springel et al. 2021; Schaller et al. 2024): binary files of format 1 and of format 2, whose
 * blocks have names, in either byte order; HDF5 as Gadget-2 to 4, Arepo, SWIFT and monofonIC write
 * it. A snapshot is one file or several, BASE.0 … or BASE.0.hdf5 …
 *
 * A snapshot has particles of up to seven types: 0 gas, 1 dark matter, 2 and 3 others, 4 stars, 5
 * others or black holes, 6 neutrinos. Rows of a type are numbered through all files. All functions
 * are local, so that ranks may divide files and rows among themselves; none keeps more than one
 * file open. No number in a file is trusted. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { SNAP_TYPES = 7, SNAP_NAME = 80 };
enum snap_column {
#define SNAP_COLUMN(symbol, ...) SNAP_##symbol,
#include "snap/columns.def"
    SNAP_COLUMNS
};

enum snap_code { SNAP_GADGET1, SNAP_GADGET2, SNAP_HDF5, SNAP_SWIFT };

struct snap_head {
    enum snap_code code;
    bool swap;   /* binary: whether the byte order is not the native one */
    int nfile;   /* number of files */
    int numbers; /* width of the table of a file: 6 types, or 7 */
    int64_t total[SNAP_TYPES];
    double mass[SNAP_TYPES]; /* mass of each particle of a type; 0: masses differ */
    double a, box;           /* expansion factor or time; side of the box, units of the file */
    double omega_m, omega_l, omega_b, h; /* NAN: the files do not tell */
    /* Units of HDF5 files in cgs, with h where the code has it; 0: unknown. */
    double length_cm, mass_g, speed_cm;
    bool comoving; /* a run in an expanding universe; binary: Omega0 > 0 */
};

/* What files of galaxies (DICE) have that snapshots have not: no number in the header is needed,
 * each file is complete by itself, blocks may have other names, ids may be missing, types 2 to 4
 * are stars, which have births, and all types or gas and stars have metals. In format 1 energies
 * precede the masses, as RAMSES reads them, unless the lengths of these blocks say otherwise. */
struct snap_layout {
    int format;                      /* 1 or 2: the format that the files must have */
    const char *head;                /* four letters: name of the header */
    const char *label[SNAP_COLUMNS]; /* name of the block of a column; NULL: not read */
};

struct snap_file;
struct snap {
    char path[PATH_MAX]; /* as given */
    char base[PATH_MAX]; /* files are BASE + number + suffix, or BASE alone */
    char suffix[16];
    bool numbered;
    struct snap_head head;
    const struct snap_layout *layout; /* lent; NULL: snapshots of Gadget */
    int64_t (*count)[SNAP_TYPES];     /* [nfile] particles of each file, after snap_count */
    int64_t (*first)[SNAP_TYPES]; /* [nfile] row of the first one of each type, after snap_index */
    struct snap_file *file;       /* the open file */
    int open;                     /* its number; −1: none */
};

/* Whether a path is a snapshot: a file, the base of numbered files, or a directory of one. */
bool snap_is(const char *path);
/* Finds the files and reads the header of the first. Call snap_close after errors too. */
MUST_USE enum err snap_open(const char *path, struct snap *s);
void snap_close(struct snap *s);
/* Reads the headers of files number `share`, share + nshare, …, checks that they belong to the
 * first, and fills their rows of s->count; those of other files are 0, for a sum over ranks. */
MUST_USE enum err snap_count(struct snap *s, int share, int nshare);
/* Checks that the counts of all files add up to those of the header. */
MUST_USE enum err snap_index(struct snap *s);
/* snap_open, snap_count of all files, snap_index. */
MUST_USE enum err snap_open_whole(const char *path, struct snap *s);

/* snap_open_whole of one file of galaxies. */
MUST_USE enum err snap_open_galaxies(const char *path, const struct snap_layout *layout,
                                     struct snap *s);

/* Whether the first file with particles of a type has a column of them. */
MUST_USE enum err snap_has(struct snap *s, int type, enum snap_column c, bool *has);
/* Reads rows first..first+n-1 of a column, all of a row together: doubles, or int64_t of ids.
 * Masses are those of the table where the header has one. Reals must be finite. */
MUST_USE enum err snap_read(struct snap *s, int type, enum snap_column c, int64_t first, int64_t n,
                            void *out);
int snap_width(enum snap_column c); /* numbers of a row */
bool snap_whole(enum snap_column c);
const char *snap_text(const struct snap *s); /* kind of the files, for messages */
/* Path of the file that has a row, for messages. */
void snap_path(const struct snap *s, int file, char path[PATH_MAX]);

/* ---- units ---- */

/* The units of a file in those of a cosmological run. */
struct snap_units {
    double box_mpch; /* side of the box, comoving Mpc/h */
    double length;   /* box lengths per unit of length */
    double speed;    /* proper peculiar km/s per unit of velocity, at the time of the snapshot */
    double mass;     /* 1e10 solar masses / h per unit of mass */
    double mean;     /* mean density of all matter, as a mass: of the whole box, same unit */
    double a, omega_m, omega_l, h;
    const char *from; /* how the unit of length was found, for the log */
};
/* Values that replace or complete those of the files; 0: of the file. */
struct snap_given {
    double unit; /* unit of length, comoving Mpc/h */
    double h0, omega_m;
};
/* total: sum of all masses, units of the file; 0: not known. A unit of length that the files do not
 * tell is Mpc/h or kpc/h, whichever agrees with the total. */
MUST_USE enum err snap_units(const struct snap *s, const struct snap_given *g, double total,
                             struct snap_units *u);
