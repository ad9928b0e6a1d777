/* ckpt/source: a checkpoint as every program reads it, whatever its format.
 *
 * A source consists of a header and pieces (files, or parts of one). Each piece has its own octs
 * and particles, which are passed on in batches of bounded size. Cell values are passed on as the
 * state of a run, or field by field as stored. No function is collective; the ranks may divide the
 * pieces among themselves.
 *
 * A format is a struct source_kind: a table of functions that fill a struct source and pass on its
 * batches. lib/formats recognises the format of a directory. No file is trusted: a format checks
 * what it reads for consistency and against the size of the file. An error is one sentence with
 * file and location. */
#pragma once
#include <limits.h>

#include "ckpt/batch.h"
#include "ckpt/catalog.h"
#include "ckpt/ckpt.h"
#include "oct/fields.h"

enum source_mode {
    SOURCE_TREE,  /* no values */
    SOURCE_STATE, /* after source_state: head.nvar conserved variables, bit for bit where the
                     checkpoint allows; then the rows of `values`: nvalue values in all */
    SOURCE_STORED /* all fields in the order of `field`: gas in primitive variables, as RAMSES
                     stores it; any number of fields, one to three dimensions */
};

struct source;

/* source, piece and file are set by source_octs and source_parts. */
struct source_octs {
    const struct source *source;
    int piece, level, n;
    const char *file; /* gas file, for messages; lent */
    const okey *key;
    const unsigned char *split;     /* bit mask of refined cells c < 2^ndim */
    const unsigned char (*flag)[8]; /* refinement flags; 1: split the cell or keep it split */
    const double *const *val;       /* [8*value + cell][n] values; NULL in SOURCE_TREE */
};

/* Columns by name and by number, all doubles or int64_t; NULL: the source does not have the column.
 * Every source has the columns of a run: columns that a checkpoint lacks are filled in. */
#define WIDE_double double
#define WIDE_int64_t int64_t
#define WIDE_int32_t int64_t
#define WIDE_int8_t int64_t
struct source_parts {
    const struct source *source;
    int piece;
    int64_t n;
    const char *file; /* particle file, for messages; lent */
    union {
        struct {
            const double *x[3], *v[3];
#define COLUMN(symbol, member, type, ...) const WIDE_##type *member;
#define OPTION(symbol, member, type, ...) const WIDE_##type *member;
#include "part/columns.def"
        };
        const void *col[COL_MAX]; /* [source.columns.n] columns */
    };
};

typedef enum err source_octs_fn(const struct source_octs *o, void *ctx);
typedef enum err source_parts_fn(const struct source_parts *p, void *ctx);

struct source_kind;
struct manifest;

struct source {
    const struct source_kind *kind;
    void *impl;                   /* private data of the format */
    const struct ckpt_pick *pick; /* selection of batches; NULL: all (lent) */
    /* Memory of the caller for values, which a format may ignore; NULL: none (lent). */
    const struct ckpt_place *place;
    /* Octs and particles may be passed on before the checksums of their files are compared; the
     * caller discards everything after an error. */
    bool late;
    /* SOURCE_STATE: the caller has read the tree and only needs values: split and flag may be zero,
     * and the records of the tree are not verified again. */
    bool tree_known;
    /* Index of this rank among `sharers` ranks that read the same piece, each its own batches
     * (pick), with every batch wanted by one of them. The ranks divide the checksums of the piece's
     * files among themselves. sharers = 0: data left out by `pick` are not compared. */
    int share, sharers;

    char format[256]; /* description for messages, e.g. "RAMSES binary, big-endian, …" */
    char path[4000], ordering[129];
    struct ckpt_head head; /* header; tout and aout lent; provenance and namelist NULL */
    int number, npiece;    /* output number; number of pieces */
    int nwriter;           /* number of ranks that wrote the checkpoint */
    bool by_rank;          /* true if piece i was written by rank i */
    int nboundary;         /* boundary regions in the files; 0: periodic */
    int64_t coarse[3];     /* coarse cells inside the box */
    bool narrow;           /* true if the header is in single precision */
    int group;             /* files per group_NNNNN/ directory; 0: no such directories */
    bool sums;             /* true if SOURCE_STORED compares checksums of all values */
    struct manifest *list; /* list of files with checksums; NULL: none */
    char cooling[4096];    /* path of the cooling table; empty: none */
    int cooling_size[2];   /* points in density and temperature; 0: none */
    struct stars_formed formed;
    const struct catalog *sinks, *stellar; /* sinks and stellar objects, never NULL; lent */

    struct gas_vars gas; /* names of the hydro fields: head.gas */
    /* Fields of cells: variables of the gas, fields of other rows in the same files, gravity,
     * radiation; in all, nfield. Columns of particles, in their order in the files. */
    int nhydro, ngrav, nphoton, nfield, npart;
    field_set fields; /* rows of fields.def besides the variables of the gas */
    struct ckpt_field field[CKPT_FIELDS], part[CKPT_FIELDS];
    struct part_columns columns; /* batch columns by number */
    int column_at[COL_MAX];      /* batch column → index in part; −1: filled in */
    int part_at[CKPT_FIELDS];    /* index in part → batch column */

