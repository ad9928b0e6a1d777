/* plot/frame: see frame.h. */
#include "plot/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/colours.h"

enum { TICKS_MAX = 256, TITLE_SIZE = 15, STEPS = 256 };
static const struct pen AXIS = {0, 1, false};
static const double BAR_GAP = 16, BAR_WIDTH = 18;

struct box frame_whole(bool title)
{
    double above = title ? FRAME_TITLE : 0;
    return (struct box){0, above, CANVAS_WIDTH, CANVAS_HEIGHT - above};
}

struct box frame_in(struct box b, double beside)
{
    return (struct box){b.x + FRAME_LEFT, b.y + FRAME_TOP,
                        b.width - FRAME_LEFT - FRAME_RIGHT - beside,
                        b.height - FRAME_TOP - FRAME_BOTTOM};
}

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

double frame_x(const struct frame *f, double x)
{
    return f->in.x + share_of(&f->x, x) * f->in.width;
}

double frame_y(const struct frame *f, double y)
{
    return f->in.y + (1 - share_of(&f->y, y)) * f->in.height;
}

void frame_line(struct canvas *c, double x0, double y0, double x1, double y1, struct pen pen)
{
    canvas_line(c, 2, (const double[2][2]){{x0, y0}, {x1, y1}}, pen);
}

/* ---- ticks ---- */

struct tick {
    double share;  /* along the axis */
    char text[40]; /* empty: a short one */
};

/* m 10^e; powers only where plain numbers of the axis would be long. */
static void decade_label(struct tick *t, int m, int e, bool powers)
{
    if (!powers)
        snprintf(t->text, sizeof t->text, "%g", m * pow(10, e));
    else if (m == 1)
        snprintf(t->text, sizeof t->text, "10^%d", e);
    else
        snprintf(t->text, sizeof t->text, "%d·10^%d", m, e);
}

/* A decade has a long tick and a number (where there are less than two of them, 2 and 5 too; less
 * than one, all), the rest short ones. `room`: numbers that fit. */
static int ticks_log(const struct axis *a, int room, struct tick *t)
{
    double lo = a->lo, hi = a->hi;
    int n = 0, every = (int)ceil((hi - lo) / room);
    bool powers = lo < -2 || hi > 4;
    for (int e = (int)floor(lo); e <= (int)floor(hi + 1e-9); e++)
        for (int m = 1; m < 10 && n < TICKS_MAX; m++) {
            double v = e + log10(m);
            if (v < lo - 1e-9 || v > hi + 1e-9 || (every > 2 && m > 1)) continue;
            bool named = (m == 1 && e % every == 0) || (hi - lo < 2 && (m == 2 || m == 5)) ||
                         (hi - lo < 1 && room > 9);
            t[n] = (struct tick){.share = (v - lo) / (hi - lo)};
            if (named) decade_label(&t[n], m, e, powers);
            n++;
        }
    return n;
}

/* Numbers that are multiples of 1, 2 or 5 times a power of ten; four short ticks between two (of 2:
 * three). */
static int ticks_linear(const struct axis *a, int room, struct tick *t)
{
    double length = a->hi - a->lo, part = length / (room < 9 ? 3 : 4);
    double ten = pow(10, floor(log10(part))), q = part / ten;
    int n = 0, m = q >= 5 ? 5 : q >= 2 ? 2 : 1, parts = m == 2 ? 4 : 5;
    double step = m * ten / parts;
    for (double k = ceil(a->lo / step - 1e-9); k * step <= a->hi + 1e-9 * length && n < TICKS_MAX;
         k++, n++) {
        t[n] = (struct tick){.share = (k * step - a->lo) / length};
        if (fmod(k, parts) == 0)
            snprintf(t[n].text, sizeof t[n].text, "%g", k / parts * m * ten + 0.0);
    }
    return n;
}

/* A short stretch of a log axis has the numbers of a linear one, at their places. */
static int ticks_short(const struct axis *a, int room, struct tick *t)
{
    struct axis linear = {.lo = pow(10, a->lo), .hi = pow(10, a->hi)};
    double length = linear.hi - linear.lo;
    int n = ticks_linear(&linear, room, t);
    for (int i = 0; i < n; i++)
        t[i].share = (log10(linear.lo + t[i].share * length) - a->lo) / (a->hi - a->lo);
    return n;
}

