/* ckpt/source: a checkpoint as every program reads it, whatever its format.
 *
 * A source is a header and pieces (files, or parts of one), each with its own octs and its
 * particles, given in batches of bounded size. Values of cells come as the state of a run, or field
 * by field as they are stored. Nothing here is collective; ranks may share out the pieces.
 *
 * A format is a struct source_kind: one table of functions that fill a struct source and give its
 * batches. Which format a directory has, lib/formats finds out. No file is trusted: a format checks
 * what it reads against itself and the file's size; errors are one sentence with file and place. */
#pragma once
#include <limits.h>

#include "ckpt/batch.h"
#include "ckpt/catalog.h"
#include "ckpt/ckpt.h"

enum source_mode {
    SOURCE_TREE,  /* no values */
    SOURCE_STATE, /* after source_state: conserved variables, head.nvar of them, bit for bit where
                     the checkpoint allows; then, with gravity, potential and acceleration: nvalue
                     in all */
    SOURCE_STORED /* all fields in the order of `field`: gas in primitive variables, as RAMSES
                     stores it; of any number, in one to three dimensions */
};

struct source;

/* source, piece, file: set by source_octs, source_parts. */
struct source_octs {
    const struct source *source;
    int piece, level, n;
    const char *file; /* the one with the gas, for messages; lent */
    const okey *key;
    const unsigned char *split;     /* bit c: cell c < 2^ndim is refined */
    const unsigned char (*flag)[8]; /* 1: is to be split or stay so */
    const double *const *val;       /* [8*value + cell][n]; NULL in SOURCE_TREE */
};

/* Columns by name and by number, all doubles or int64_t; NULL: the source has none. Every source
 * has those of every run: what a checkpoint lacks is filled in. */
#define WIDE_double double
#define WIDE_int64_t int64_t
#define WIDE_int32_t int64_t
#define WIDE_int8_t int64_t
struct source_parts {
    const struct source *source;
    int piece;
    int64_t n;
    const char *file; /* for messages; lent */
    union {
        struct {
            const double *x[3], *v[3];
#define COLUMN(symbol, member, type, ...) const WIDE_##type *member;
#define OPTION(symbol, member, type, ...) const WIDE_##type *member;
#include "part/columns.def"
        };
        const void *col[COL_MOST]; /* [source.columns.n] */
    };
};

typedef enum err source_octs_fn(const struct source_octs *o, void *ctx);
typedef enum err source_parts_fn(const struct source_parts *p, void *ctx);

struct source_kind;
struct manifest;

struct source {
    const struct source_kind *kind;
    void *impl;                   /* the kind's */
    const struct ckpt_pick *pick; /* lent; batches to be passed over are not read (NULL: none) */
    /* octs may be passed on before their files' checksums are compared: nothing is kept after an
     * error */
    bool late;

    char format[256]; /* what it is, for people: "RAMSES binary, big-endian, …" */
    char path[4000], ordering[129];
    struct ckpt_head head; /* tout, aout lent; provenance and namelist NULL */
    int number, npiece;    /* of the output · pieces to read it by */
    int nwriter;           /* ranks that wrote it */
    bool by_rank;          /* piece i is what rank i of them wrote */
    int nboundary;         /* physical boundaries that the files know of; 0: periodic */
    int64_t coarse[3];     /* coarse cells inside the box */
    bool narrow;           /* numbers of the header are of single precision */
    int group;             /* files in each group_NNNNN/; 0: no such directories */
    bool sums;             /* SOURCE_STORED compares all values with checksums */
    struct manifest *list; /* of its files with checksums; NULL: it has none */
    char cooling[4096];    /* path of its cooling table; empty: it has none */
    int cooling_size[2];   /* points in density and temperature; 0: none */
    struct stars_formed formed;
    const struct catalog *sinks, *stellar; /* never NULL; lent */

    struct gas_vars gas; /* names of the hydro fields: head.gas */
    /* Fields of cells: gas, then gravity. Columns of particles, in their order in the files. */
    int nhydro, ngrav, npart;
    struct ckpt_field field[CKPT_FIELDS], part[CKPT_FIELDS];
    struct part_columns columns; /* of a batch, by number */
    int column_at[COL_MOST];     /* column of a batch → place in part; −1: filled in */
    int part_at[CKPT_FIELDS];    /* place in part → column of a batch */

    int64_t numbtot[LEVEL_MAX + 2]; /* octs by level as the header says */
    struct ckpt_tally tally;        /* of what was passed on; zeroed by whoever begins to count */

    /* what the checkpoint has that is not read; empty: nothing */
    char unread[128];
    bool boundary_untold; /* the types of the boundaries are not known */
    /* names of further columns and tables, for people whose format has no place for them */
    char left_out[256];

    /* Set by source_state and source_whole. */
    int nvalue;
    double gamma, smallr; /* of the run that resumes */
    bool exact;           /* values are the very bits of the run that wrote */
    bool state;           /* head has tout_next, aout_next, safe */
    bool corrected;       /* set by open: files beside the values keep their last bits */
    bool foreign;         /* set by open: the values that another code stored, of any variables */

