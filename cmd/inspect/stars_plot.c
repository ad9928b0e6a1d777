/* inspect: the picture of a history of star formation. See stars.h. */
#include <math.h>

#include "base/mem.h"
#include "plot/frame.h"
#include "stars.h"

static const struct pen CURVE = {0x0072b2, 1.6, false};

/* Steps, one for each bin. */
static void steps(const struct canvas *c, const struct frame *f, const struct history *h)
{
    double(*xy)[2] = mem_new(sizeof *xy * (size_t)(2 * h->n + 2), "plot of stars");
    int n = 0;
    for (int b = 0; b <= h->n; b++) {
        double x = frame_x(f, b * h->end / h->n);
        for (int side = 0; side < 2; side++) {
            int bin = b - 1 + side;
            xy[n][0] = x;
            xy[n++][1] = frame_y(f, bin < 0 || bin >= h->n ? 0 : h->rate[bin]);
        }
    }
    c->line(c->to, n, (const double(*)[2])xy, CURVE);
    FREE(xy);
}

void stars_plot(const struct canvas *c, const void *history)
{
    const struct history *h = history;
    double most = 0;
    for (int b = 0; b < h->n; b++) most = fmax(most, h->rate[b]);
    struct frame f = {
        .x = {0, h->end, false, h->cosmo ? "time since the Big Bang [Gyr]" : "time [Gyr]"},
        .y = {0, most > 0 ? 1.08 * most : 1, false, "star formation [solar masses per year]"}};
    steps(c, &f, h);
    frame_draw(&f, c);
}
