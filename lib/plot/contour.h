/* plot/contour: lines of equal value over an image, by marching squares (Lorensen & Cline 1987
 * in two dimensions). */
#pragma once

/* One line: k points, x and y in pixels from the lower left corner, where the middle of the first
 * pixel is at 0.5; a closed line ends where it begins. */
typedef void contour_line(void *ctx, int k, const double (*xy)[2]);
/* n × rows values, the lowest row first. Squares with a value that is not finite have no line. */
void contour_trace(int n, int rows, const double *x, double level, contour_line *fn, void *ctx);
