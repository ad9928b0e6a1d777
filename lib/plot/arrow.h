/* plot/arrow: a line with the head of an arrow in its middle, white on a dark seam, so that it is
 * seen on any colour. */
#pragma once
#include "plot/canvas.h"

/* n ≥ 2 points, in units of the sides of the box `in`, from its lower left corner. */
void arrow_draw(struct canvas *c, const struct box *in, int n, const double (*p)[2]);
