/* plot/canvas: the surface of a drawing, made by cairo: points (1/72 inch) from the top left
 * corner. */
#pragma once
#include <stdbool.h>

enum {
    CANVAS_WIDTH = 720, /* of a plot; a picture may have another size */
    CANVAS_HEIGHT = 520,
    CANVAS_FONT = 14 /* height of letters */
};

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
    const char *text; /* UTF-8 */
    double size;      /* of the letters; 0: CANVAS_FONT */
};

struct box {
    double x, y, width, height; /* x, y: the top left corner */
};

struct canvas;

void canvas_line(struct canvas *c, int n, const double (*xy)[2], struct pen pen); /* n points */
void canvas_fill(struct canvas *c, struct box box, unsigned rgb);
void canvas_write(struct canvas *c, const struct label *label);
double canvas_text_width(struct canvas *c, const char *text, double size);
/* Pixels, 3 bytes each, top row first, stretched over the box without smoothing. */
void canvas_pixels(struct canvas *c, struct box box, int columns, int rows,
                   const unsigned char *rgb);
/* Limits later drawing to the box; NULL: no limit. */
void canvas_clip(struct canvas *c, const struct box *box);

/* Draws on a white canvas. */
typedef void canvas_draw(struct canvas *c, const void *what);