    int64_t numbtot[LEVEL_MAX + 2]; /* octs per level according to the header */
    struct ckpt_counts counts;      /* totals of the data passed on; zeroed by the caller first */

    bool is_cut;          /* true for a part of a checkpoint (ckpt/cut) */
    bool boundary_untold; /* true if boundary types are unknown */
    bool energy_untold;   /* true if the files do not have the indices of head.energy */
    /* Names of further columns and tables, for messages of formats that cannot store them. */
    char left_out[256];

    /* Set by source_state and source_whole. */
    int nvalue;
    field_set values;     /* as `fields`, of SOURCE_STATE */
    double gamma, smallr; /* of the run that resumes */
    struct gas_energies energy;
    bool exact;     /* values have all bits of the run that wrote them */
    bool state;     /* head has tout_next, aout_next, safe */
    bool corrected; /* set by open: further files contain the last bits of the values */
    bool foreign;   /* set by open: values as another code stored them, of any variables */
    /* Whether non-thermal pressures follow the pressure in `field`, and not the other way round as
     * in RAMSES's files. */
    bool ordered;

    /* Freed by source_close. */
    double *out_times;
    struct catalog *table;       /* [2] sinks, stellar objects */
    int64_t *lacking[COL_COUNT]; /* [CKPT_PART_BATCH] values of filled-in columns */
};

/* Damage reported by a format itself. `path` is the file; `location` may be empty. */
enum source_damage { DAMAGE_FILE, DAMAGE_MISSING, DAMAGE_COUNT };
typedef void source_damage_fn(void *ctx, enum source_damage d, const char *path,
                              const char *location, const char *what);

/* The stored decomposition of the box. All pointers start NULL; the caller frees them. */
struct source_domains {
    int64_t nbound;
    double *bound; /* [nbound] first keys of the ranks' domains */
    /* k-section tree, arrays by node: children and ranks from 1, 0: none */
    int64_t nlev, kmax, nnode;
    int64_t *axis, *next, *rank; /* axis 1..3 by depth; children; ranks */
    double *cut;
    double *lo, *hi; /* corners of the ranks' boxes: all x, then y, then z; NULL: not stored */
};

struct source_rank {
    int64_t octs[LEVEL_MAX + 2], ghosts, particles, bytes;
    /* Ascending ranks, from 1, whose octs are ghosts on this rank (owner: caller). */
    int npartner, *partner;
};

struct source_kind {
    const char *name;
    bool (*is)(const char *dir);
    /* Fills in the members above "Set by source_state". source_close frees them, also after
     * errors. */
    enum err (*open)(struct source *s);
    void (*close)(struct source *s); /* after errors too; NULL: there is nothing to do */
    enum err (*octs)(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                     void *ctx);
    /* passes on columns in the order of s->part through source_hand_parts */
    enum err (*parts)(struct source *s, int piece, source_parts_fn *fn, void *ctx);

    /* Optional functions: NULL where a format has nothing to return. */
    /* Checks that it can be the state of a run; sets nvalue, exact, state, gamma, smallr. */
    enum err (*state)(struct source *s);
    enum err (*text)(struct source *s, enum files_kind k, char **text, size_t *bytes);
    /* Path of the file that holds these values of a piece: AMR, HYDRO, GRAV or PART. */
    enum err (*file)(const struct source *s, enum files_kind k, int piece, char path[PATH_MAX]);
    enum err (*check_files)(struct source *s, source_damage_fn *fn, void *ctx);
    enum err (*check_piece)(struct source *s, int piece, source_damage_fn *fn, void *ctx);
    enum err (*domains)(struct source *s, struct source_domains *d);
    /* row[nwriter] is zeroed by the caller; octs of a level are stored in rank order. */
    enum err (*ranks)(struct source *s, struct source_rank *row);
};

/* Opens a directory of this format, with any number of dimensions, coarse cells and variables. */
MUST_USE enum err source_open_as(const struct source_kind *kind, const char *dir,
                                 struct source **out);
/* Opens a source whose impl exists before `open`; the format owns impl, even after an error. */
MUST_USE enum err source_open_with(const struct source_kind *kind, const char *dir, void *impl,
                                   struct source **out);
void source_close(struct source **s);
/* For the formats: head.nvar and head.gas become those of the state, which has three momenta
 * whatever the dimensions. */
void source_state_gas(struct source *s);
/* The magnetic field of another code is a field as any other for programs that only pass values on,
 * and so are non-thermal pressures; this makes them those of a state, if they are where RAMSES has
 * them: s->field and s->nhydro become those of a checkpoint of Ptah. was: NULL, or [nhydro] the
 * former places. Returns whether there are any. */
