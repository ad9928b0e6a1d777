/* plot/canvas: a drawing surface on cairo; coordinates in points (1/72 inch) from the top left
 * corner. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

enum {
    CANVAS_WIDTH = 720, /* width of a plot in points; a picture may have another size */
    CANVAS_HEIGHT = 520,
    CANVAS_FONT = 14 /* height of letters, points */
};

struct pen {
    unsigned rgb;
    double width;
    bool dashed;
};

enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

/* Text at a point. ^ raises the digits (and −) that follow; "Msun" is drawn as M☉, with a symbol
 * that needs no font. up: the text runs upwards. */
struct label {
    double x, y; /* anchor point, on the baseline */
    enum anchor anchor;
    bool up;
    const char *text; /* UTF-8 */
    double size;      /* letter size in points; 0: CANVAS_FONT */
};

struct box {
    double x, y, width, height; /* x, y: top left corner */
};

struct canvas;

/* polyline of n points */
void canvas_line(struct canvas *c, int n, const double (*xy)[2], struct pen pen);
/* A polyline, white on a dark seam. */
void canvas_line_seamed(struct canvas *c, int n, const double (*xy)[2]);
void canvas_fill(struct canvas *c, struct box box, unsigned rgb);
void canvas_write(struct canvas *c, const struct label *label);
/* Writes a label in white on a dark seam, which is seen on any colour. */
void canvas_write_seamed(struct canvas *c, const struct label *label);
double canvas_text_width(struct canvas *c, const char *text, double size);
/* Draws an image of 3 bytes per pixel, top row first, stretched over the box without smoothing. */
void canvas_pixels(struct canvas *c, struct box box, int columns, int rows,
                   const unsigned char *rgb);
/* Clips later drawing to the box; NULL: no clipping. */
void canvas_clip(struct canvas *c, const struct box *box);

/* The file that takes the numbers behind a drawing (numbers.h); NULL: they are not wanted. */
FILE *canvas_numbers(const struct canvas *c);

/* Function that draws on a white canvas. */
typedef void canvas_draw(struct canvas *c, const void *what);
