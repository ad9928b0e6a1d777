/* plot/numbers: the numbers behind a drawing as text: of each chart its curves, one point a line,
 * of each image its values, one row a line, the lowest first. A comment names the axes of each. */
#pragma once
#include "plot/chart.h"

/* Both do nothing unless the canvas takes numbers. */
void numbers_of_chart(struct canvas *c, const struct chart *h);
/* n × rows values, the lowest row first; name: of the values, with their unit. */
void numbers_of_image(struct canvas *c, const struct frame *f, const char *name, int n, int rows,
                      const double *value);
