/* pk/plot: see plot.h. */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { LEFT = 86, RIGHT = 20, TOP = 20, BOTTOM = 60, LEGEND_MAX = 20, LEGEND_ROW = 18 };
static const double LETTER = 7.4; /* approximate width of one in a legend */

static const unsigned COLOUR[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                  0x56b4e9, 0x000000, 0x882255, 0x999933, 0x7f7fff};
enum { COLOURS = sizeof COLOUR / sizeof *COLOUR, GRAY = 0x808080 };

static const struct pen AXIS = {0, 1, false};

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

/* Decimal logarithms of the corners. */
struct frame {
    double x0, x1, y0, y1;
};

static double at_x(const struct frame *f, double x)
{
    return LEFT + (log10(x) - f->x0) / (f->x1 - f->x0) * (CANVAS_WIDTH - LEFT - RIGHT);
}

static double at_y(const struct frame *f, double y)
{
    return CANVAS_HEIGHT - BOTTOM -
           (log10(y) - f->y0) / (f->y1 - f->y0) * (CANVAS_HEIGHT - TOP - BOTTOM);
}

static void stretch(double *lo, double *hi, double x)
{
    *lo = fmin(*lo, log10(x));
    *hi = fmax(*hi, log10(x));
}

/* A margin on both sides, and at least 0.7 of a decade, so that there are two numbers to read. */
static void widen(double *lo, double *hi, double share, double least)
{
    double margin = fmax(share * (*hi - *lo) + least, 0.5 * (0.7 - (*hi - *lo)));
    *lo -= margin;
    *hi += margin;
}

static void frame_of(struct frame *f, const struct plot *p)
{
    *f = (struct frame){INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int i = 0; i < p->n; i++) {
        const struct plot_curve *c = &p->curve[i];
        for (int b = 0; b < c->n; b++) {
            if (isnan(c->p[b])) continue;
            stretch(&f->x0, &f->x1, c->k[b]);
            stretch(&f->y0, &f->y1, c->p[b]);
        }
        if (c->n > 0 && c->shot > 0) stretch(&f->y0, &f->y1, c->shot);
    }
    if (!(f->x1 >= f->x0)) *f = (struct frame){0, 1, 0, 1}; /* nothing to draw */
    widen(&f->x0, &f->x1, 0.03, 0.02);
    widen(&f->y0, &f->y1, 0.05, 0.05);
}

static void line(const struct canvas *c, double x0, double y0, double x1, double y1, struct pen pen)
{
    c->line(c->to, 2, (const double[2][2]){{x0, y0}, {x1, y1}}, pen);
}

/* A tick at both sides of the frame; at: along the axis. */
static void tick(const struct canvas *c, bool along_x, double at, double length)
{
    double low = CANVAS_HEIGHT - BOTTOM, right = CANVAS_WIDTH - RIGHT;
    if (along_x) {
        line(c, at, low, at, low - length, AXIS);
        line(c, at, TOP, at, TOP + length, AXIS);
    } else {
        line(c, LEFT, at, LEFT + length, at, AXIS);
        line(c, right, at, right - length, at, AXIS);
    }
}

/* m 10^e; powers only where plain numbers of the axis would be long. */
static void tick_label(const struct canvas *c, bool along_x, double at, int m, int e, bool powers)
{
    char text[40];
    if (!powers)
        snprintf(text, sizeof text, "%g", m * pow(10, e));
    else if (m == 1)
        snprintf(text, sizeof text, "10^%d", e);
    else
        snprintf(text, sizeof text, "%d·10^%d", m, e);
    struct label below = {at, CANVAS_HEIGHT - BOTTOM + 20, ANCHOR_MIDDLE, false, text},
                 beside = {LEFT - 8, at + 5, ANCHOR_END, false, text};
    c->write(c->to, along_x ? &below : &beside);
}

/* A decade has a long tick and a number (where there are less than two of them, 2 and 5 too; less
 * than one, all), the rest short ones. */
