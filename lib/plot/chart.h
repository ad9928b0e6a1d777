/* plot/chart: curves in a frame, with a legend where it hides least. */
#pragma once
#include "plot/frame.h"

struct curve {
    const char *label; /* NULL: not in the legend */
    int n;
    const double *x, *y; /* [n]; a y that the axis cannot show is a gap */
    double across;       /* with n = 0: a line at this y from side to side */
    bool dashed, dots;   /* dots: a square at each point */
    int colour;          /* its number; -1: gray */
};

struct chart {
    struct axis x, y; /* lo < hi, or lo = hi = 0: found from the curves */
    const char *title;
    struct box in; /* as frame_in has it */
    int n;
    const struct curve *curve;
};

void chart_draw(struct canvas *c, const struct chart *chart);
