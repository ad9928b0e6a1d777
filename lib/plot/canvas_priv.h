/* plot/canvas_priv: the struct of a canvas. Private to plot. */
#pragma once
#include "plot/canvas.h"

struct canvas {
    struct _cairo *to; /* cairo_t of the surface; NULL without cairo */
    FILE *numbers;     /* takes the numbers behind the drawing; NULL: none */
};
