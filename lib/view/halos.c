/* view/halos: the picture of a mass function. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "plot/frame.h"
#include "view/halos.h"

void halos_plot(struct canvas *c, const void *mass_function)
{
    static const struct pen BAR = {0x0072b2, 1.6, false}, FIT = {0xd55e00, 1.6, false},
                            LIMIT = {0x808080, 1, true};
    const struct mass_function *f = mass_function;
    char title[32];
    struct frame r = {.x = {INFINITY, -INFINITY, true, "m200m [Msun/h]"},
                      .y = {INFINITY, -INFINITY, true, "dn/dln m [(h/Mpc)^3]"},
                      .in = frame_in(frame_whole(true), 0),
                      .title = title};
    double(*xy)[2] = mem_new(sizeof *xy * (size_t)(f->n + 1), "mass function");
    int n = 0;
    snprintf(title, sizeof title, "z = %.4g", fabs(f->redshift) < 5e-5 ? 0 : f->redshift);
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        if (!b->n) continue;
        axis_stretch(&r.x, b->lo), axis_stretch(&r.x, b->hi);
        axis_stretch(&r.y, b->low), axis_stretch(&r.y, b->high);
    }
    if (!(r.x.hi >= r.x.lo)) r.x.lo = r.y.lo = 0, r.x.hi = r.y.hi = 1;
    axis_widen(&r.x, 0.03, 0.02);
    axis_widen(&r.y, 0.05, 0.05);
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        double x = frame_x(&r, sqrt(b->lo * b->hi));
        if (b->fit > 0 && log10(b->fit) > r.y.lo && log10(b->fit) < r.y.hi) {
            xy[n][0] = x;
            xy[n++][1] = frame_y(&r, b->fit);
        }
        if (!b->n) continue;
        frame_line(c, x, frame_y(&r, b->low), x, frame_y(&r, b->high), BAR);
        frame_line(c, frame_x(&r, b->lo), frame_y(&r, b->dn), frame_x(&r, b->hi),
                   frame_y(&r, b->dn), BAR);
    }
    if (n > 1) canvas_line(c, n, (const double(*)[2])xy, FIT);
    if (f->complete > 0 && log10(f->complete) > r.x.lo && log10(f->complete) < r.x.hi) {
        double x = frame_x(&r, f->complete);
        frame_line(c, x, frame_y(&r, pow(10, r.y.lo)), x, frame_y(&r, pow(10, r.y.hi)), LIMIT);
    }
    FREE(xy);
    frame_draw(&r, c);
}