static int axis_ticks(const struct axis *a, double length, struct tick *t)
{
    int room = (int)fmax(length / 40, 2), n, named = 0;
    if (!(a->hi > a->lo && isfinite(a->hi - a->lo))) return 0;
    if (!a->log) return ticks_linear(a, room, t);
    n = ticks_log(a, room, t);
    for (int i = 0; i < n; i++) named += *t[i].text != 0;
    return named < 2 ? ticks_short(a, room, t) : n;
}

/* At both sides of the frame. */
static void draw_ticks(const struct frame *f, struct canvas *c, bool along_x)
{
    struct tick t[TICKS_MAX];
    const struct box *b = &f->in;
    double low = b->y + b->height, right = b->x + b->width;
    int n = axis_ticks(along_x ? &f->x : &f->y, along_x ? b->width : b->height, t);
    for (int i = 0; i < n; i++) {
        double length = *t[i].text ? 8 : 4;
        double x = b->x + t[i].share * b->width, y = low - t[i].share * b->height;
        if (along_x) {
            frame_line(c, x, low, x, low - length, AXIS);
            frame_line(c, x, b->y, x, b->y + length, AXIS);
            canvas_write(c, &(struct label){x, low + 20, ANCHOR_MIDDLE, false, t[i].text, 0});
        } else {
            frame_line(c, b->x, y, b->x + length, y, AXIS);
            frame_line(c, right, y, right - length, y, AXIS);
            canvas_write(c, &(struct label){b->x - 8, y + 5, ANCHOR_END, false, t[i].text, 0});
        }
    }
}

static void outline(struct canvas *c, const struct box *b)
{
    double right = b->x + b->width, low = b->y + b->height;
    canvas_line(
        c, 5,
        (const double[5][2]){{b->x, b->y}, {right, b->y}, {right, low}, {b->x, low}, {b->x, b->y}},
        AXIS);
}

void frame_draw(const struct frame *f, struct canvas *c)
{
    const struct box *b = &f->in;
    double middle = b->x + b->width / 2, low = b->y + b->height;
    outline(c, b);
    draw_ticks(f, c, true);
    draw_ticks(f, c, false);
    struct label x = {middle, low + 44, ANCHOR_MIDDLE, false, f->x.name, 0},
                 y = {b->x - 60, b->y + b->height / 2, ANCHOR_MIDDLE, true, f->y.name, 0};
    if (f->x.name) canvas_write(c, &x);
    if (f->y.name) canvas_write(c, &y);
    if (f->title)
        canvas_write(
            c, &(struct label){middle, b->y - 12, ANCHOR_MIDDLE, false, f->title, TITLE_SIZE});
}

void frame_bar(const struct frame *f, struct canvas *c, int colours, const struct axis *a)
{
    struct tick t[TICKS_MAX];
    struct box b = {f->in.x + f->in.width + BAR_GAP, f->in.y, BAR_WIDTH, f->in.height};
    unsigned char rgb[STEPS][3];
    double right = b.x + b.width, widest = 0;
    for (int i = 0; i < STEPS; i++) colours_at(colours, 1 - (i + 0.5) / STEPS, rgb[i]);
    canvas_pixels(c, b, 1, STEPS, rgb[0]);
    outline(c, &b);
    int n = axis_ticks(a, b.height, t);
    for (int i = 0; i < n; i++) {
        double y = b.y + (1 - t[i].share) * b.height;
        frame_line(c, right, y, right + (*t[i].text ? 6 : 3), y, AXIS);
        canvas_write(c, &(struct label){right + 9, y + 5, ANCHOR_START, false, t[i].text, 0});
        widest = fmax(widest, canvas_text_width(c, t[i].text, 0));
    }
    struct label name = {
        right + fmin(30 + widest, 78), b.y + b.height / 2, ANCHOR_MIDDLE, true, a->name, 0};
    canvas_write(c, &name);
}
