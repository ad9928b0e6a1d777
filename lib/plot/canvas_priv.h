/* plot/canvas_priv: what a canvas is: for canvas.c and picture.c only. */
#pragma once
#include "plot/canvas.h"

struct canvas {
    struct _cairo *to; /* cairo_t */
};
