#include "plot/chart.h"

#include <math.h>

#include "base/mem.h"
#include "plot/numbers.h"

enum { LEGEND_MAX = 20, LEGEND_ROW = 18, GRAY = 0x808080 };

static const unsigned COLOUR[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00,
                                  0x56b4e9, 0x000000, 0x882255, 0x999933, 0x7f7fff};
enum { COLOURS = sizeof COLOUR / sizeof *COLOUR };

static struct pen pen_of(const struct curve *q)
{
    return (struct pen){q->colour < 0 ? GRAY : COLOUR[q->colour % COLOURS], q->dashed ? 1 : 1.6,
                        q->dashed};
}

static void draw_dot(struct canvas *c, double x, double y, const struct curve *q)
{
    double side = q->point > 0 ? q->point : 6;
    canvas_fill(c, (struct box){x - 0.5 * side, y - 0.5 * side, side, side}, pen_of(q).rgb);
}

/* Whether each point gets a square. */
static bool has_dots(const struct curve *q)
{
    return q->dots || q->point > 0;
}

/* ---- axes ---- */

static bool shown(const struct axis *a, double x)
{
    return isfinite(x) && (!a->log || x > 0);
}

static bool is_found(const struct axis *a)
{
    return a->lo < a->hi;
}

static void stretch(struct axis *a, double x)
{
    if (!shown(a, x)) return;
    if (a->log) axis_stretch(a, x);
    if (!a->log) a->lo = fmin(a->lo, x), a->hi = fmax(a->hi, x);
}

/* Finds the range of an axis from the curves: log axes and a linear y axis get margins, a linear x
 * axis none. */
static void find_axis(struct axis *a, const struct chart *h, bool along_x)
{
    if (is_found(a)) return;
    a->lo = INFINITY, a->hi = -INFINITY;
    for (int i = 0; i < h->n; i++) {
        const struct curve *q = &h->curve[i];
        for (int k = 0; k < q->n; k++)
            if (shown(&h->x, q->x[k]) && shown(&h->y, q->y[k]))
                stretch(a, (along_x ? q->x : q->y)[k]);
        if (!q->n && !along_x) stretch(a, q->across);
    }
    if (!(a->hi >= a->lo)) a->lo = 0, a->hi = 1; /* no data */
    if (a->log)
        axis_widen(a, along_x ? 0.03 : 0.05, along_x ? 0.02 : 0.05);
    else if (!(a->hi - a->lo > 1e-12 * fmax(fabs(a->lo), fabs(a->hi))))
        a->lo -= a->lo ? 0.1 * fabs(a->lo) : 1, a->hi += a->hi ? 0.1 * fabs(a->hi) : 1;
    else if (!along_x)
        a->lo -= 0.05 * (a->hi - a->lo), a->hi += 0.05 * (a->hi - a->lo);
}

/* ---- legend ---- */

enum { PLACES = 12, MARGIN = 12, NEAR = 4 }; /* PLACES: tried along each side of the frame */

/* Counts the points of a piece of a curve, some 6 points of length apart, that are in a box. */
static int met_by(const struct box *b, const double from[2], const double to[2])
{
    const double length = hypot(to[0] - from[0], to[1] - from[1]);
    const int n = length < 6000 ? 1 + (int)(length / 6) : 1000;
    int met = 0;
    for (int i = 0; i <= n; i++) {
        const double x = from[0] + (to[0] - from[0]) * i / n - b->x,
                     y = from[1] + (to[1] - from[1]) * i / n - b->y;
        met += x > -NEAR && x < b->width + NEAR && y > -NEAR && y < b->height + NEAR;
    }
    return met;
}

/* The length of curves in a box, in some unit. */
static int crowd(const struct chart *h, const struct frame *f, const struct box *b)
{
    int met = 0;
    for (int i = 0; i < h->n; i++) {
        const struct curve *q = &h->curve[i];
        double last[2] = {0}, at[2];
        bool joined = false;
        for (int j = 0; j < q->n; j++) {
            const bool is = shown(&f->x, q->x[j]) && shown(&f->y, q->y[j]);
            if (is) {
                at[0] = frame_x(f, q->x[j]), at[1] = frame_y(f, q->y[j]);
                met += met_by(b, joined ? last : at, at);
                last[0] = at[0], last[1] = at[1];
            }
            joined = is && !(q->point > 0);
        }
        const double y = frame_y(f, q->across);
        if (!q->n && shown(&f->y, q->across))
            met += met_by(b, (double[2]){f->in.x, y}, (double[2]){f->in.x + f->in.width, y});
    }
    return met;
}

/* Places the legend where it hides least of the curves: in the first corner without any, of bottom
 * left, top right, bottom right, top left, else anywhere in the frame. Returns what it hides. */
