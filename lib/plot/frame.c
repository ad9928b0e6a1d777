#include "plot/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plot/colours.h"

enum { TICKS_MAX = 256, TITLE_SIZE = 15, STEPS = 256, LONGEST = 160 };
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

void axis_widen(struct axis *a, double share, double min)
{
    double margin = fmax(share * (a->hi - a->lo) + min, 0.5 * (0.7 - (a->hi - a->lo)));
    a->lo -= margin;
    a->hi += margin;
}

/* Fraction of the axis from its lower end to x, 0 to 1. */
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
    double share;  /* position as a fraction of the axis */
    char text[40]; /* label; empty: a short tick */
};

/* Writes the label of m 10^e; powers: as a power of ten, where plain numbers would be long. */
static void decade_label(struct tick *t, int m, int e, bool powers)
{
    if (!powers)
        snprintf(t->text, sizeof t->text, "%g", m * pow(10, e));
    else if (m == 1)
        snprintf(t->text, sizeof t->text, "10^%d", e);
    else
        snprintf(t->text, sizeof t->text, "%d·10^%d", m, e);
}

/* Ticks of a log axis: each decade has a long tick with a number, and short ticks between. On axes
 * shorter than two decades 2 and 5 have numbers too, shorter than one decade all ticks. room:
 * number of labels that fit. */
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

/* Exponent of the power of ten that is factored out of the labels of a linear axis to keep them
 * short. */
static int power_of(const struct axis *a)
{
    double max = fmax(fabs(a->lo), fabs(a->hi));
    if (!(max > 0) || (max >= 1e-3 && max < 1e5)) return 0;
    return (int)floor(log10(max) + 1e-9);
}

/* Ticks of a linear axis: labels at multiples of 1, 2 or 5 times a power of ten, with enough digits
 * to differ, and four short ticks between two labels (three for multiples of 2). */
static int ticks_linear(const struct axis *a, int room, struct tick *t)
{
    double length = a->hi - a->lo, part = length / (room < 9 ? 3 : 4);
    double ten = pow(10, floor(log10(part))), q = part / ten, unit = pow(10, power_of(a));
    int n = 0, m = q >= 5 ? 5 : q >= 2 ? 2 : 1, parts = m == 2 ? 4 : 5;
    int digits = (int)ceil(log10(fmax(fabs(a->lo), fabs(a->hi)) / ten)) + 1;
    double step = m * ten / parts;
    for (double k = ceil(a->lo / step - 1e-9); k * step <= a->hi + 1e-9 * length && n < TICKS_MAX;
         k++, n++) {
        t[n] = (struct tick){.share = (k * step - a->lo) / length};
        if (fmod(k, parts) == 0)
            snprintf(t[n].text, sizeof t[n].text, "%.*g",
                     digits < 6    ? 6
                     : digits < 15 ? digits
                                   : 15,
                     k / parts * m * ten / unit + 0.0);
    }
    return n;
}

/* Ticks of a short log axis: the labels of a linear axis at their logarithmic positions. */
static int ticks_short(const struct axis *a, int room, struct tick *t, int *power)
{
    struct axis linear = {.lo = pow(10, a->lo), .hi = pow(10, a->hi)};
    double length = linear.hi - linear.lo;
    int n = ticks_linear(&linear, room, t);
    *power = power_of(&linear);
    for (int i = 0; i < n; i++)
        t[i].share = (log10(linear.lo + t[i].share * length) - a->lo) / (a->hi - a->lo);
    return n;
}

/* Replaces each hyphen by the minus sign, which is as wide as a plus. */
static void true_minus(char text[40])
{
    char out[40];
    size_t n = 0;
    for (const char *s = text; *s && n + 4 < sizeof out; s++)
        if (*s == '-')
            memcpy(out + n, "\u2212", 3), n += 3;
        else
            out[n++] = *s;
    out[n] = 0;
    memcpy(text, out, n + 1);
}

/* Finds the ticks of an axis. *power: exponent of the power of ten by which the labels are
 * multiplied. */
static int axis_ticks(const struct axis *a, double length, struct tick *t, int *power)
{
    int room = (int)fmax(length / 40, 2), n, named = 0;
    *power = 0;
    if (!(a->hi > a->lo && isfinite(a->hi - a->lo))) return 0;
    if (!a->log) *power = power_of(a);
    n = a->log ? ticks_log(a, room, t) : ticks_linear(a, room, t);
    for (int i = 0; i < n; i++) named += *t[i].text != 0;
    if (a->log && named < 2) n = ticks_short(a, room, t, power);
    for (int i = 0; i < n; i++) true_minus(t[i].text);
    return n;
}

/* Label of an axis, with its power of ten inside the brackets of the unit. */
static const char *axis_name(const struct axis *a, int power, char text[LONGEST])
{
    const char *unit = strchr(a->name, '[');
    if (!power) return a->name;
    char ten[40];
    snprintf(ten, sizeof ten, "10^%d", power);
    true_minus(ten);
    if (unit)
        snprintf(text, LONGEST, "%.*s[%s %s", (int)(unit - a->name), a->name, ten, unit + 1);
    else
        snprintf(text, LONGEST, "%s [%s]", a->name, ten);
    return text;
}

