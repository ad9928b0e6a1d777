/* inspect: what the files of this program share. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/source.h"
#include "comm/comm.h"

enum mode {
    SUMMARY,
    DIGEST,
    TREE,
    PARAMS,
    CHECK,
    COMPARE,
    MAP,
    CONTAMINATION,
    PHASE,
    STARS,
    HALOS,
    CLUMPS,
    CAMPAIGN
};

/* Exit status: the max over all checkpoints. */
enum { DONE = 0, NO = 1, TROUBLE = 2 };

static const double SOLAR_MASS = 1.98892e33; /* g */

enum map_weight { BY_DEFAULT, COLUMN, BY_MASS, BY_VOLUME, GREATEST };
enum map_scale { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

struct map_options {
    const char *field;
    const char *out;                /* file; NULL: FIELD_NNNNN.png */
    int axis;                       /* line of sight: 0, 1, 2 */
    int pixels;                     /* a side */
    bool raw;                       /* .npy instead of a picture */
    double centre[3], width, depth; /* in units of the box */
    double recent;                  /* of sfr, Myr */
    bool has_range;
    double lo, hi;
    enum map_weight weight;
    enum map_scale scale;
    int colours;
};

enum phase_format { PHASE_PNG, PHASE_SVG, PHASE_TSV, PHASE_BOTH };

/* Of a phase diagram; file, colours and their range are those of map_options. */
struct phase_options {
    int bins; /* a side */
    enum phase_format format;
    bool has_axis[2]; /* n_H in 1/cm³, T/μ in K: else the range of the gas */
    double axis[2][2];
};

struct stars_options {
    int bins;
    bool svg; /* the plot, else PNG */
};

enum halos_format { HALOS_PNG, HALOS_SVG, HALOS_TSV };

struct halos_options {
    double link; /* mean separations */
    int64_t least;
    const char *members, *plot; /* files, or NULL */
    enum halos_format plot_format;
    double sigma8, ns; /* of the fit */
};
enum { SETS = 32 };

struct options {
    enum mode mode;
    bool json, quiet;
    int verbose;
    int depth;         /* of the check: 1, 2 */
    double rtol, atol; /* of the comparison */
    size_t memory;     /* bytes for tables */
    bool has_memory;   /* it was given */
    struct map_options map;
    struct phase_options phase;
    struct stars_options stars;
    struct halos_options halos;
    int nset; /* of the clumps: NAME=VALUE */
    const char *set[SETS];
    bool has_sphere, densest; /* of the contamination: else the mask · its centre is to be found */
    double sphere[4];         /* centre and radius in units of the box */
    bool many;                /* more than one checkpoint: say which */
    int npath;
    char **paths;
    struct comm c;
};

/* Each reads a checkpoint and prints to stdout; `path` is what the user called it. *status becomes
 * NO where that is the answer. digest_print, phase_draw, halos_print and clumps_print are
 * collective, the others are rank 0's alone. */
MUST_USE enum err summary_print(const char *path, const struct options *o);
MUST_USE enum err digest_print(const char *path, const struct options *o);
MUST_USE enum err tree_print(const char *path, const struct options *o);
MUST_USE enum err params_print(const char *path, const struct options *o);
MUST_USE enum err check_print(const char *path, const struct options *o, int *status);
MUST_USE enum err compare_print(const char *a, const char *b, const struct options *o, int *status);
MUST_USE enum err map_draw(const char *path, const struct options *o);
MUST_USE enum err phase_draw(const char *path, const struct options *o);
MUST_USE enum err clumps_print(const char *path, const struct options *o);
MUST_USE enum err stars_print(const char *path, const struct options *o);
MUST_USE enum err halos_print(const char *path, const struct options *o);
MUST_USE enum err campaign_print(const char *path, const struct options *o, int *status);
MUST_USE enum err contamination_print(const char *path, const struct options *o, int *status);

enum { OPTIONS_GO_ON = -1 };
/* Fills in o, whose member c is set; returns the exit status, or OPTIONS_GO_ON. Prints on rank 0
 * only. */
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
