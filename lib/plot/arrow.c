#include "plot/arrow.h"

#include <math.h>

#include "base/mem.h"

void arrow_draw(struct canvas *c, const struct box *in, int n, const double (*p)[2])
{
    enum { HEAD = 5 }; /* points */
    const int middle = n / 2;
    double(*at)[2] = mem_new(sizeof *at * (size_t)n, "lines");
    for (int k = 0; k < n; k++) {
        at[k][0] = in->x + p[k][0] * in->width;
        at[k][1] = in->y + (1 - p[k][1]) * in->height;
    }
    const double dx = at[middle][0] - at[middle - 1][0], dy = at[middle][1] - at[middle - 1][1],
                 s = HEAD / fmax(hypot(dx, dy), 1e-9), x = at[middle][0], y = at[middle][1];
    const double head[3][2] = {{x - s * (dx - 0.6 * dy), y - s * (dy + 0.6 * dx)},
                               {x, y},
                               {x - s * (dx + 0.6 * dy), y - s * (dy - 0.6 * dx)}};
    canvas_line_seamed(c, n, (const double(*)[2])at);
    canvas_line_seamed(c, 3, head);
    FREE(at);
}
