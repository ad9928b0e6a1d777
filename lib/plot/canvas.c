/* plot/canvas: see canvas.h, canvas_priv.h. */
#ifdef PTAH_CAIRO
#include <cairo.h>
#include <math.h>
#include <string.h>

#include "plot/canvas_priv.h"

/* Size of exponents, and the height by which they are raised, in units of the letter size. */
static const double SMALL = 0.72, RAISE = 0.42;
/* The symbol of the sun: width of its place, radius and depth of the centre below the baseline, in
 * units of the letter size. */
static const double SUN = 0.66, SUN_RADIUS = 0.25, SUN_DEPTH = 0.02;
static const unsigned SEAM = 0x303030, WHITE = 0xffffff;

static void ink(struct canvas *c, unsigned rgb)
{
    cairo_set_source_rgb(c->to, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                         (rgb & 255) / 255.0);
}

void canvas_line(struct canvas *c, int n, const double (*xy)[2], struct pen pen)
{
    const double dash[2] = {6, 4};
    ink(c, pen.rgb);
    cairo_set_line_width(c->to, pen.width);
    cairo_set_line_join(c->to, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(c->to, dash, pen.dashed ? 2 : 0, 0);
    cairo_new_path(c->to);
    for (int i = 0; i < n; i++) cairo_line_to(c->to, xy[i][0], xy[i][1]);
    cairo_stroke(c->to);
}

void canvas_line_seamed(struct canvas *c, int n, const double (*xy)[2])
{
    canvas_line(c, n, xy, (struct pen){SEAM, 2.2, false});
    canvas_line(c, n, xy, (struct pen){WHITE, 1, false});
}

/* Fills without antialiasing, which would leave a gap between adjacent boxes. */
void canvas_fill(struct canvas *c, struct box box, unsigned rgb)
{
    ink(c, rgb);
    cairo_set_antialias(c->to, CAIRO_ANTIALIAS_NONE);
    cairo_rectangle(c->to, box.x, box.y, box.width, box.height);
    cairo_fill(c->to);
    cairo_set_antialias(c->to, CAIRO_ANTIALIAS_DEFAULT);
}

void canvas_clip(struct canvas *c, const struct box *box)
{
    cairo_reset_clip(c->to);
    if (!box) return;
    cairo_rectangle(c->to, box->x, box->y, box->width, box->height);
    cairo_clip(c->to);
}

/* ---- text ---- */

enum run_kind { PLAIN, RAISED, SOLAR };

/* Splits off a run of text: letters, the digits that ^ raises, or the "sun" of Msun. Returns the
 * length. */
static int next_run(const char *text, bool after_m, enum run_kind *kind, char *run, size_t size)
{
    const int skip = *text == '^';
    *kind = skip ? RAISED : after_m && strncmp(text, "sun", 3) == 0 ? SOLAR : PLAIN;
    int n = skip             ? (int)strspn(text + 1, "-\u2212.0123456789")
            : *kind == SOLAR ? 3
                             : (int)strcspn(text, "^");
    const char *sun = strstr(text, "Msun");
    if (*kind == PLAIN && sun && sun + 1 - text < n) n = (int)(sun + 1 - text);
    const int retained = n < (int)size ? n : (int)size - 1;
    memcpy(run, text + skip, (size_t)retained);
    run[retained] = 0;
    return n + skip;
}

/* Adds a circle with a point at its centre to the path. */
static void add_sun(struct canvas *c, double along, double size)
{
    const double x = along + 0.5 * SUN * size, y = SUN_DEPTH * size, r = SUN_RADIUS * size,
                 line = 0.07 * size, turn = 2 * M_PI;
    cairo_arc(c->to, x, y, r, 0, turn);
    cairo_close_path(c->to);
    cairo_arc_negative(c->to, x, y, r - line, turn, 0);
    cairo_close_path(c->to);
    cairo_arc(c->to, x, y, line, 0, turn);
    cairo_close_path(c->to);
}

enum how { MEASURE, SHOW, OUTLINE };

/* Draws text from the current origin on, adds its outlines to the path, or only measures it.
 * Returns the width. */
static double run_all(struct canvas *c, const char *text, double size, enum how how)
{
    double along = 0;
    cairo_select_font_face(c->to, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_new_path(c->to);
    for (const char *at = text; *at;) {
        char run[256];
        enum run_kind kind;
        at += next_run(at, at > text && at[-1] == 'M', &kind, run, sizeof run);
        cairo_text_extents_t is = {.x_advance = SUN * size};
        cairo_set_font_size(c->to, kind == RAISED ? size * SMALL : size);
        if (kind == SOLAR && how != MEASURE) add_sun(c, along, size);
        if (kind == SOLAR && how == SHOW) cairo_fill(c->to);
        if (kind != SOLAR) cairo_text_extents(c->to, run, &is);
        if (kind != SOLAR && how != MEASURE) {
            cairo_move_to(c->to, along, kind == RAISED ? -size * RAISE : 0);
            (how == SHOW ? cairo_show_text : cairo_text_path)(c->to, run);
        }
        along += is.x_advance;
    }
    if (how != OUTLINE) cairo_new_path(c->to);
    return along;
}

double canvas_text_width(struct canvas *c, const char *text, double size)
{
    return run_all(c, text, size > 0 ? size : CANVAS_FONT, MEASURE);
}

static void write_text(struct canvas *c, const struct label *l, bool seamed)
{
    static const double part[] = {0, 0.5, 1}; /* fraction of the width, by anchor */
    const double size = l->size > 0 ? l->size : CANVAS_FONT,
                 back = part[l->anchor] * run_all(c, l->text, size, MEASURE);
    cairo_save(c->to);
    cairo_translate(c->to, l->x, l->y);
    if (l->up) cairo_rotate(c->to, -1.5707963267948966);
    cairo_translate(c->to, -back, 0);
    ink(c, seamed ? SEAM : 0);
    run_all(c, l->text, size, seamed ? OUTLINE : SHOW);
    if (seamed) {
        cairo_set_line_width(c->to, 2.4);
        cairo_set_dash(c->to, NULL, 0, 0);
        cairo_set_line_join(c->to, CAIRO_LINE_JOIN_ROUND);
        cairo_stroke_preserve(c->to);
        ink(c, WHITE);
        cairo_fill(c->to);
    }
    cairo_restore(c->to);
}

void canvas_write(struct canvas *c, const struct label *l)
{
    write_text(c, l, false);
}

void canvas_write_seamed(struct canvas *c, const struct label *l)
{
    write_text(c, l, true);
}

FILE *canvas_numbers(const struct canvas *c)
{
    return c->numbers;
}

/* ---- pixels ---- */

void canvas_pixels(struct canvas *c, struct box box, int columns, int rows,
                   const unsigned char *rgb)
{
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows);
    if (cairo_surface_status(s) == CAIRO_STATUS_SUCCESS) {
        unsigned char *to = cairo_image_surface_get_data(s);
        int stride = cairo_image_surface_get_stride(s);
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++, rgb += 3) {
                unsigned q = (unsigned)rgb[0] << 16 | (unsigned)rgb[1] << 8 | rgb[2];
                memcpy(to + (size_t)y * (size_t)stride + (size_t)x * 4, &q, 4);
            }
        cairo_surface_mark_dirty(s);
    }
    cairo_save(c->to);
    cairo_translate(c->to, box.x, box.y);
    cairo_scale(c->to, box.width / columns, box.height / rows);
    cairo_set_source_surface(c->to, s, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(c->to), CAIRO_FILTER_NEAREST);
    cairo_pattern_set_extend(cairo_get_source(c->to), CAIRO_EXTEND_PAD);
    cairo_rectangle(c->to, 0, 0, columns, rows);
    cairo_set_antialias(c->to, CAIRO_ANTIALIAS_NONE);
    cairo_fill(c->to);
    cairo_restore(c->to);
    cairo_surface_destroy(s);
}
#endif
