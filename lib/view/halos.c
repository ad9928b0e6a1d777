/* view/halos: plot of a halo mass function. */
#include <math.h>

#include "base/mem.h"
#include "plot/chart.h"
#include "view/halos.h"

enum { RED = 1 }; /* index of a colour */

/* Sets axes that enclose the bins with halos. */
static void find_axes(const struct mass_function *f, struct chart *h)
{
    h->x.lo = h->y.lo = INFINITY, h->x.hi = h->y.hi = -INFINITY;
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        if (!b->n) continue;
        axis_stretch(&h->x, b->lo), axis_stretch(&h->x, b->hi);
        axis_stretch(&h->y, b->low), axis_stretch(&h->y, b->high);
    }
    if (!(h->x.hi >= h->x.lo)) h->x.lo = h->y.lo = 0, h->x.hi = h->y.hi = 1;
    axis_widen(&h->x, 0.03, 0.02);
    axis_widen(&h->y, 0.05, 0.05);
}

/* Makes a line of two points at *room, which advances. */
static struct curve line(double **room, double x0, double y0, double x1, double y1)
{
    double *p = *room;
    p[0] = x0, p[1] = x1, p[2] = y0, p[3] = y1;
    *room += 4;
    return (struct curve){.n = 2, .x = p, .y = p + 2};
}

/* Makes a cross for each bin: width of the bin, and error bar of the number. Returns the number of
 * lines. */
static int crosses(const struct mass_function *f, double **room, struct curve *q)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        const struct mass_bin *b = &f->bin[i];
        double x = sqrt(b->lo * b->hi);
        if (!b->n) continue;
        q[n++] = line(room, b->lo, b->dn, b->hi, b->dn);
        q[n++] = line(room, x, b->low, x, b->high);
    }
    if (n) q[0].label = "halos, 68 % Poisson";
    return n;
}

void halos_plot(struct canvas *c, const void *mass_function)
{
    const struct mass_function *f = mass_function;
    struct chart h = {.x = {.log = true, .name = "mass m200m [Msun/h]"},
                      .y = {.log = true, .name = "dn/dln m [(h/Mpc)^3, comoving]"},
                      .grows = true,
                      .in = frame_in(frame_whole(true), 0),
                      .title = f->title};
    double *all = mem_new(sizeof *all * (8 * (size_t)f->n + MASS_CURVE + 4), "mass function"),
           *mass = all, *room = all + MASS_CURVE;
    struct curve *q = mem_zero(sizeof *q * (2 * (size_t)f->n + 2), "mass function");
    find_axes(f, &h);
    h.n = crosses(f, &room, q);
    for (int k = 0; k < MASS_CURVE && f->n; k++) mass[k] = mass_of_curve(f, k);
    if (f->n && f->curve[0] > 0)
        q[h.n++] = (struct curve){.label = "fit: Tinker et al. 2008",
                                  .n = MASS_CURVE,
                                  .x = mass,
                                  .y = f->curve,
                                  .colour = RED};
    if (f->complete > 0 && log10(f->complete) > h.x.lo && log10(f->complete) < h.x.hi) {
        q[h.n] = line(&room, f->complete, pow(10, h.y.lo), f->complete, pow(10, h.y.hi));
        q[h.n].label = "mass of 50 particles", q[h.n].dashed = true, q[h.n].colour = -1;
        h.n++;
    }
    h.curve = q;
    chart_draw(c, &h);
    FREE(q);
    FREE(all);
}