static int legend_place(const struct chart *h, const struct frame *f, struct box *b)
{
    const double x = f->in.x + MARGIN, dx = f->in.width - 2 * MARGIN - b->width,
                 y = f->in.y + MARGIN, dy = f->in.height - 2 * MARGIN - b->height;
    static const double CORNER[4][2] = {{0, 1}, {1, 0}, {1, 1}, {0, 0}};
    int min = -1;
    struct box best = *b;
    for (int k = 0; k < 4 + (PLACES + 1) * (PLACES + 1) && min != 0; k++) {
        const int i = k - 4;
        const double right = k < 4 ? CORNER[k][0] : (double)(i % (PLACES + 1)) / PLACES,
                     down = k < 4 ? CORNER[k][1] : (double)(i / (PLACES + 1)) / PLACES;
        const struct box q = {x + right * dx, y + down * dy, b->width, b->height};
        const int met = crowd(h, f, &q);
        if (min >= 0 && met >= min) continue;
        min = met;
        best = q;
    }
    *b = best;
    return min;
}

/* The size of the legend; the number of its rows. */
static int legend_size(struct canvas *c, const struct chart *h, struct box *b)
{
    int rows = 0;
    double longest = 0;
    for (int i = 0; i < h->n; i++) {
        if (!h->curve[i].label || rows == LEGEND_MAX) continue;
        longest = fmax(longest, canvas_text_width(c, h->curve[i].label, 0));
        rows++;
    }
    *b = (struct box){.width = 40 + longest, .height = LEGEND_ROW * rows};
    return rows;
}

/* Axis y grows upwards, if it may, for a legend that would hide a curve wherever it is. Returns the
 * number of rows of the legend. */
static int find_legend(struct canvas *c, const struct chart *h, struct frame *f, struct box *b)
{
    const int rows = legend_size(c, h, b);
    const double above = b->height + 2 * MARGIN;
    if (!rows || legend_place(h, f, b) == 0) return rows;
    if ((is_found(&h->y) && !h->grows) || above > 0.5 * f->in.height) return rows;
    f->y.hi = f->y.lo + (f->y.hi - f->y.lo) * f->in.height / (f->in.height - above);
    legend_place(h, f, b);
    return rows;
}

static void legend(struct canvas *c, const struct chart *h, int rows, struct box b)
{
    if (!rows) return;
    canvas_fill(c, b, 0xffffff);
    for (int i = 0, row = 0; i < h->n && row < rows; i++) {
        const struct curve *q = &h->curve[i];
        if (!q->label) continue;
        double y = b.y + LEGEND_ROW * (row++ + 0.75);
        if (!has_dots(q)) frame_line(c, b.x + 2, y - 5, b.x + 28, y - 5, pen_of(q));
        if (has_dots(q) || q->n == 1) draw_dot(c, b.x + 15, y - 5, q);
        canvas_write(c, &(struct label){b.x + 34, y, ANCHOR_START, false, q->label, 0});
    }
}

/* ---- curves ---- */

static void draw_curve(struct canvas *c, const struct frame *f, const struct curve *q)
{
    double(*xy)[2] = mem_new(sizeof *xy * (size_t)(q->n + 1), "chart");
    if (!q->n) {
        double y = frame_y(f, q->across);
        if (shown(&f->y, q->across)) frame_line(c, f->in.x, y, f->in.x + f->in.width, y, pen_of(q));
    }
    for (int k = 0; k < q->n && has_dots(q); k++)
        if (shown(&f->x, q->x[k]) && shown(&f->y, q->y[k]))
            draw_dot(c, frame_x(f, q->x[k]), frame_y(f, q->y[k]), q);
    for (int k = 0, n = 0; k <= q->n && !(q->point > 0); k++) {
        if (k < q->n && shown(&f->x, q->x[k]) && shown(&f->y, q->y[k])) {
            xy[n][0] = frame_x(f, q->x[k]);
            xy[n++][1] = frame_y(f, q->y[k]);
        } else if (n > 0) { /* a gap or the end of the curve; a single point gets no line */
            if (n == 1) draw_dot(c, xy[0][0], xy[0][1], q);
            canvas_line(c, n, (const double(*)[2])xy, pen_of(q));
            n = 0;
        }
    }
    FREE(xy);
}

void chart_draw(struct canvas *c, const struct chart *h)
{
    struct frame f = {.x = h->x, .y = h->y, .in = h->in, .title = h->title};
    find_axis(&f.x, h, true);
    find_axis(&f.y, h, false);
    struct box b;
    const int rows = find_legend(c, h, &f, &b);
    numbers_of_chart(c, h);
    canvas_clip(c, &f.in);
    for (int i = 0; i < h->n; i++) draw_curve(c, &f, &h->curve[i]);
    legend(c, h, rows, b);
    canvas_clip(c, NULL);
    frame_draw(&f, c);
}
