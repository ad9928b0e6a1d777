/* ckpt/source: a checkpoint as a restart sees it, whatever its format.
 *
 * A source is a header and pieces (files), each with its own octs and its particles, given in
 * batches of bounded size. Values are state: conserved variables, bit for bit where the checkpoint
 * allows. Nothing here is collective; ranks may share out the pieces. A format is a struct
 * source_kind; which it is, source_open finds out. */
#pragma once
#include "ckpt/catalog.h"
#include "ramses/read.h"

/* gas: rows 0..nvar-1 are the conserved variables. Then, with gravity, potential and acceleration.
 */
struct source_octs {
    int level, n;
    const char *file; /* the one with the gas, for messages; lent */
    const okey *key;
    const unsigned char *split;     /* bit c: cell c is refined */
    const unsigned char (*flag)[8]; /* 1: is to be split or stay so */
    const double *const *val;       /* [8*value + cell][n]; NULL if not asked for */
};

/* Columns by name and by number, all doubles or int64_t; NULL: the source has none. Every source
 * has those of every run: what a checkpoint lacks is filled in. */
#define WIDE_double double
#define WIDE_int64_t int64_t
#define WIDE_int32_t int64_t
#define WIDE_int8_t int64_t
struct source_parts {
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

struct source {
    const struct source_kind *kind;
    const struct ckpt_pick *pick; /* lent; batches to be passed over are not read (NULL: none) */
    /* octs may be handed on before their files' checksums are compared: nothing is kept after an
     * error */
    bool late;
    void *impl;
    const char *format; /* what it is, for people */
    char path[4000], ordering[129];
    struct ckpt_head head; /* tout, aout lent */
    int number, npiece, nvalue;
    double gamma, smallr;                  /* of the run that goes on */
    bool exact;                            /* values are the very bits of the run that wrote */
    bool state;                            /* head has tout_next, aout_next, safe */
    bool narrow;                           /* numbers of the header are of single precision */
    const struct catalog *sinks, *stellar; /* never NULL; lent */
    char cooling[4096];                    /* path of its cooling table; empty: it has none */
    const struct ckpt_field *gas;          /* [nvar] names of the gas variables; lent */
    struct stars_formed formed;
    struct part_columns columns;
    int column_at[COL_MOST]; /* for kinds: their places in a batch, −1: filled in */
    /* names of further columns and tables, for people whose format has no place for them */
    char left_out[256];
};

struct source_kind {
    const char *name;
    bool (*is)(const char *dir);
    enum err (*open)(struct source *s);
    void (*close)(struct source *s);
    enum err (*octs)(struct source *s, int piece, bool values, source_octs_fn *fn, void *ctx);
    enum err (*parts)(struct source *s, int piece, source_parts_fn *fn, void *ctx);
    enum err (*text)(struct source *s, const char *name, char **text, size_t *bytes);
};

extern const struct source_kind source_ramses, source_hdf5;
/* For them, whose impl is a struct ramses. */
/* sinks, stellar, cooling, gas, columns */
MUST_USE enum err source_set_rest(struct source *s, const struct ramses *r);
void source_files_close(struct source *s);
MUST_USE enum err source_files_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx);
MUST_USE enum err source_files_text(struct source *s, const char *name, char **text, size_t *bytes);

/* gamma, smallr: of the run that goes on; where a format stores pressure, energy follows from them.
 * 0: as in the checkpoint, for programs that only pass it on. */
MUST_USE enum err source_open(const char *dir, double gamma, double smallr, struct source **out);
void source_close(struct source **s);
/* Own octs of a piece 0..npiece-1, levels ascending; fn's error ends the walk. Values are as they
 * are stored, which may be no number; those of particles have been looked at (ckpt/sane). */
MUST_USE enum err source_octs(struct source *s, int piece, bool values, source_octs_fn *fn,
                              void *ctx);
MUST_USE enum err source_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx);
/* "namelist": what the run was made with; "compilation": its history; *text NULL if that is not
 * known. Caller frees with mem_free. */
MUST_USE enum err source_text(struct source *s, const char *name, char **text, size_t *bytes);
