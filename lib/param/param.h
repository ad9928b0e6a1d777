/* param/param: all parameters of a run, from a RAMSES namelist and from group/name=value on the
 * command line.
 *
 * One row a parameter, in params.def; from it come the members of struct params, the reader, the
 * checks, the listing of `simulate -p` and the record kept in checkpoints. Members carry the
 * namelist's names in lower case, grouped as there: par.run.nsubcycle[0] is nsubcycle(1) of
 * &RUN_PARAMS. (`static` is par.run.static_.) Element 0 of an array is the namelist's element 1; of
 * a level-wise array it belongs to level levelmin.
 *
 * A name that RAMSES or cuRAMSES knows is never "unknown", and never silently ignored: see enum
 * param_status. Order of use: param_read_text, any number of param_set, then param_check once.
 * All local: with many ranks, let one read and broadcast the text or the struct, which is plain
 * memory, and large: keep it on the heap. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum {
    PARAM_LEVELS = 100,             /* level-wise arrays (as MAXLEVEL of RAMSES) */
    PARAM_REGIONS = 100,            /* initial regions */
    PARAM_BOUNDS = 100,             /* boundary regions */
    PARAM_OUTPUTS = 1000,           /* output times */
    PARAM_GAS = 5,                  /* variables of a gas without passive scalars */
    PARAM_SCALARS = 64 - PARAM_GAS, /* passive scalars: 64 conserved variables less these */
    PARAM_PHOTONS = 16,             /* photon groups of RAMSES-RT */
    PARAM_FFT_LEVEL = 6, /* Fourier transforms solve levels from here on if use_fftw is not given */
#ifdef PTAH_MORTON128
    PARAM_LEVEL_LIMIT = 42 /* = OKEY_LEVELS (oct/okey.h) */
#else
    PARAM_LEVEL_LIMIT = 21
#endif
};

typedef char param_string[256];

/* The number of rows. */
enum {
    PARAM_ROWS = 0
#define ROW(...) +1
#define ALIAS(...)
#define GROUP(...)
#define ENDGROUP(...)
#include "param/params.def"
};

struct params {
#define ROW(type, kind, group, member, name, dims, ...) type member dims;
#define ALIAS(...)
#define GROUP(group, ...) struct param_##group {
#define ENDGROUP(group)                                                                            \
    }                                                                                              \
    group;
#include "param/params.def"

    /* By row: was it set by the user (and is it in force), and the highest index set. Read by
     * param_given. */
    unsigned char given[PARAM_ROWS];
    int count[PARAM_ROWS];
    /* By row: line of the namelist that sets it whole, and an earlier one that does too; 0: none */
    int line[PARAM_ROWS], twice[PARAM_ROWS];
    /* By row: 1 + the number of the group that the user gave it in (an alias); 0: its own */
    unsigned char alias[PARAM_ROWS];
};

void param_init(struct params *p); /* all defaults */
/* Defaults, then the text of a namelist. Errors give file, line, group, name and the allowed
 * values; `file` is used in messages only. */
MUST_USE enum err param_read_text(struct params *p, const char *text, size_t bytes,
                                  const char *file);
/* Parameters of another program or another version: settings that this program does not know are
 * skipped and counted, and values are accepted whether supported or not. For comparison, not for
 * running. */
MUST_USE enum err param_read_loose(struct params *p, const char *text, size_t bytes,
                                   const char *file, int *left_out);
/* For nml_parse. */
struct nml_names;
extern const struct nml_names param_names;
/* Prints what the namelist, which param_read_text takes, has outside of groups and looks as if it
 * were meant, and the like, one a line. Returns the number. */
int param_remarks(const char *text, size_t bytes, const char *file, FILE *out);
/* One `group/name=value`, with or without `_params`; the group may be left out where the name is in
 * one group only. The value is written as in a namelist; texts need no quotes. Later settings win.
 */
MUST_USE enum err param_set(struct params *p, const char *assignment);
/* Completes and checks the whole: as in RAMSES, &HYDRO_PARAMS has no effect without hydro and
 * &REFINE_PARAMS none with levelmax = levelmin (their values return to the defaults), omega_b is 0
 * without hydro, and noutput = 0 means as many as are listed; it is 0 where none are. */
MUST_USE enum err param_check(struct params *p);
/* Checks only what clumpfind=.true. needs. */
MUST_USE enum err param_check_clumps(const struct params *p);
/* Checks what sink=.true. needs. */
MUST_USE enum err param_check_sinks(const struct params *p);
/* Are the sinks those of RAMSES, by &SINK_PARAMS? Otherwise they are those of Horizon-AGN. */
bool param_sinks_ramses(const struct params *p);
/* Do they form out of clumps? */
bool param_creates_sinks(const struct params *p);
/* Do stars form? */
bool param_stars(const struct params *p);
/* Do they explode as debris, with blast waves? */
bool param_debris(const struct params *p);
/* Do they give momentum to all gas around? */
bool param_momentum(const struct params *p);
/* Do stars give mass back by a table of yields? */
bool param_yields(const struct params *p);

/* Did the user set it, and is it in force? Group as in struct params; the name must exist. */
bool param_given(const struct params *p, const char *group, const char *name);
/* The highest index set (of 2-D arrays the highest second index), 0 if none. */
int param_given_count(const struct params *p, const char *group, const char *name);

void param_list(FILE *out); /* every parameter: type, default, range, status, help (simulate -p) */
/* Everything that was given, as a namelist: that of a run with settings on the command line. The
 * caller frees it with mem_free. */
char *param_namelist(const struct params *p);

/* Parameter that a restart changes. Of an array, the first element that differs. Elements of levels
 * and regions that do not exist do not count, nor do names without effect, paths, and groups that
 * either run does not read. */
struct param_change {
    char name[64]; /* group_params/name(i) */
    const char *was, *is;
    bool model; /* otherwise it may change freely */
};
typedef void param_change_fn(void *ctx, const struct param_change *c);
void param_compare(const struct params *was, const struct params *is, param_change_fn *fn,
                   void *ctx);
/* Prints names that were given but have no effect in a run on so many ranks, a line for each
 * reason, those given twice, and what is most likely a mistake; a line of the log each, with a
 * blank before it. Returns the number of findings. After param_check. */
int param_unused(const struct params *p, int ranks, FILE *out);
/* Prints a line of the log with the settings in force that differ from the defaults and change no
 * result, but speed, memory or checks; nothing if there are none. Returns their number. */
int param_settings(const struct params *p, int ranks, FILE *out);
