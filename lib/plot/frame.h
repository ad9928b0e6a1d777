/* plot/frame: axes with ticks and labels, linear or logarithmic, around a box of a canvas; a colour
 * bar. */
#pragma once
#include "plot/canvas.h"

/* Margins around a frame for its labels, in points. */
enum {
    FRAME_LEFT = 96,
    FRAME_RIGHT = 30,
    FRAME_TOP = 20,
    FRAME_BOTTOM = 60,
    FRAME_BAR = 100,
    FRAME_TITLE = 24
};

struct axis {
    double lo, hi; /* values at the ends, as axis_shape has them: of a log axis the logarithms */
    bool log;
    const char *name; /* label, with unit */
    double threshold; /* above 0: linear up to this magnitude, logarithmic beyond */
    bool whole;       /* only whole numbers have labels */
};

struct frame {
    struct axis x, y;
    struct box in;     /* the frame without its labels */
    const char *title; /* title above the frame, reduced to fit; NULL: none */
    bool outside;      /* ticks outside of the frame, for coloured maps */
};

/* Box of a frame that fills `whole` with its margins; beside: further room on the right, such as
 * FRAME_BAR. */
struct box frame_in(struct box whole, double beside);
struct box frame_whole(bool title); /* box for a frame on a canvas of the default size */

/* A value as it is along an axis: itself, its decimal logarithm, or, with a threshold t, x/t up to
 * it and ±(1 + log10(|x|/t)) beyond. */
double axis_shape(const struct axis *a, double x);
/* Extends a log axis to x. Start with lo = INFINITY, hi = -INFINITY. */
void axis_stretch(struct axis *a, double x);
/* Adds a margin on both sides: the larger of `share` times the length and `min`. A log axis becomes
 * at least 0.7 of a decade long, so that two labels fit. */
void axis_widen(struct axis *a, double share, double min);

/* Positions on the canvas. */
double frame_x(const struct frame *f, double x);
double frame_y(const struct frame *f, double y);
void frame_draw(const struct frame *f, struct canvas *c);
/* Draws a colour bar (plot/colours) to the right of the frame, FRAME_BAR wide. */
void frame_bar(const struct frame *f, struct canvas *c, int colours, const struct axis *a);

/* A line across this bar at a share of its length. */
void frame_bar_mark(const struct frame *f, struct canvas *c, double share);

void frame_line(struct canvas *c, double x0, double y0, double x1, double y1, struct pen pen);
