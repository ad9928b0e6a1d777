/* inspect: declarations shared by the files of this program. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ckpt/source.h"
#include "comm/comm.h"
#include "grid/value.h"
#include "out/program.h"
#include "sphfile/either.h"
#include "view/line.h"
#include "view/map.h"
#include "view/profile.h"

enum mode {
#define MODE(symbol, ...) symbol,
#include "modes.def"
};

/* File formats; formats of pictures have the values of plot/picture.h. */
enum file_format {
    FORMAT_NONE,
    FORMAT_PNG,
    FORMAT_SVG,
    FORMAT_PDF,
    FORMAT_NPY,
    FORMAT_TSV,
    FORMAT_MP4,
    FORMAT_GIF,
    FORMAT_RGB,
    FORMAT_H5
};

/* Options of a phase diagram; colours and their range are in map_options. */
struct phase_options {
    int bins; /* bins along each axis */
    char field[2][80];
    /* ranges given for the axes; else the range of the gas */
    bool has_axis[2];
    double axis[2][2];
    /* ranges given for n_H (1/cm³) and T/μ (K) by name; check_phase hands them to the axes */
    bool has_named[2];
    double named[2][2];
};

struct stars_options {
    int bins;
};

struct halos_options {
    double link; /* linking length in mean particle separations */
    int min;
    bool bound;                 /* centres at the most bound particle */
    const char *members, *plot; /* output files, or NULL */
    enum file_format plot_format;
    double sigma8, ns; /* parameters of the fitted mass function */
};
enum tree_groups { BY_HALOS, BY_CLUMPS };
struct tree_options {
    enum tree_groups by;
    int tracers;            /* most bound members of a halo by which it is followed */
    int jump;               /* maximum number of checkpoints without a halo that is found again */
    int branches;           /* number of curves of the plot */
    const char *consistent; /* file in the layout of Consistent-Trees, or NULL */
};
enum { SETS = 32 };

/* Options of a light cone. */
struct cone_options {
    int bins;   /* of redshift */
    bool wedge; /* draws distances along and across the line of sight, not the sky */
};

extern const char *const PHASE_FIELDS[2]; /* the default */

struct sinks_history;
struct ions_history;
struct trees;
enum sinks_drawing { DRAW_MASS, DRAW_POWER, DRAW_STARS };
struct options {
    enum mode mode;
    const char *asked_mode; /* name of the mode, for messages; NULL: none was given */
    bool json, quiet;
    const char *data;        /* file of the numbers behind a plot, or NULL */
    bool panels;             /* maps of all checkpoints in one picture */
    const char *out;         /* file of a picture or table; NULL: FIELD_NNNNN.png and the like */
    enum file_format format; /* format of `out`; NONE: a picture and a table */
    enum file_format asked;  /* format requested by -f */
    int pixels;              /* pixels or bins along a side; 0: not given */
    bool force, bare;        /* replace files; picture without axes */
    double rate;             /* frames of a film per second */
    const char *camera;      /* of a film (film/camera.h); NULL: maps */
    bool physical;           /* physical units */
    const char *html;        /* path of the HTML page of a campaign; NULL: none */
    bool follow;             /* the table of a campaign again until its run has ended */
    int verbose;
    int depth;         /* depth of the check, 1 or 2 */
    double rtol, atol; /* tolerances of the comparison */
    size_t memory;     /* memory for tables, bytes */
    bool has_memory;   /* the option was given */
    struct map_options map;
    struct phase_options phase;
    struct stars_options stars;
    struct cone_options cone;
    enum sinks_drawing drawing;
    struct sinks_history *sinks; /* data of --sinks collected over all checkpoints */
    struct ions_history *ions;   /* data of --ions likewise */
    struct halos_options halos;
    struct tree_options tree;
    struct trees *trees; /* data of --trees collected over all checkpoints */
    struct profile_options profile;
    struct line_options line;
    int riemann_states; /* in the argument of --riemann */
    int nset;           /* number of options --set of the clump finder */
    const char *set[SETS];
    /* contamination: sphere given, else the mask; its centre is the densest position */
    bool has_sphere, densest;
    double sphere[4]; /* centre and radius in units of the box */
    bool many;        /* several checkpoints: output names each */
    int npath;
    char **paths;
    struct comm c;
};

#define MODE(symbol, letter, name, arg, set, run, ...)                                             \
    MUST_USE enum err run(const char *path, const struct options *o, int *status);
#include "modes.def"
struct picture;
/* Whether -o and --data may be written. */
MUST_USE enum err plot_allowed(const struct options *o);
/* Draws a plot to -o and writes its numbers to --data, as far as these are given. */
MUST_USE enum err plot_save(const struct options *o, const char *path, const struct picture *p);
/* A file of the plot, for messages; NULL: no plot is wanted. */
const char *plot_file(const struct options *o);
/* Saves a map as a picture or an array, and prints the name of the file. */
MUST_USE enum err map_save(const struct map *m, const char *path, const char *file,
                           const struct options *o);
struct ions_history *ions_begin(void);
/* Draws ionised fractions over the checkpoints, if requested, and frees them. */
MUST_USE enum err ions_end(struct options *o);
struct sinks_history *sinks_begin(void);
/* Draws the collected history of sinks, if requested, and frees it. */
MUST_USE enum err sinks_end_plot(struct options *o);