bool source_take_fields(struct source *s, int *was);
/* The order of the gas in RAMSES's files (oct/fields.h). */
struct gas_order source_order(const struct source *s);
/* The adiabatic indices of non-thermal energies of the run that resumes. */
void source_set_energies(struct source *s, const double gamma[GAS_ENERGIES]);
/* Fails if some of the fields are a magnetic field, but not one that source_take_fields takes. */
MUST_USE enum err source_check_magnetic(const struct source *s);
/* Sets nvalue from head.nvar and `values`, which are those of the state. */
void source_count_state(struct source *s);
/* The place of a field of the mesh among the stored fields; −1: it is not stored. */
int source_value_of(const struct source *s, int f);
/* Prepares for SOURCE_STATE; an error if this checkpoint cannot be the state of a run. gamma and
 * smallr are parameters of the resuming run, used to compute the energy where a format stores
 * pressure. 0: values of the checkpoint, for programs that only pass the state on. */
MUST_USE enum err source_state(struct source *s, double gamma, double smallr);
/* Prepares for a lossless copy to another checkpoint: *mode becomes SOURCE_STATE where the state
 * has every bit, and SOURCE_STORED for values stored by another code. Sets nvalue, gamma,
 * smallr. */
MUST_USE enum err source_whole(struct source *s, enum source_mode *mode);
/* Passes the own octs of a piece 0..npiece-1 to fn, levels ascending; an error of fn ends the walk.
 * Values are passed on as stored and may be NaN or infinite. */
MUST_USE enum err source_octs(struct source *s, int piece, enum source_mode mode,
                              source_octs_fn *fn, void *ctx);
/* Passes the particles of a piece to fn. With SOURCE_STATE positions, velocities and masses have
 * been checked (ckpt/sane); otherwise values are passed on as stored. */
MUST_USE enum err source_parts(struct source *s, int piece, enum source_mode mode,
                               source_parts_fn *fn, void *ctx);
/* Loads a text: FILES_NAMELIST is the namelist of the run, FILES_HISTORY the history of the
 * checkpoint. *text is NULL if the text is absent. The caller frees it with mem_free. */
MUST_USE enum err source_text(struct source *s, enum files_kind k, char **text, size_t *bytes);

/* Call after all pieces: checks that the levels match each other and the counts of the header. */
MUST_USE enum err source_check_tree(const struct source *s);
int source_values(const struct source *s, enum source_mode mode); /* number per cell */
int source_cells(const struct source *s);                         /* number per oct */
/* Refuses a checkpoint of fewer than three dimensions; what: of which there is nothing then, in the
 * plural, such as "halos". */
MUST_USE enum err source_in_space(const struct source *s, const char *what);
/* Number of velocities in the files of the gas. */
static inline int source_velocities(const struct source *s)
{
    return gas_velocities(s->head.ndim, s->head.magnetic);
}
/* Number of fields in the files of the gas: its variables, and further fields. */
static inline int source_hydro(const struct source *s)
{
    return s->nfield - s->ngrav - s->nphoton;
}
/* The kind of the file that has field f, HYDRO, GRAV or RT. */
enum files_kind source_file_of(const struct source *s, int f);
double source_dx(const struct source *s, int level); /* side of a cell, code units */
/* How far beyond a face a position may be by rounding, code units: −1e-17 + boxlen is boxlen, and
 * single precision has eight digits. */
double source_rounding(const struct source *s);
/* Path of the file that has these values, or of the checkpoint if the format has no `file`. */
void source_file(const struct source *s, enum files_kind k, int piece, char path[PATH_MAX]);

/* ---- for formats ---- */

/* Adds the fields of the rows of `fields` behind the variables of the gas, ngrav of gravity and
 * nphoton of radiation. */
MUST_USE enum err source_add_rows(struct source *s);
/* Adds a name to a list of fields. An error if the name is not valid or the list is full. */
MUST_USE enum err source_add_field(const char *path, struct ckpt_field *list, int *n,
                                   const char *name, char type);
/* Integer coordinates of the centres of n octs, from coarse cell `skip` on, in a box of `side` octs
 * of width 1 / scale. Returns whether all are integers. Adding 1.5·2^52 rounds to the nearest
 * integer, which is then in the low bits. */
bool source_places(int n, const double *restrict x, double skip, double scale, double side,
                   uint64_t *restrict ix);
/* Of a running state: its header and the fields of the gas, a piece a rank; struct source_kind's
 * state. */
MUST_USE enum err source_running(struct source *s, const struct ckpt_head *h, int ranks);
enum err source_running_state(struct source *s);
bool source_is_position(const struct source *s, int location); /* a column of particles */
/* The positions of a batch have been read (columns in the order of s->part): are the rest needed?
 */
bool source_picks_parts(const struct source *s, int64_t n, const void *const *by_location);
/* Passes a batch, columns in the order of s->part, to fn. */
MUST_USE enum err source_hand_parts(const struct source *s, int64_t n,
                                    const void *const *by_location, source_parts_fn *fn, void *ctx);
