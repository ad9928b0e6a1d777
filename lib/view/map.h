/* view/map: maps of a checkpoint: pixels, and how they are drawn. */
#pragma once
#include "ckpt/source.h"
#include "plot/canvas.h"
#include "view/births.h"
#include "view/gas.h"
#include "view/unit.h"

enum map_weight { BY_DEFAULT, COLUMN, BY_MASS, BY_VOLUME, GREATEST };
enum map_scale { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

struct map_options {
    const char *field;
    int axis;                       /* line of sight: 0, 1, 2 */
    int pixels;                     /* a side */
    bool physical;                  /* units; else those of the code, where the field has some */
    double centre[3], width, depth; /* in units of the box */
    double recent;                  /* of sfr, Myr */
    bool has_range, full;           /* of the colours: given · min and max of the map */
    double lo, hi;
    enum map_weight weight;
    enum map_scale scale;
    bool has_colours; /* else a sequential map, or a diverging one for values of both signs */
    int colours;
};

/* The ends of the colours, and the least and greatest value. */
struct map_range {
    double lo, hi, min, max, total; /* total: sum times the area of a pixel */
    bool logarithmic;
};

struct map {
    const struct source *r;
    const struct map_options *o; /* lent */
    /* pixels a side; axes right, up, along the line of sight */
    int n, u, v, w;
    int field;                 /* -1: none */
    enum part_species species; /* of particles that are drawn */
    bool rate;                 /* of star formation */
    struct births births;
    struct gas gas;
    enum map_weight weight;
    bool periodic;
    double lo[3], hi[3]; /* region along u, v, w, in units of the box */
    int from[3], to[3];  /* images of the box that extend into it */
    double pixel;        /* its side */
    double *norm;        /* [n*n] */

    double *sum; /* [n*n] result: the values; the first row has the lowest coordinate */
    struct map_range range;
    int colours;
    char unit[48];
};

/* Reads the checkpoint. *m is zero; map_free also after an error. */
MUST_USE enum err map_make(struct map *m, struct source *r, const struct map_options *o);
void map_free(struct map *m);
/* An error if the colours are to be logarithmic and cannot be. */
MUST_USE enum err map_check_range(const struct map *m);

const char *map_weight_name(const struct map *m);
unsigned char *map_paint(const struct map *m);    /* 3 bytes a pixel, top row first; caller frees */
void map_plot(struct canvas *c, const void *map); /* with axes: a canvas_draw */
struct box map_plot_size(const struct map *m);
