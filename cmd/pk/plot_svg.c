/* pk/plot_svg: see plot_svg.h. */
#include "plot_svg.h"

#include <math.h>

enum { WIDTH = 720, HEIGHT = 520, LEFT = 90, RIGHT = 20, TOP = 20, BOTTOM = 60, LEGEND_MAX = 20 };

static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
enum { COLOURS = sizeof COLOUR / sizeof *COLOUR };

/* Decimal logarithms of the corners. */
struct frame {
    double x0, x1, y0, y1;
};

static double at_x(const struct frame *f, double x)
{
    return LEFT + (log10(x) - f->x0) / (f->x1 - f->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct frame *f, double y)
{
    return HEIGHT - BOTTOM - (log10(y) - f->y0) / (f->y1 - f->y0) * (HEIGHT - TOP - BOTTOM);
}

static void stretch(double *lo, double *hi, double x)
{
    *lo = fmin(*lo, log10(x));
    *hi = fmax(*hi, log10(x));
}

static void frame_of(struct frame *f, const struct plot *p)
{
    *f = (struct frame){INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int i = 0; i < p->n; i++) {
        const struct plot_curve *c = &p->curve[i];
        for (int b = 0; b < c->n; b++) {
            stretch(&f->x0, &f->x1, c->k[b]);
            stretch(&f->y0, &f->y1, c->p[b]);
        }
        if (c->n > 0 && c->shot > 0) stretch(&f->y0, &f->y1, c->shot);
    }
    if (!(f->x1 >= f->x0)) *f = (struct frame){0, 1, 0, 1}; /* nothing to draw */
    double dx = 0.03 * (f->x1 - f->x0) + 0.02, dy = 0.05 * (f->y1 - f->y0) + 0.05;
    *f = (struct frame){f->x0 - dx, f->x1 + dx, f->y0 - dy, f->y1 + dy};
}

static void line(FILE *out, double x0, double y0, double x1, double y1, const char *style)
{
    fprintf(out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x0, y0, x1, y1, style);
}

/* A decade has a long tick and a number (where there is less than one and a half of them, 2 and 5 too), the rest short ones. */
static void ticks(FILE *out, const struct frame *f, bool along_x)
{
    double lo = along_x ? f->x0 : f->y0, hi = along_x ? f->x1 : f->y1, low = HEIGHT - BOTTOM;
    int every = hi - lo > 12 ? 3 : 1;
    for (int e = (int)floor(lo); e <= (int)floor(hi); e++)
        for (int m = 1; m < 10; m++) {
            double v = m * pow(10, e), at = along_x ? at_x(f, v) : at_y(f, v);
            if (log10(v) < lo || log10(v) > hi) continue;
            bool named = (m == 1 && e % every == 0) || (hi - lo < 1.5 && (m == 2 || m == 5));
            double length = named ? 8 : 4;
            if (along_x)
                line(out, at, low, at, low - length, "stroke=\"black\"");
            else
                line(out, LEFT, at, LEFT + length, at, "stroke=\"black\"");
            if (!named) continue;
            double x = along_x ? at : LEFT - 8, y = along_x ? low + 18 : at + 5;
            fprintf(out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y, along_x ? "middle" : "end");
            if (e >= -2 && e <= 3)
                fprintf(out, "%g</text>\n", v);
            else
                fprintf(out, "%s10<tspan dy=\"-6\" font-size=\"10\">%d</tspan></text>\n",
                        m == 1   ? ""
                        : m == 2 ? "2·"
                                 : "5·",
                        e);
        }
}

static void axes(FILE *out, const struct frame *f, bool cosmo)
{
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"black\"/>\n", LEFT, TOP,
            WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    ticks(out, f, true);
    ticks(out, f, false);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">k [%s]</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 18, cosmo ? "h/Mpc" : "1/code length");
    fprintf(out, "<text transform=\"translate(24 %d) rotate(-90)\" text-anchor=\"middle\">P(k) [%s³]</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, cosmo ? "(Mpc/h)" : "(code length)");
}

/* Names are of our own making: letters, digits, ×. */
static void legend(FILE *out, const struct plot *p)
{
    int rows = p->n < LEGEND_MAX ? p->n : LEGEND_MAX;
    for (int i = 0; i <= rows; i++) {
        double y = HEIGHT - BOTTOM - 14 - 17 * (rows - i);
        char style[80];
        snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"1.6\"%s", i < rows ? COLOUR[i % COLOURS] : "gray",
                 i < rows ? "" : " stroke-dasharray=\"6 4\"");
        line(out, LEFT + 14, y - 4, LEFT + 40, y - 4, style);
        fprintf(out, "<text x=\"%d\" y=\"%.2f\">%s</text>\n", LEFT + 46, y,
                i < rows ? p->curve[i].label : "shot noise");
    }
}

void plot_svg(FILE *out, const struct plot *p)
{
    struct frame f;
    frame_of(&f, p);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"14\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    axes(out, &f, p->cosmo);
    for (int i = 0; i < p->n; i++) {
        const struct plot_curve *c = &p->curve[i];
        if (c->n == 0) continue;
        fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" points=\"", COLOUR[i % COLOURS]);
        for (int b = 0; b < c->n; b++) fprintf(out, "%.2f,%.2f ", at_x(&f, c->k[b]), at_y(&f, c->p[b]));
        fputs("\"/>\n", out);
        char style[80];
        snprintf(style, sizeof style, "stroke=\"%s\" stroke-dasharray=\"6 4\"", COLOUR[i % COLOURS]);
        if (c->shot > 0) line(out, LEFT, at_y(&f, c->shot), WIDTH - RIGHT, at_y(&f, c->shot), style);
    }
    legend(out, p);
    fputs("</svg>\n", out);
}