/* Draws a tick at both sides of the frame, or, if f->outside, outside of the bottom or left side
 * only. */
static void draw_tick(const struct frame *f, struct canvas *c, bool along_x, const struct tick *t)
{
    const struct box *b = &f->in;
    double low = b->y + b->height, right = b->x + b->width, length = *t->text ? 8 : 4;
    double x = b->x + t->share * b->width, y = low - t->share * b->height;
    if (f->outside) length *= -0.6;
    if (along_x) {
        frame_line(c, x, low, x, low - length, AXIS);
        if (!f->outside) frame_line(c, x, b->y, x, b->y + length, AXIS);
        canvas_write(c, &(struct label){x, low + 20, ANCHOR_MIDDLE, false, t->text, 0});
    } else {
        frame_line(c, b->x, y, b->x + length, y, AXIS);
        if (!f->outside) frame_line(c, right, y, right - length, y, AXIS);
        canvas_write(c, &(struct label){b->x - 8, y + 5, ANCHOR_END, false, t->text, 0});
    }
}

static void draw_axis(const struct frame *f, struct canvas *c, bool along_x)
{
    struct tick t[TICKS_MAX];
    const struct box *b = &f->in;
    const struct axis *a = along_x ? &f->x : &f->y;
    char text[LONGEST];
    int power, n = axis_ticks(a, along_x ? b->width : b->height, t, &power);
    double widest = 0, end = -INFINITY;
    for (int i = 0; i < n && along_x; i++) { /* drops labels of x that would overlap */
        double half = 0.5 * canvas_text_width(c, t[i].text, 0), x = t[i].share * b->width;
        if (!*t[i].text) continue;
        if (x - half < end + 8)
            *t[i].text = 0;
        else
            end = x + half;
    }
    for (int i = 0; i < n; i++) draw_tick(f, c, along_x, &t[i]);
    if (!a->name) return;
    for (int i = 0; i < n; i++) widest = fmax(widest, canvas_text_width(c, t[i].text, 0));
    struct label name = {b->x - fmax(60, 18 + widest),
                         b->y + b->height / 2,
                         ANCHOR_MIDDLE,
                         true,
                         axis_name(a, power, text),
                         0};
    if (along_x) name.x = b->x + b->width / 2, name.y = b->y + b->height + 44, name.up = false;
    canvas_write(c, &name);
}

static void outline(struct canvas *c, const struct box *b)
{
    double right = b->x + b->width, low = b->y + b->height;
    canvas_line(
        c, 5,
        (const double[5][2]){{b->x, b->y}, {right, b->y}, {right, low}, {b->x, low}, {b->x, b->y}},
        AXIS);
}

/* Letter size at which the title is no longer than the frame with its margins. */
static double title_size(const struct frame *f, struct canvas *c)
{
    double width = canvas_text_width(c, f->title, TITLE_SIZE),
           room = f->in.width + 2 * FRAME_RIGHT + FRAME_LEFT;
    return width > room ? TITLE_SIZE * room / width : TITLE_SIZE;
}

void frame_draw(const struct frame *f, struct canvas *c)
{
    double middle = f->in.x + f->in.width / 2;
    outline(c, &f->in);
    draw_axis(f, c, true);
    draw_axis(f, c, false);
    if (f->title)
        canvas_write(c, &(struct label){middle, f->in.y - 12, ANCHOR_MIDDLE, false, f->title,
                                        title_size(f, c)});
}

void frame_bar(const struct frame *f, struct canvas *c, int colours, const struct axis *a)
{
    struct tick t[TICKS_MAX];
    struct box b = {f->in.x + f->in.width + BAR_GAP, f->in.y, BAR_WIDTH, f->in.height};
    unsigned char rgb[STEPS][3];
    char text[LONGEST];
    double right = b.x + b.width, widest = 0;
    for (int i = 0; i < STEPS; i++) colours_at(colours, 1 - (i + 0.5) / STEPS, rgb[i]);
    canvas_pixels(c, b, 1, STEPS, rgb[0]);
    outline(c, &b);
    int power, n = axis_ticks(a, b.height, t, &power);
    for (int i = 0; i < n; i++) {
        double y = b.y + (1 - t[i].share) * b.height;
        frame_line(c, right, y, right + (*t[i].text ? 6 : 3), y, AXIS);
        canvas_write(c, &(struct label){right + 9, y + 5, ANCHOR_START, false, t[i].text, 0});
        widest = fmax(widest, canvas_text_width(c, t[i].text, 0));
    }
    canvas_write(c, &(struct label){right + 30 + widest, b.y + b.height / 2, ANCHOR_MIDDLE, true,
                                    axis_name(a, power, text), 0});
}
