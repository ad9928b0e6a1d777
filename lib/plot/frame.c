/* plot/frame: see frame.h. */
#include "plot/frame.h"

#include <math.h>
#include <stdio.h>

static const struct pen AXIS = {0, 1, false};

void axis_stretch(struct axis *a, double x)
{
    a->lo = fmin(a->lo, log10(x));
    a->hi = fmax(a->hi, log10(x));
}

void axis_widen(struct axis *a, double share, double least)
{
    double margin = fmax(share * (a->hi - a->lo) + least, 0.5 * (0.7 - (a->hi - a->lo)));
    a->lo -= margin;
    a->hi += margin;
}

/* From 0 to 1 along the axis. */
static double share_of(const struct axis *a, double x)
{
    return ((a->log ? log10(x) : x) - a->lo) / (a->hi - a->lo);
}

static double right_of(const struct frame *f)
{
    return CANVAS_WIDTH - FRAME_RIGHT - f->beside;
}

double frame_x(const struct frame *f, double x)
{
    return FRAME_LEFT + share_of(&f->x, x) * (right_of(f) - FRAME_LEFT);
}

double frame_y(const struct frame *f, double y)
{
    return CANVAS_HEIGHT - FRAME_BOTTOM -
           share_of(&f->y, y) * (CANVAS_HEIGHT - FRAME_TOP - FRAME_BOTTOM);
}

void frame_line(const struct canvas *c, double x0, double y0, double x1, double y1, struct pen pen)
{
    c->line(c->to, 2, (const double[2][2]){{x0, y0}, {x1, y1}}, pen);
}

/* A tick at both sides of the frame; at: along the axis. */
static void tick(const struct canvas *c, const struct frame *f, bool along_x, double at,
                 double length)
{
    double low = CANVAS_HEIGHT - FRAME_BOTTOM, right = right_of(f);
    if (along_x) {
        frame_line(c, at, low, at, low - length, AXIS);
        frame_line(c, at, FRAME_TOP, at, FRAME_TOP + length, AXIS);
    } else {
        frame_line(c, FRAME_LEFT, at, FRAME_LEFT + length, at, AXIS);
        frame_line(c, right, at, right - length, at, AXIS);
    }
}

static void tick_label(const struct canvas *c, bool along_x, double at, const char *text)
{
    struct label below = {at, CANVAS_HEIGHT - FRAME_BOTTOM + 20, ANCHOR_MIDDLE, false, text},
                 beside = {FRAME_LEFT - 8, at + 5, ANCHOR_END, false, text};
    c->write(c->to, along_x ? &below : &beside);
}

/* m 10^e; powers only where plain numbers of the axis would be long. */
static void decade_label(const struct canvas *c, bool along_x, double at, int m, int e, bool powers)
{
    char text[40];
    if (!powers)
        snprintf(text, sizeof text, "%g", m * pow(10, e));
    else if (m == 1)
        snprintf(text, sizeof text, "10^%d", e);
    else
        snprintf(text, sizeof text, "%d·10^%d", m, e);
    tick_label(c, along_x, at, text);
}

/* A decade has a long tick and a number (where there are less than two of them, 2 and 5 too; less
 * than one, all), the rest short ones. */
static void ticks_log(const struct canvas *c, const struct frame *f, bool along_x)
{
    const struct axis *a = along_x ? &f->x : &f->y;
    double lo = a->lo, hi = a->hi;
    int every = hi - lo > 24 ? (int)((hi - lo) / 8) : hi - lo > 12 ? 3 : 1;
    bool powers = lo < -2 || hi > 4;
    for (int e = (int)floor(lo); e <= (int)floor(hi); e++)
        for (int m = 1; m < 10; m++) {
            double v = m * pow(10, e), at = along_x ? frame_x(f, v) : frame_y(f, v);
            if (log10(v) < lo || log10(v) > hi) continue;
            bool named = (m == 1 && e % every == 0) || (hi - lo < 2 && (m == 2 || m == 5)) ||
                         hi - lo < 1;
            tick(c, f, along_x, at, named ? 8 : 4);
            if (named) decade_label(c, along_x, at, m, e, powers);
        }
}

/* Four to nine numbers, multiples of 1, 2 or 5 times a power of ten; four short ticks between two
 * (of 2: three). */
static void ticks_linear(const struct canvas *c, const struct frame *f, bool along_x)
{
    const struct axis *a = along_x ? &f->x : &f->y;
    double length = a->hi - a->lo, ten = pow(10, floor(log10(length / 4))), q = length / 4 / ten;
    int m = q >= 5 ? 5 : q >= 2 ? 2 : 1, parts = m == 2 ? 4 : 5;
    double step = m * ten / parts;
    for (double k = ceil(a->lo / step - 1e-9); k * step <= a->hi + 1e-9 * length; k++) {
        bool named = fmod(k, parts) == 0;
        double v = k * step, at = along_x ? frame_x(f, v) : frame_y(f, v);
        tick(c, f, along_x, at, named ? 8 : 4);
        if (!named) continue;
        char text[40];
        snprintf(text, sizeof text, "%g", k / parts * m * ten + 0.0);
        tick_label(c, along_x, at, text);
    }
}

static void ticks(const struct canvas *c, const struct frame *f, bool along_x)
{
    const struct axis *a = along_x ? &f->x : &f->y;
    (a->log ? ticks_log : ticks_linear)(c, f, along_x);
}

void frame_draw(const struct frame *f, const struct canvas *c)
{
    double right = right_of(f), low = CANVAS_HEIGHT - FRAME_BOTTOM;
    const double corners[5][2] = {{FRAME_LEFT, FRAME_TOP},
                                  {right, FRAME_TOP},
                                  {right, low},
                                  {FRAME_LEFT, low},
                                  {FRAME_LEFT, FRAME_TOP}};
    c->line(c->to, 5, corners, AXIS);
    ticks(c, f, true);
    ticks(c, f, false);
    struct label x = {(FRAME_LEFT + right) / 2, CANVAS_HEIGHT - 16, ANCHOR_MIDDLE, false,
                      f->x.name},
                 y = {26, (FRAME_TOP + low) / 2, ANCHOR_MIDDLE, true, f->y.name};
    c->write(c->to, &x);
    c->write(c->to, &y);
}