    /* Freed by source_close. */
    double *out_times;
    struct catalog *table;       /* [2] sinks, stellar objects */
    int64_t *lacking[COL_COUNT]; /* [CKPT_PART_BATCH] of columns that are filled in */
};

/* Damage that a kind reports by itself; `path`: the file, `place` may be empty. */
enum source_damage { DAMAGE_FILE, DAMAGE_MISSING, DAMAGE_COUNT };
typedef void source_damage_fn(void *ctx, enum source_damage d, const char *path, const char *place,
                              const char *what);

/* How the box was divided, as it is stored. All NULL at first; the caller frees. */
struct source_domains {
    int64_t nbound;
    double *bound; /* keys at which ranks begin */
    /* k-section tree, [node][column], columns apart: children and ranks from 1, 0: none */
    int64_t nlev, kmax, nnode;
    int64_t *axis, *next, *rank; /* axis 1..3 by depth */
    double *wall;
    double *lo, *hi; /* corners of the ranks' boxes: all x, then y, then z; NULL: not stored */
};

struct source_rank {
    int64_t octs[LEVEL_MAX + 2], ghosts, particles, bytes;
    /* ranks, from 1, ascending, whose octs it has as ghosts (owner: caller) */
    int npartner, *partner;
};

struct source_kind {
    const char *name;
    bool (*is)(const char *dir);
    /* From s->path to everything above "Set by source_state". On errors close frees. */
    enum err (*open)(struct source *s);
    void (*close)(struct source *s); /* after errors too */
    enum err (*octs)(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                     void *ctx);
    /* [s->part] columns by place go through source_hand_parts */
    enum err (*parts)(struct source *s, int piece, source_parts_fn *fn, void *ctx);

    /* NULL where a format has nothing to say. */
    enum err (*state)(struct source *s); /* can it be state? nvalue, exact, state, gamma, smallr */
    enum err (*text)(struct source *s, const char *name, char **text, size_t *bytes);
    /* whose values, "amr", "hydro", "grav" or "part", these are: path of the file of a piece */
    enum err (*file)(const struct source *s, const char *what, int piece, char path[PATH_MAX]);
    enum err (*check_files)(struct source *s, source_damage_fn *fn, void *ctx);
    enum err (*check_piece)(struct source *s, int piece, source_damage_fn *fn, void *ctx);
    enum err (*domains)(struct source *s, struct source_domains *d);
    /* [nwriter] zeroed; rows of a level are in order of rank */
    enum err (*ranks)(struct source *s, struct source_rank *row);
};

/* A directory of this kind. Any number of dimensions, coarse cells and variables. */
MUST_USE enum err source_open_as(const struct source_kind *kind, const char *dir,
                                 struct source **out);
void source_close(struct source **s);
/* The state is wanted: an error if this checkpoint cannot be one of a run. gamma, smallr: of the
 * run that resumes; where a format stores pressure, energy follows from them. 0: as in the
 * checkpoint, for programs that only pass it on. */
MUST_USE enum err source_state(struct source *s, double gamma, double smallr);
/* All is to be passed on to another checkpoint: *mode is SOURCE_STATE where that has every bit, and
 * SOURCE_STORED for what another code stored. nvalue, gamma, smallr. */
MUST_USE enum err source_whole(struct source *s, enum source_mode *mode);
/* Own octs of a piece 0..npiece-1, levels ascending; fn's error ends the walk. Values are as they
 * are stored, which may be no number. */
MUST_USE enum err source_octs(struct source *s, int piece, enum source_mode mode,
                              source_octs_fn *fn, void *ctx);
/* As state their positions, velocities and masses have been looked at (ckpt/sane); else they are as
 * they are stored. */
MUST_USE enum err source_parts(struct source *s, int piece, enum source_mode mode,
                               source_parts_fn *fn, void *ctx);
/* "namelist": what the run was made with; "compilation": its history; *text NULL if that is not
 * known. Caller frees with mem_free. */
MUST_USE enum err source_text(struct source *s, const char *name, char **text, size_t *bytes);

/* After all pieces: the levels fit together and match the header's counts. */
MUST_USE enum err source_check_tree(const struct source *s);
int source_values(const struct source *s, enum source_mode mode); /* of a cell */
int source_cells(const struct source *s);                         /* of an oct */
double source_dx(const struct source *s, int level); /* side of a cell in units of length */
/* The file that these values are in, or the checkpoint's path where the kind does not say. */
void source_file(const struct source *s, const char *what, int piece, char path[PATH_MAX]);

/* ---- for kinds ---- */

/* A name into a list of fields. An error if it is odd, or there are too many. */
MUST_USE enum err source_add_field(const char *path, struct ckpt_field *list, int *n,
                                   const char *name, char type);
bool source_is_position(const struct source *s, int place); /* a column of particles */
/* Positions of a batch, columns by place, are read: is it wanted? */
bool source_picks_parts(const struct source *s, int64_t n, const void *const *by_place);
/* A batch, columns by place, to fn. */
MUST_USE enum err source_hand_parts(const struct source *s, int64_t n, const void *const *by_place,
                                    source_parts_fn *fn, void *ctx);
