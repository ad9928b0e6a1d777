#include "plot/frame.h"

#include <math.h>

#include "plot/colours.h"
#include "plot/ticks.h"

enum { TITLE_SIZE = 15, STEPS = 256, FRAME_MARGIN = 30 };
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

double axis_shape(const struct axis *a, double x)
{
    const double t = a->threshold, far = fabs(x) / t;
    if (a->log) return log10(x);
    if (!(t > 0)) return x;
    return far <= 1 ? x / t : copysign(1 + log10(far), x);
}

/* Fraction of the axis from its lower end to x, 0 to 1. */
static double share_of(const struct axis *a, double x)
{
    return (axis_shape(a, x) - a->lo) / (a->hi - a->lo);
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

/* ---- axes ---- */

/* Letter size at which the longest label of the ticks is no wider than `room`. */
static double fitting(struct canvas *c, int n, const struct tick *t, double room, double *widest)
{
    *widest = 0;
    for (int i = 0; i < n; i++) *widest = fmax(*widest, canvas_text_width(c, t[i].text, 0));
    if (*widest <= room) return CANVAS_FONT;
    const double size = CANVAS_FONT * room / *widest;
    *widest = room;
    return size;
}

/* Letter size at which a name is no longer than its axis with some margin. */
static double name_size(struct canvas *c, const char *name, double length)
{
    const double width = canvas_text_width(c, name, 0), room = length + FRAME_MARGIN;
    return width > room ? CANVAS_FONT * room / width : CANVAS_FONT;
}

/* Draws a tick at both sides of the frame, or, if f->outside, outside of the bottom or left side
 * only. */
static void draw_tick(const struct frame *f, struct canvas *c, bool along_x, const struct tick *t)
{
    const struct box *b = &f->in;
    const double low = b->y + b->height, right = b->x + b->width, x = b->x + t->share * b->width,
                 y = low - t->share * b->height;
    double length = *t->text ? 8 : 4;
    if (f->outside) length *= -0.6;
    if (along_x) {
        frame_line(c, x, low, x, low - length, AXIS);
        if (!f->outside) frame_line(c, x, b->y, x, b->y + length, AXIS);
    } else {
        frame_line(c, b->x, y, b->x + length, y, AXIS);
        if (!f->outside) frame_line(c, right, y, right - length, y, AXIS);
    }
}

/* Writes the labels along x: those at the ends of the frame stay within its margins, and those that
 * would overlap the one before are left out. */
static void write_along(const struct frame *f, struct canvas *c, int n, const struct tick *t)
{
    const struct box *b = &f->in;
    double end = -INFINITY;
    for (int i = 0; i < n; i++) {
        const double half = 0.5 * canvas_text_width(c, t[i].text, 0),
                     last = b->x + b->width + FRAME_RIGHT - 2 - half;
        const double x = fmin(b->x + t[i].share * b->width, fmax(last, b->x));
        if (!*t[i].text || x - half < end + 8) continue;
        end = x + half;
        canvas_write(c,
                     &(struct label){x, b->y + b->height + 20, ANCHOR_MIDDLE, false, t[i].text, 0});
    }
}

static void draw_x(const struct frame *f, struct canvas *c)
{
    const struct box *b = &f->in;
    struct tick t[TICKS_MAX];
    char text[TICKS_NAME];
    int power;
    const int n = ticks_find(&f->x, b->width, t, &power);
    for (int i = 0; i < n; i++) draw_tick(f, c, true, &t[i]);
    write_along(f, c, n, t);
    if (!f->x.name) return;
    const char *name = ticks_name(&f->x, power, text);
    canvas_write(c, &(struct label){b->x + b->width / 2, b->y + b->height + 44, ANCHOR_MIDDLE,
                                    false, name, name_size(c, name, b->width)});
}

static void draw_y(const struct frame *f, struct canvas *c)
{
    enum { ROOM = FRAME_LEFT - 18 - CANVAS_FONT - 2 };
    const struct box *b = &f->in;
    struct tick t[TICKS_MAX];
    char text[TICKS_NAME];
    int power;
    double widest;
    const int n = ticks_find(&f->y, b->height, t, &power);
    const double size = fitting(c, n, t, ROOM, &widest);
    for (int i = 0; i < n; i++) {
        const double y = b->y + (1 - t[i].share) * b->height;
        draw_tick(f, c, false, &t[i]);
        canvas_write(
            c, &(struct label){b->x - 8, y + 0.36 * size, ANCHOR_END, false, t[i].text, size});
    }
    if (!f->y.name) return;
    const char *name = ticks_name(&f->y, power, text);
    canvas_write(c, &(struct label){b->x - fmax(52, 18 + widest), b->y + b->height / 2,
                                    ANCHOR_MIDDLE, true, name, name_size(c, name, b->height)});
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
    draw_x(f, c);
    draw_y(f, c);
    if (f->title)
        canvas_write(c, &(struct label){middle, f->in.y - 12, ANCHOR_MIDDLE, false, f->title,
                                        title_size(f, c)});
}

void frame_bar(const struct frame *f, struct canvas *c, int colours, const struct axis *a)
{
    enum { ROOM = 62 }; /* for labels, between the bar and its name */
    struct tick t[TICKS_MAX];
    struct box b = {f->in.x + f->in.width + BAR_GAP, f->in.y, BAR_WIDTH, f->in.height};
    unsigned char rgb[STEPS][3];
    char text[TICKS_NAME];
    double right = b.x + b.width, widest;
    for (int i = 0; i < STEPS; i++) colours_at(colours, 1 - (i + 0.5) / STEPS, rgb[i]);
    canvas_pixels(c, b, 1, STEPS, rgb[0]);
    outline(c, &b);
    int power;
    const int n = ticks_find(a, b.height, t, &power);
    const double size = fitting(c, n, t, ROOM, &widest);
    for (int i = 0; i < n; i++) {
        double y = b.y + (1 - t[i].share) * b.height;
        frame_line(c, right, y, right + (*t[i].text ? 6 : 3), y, AXIS);
        canvas_write(
            c, &(struct label){right + 9, y + 0.36 * size, ANCHOR_START, false, t[i].text, size});
    }
    const char *name = ticks_name(a, power, text);
    canvas_write(c, &(struct label){right + 28 + widest, b.y + b.height / 2, ANCHOR_MIDDLE, true,
                                    name, name_size(c, name, b.height)});
}

void frame_bar_mark(const struct frame *f, struct canvas *c, double share)
{
    const double x = f->in.x + f->in.width + BAR_GAP, y = f->in.y + (1 - share) * f->in.height;
    if (share >= 0 && share <= 1)
        canvas_line_seamed(c, 2, (const double[2][2]){{x, y}, {x + BAR_WIDTH, y}});
}
