/* pk/plot: see plot.h. */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plot/frame.h"

enum { LEGEND_MAX = 20, LEGEND_ROW = 18 };
static const double LETTER = 7.4; /* approximate width of one in a legend */

static const unsigned COLOUR[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                  0x56b4e9, 0x000000, 0x882255, 0x999933, 0x7f7fff};
enum { COLOURS = sizeof COLOUR / sizeof *COLOUR, GRAY = 0x808080 };

/* ---- curves ---- */

void plot_add(struct plot *p, const struct pk_table *t)
{
    double wave = 2 * M_PI / t->from.length, volume = pow(t->from.length, 3);
    p->curve = mem_grow(p->curve, sizeof *p->curve * (size_t)(p->n + t->npair), "pk plot");
    p->cosmo = t->from.cosmo;
    for (int i = 0; i < t->npair; i++) {
        struct plot_curve *c = &p->curve[p->n++];
        *c = (struct plot_curve){.k = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot"),
                                 .p = mem_new(sizeof(double) * (size_t)t->nbin, "pk plot")};
        if (t->from.cosmo)
            snprintf(c->label, sizeof c->label, "%s, z = %.3g", t->name[i], 1 / t->from.aexp - 1);
        else
            snprintf(c->label, sizeof c->label, "%s, t = %.4g", t->name[i], t->from.t);
        for (int b = 0; b < t->nbin; b++) {
            const struct pk_bin *q = &t->bin[(size_t)i * (size_t)t->nbin + (size_t)b];
            if (q->modes == 0) continue;
            c->shot = q->shot * volume;
            c->k[c->n] = q->k * wave;
            /* a logarithm cannot show others: the line has a gap */
            c->p[c->n++] = q->p[0] > 0 ? q->p[0] * volume : NAN;
        }
    }
}

void plot_free(struct plot *p)
{
    for (int i = 0; i < p->n; i++) {
        FREE(p->curve[i].k);
        FREE(p->curve[i].p);
    }
    FREE(p->curve);
    p->n = 0;
}

/* ---- axes ---- */

static void frame_of(struct frame *f, const struct plot *p)
{
    *f = (struct frame){
        .x = {INFINITY, -INFINITY, true, p->cosmo ? "k [h/Mpc]" : "k [1/code length]"},
        .y = {INFINITY, -INFINITY, true, p->cosmo ? "P(k) [(Mpc/h)^3]" : "P(k) [(code length)^3]"}};
    for (int i = 0; i < p->n; i++) {
        const struct plot_curve *c = &p->curve[i];
        for (int b = 0; b < c->n; b++) {
            if (isnan(c->p[b])) continue;
            axis_stretch(&f->x, c->k[b]);
            axis_stretch(&f->y, c->p[b]);
        }
        if (c->n > 0 && c->shot > 0) axis_stretch(&f->y, c->shot);
    }
    if (!(f->x.hi >= f->x.lo)) /* nothing to draw */
        f->x.lo = f->y.lo = 0, f->x.hi = f->y.hi = 1;
    axis_widen(&f->x, 0.03, 0.02);
    axis_widen(&f->y, 0.05, 0.05);
}

/* ---- legend ---- */

struct box {
    double x, y, width, height;
};

/* Points of curves, and shot noise as 20 of them, in a box. */
static int crowd(const struct plot *p, const struct frame *f, const struct box *b)
{
    int met = 0;
    for (int i = 0; i < p->n; i++) {
        const struct plot_curve *c = &p->curve[i];
        for (int j = 0; j < c->n; j++) {
            double x = frame_x(f, c->k[j]) - b->x, y = frame_y(f, c->p[j]) - b->y;
            met += x > 0 && x < b->width && y > 0 && y < b->height;
        }
        double noise = c->n > 0 && c->shot > 0 ? frame_y(f, c->shot) - b->y : -1;
        if (noise > 0 && noise < b->height) met += 20;
    }
    return met;
}

/* The corner where the legend hides least; among equals the first of: low left, top right, low
 * right, top left. */
static void legend_place(const struct plot *p, const struct frame *f, struct box *b)
{
    const double x[2] = {FRAME_LEFT + 12, CANVAS_WIDTH - FRAME_RIGHT - 12 - b->width},
                 y[2] = {CANVAS_HEIGHT - FRAME_BOTTOM - 12 - b->height, FRAME_TOP + 12};
    int least = -1;
    struct box best = *b;
    for (int k = 0; k < 4; k++) {
        struct box q = {x[k == 1 || k == 2], y[k == 1 || k == 3], b->width, b->height};
        int met = crowd(p, f, &q);
        if (least >= 0 && met >= least) continue;
        least = met;
        best = q;
    }
    *b = best;
}

static void legend(const struct canvas *c, const struct plot *p, const struct frame *f)
{
    int rows = p->n < LEGEND_MAX ? p->n : LEGEND_MAX;
    bool noise = false;
    size_t longest = strlen("shot noise");
    for (int i = 0; i < p->n; i++) {
        noise |= p->curve[i].shot > 0;
        longest = strlen(p->curve[i].label) > longest ? strlen(p->curve[i].label) : longest;
    }
    struct box b = {.width = 36 + LETTER * (double)longest, .height = LEGEND_ROW * (rows + noise)};
    legend_place(p, f, &b);
    c->fill(c->to, b.x, b.y, b.width, b.height, 0xffffff);
    for (int i = 0; i < rows + noise; i++) {
        double y = b.y + LEGEND_ROW * (i + 0.75);
        struct pen pen = {i < rows ? COLOUR[i % COLOURS] : GRAY, 1.6, i == rows};
        struct label name = {b.x + 34, y, ANCHOR_START, false,
                             i < rows ? p->curve[i].label : "shot noise"};
        frame_line(c, b.x + 2, y - 5, b.x + 28, y - 5, pen);
        c->write(c->to, &name);
    }
}

/* ---- all ---- */

static void curve(const struct canvas *c, const struct frame *f, const struct plot_curve *q,
                  unsigned rgb)
{
    double(*xy)[2] = mem_new(sizeof *xy * (size_t)(q->n + 1), "pk plot");
    double noise = frame_y(f, q->shot), right = CANVAS_WIDTH - FRAME_RIGHT;
    if (q->shot > 0) frame_line(c, FRAME_LEFT, noise, right, noise, (struct pen){rgb, 1, true});
    for (int b = 0, n = 0; b <= q->n; b++) {
        if (b < q->n && !isnan(q->p[b])) {
            xy[n][0] = frame_x(f, q->k[b]);
            xy[n++][1] = frame_y(f, q->p[b]);
        } else if (n > 0) { /* a gap, or the end; a single point is a dot */
            xy[n][0] = xy[n - 1][0] + (n == 1);
            xy[n][1] = xy[n - 1][1];
            c->line(c->to, n + (n == 1), (const double(*)[2])xy, (struct pen){rgb, 1.6, false});
            n = 0;
        }
    }
    FREE(xy);
}

void plot_draw(const struct canvas *c, const void *what)
{
    const struct plot *p = what;
    struct frame f;
    frame_of(&f, p);
    for (int i = 0; i < p->n; i++)
        if (p->curve[i].n > 0) curve(c, &f, &p->curve[i], COLOUR[i % COLOURS]);
    legend(c, p, &f);
    frame_draw(&f, c);
}