static void ticks(const struct canvas *c, const struct frame *f, bool along_x)
{
    double lo = along_x ? f->x0 : f->y0, hi = along_x ? f->x1 : f->y1;
    int every = hi - lo > 12 ? 3 : 1;
    bool powers = lo < -2 || hi > 4;
    for (int e = (int)floor(lo); e <= (int)floor(hi); e++)
        for (int m = 1; m < 10; m++) {
            double v = m * pow(10, e), at = along_x ? at_x(f, v) : at_y(f, v);
            if (log10(v) < lo || log10(v) > hi) continue;
            bool named = (m == 1 && e % every == 0) || (hi - lo < 2 && (m == 2 || m == 5)) ||
                         hi - lo < 1;
            tick(c, along_x, at, named ? 8 : 4);
            if (named) tick_label(c, along_x, at, m, e, powers);
        }
}

static void axes(const struct canvas *c, const struct frame *f, bool cosmo)
{
    double right = CANVAS_WIDTH - RIGHT, low = CANVAS_HEIGHT - BOTTOM;
    const double corners[5][2] = {
        {LEFT, TOP}, {right, TOP}, {right, low}, {LEFT, low}, {LEFT, TOP}};
    c->line(c->to, 5, corners, AXIS);
    ticks(c, f, true);
    ticks(c, f, false);
    struct label k = {(LEFT + right) / 2, CANVAS_HEIGHT - 16, ANCHOR_MIDDLE, false,
                      cosmo ? "k [h/Mpc]" : "k [1/code length]"},
                 p = {26, (TOP + low) / 2, ANCHOR_MIDDLE, true,
                      cosmo ? "P(k) [(Mpc/h)^3]" : "P(k) [(code length)^3]"};
    c->write(c->to, &k);
    c->write(c->to, &p);
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
            double x = at_x(f, c->k[j]) - b->x, y = at_y(f, c->p[j]) - b->y;
            met += x > 0 && x < b->width && y > 0 && y < b->height;
        }
        double noise = c->n > 0 && c->shot > 0 ? at_y(f, c->shot) - b->y : -1;
        if (noise > 0 && noise < b->height) met += 20;
    }
    return met;
}

/* The corner where the legend hides least; among equals the first of: low left, top right, low
 * right, top left. */
static void legend_place(const struct plot *p, const struct frame *f, struct box *b)
{
    const double x[2] = {LEFT + 12, CANVAS_WIDTH - RIGHT - 12 - b->width},
                 y[2] = {CANVAS_HEIGHT - BOTTOM - 12 - b->height, TOP + 12};
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
    c->blank(c->to, b.x, b.y, b.width, b.height);
    for (int i = 0; i < rows + noise; i++) {
        double y = b.y + LEGEND_ROW * (i + 0.75);
        struct pen pen = {i < rows ? COLOUR[i % COLOURS] : GRAY, 1.6, i == rows};
        struct label name = {b.x + 34, y, ANCHOR_START, false,
                             i < rows ? p->curve[i].label : "shot noise"};
        line(c, b.x + 2, y - 5, b.x + 28, y - 5, pen);
        c->write(c->to, &name);
    }
}

/* ---- all ---- */

static void curve(const struct canvas *c, const struct frame *f, const struct plot_curve *q,
                  unsigned rgb)
{
    double(*xy)[2] = mem_new(sizeof *xy * (size_t)(q->n + 1), "pk plot"), noise = at_y(f, q->shot);
    if (q->shot > 0) line(c, LEFT, noise, CANVAS_WIDTH - RIGHT, noise, (struct pen){rgb, 1, true});
    for (int b = 0, n = 0; b <= q->n; b++) {
        if (b < q->n && !isnan(q->p[b])) {
            xy[n][0] = at_x(f, q->k[b]);
            xy[n++][1] = at_y(f, q->p[b]);
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
    axes(c, &f, p->cosmo);
}
