/* pk/plot_svg: the curves on logarithmic axes, shot noise dashed, as SVG. */
#pragma once
#include "output.h"

void plot_svg(FILE *out, const struct plot *p);
