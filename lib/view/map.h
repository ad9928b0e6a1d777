/* view/map: maps of a checkpoint as pixels with values; atlas/atlas.h draws them. */
#pragma once
#include "ckpt/source.h"
#include "plot/scale.h"
#include "streamlines/streamlines.h"
#include "view/births.h"
#include "view/gas.h"
#include "view/unit.h"

enum map_weight { BY_DEFAULT, COLUMN, BY_MASS, BY_VOLUME, GREATEST };
/* vector whose components in the plane of the map are drawn as lines */
enum map_lines { LINES_NONE, LINES_MAGNETIC, LINES_VELOCITY };
enum { MAP_LINES = 30, MAP_LINES_MIN = 2, MAP_LINES_MAX = 200 };
enum { MAP_LEVELS = 16, MAP_CONTOURS_MAX = 50, MAP_UNSMOOTHED = -1, MAP_SMOOTH_MAX = 4000 };

struct map_options {
    const char *field;
    int axis;      /* line of sight: axis 0, 1 or 2 */
    int pixels;    /* pixels along a side */
    bool physical; /* physical units, else code units */
    bool mesh;     /* outlines of octs over the map, in 3-D of those at its plane */
    enum map_lines lines;
    int lines_across; /* number of separations of lines across the map; 0: MAP_LINES */
    double centre[3], width, depth; /* in units of the box */
    /* contours: so many, at equal steps of the colours, or at these values */
    int contours, levels;
    double level[MAP_LEVELS];
    bool ruler; /* scale bar, and the time, over the map */
    /* particles are smoothed over so many neighbours; MAP_UNSMOOTHED: drawn as cubes; 0: dark
     * matter with few particles a pixel is smoothed over atlas's number */
    int smooth;
    double recent; /* time over which star formation is averaged, Myr */
    enum map_weight weight;
    struct scale_ask scale;
};

/* A particle that is drawn as a cube of density q around x, along u, v, w; x and its size are in
 * units of the box. */
struct map_grain {
    int64_t id;
    double x[3], size, q;
};

struct map;
/* Draws particles in another way than as cubes. take: false: this one becomes a cube. end: after
 * the last one. */
struct map_taker {
    bool (*take)(void *ctx, struct map *m, const struct map_grain *g);
    void (*end)(void *ctx, struct map *m);
    void *ctx;
};

struct map {
    const struct source *r;
    const struct map_options *o; /* lent */
    int n, rows;               /* pixels to the right and up: as many, unless the box is no cube */
    int u, v, w;               /* axes to the right, up, and along the line of sight */
    double side[3];            /* sides of the box along these in units of boxlen */
    bool plain;                /* values of a uniform mesh (lib/grid), which are in code units */
    int field;                 /* index of the field; -1: none */
    enum part_species species; /* species of particles to draw */
    bool rate;                 /* star formation rate */
    bool tracers;              /* tracers, with the mass of gas that they stand for */
    struct births births;
    struct gas gas;
    struct curl *curl; /* of the region, if the field needs it; NULL: none */
    enum map_weight weight;
    bool periodic;
    double lo[3], hi[3]; /* region along axes u, v, w, in units of the box */
    int from[3], to[3];  /* first and last periodic image of the box along u, v, w */
    double pixel, row;   /* width and height of a pixel, in units of the box */
    double *norm;        /* [rows*n] sum of weights */

    double *sum; /* [rows*n] result; the first row has the lowest coordinate */
    struct colour_scale range;
    double total; /* sum of the pixels times the area of a pixel */
    char unit[48];
    int64_t outlines, room; /* of octs: lower corner, width and height, in units of the box */
    double (*outline)[4];   /* [outlines] */
    struct streamlines lines;
    const struct map_taker *taker; /* while particles are read; NULL: none */
    /* texts of the picture other than those of the checkpoint, lent; NULL: those: its title, labels
     * of its axes and its colours */
    const char *title, *label[3];
};

/* Steps of map_make, for other cells than those of octs: the region, from the options and the
 * members r to side, periodic; a cell, whose lower corner and size are in units of the box, along
 * u, v, w, with its value, times its weight in means, and its weight; the end. */
void map_begin(struct map *m);
void map_lay(struct map *m, const double corner[3], const double size[3], double q, double w);
void map_end(struct map *m);
/* Reads the checkpoint. *m is zero on entry; map_free must be called after errors too. */
MUST_USE enum err map_make(struct map *m, struct source *r, const struct map_options *o);
MUST_USE enum err map_make_by(struct map *m, struct source *r, const struct map_options *o,
                              const struct map_taker *taker);
void map_lay_grain(struct map *m, const struct map_grain *g); /* the cube of a particle */
void map_free(struct map *m);
/* Fails if colours are to be logarithmic but the range does not allow it. */
MUST_USE enum err map_check_range(const struct map *m);

/* The choice of colours for this map, or for several of its kind. */
struct scale_ask map_scale_ask(const struct map *m);
const char *map_weight_name(const struct map *m);
unsigned char *map_paint(const struct map *m); /* RGB pixels, top row first; caller frees */
/* Longer side of the pixels in a plot, in points. A pixel of the map takes a whole number of pixels
 * of a PNG, which has two per point, unless the map is larger than the plot. */
double map_side(const struct map *m);
