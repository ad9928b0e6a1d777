/* view/halos: plot of a halo mass function. */
#pragma once
#include "halo/mass_function.h"
#include "plot/canvas.h"

void halos_plot(struct canvas *c, const void *mass_function); /* a canvas_draw */