struct params;
struct sim;
struct clumps;
/* Loads a checkpoint as a run, into p and s that are zero, and finds its clumps; with --trees also
 * their members. All three must be freed after errors too. (collective, agreed) */
MUST_USE enum err clumps_load(const char *path, const struct options *o, struct params *p,
                              struct sim *s, struct clumps *k);
/* Prepares --trees: sorts o->paths by time, unless paths come from standard input. (collective,
 * agreed) */
MUST_USE enum err trees_begin(struct options *o);
/* Prints the trees of all checkpoints, unless one of them failed, and frees them. (collective,
 * agreed) */
MUST_USE enum err trees_end(struct options *o);

/* Prints what inspect -h prints: a line for two modes. */
void modes_print(FILE *out);
/* The mode whose name is near to a word, or NULL. */
const char *mode_meant(const char *word);

extern const char *const FORMATS[]; /* names of formats by their number less 1; NULL ends them */
const char *format_name(enum file_format f); /* name of a format, such as png */

/* Prints a usage error on rank 0; value, if any, follows the text. Returns the exit status. */
int options_refuse(const struct options *o, const char *what, const char *value);
int options_word(const char *value, const char *const *list); /* index in a list; -1: not there */
/* Reads "density,velocity,pressure", or both states if room is for two; returns the number of
 * states, 0 if the text is no state. */
int riemann_read(const char *value, struct riemann_state *to, int room);
/* Takes the right state from the operands, if --riemann had only the left one. */
int riemann_rest(struct options *o);
/* Whether a mode draws all checkpoints in one plot. */
bool draws_all(const struct options *o);
enum { PIXELS_MAX = 16384, BINS_MAX = 2048 };
/* The combinations of options that modes accept: the exit status, or GO_ON. */
int check_map(struct options *o);
int check_data(const struct options *o); /* of any mode */
int check_film(struct options *o);
int check_phase(struct options *o);
int check_plot(struct options *o);
int check_stars(struct options *o);
int check_cone(struct options *o);
int check_pdf(struct options *o);
int check_profile(struct options *o);
int check_line(struct options *o);
int check_halos(struct options *o);
int check_trees(struct options *o);
int check_clumps(struct options *o);
int check_campaign(struct options *o);

/* Parses the command line into o, whose member c is set. Returns the exit status, or GO_ON. Prints
 * on rank 0 only. */
int options_parse(int argc, char **argv, struct options *o);

/* JSON on stdout: one object per line. json_begin opens it with schema, kind and path, json_end
 * closes it. Members in between begin with a comma each, so that all functions below can be called
 * in any order. Infinities and NaN become null. */
enum { JSON_SCHEMA = 2 };
void json_begin(const char *kind, const char *path);
void json_end(void);
void json_string(const char *s); /* quoted value; bytes that are not UTF-8 are replaced */
void json_value(double x);       /* number as value */
void json_number(const char *name, double x);
void json_count(const char *name, int64_t n);
void json_text(const char *name, const char *s);
void json_bool(const char *name, bool x);

/* Checkpoints of uniform meshes (grid/grid.h). */
/* Whether `path`, or the second path of a comparison, is such a checkpoint. */
bool grid_inspects(const char *path, const struct options *o);
/* Runs the mode. (collective) */
MUST_USE enum err grid_inspect(const char *path, const struct options *o, int *status);

/* The modes of rank 0. */
MUST_USE enum err grid_summary(struct grid *g, const char *path, const struct options *o);
MUST_USE enum err grid_check(const char *path, const struct options *o, int *status);
MUST_USE enum err grid_compare(const char *a, const char *b, const struct options *o, int *status);
/* Ends the output of a comparison of checkpoints of one file: closes the list in JSON, or prints
 * the verdict. */
void compare_end(bool same, enum err err, const struct options *o);
/* Prints the digest of a checkpoint of one file, and those of its parts, `group` of them in
 * JSON. */
struct digest_lines {
    const char *group;
    int n;
    const char *const *name; /* [n] */
    uint64_t (*digest)[2];   /* [n] */
};
void print_digests(const char *path, const uint64_t state[2], const struct digest_lines *lines,
                   const struct options *o);
/* The distribution of the values of a field. */
MUST_USE enum err grid_pdf(struct grid *g, const char *path, const struct options *o);

/* Smoothed particles (sphfile/either.h), as for uniform meshes. */
bool sph_inspects(const char *path, const struct options *o);
/* (collective) */
MUST_USE enum err sph_inspect(const char *path, const struct options *o, int *status);

/* The distribution of values, which `each` hands over in pieces, the same each time. */
typedef void pdf_fn(void *ctx, int64_t n, const double *x);
struct pdf_of {
    const char *path, *name;
    const char *counts; /* what the values are of, in the plural */
    int number;         /* of the output */
    double t;
    enum err (*each)(const struct pdf_of *q, pdf_fn *fn, void *ctx);
    void *from;
    const void *what; /* for each */
};
MUST_USE enum err pdf_make(const struct pdf_of *of, const struct options *o);

/* The modes of rank 0. */
MUST_USE enum err sph_summary(struct sphfile_either *e, const struct options *o);
MUST_USE enum err sph_compare(const char *a, const char *b, const struct options *o, int *status);
