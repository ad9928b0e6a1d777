/* api/ptah: checkpoints as arrays, for other languages. This is the interface of libptah.so, and
 * of the module `ptah` for Python, which reads these declarations: plain C, no macros, no types of
 * other headers.
 *
 * A function that can fail returns 0, or a number above 0; ptah_message() then has one sentence.
 * Calls of several threads must not overlap. Nothing uses MPI, prints, or ends the process, except
 * after running out of memory.
 *
 * All numbers are in code units, lengths too: the box is `boxlen` wide. Where a value has another
 * unit, its column names it. */
#pragma once
#include <stdint.h>

struct ptah; /* an open checkpoint */

/* A column of values. type: d (double) or q i h b (integers of 8, 4, 2, 1 bytes). */
struct ptah_column {
    char name[64], unit[32];
    char type;
    void *data; /* [n] values; ptah_free frees them, or ptah_table_free */
};

/* Columns of equal length. */
struct ptah_table {
    int64_t n;
    int columns;
    struct ptah_column *column;
};

/* A part of the box, periodic: shape 0: all of it; 1: centre and half-widths; 2: centre and
 * radius. */
struct ptah_region {
    int shape;
    double centre[3], half[3], radius;
};

/* A request for values of cells: leaf cells whose centres are in the region; with level > 0 all
 * cells of this level instead, refined ones too, which have the mean of their children; with
 * levelmax > 0 the leaf cells of a mesh that ends at this level. */
struct ptah_cells_ask {
    struct ptah_region region;
    int level, levelmax;
    int n;
    const char *const *name; /* [n] fields, or x y z dx level */
};

/* Particles in the region, of one family (ptah_names), or of all: family NULL. */
struct ptah_particles_ask {
    struct ptah_region region;
    const char *family;
    int n;
    const char *const *name; /* [n] columns */
};

/* A projection along an axis, 0 to 2, of a region of width × width × depth around a centre. weight:
 * 0 the usual one of the field, 1 column density, 2 mean by mass, 3 mean by volume, 4 maximum. */
struct ptah_map_ask {
    const char *field; /* of cells, or dm star other sfr tracers */
    int axis, pixels, weight, physical;
    double centre[3], width, depth;
};

/* A picture of columns × rows pixels, the lowest coordinates first; lo and hi: its region to the
 * right, up, and along the line of sight. */
struct ptah_picture {
    int columns, rows, axis[2];
    double lo[3], hi[3];
    struct ptah_column pixel;
};

struct ptah_profile_ask {
    double centre[3], radius;
    int bins, linear, physical;
};

/* Spectra of pairs of species, such as "dm" or "dmxgas". mesh: cells per side; fold: the box is
 * folded so many times; axis: line of sight of multipoles, -1: none. */
struct ptah_spectra_ask {
    int mesh, fold, axis;
    int n;
    const char *const *name;
};

/* Halos by friends of friends: linking length in mean separations, members at least; with
 * radius > 0 only those whose centres are in a sphere. */
struct ptah_halos_ask {
    double link, centre[3], radius;
    int64_t min;
};

const char *ptah_release(void); /* version and commit */
const char *ptah_message(void); /* the sentence of the last error of this thread */
/* Threads of each call: 1 unless this asks for others; 0: as OpenMP has it. A forked child must use
 * 1: threads do not survive a fork. */
void ptah_threads(int n);
void ptah_free(void *data);

/* Opens a checkpoint of any format, given as a directory or a file of it. */
int ptah_open(const char *path, struct ptah **out);
void ptah_close(struct ptah *p);
int ptah_is(const char *path); /* whether it looks like a checkpoint */

/* Number i of the header, from 0; returns 0 behind the last. */
int ptah_number(const struct ptah *p, int i, const char **name, double *value);
/* Texts, lent until the checkpoint is closed; NULL: it has none. what: format, ordering. */
const char *ptah_word(const struct ptah *p, const char *what);
/* The namelist or the history, a block for ptah_free; NULL: the checkpoint has none. */
int ptah_text(struct ptah *p, const char *what, char **text);
/* Name i of a list, from 0; NULL behind the last. list: fields (stored), computed (fields that are
 * computed from them), particles (columns), families. */
const char *ptah_name(const struct ptah *p, const char *list, int i);
/* The factor from code units to a physical unit, whose name becomes *unit. */
double ptah_unit(const struct ptah *p, const char *name, const char **unit);

/* Tables are filled by the caller's request; the caller frees them. */
int ptah_cells(struct ptah *p, const struct ptah_cells_ask *ask, struct ptah_table *out);
int ptah_particles(struct ptah *p, const struct ptah_particles_ask *ask, struct ptah_table *out);
/* what: sinks or stellar. */
int ptah_catalog(const struct ptah *p, const char *what, struct ptah_table *out);
int ptah_map(struct ptah *p, const struct ptah_map_ask *ask, struct ptah_picture *out);
int ptah_profile(struct ptah *p, const struct ptah_profile_ask *ask, struct ptah_table *out);
int ptah_spectra(struct ptah *p, const struct ptah_spectra_ask *ask, struct ptah_table *out);
int ptah_halos(struct ptah *p, const struct ptah_halos_ask *ask, struct ptah_table *out);
/* Frees the table and those columns whose data are not NULL. */
void ptah_table_free(struct ptah_table *t);
