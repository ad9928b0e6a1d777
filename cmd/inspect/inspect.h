/* inspect: what the files of this program share. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/source.h"
#include "comm/comm.h"
#include "out/program.h"
#include "view/map.h"
#include "view/profile.h"

enum mode {
#define MODE(symbol, ...) symbol,
#include "modes.def"
};

/* File formats; the formats of pictures have the numbers of plot/picture.h. */
enum file_format { FORMAT_NONE, FORMAT_PNG, FORMAT_SVG, FORMAT_PDF, FORMAT_NPY, FORMAT_TSV };

/* Of a phase diagram; colours and their range are those of map_options. */
struct phase_options {
    int bins;         /* a side */
    bool has_axis[2]; /* n_H in 1/cm³, T/μ in K: else the range of the gas */
    double axis[2][2];
};

struct stars_options {
    int bins;
};

struct halos_options {
    double link; /* mean separations */
    int min;
    bool bound;                 /* centres */
    const char *members, *plot; /* files, or NULL */
    enum file_format plot_format;
    double sigma8, ns; /* of the fit */
};
enum { SETS = 32 };

struct sinks_history;
enum sinks_drawing { DRAW_MASS, DRAW_POWER, DRAW_STARS };
struct options {
    enum mode mode;
    bool json, quiet;
    const char *out;         /* file of a picture or table; NULL: FIELD_NNNNN.png and the like */
    enum file_format format; /* of it; NONE: a picture and a table */
    enum file_format asked;  /* by -f */
    int pixels;              /* or bins; 0: not given */
    bool force, bare;        /* replaces files · a picture without axes */
    bool physical;           /* units */
    const char *html;        /* the page of a campaign; NULL: none */
    int verbose;
    int depth;         /* of the check: 1, 2 */
    double rtol, atol; /* of the comparison */
    size_t memory;     /* bytes for tables */
    bool has_memory;   /* memory was given */
    struct map_options map;
    struct phase_options phase;
    struct stars_options stars;
    enum sinks_drawing drawing;
    struct sinks_history *sinks; /* of --sinks: what all checkpoints have told */
    struct halos_options halos;
    struct profile_options profile;
    int nset; /* of the clumps: NAME=VALUE */
    const char *set[SETS];
    bool has_sphere, densest; /* of the contamination: else the mask · its centre is to be found */
    double sphere[4];         /* centre and radius in units of the box */
    bool many;                /* more than one checkpoint: say which */
    int npath;
    char **paths;
    struct comm c;
};

#define MODE(symbol, letter, name, arg, set, run, ...)                                             \
    MUST_USE enum err run(const char *path, const struct options *o, int *status);
#include "modes.def"
struct sinks_history *sinks_begin(void);
/* Draws what the checkpoints told, if that is asked for, and frees it. */
MUST_USE enum err sinks_end_plot(struct options *o);

const char *format_name(enum file_format f); /* png, svg, pdf, npy, tsv */

/* Fills in o, whose member c is set; returns the exit status, or GO_ON. Prints on rank 0 only. */
int options_parse(int argc, char **argv, struct options *o);

/* JSON on stdout: an object a line. json_begin opens it, with the schema, its kind and the path,
 * and json_end closes it; in between members: each begins with a comma of its own, so that all
 * calls below are alike. Not finite numbers are null. */
enum { JSON_SCHEMA = 2 };
void json_begin(const char *kind, const char *path);
void json_end(void);
void json_string(const char *s); /* a value, quoted; bytes that are no UTF-8 are replaced */
void json_value(double x);       /* a value */
void json_number(const char *name, double x);
void json_count(const char *name, int64_t n);
void json_text(const char *name, const char *s);
void json_bool(const char *name, bool x);
