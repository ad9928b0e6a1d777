/* plot/frame: axes with ticks and names, linear or logarithmic, around a box of a canvas; a bar of
 * colours. */
#pragma once
#include "plot/canvas.h"

/* Margins around a frame for its numbers and names. */
enum {
    FRAME_LEFT = 96,
    FRAME_RIGHT = 30,
    FRAME_TOP = 20,
    FRAME_BOTTOM = 60,
    FRAME_BAR = 100,
    FRAME_TITLE = 24
};

struct axis {
    double lo, hi; /* at the corners; their decimal logarithms if log */
    bool log;
    const char *name; /* with unit */
};

struct frame {
    struct axis x, y;
    struct box in;     /* the frame itself, without names and numbers */
    const char *title; /* above it, smaller where it is too long; NULL: none */
    bool outside;      /* ticks, which would not be seen on colours */
};

/* Where the frame of a plot lies that fills a box, less room on the right, such as FRAME_BAR. */
struct box frame_in(struct box whole, double beside);
struct box frame_whole(bool title); /* a canvas of the usual size, less room for a title */

/* A log axis: extends it to x. Begin with lo = INFINITY, hi = -INFINITY. */
void axis_stretch(struct axis *a, double x);
/* A margin on both sides, a share of the length and `least`; a log axis becomes at least 0.7 of a
 * decade long, so that there are two numbers to read. */
void axis_widen(struct axis *a, double share, double min);

/* Places on the canvas. */
double frame_x(const struct frame *f, double x);
double frame_y(const struct frame *f, double y);
void frame_draw(const struct frame *f, struct canvas *c);
/* Colours of a map (plot/colours) right of the frame, in the room of FRAME_BAR. */
void frame_bar(const struct frame *f, struct canvas *c, int colours, const struct axis *a);

void frame_line(struct canvas *c, double x0, double y0, double x1, double y1, struct pen pen);
