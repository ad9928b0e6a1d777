/* plot/scale: the colours of values: their range, without a few values that are far from all
 * others, whether it is linear or logarithmic, and the colour map, for one image or all of a
 * film. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plot/frame.h"

enum scale_kind { SCALE_AUTO, SCALE_LINEAR, SCALE_LOG };

/* The wishes of the user. */
struct scale_ask {
    /* has_range: range of colours given; full: colours from min to max of the values */
    bool has_range, full;
    double lo, hi;
    enum scale_kind kind;
    /* colour map given; else a sequential map, or a diverging one for values of both signs */
    bool has_colours;
    int colours;
    double threshold; /* above 0: linear up to it, logarithmic beyond, for both signs */
    double from;      /* the range begins at this share of the mean, or above; 0: anywhere */
};

struct colour_scale {
    double lo, hi, min, max; /* range of the colours; minimum and maximum of the values */
    bool logarithmic;
    double threshold; /* above 0: linear up to it, logarithmic beyond */
    int colours;
};

/* Values of one or more images. Zero at first, but for `images`. */
struct scale_values {
    int images; /* number of images that will be added; 0: one */
    double min, max, total;
    int64_t n; /* values that are finite */
    size_t samples, room;
    double *sample; /* every so many of the values of each image */
};
void scale_add(struct scale_values *v, const double *x, size_t n);
void scale_free(struct scale_values *v);
/* Chooses the range. */
void scale_choose(const struct scale_values *v, const struct scale_ask *ask,
                  struct colour_scale *s);

/* The bar of colours as an axis. */
struct axis scale_axis(const struct colour_scale *s, const char *name);
/* A value as a share of the range of colours. */
double scale_share(const struct colour_scale *s, double x);
double scale_value(const struct colour_scale *s, double share); /* its inverse */
/* Name of the kind: linear, logarithmic, or symmetric. */
const char *scale_name(const struct colour_scale *s);

/* Pixels, 3 bytes each, top row first, of rows of n values, the lowest row first; black where there
 * is no value. The caller frees. */
unsigned char *scale_paint(const struct colour_scale *s, int n, int rows, const double *x);
