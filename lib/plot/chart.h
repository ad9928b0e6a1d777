/* plot/chart: curves in a frame, with a legend placed where it hides the fewest points. */
#pragma once
#include "plot/frame.h"

struct curve {
    const char *label; /* text in the legend; NULL: none */
    int n;
    const double *x, *y; /* [n] points; a y that cannot be shown on the axis is a gap */
    double across;       /* y of a horizontal line across the frame, if n = 0 */
    bool dashed, dots;   /* dots: a square at each point */
    double point;        /* side of squares in place of a line; 0: a line */
    int colour;          /* index of the colour; -1: gray */
};

struct chart {
    struct axis x, y; /* axes; lo = hi = 0: range of the curves */
    bool grows;       /* a given axis y may grow upwards for the legend, as others do */
    const char *title;
    struct box in; /* box of the frame, see frame_in */
    int n;
    const struct curve *curve;
};

void chart_draw(struct canvas *c, const struct chart *chart);
