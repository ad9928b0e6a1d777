/* plot/canvas_png: a canvas of pixels. The darkness of a line at a pixel follows from its distance;
 * letters are lines. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "io/image.h"
#include "plot/canvas.h"
#include "plot/letters.h"

enum { SCALE = 2, WIDTH = SCALE * CANVAS_WIDTH, HEIGHT = SCALE * CANVAS_HEIGHT };
static const double DASH = 6, GAP = 4, STROKE = 1.15; /* of letters */

struct pixels {
    unsigned char *rgb;
};

static void blend(struct pixels *p, int x, int y, unsigned rgb, double alpha)
{
    if (x < 0 || y < 0 || x >= WIDTH || y >= HEIGHT || alpha <= 0) return;
    unsigned char *at = p->rgb + ((size_t)y * WIDTH + (size_t)x) * 3;
    for (int i = 0; i < 3; i++) {
        double new = rgb >> (16 - 8 * i) & 255;
        at[i] = (unsigned char)lrint(at[i] + fmin(alpha, 1) * (new - at[i]));
    }
}

static double distance(const double a[2], const double b[2], double x, double y)
{
    double dx = b[0] - a[0], dy = b[1] - a[1], r2 = dx * dx + dy * dy;
    double t = r2 > 0 ? fmin(fmax(((x - a[0]) * dx + (y - a[1]) * dy) / r2, 0), 1) : 0;
    return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* a, b in points. */
static void stroke(struct pixels *p, const double a[2], const double b[2], double width,
                   unsigned rgb)
{
    double s = SCALE, u[2] = {a[0] * s, a[1] * s}, v[2] = {b[0] * s, b[1] * s},
           half = 0.5 * width * s, reach = half + 1;
    for (int y = (int)floor(fmin(u[1], v[1]) - reach); y <= fmax(u[1], v[1]) + reach; y++)
        for (int x = (int)floor(fmin(u[0], v[0]) - reach); x <= fmax(u[0], v[0]) + reach; x++)
            blend(p, x, y, rgb, half + 0.5 - distance(u, v, x + 0.5, y + 0.5));
}

/* Dashes continue from one piece to the next. *done: length so far. */
static void dashes(struct pixels *p, const double a[2], const double b[2], struct pen pen,
                   double *done)
{
    double length = hypot(b[0] - a[0], b[1] - a[1]), at = 0;
    while (at < length) {
        double phase = fmod(*done + at, DASH + GAP),
               upto = fmin(length, at + (phase < DASH ? DASH : DASH + GAP) - phase);
        double from[2], to[2];
        for (int d = 0; d < 2; d++) {
            from[d] = a[d] + (b[d] - a[d]) * at / length;
            to[d] = a[d] + (b[d] - a[d]) * upto / length;
        }
        if (phase < DASH) stroke(p, from, to, pen.width, pen.rgb);
        at = fmax(upto, at + 1e-3);
    }
    *done += length;
}

static void png_line(void *to, int n, const double (*xy)[2], struct pen pen)
{
    double done = 0;
    for (int i = 0; i + 1 < n; i++)
        if (pen.dashed)
            dashes(to, xy[i], xy[i + 1], pen, &done);
        else
            stroke(to, xy[i], xy[i + 1], pen.width, pen.rgb);
}

static void png_fill(void *to, double x, double y, double width, double height, unsigned rgb)
{
    struct pixels *p = to;
    for (int j = (int)(y * SCALE); j < (y + height) * SCALE; j++)
        for (int i = (int)(x * SCALE); i < (x + width) * SCALE; i++) blend(p, i, j, rgb, 1);
}

/* The position of the letters of a text. */
struct hand {
    struct pixels *p; /* NULL: only measure */
    double x, y, along, size;
    bool up;
};

static void letter_line(void *ctx, const double a[2], const double b[2])
{
    struct hand *h = ctx;
    double unit = h->size / LETTER_SIZE, at[2][2];
    const double *end[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        double right = h->along + end[i][0] * unit, high = end[i][1] * unit;
        at[i][0] = h->up ? h->x - high : h->x + right;
        at[i][1] = h->up ? h->y - right : h->y - high;
    }
    stroke(h->p, at[0], at[1], STROKE * sqrt(h->size / CANVAS_FONT), 0);
}

static void run(struct hand *h, const char *text, int n, double size)
{
    h->size = size;
    for (const char *s = text; s < text + n;)
        s = letter_draw(s, h->p ? letter_line : NULL, h, &h->along, size);
}

static void run_all(struct hand *h, const char *text)
{
    int before, raised = canvas_raised(text, &before);
    run(h, text, before, CANVAS_FONT);
    if (!raised) return;
    double lift = CANVAS_RAISE * (h->up ? 0.0 : -1.0), shift = CANVAS_RAISE * (h->up ? -1.0 : 0.0);
    h->y += lift, h->x += shift;
    run(h, text + before + 1, raised, CANVAS_SMALL);
    h->y -= lift, h->x -= shift;
    run(h, text + before + 1 + raised, (int)strlen(text + before + 1 + raised), CANVAS_FONT);
}

static void png_write(void *to, const struct label *l)
{
    struct hand h = {.p = NULL};
    run_all(&h, l->text);
    double back = h.along * (l->anchor == ANCHOR_START ? 0 : l->anchor == ANCHOR_MIDDLE ? 0.5 : 1);
    h = (struct hand){.p = to, .x = l->x, .y = l->y, .along = -back, .up = l->up};
    run_all(&h, l->text);
}

int canvas_png(FILE *out, canvas_draw *draw, const void *what)
{
    struct pixels p = {mem_new((size_t)WIDTH * HEIGHT * 3, "picture")};
    memset(p.rgb, 255, (size_t)WIDTH * HEIGHT * 3);
    draw(&(struct canvas){&p, png_line, png_fill, png_write}, what);
    int why = image_write_png(out, WIDTH, HEIGHT, p.rgb, NULL);
    FREE(p.rgb);
    return why;
}
