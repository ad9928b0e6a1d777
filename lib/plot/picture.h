/* plot/picture: files of drawings, pixels and arrays. They get their name when they are complete.
 * Path "-": standard output. A file that exists is kept: temp_may_write (io/temp). */
#pragma once
#include <stdio.h>

#include "base/err.h"
#include "plot/canvas.h"

enum picture_format { PICTURE_NONE, PICTURE_PNG, PICTURE_SVG, PICTURE_PDF };
enum picture_format picture_format_of(const char *path); /* by its ending, .png, .svg or .pdf */

struct picture {
    enum picture_format format;
    canvas_draw *draw;
    const void *what;
    double width, height;    /* in points; 0: CANVAS_WIDTH, CANVAS_HEIGHT */
    const char *const *text; /* pairs of keyword and value, ended by NULL, stored in PNG; or NULL */
};

/* Two pixels a point in PNG. An error in a build without cairo. */
MUST_USE enum err picture_save(const char *path, const struct picture *p);
/* picture_save into an open file, whose name is for messages. */
MUST_USE enum err picture_write(FILE *out, const char *name, const struct picture *p);

/* Bare pixels, as PNG: width*height*3 bytes, top row first. text as above. */
MUST_USE enum err pixels_save(const char *path, int width, int height, const unsigned char *rgb,
                              const char *const *text);
/* NumPy's format: height rows of width doubles, first row first. */
MUST_USE enum err array_save(const char *path, int width, int height, const double *x);
