/* plot/picture: files of drawings, pixels and arrays. A file gets its final name when it is
 * complete. Path "-": standard output. An existing file is not overwritten unless temp_may_write
 * (io/temp) allows it. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "plot/canvas.h"

enum picture_format { PICTURE_NONE, PICTURE_PNG, PICTURE_SVG, PICTURE_PDF };
/* format by the ending .png, .svg or .pdf */
enum picture_format picture_format_of(const char *path);

struct picture {
    enum picture_format format;
    canvas_draw *draw;
    const void *what;
    double width, height; /* points; 0: CANVAS_WIDTH, CANVAS_HEIGHT */
    /* PNG text chunks: pairs of keyword and value, NULL-terminated; or NULL */
    const char *const *text;
};

/* Saves a drawing; PNG has two pixels per point. Without cairo this is an error. */
MUST_USE enum err picture_save(const char *path, const struct picture *p);
/* Writes a drawing to an open file; name: for messages. */
MUST_USE enum err picture_write(FILE *out, const char *name, const struct picture *p);

/* Writes the numbers behind a drawing, as its functions know them (numbers.h), without drawing. */
void picture_numbers(FILE *out, const struct picture *p);
/* Saves them as a table, or does nothing if path is NULL. source: what was drawn, for the head. */
MUST_USE enum err picture_save_numbers(const char *path, const char *source,
                                       const struct picture *p);

/* The pixels of a drawing, 3 bytes each, top row first (owner: caller); the format must be PNG. */
MUST_USE enum err picture_pixels(const struct picture *p, int *columns, int *rows,
                                 unsigned char **rgb);

/* Saves pixels as PNG: width*height*3 bytes, top row first; text as in struct picture. */
MUST_USE enum err pixels_save(const char *path, int width, int height, const unsigned char *rgb,
                              const char *const *text);
/* Writes the head of an array of doubles in NumPy's format; false: errno has the reason. */
bool array_head(FILE *out, int dimensions, const int *size);
/* Saves an array in NumPy's format: height rows of width doubles, first row first; or n of them,
 * x[n], as one of three dimensions. */
MUST_USE enum err array_save(const char *path, int width, int height, const double *x);
MUST_USE enum err arrays_save(const char *path, int n, int width, int height,
                              const double *const *x);
