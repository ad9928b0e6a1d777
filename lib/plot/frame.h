/* plot/frame: the frame of a plot on a canvas: axes with ticks and names, linear or logarithmic. */
#pragma once
#include "plot/canvas.h"

enum { FRAME_LEFT = 86, FRAME_RIGHT = 20, FRAME_TOP = 20, FRAME_BOTTOM = 60 }; /* margins */

struct axis {
    double lo, hi; /* at the corners; their decimal logarithms if log */
    bool log;
    const char *name; /* with unit */
};

struct frame {
    struct axis x, y;
    double beside; /* room between the frame and the right margin, such as for a bar of colours */
};

/* A log axis: extends it to x. Begin with lo = INFINITY, hi = -INFINITY. */
void axis_stretch(struct axis *a, double x);
/* A margin on both sides, a share of the length and `least`; a log axis becomes at least 0.7 of a
 * decade long, so that there are two numbers to read. */
void axis_widen(struct axis *a, double share, double least);

/* Places on the canvas. */
double frame_x(const struct frame *f, double x);
double frame_y(const struct frame *f, double y);
void frame_draw(const struct frame *f, const struct canvas *c);

void frame_line(const struct canvas *c, double x0, double y0, double x1, double y1, struct pen pen);
