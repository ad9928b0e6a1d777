/* plot/canvas_priv: what a canvas is. Private to plot. */
#pragma once
#include "plot/canvas.h"

struct canvas {
    struct _cairo *to; /* cairo_t */
};
