/* plot/canvas: the surface of a plot: an SVG file, or pixels. Points from the top left corner. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

enum { CANVAS_WIDTH = 720, CANVAS_HEIGHT = 520 };
enum {
    CANVAS_FONT = 14,
    CANVAS_SMALL = 10,
    CANVAS_RAISE = 6
}; /* heights of letters; of exponents, and how far these are raised */

struct pen {
    unsigned rgb;
    double width;
    bool dashed;
};

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* ^ raises the digits (and −) after it. up: written upwards. */
struct label {
    double x, y; /* of the anchor, on the baseline */
    enum anchor anchor;
    bool up;
    const char *text;
};

struct canvas {
    void *to;
    void (*line)(void *to, int n, const double (*xy)[2], struct pen pen); /* through n points */
    /* a rectangle of one colour */
    void (*fill)(void *to, double x, double y, double width, double height, unsigned rgb);
    void (*write)(void *to, const struct label *label);
};

/* Each makes a white canvas, draws on it, and writes it to the file. Returns 0 or an errno. */
typedef void canvas_draw(const struct canvas *c, const void *what);
int canvas_svg(FILE *out, canvas_draw *draw, const void *what);
int canvas_png(FILE *out, canvas_draw *draw, const void *what);

/* The raised part of text: from the character after ^ on. Returns its length; *before: characters
 * ahead of it (without ^). */
int canvas_raised(const char *text, int *before);
