/* plot/canvas: see canvas.h, canvas_priv.h. */
#ifdef PTAH_CAIRO
#include <cairo.h>
#include <string.h>

#include "plot/canvas_priv.h"

/* Size of exponents, and the height by which they are raised, in units of the letter size. */
static const double SMALL = 0.72, RAISE = 0.42;

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

/* Splits off a run of text: the letters up to the next ^, or the digits that ^ raises. Returns the
 * length. */
static int next_run(const char *text, bool *raised, char *run, size_t size)
{
    int skip = *text == '^';
    *raised = skip;
    int n = (int)(skip ? strspn(text + 1, "-\u22120123456789") : strcspn(text, "^"));
    int retained = n < (int)size ? n : (int)size - 1;
    memcpy(run, text + skip, (size_t)retained);
    run[retained] = 0;
    return n + skip;
}

/* Draws text from the current point on, or with show = false only measures it. Returns the width.
 */
static double run_all(struct canvas *c, const char *text, double size, bool show)
{
    double along = 0;
    cairo_select_font_face(c->to, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    while (*text) {
        char run[256];
        bool raised;
        text += next_run(text, &raised, run, sizeof run);
        cairo_text_extents_t is;
        cairo_set_font_size(c->to, raised ? size * SMALL : size);
        cairo_text_extents(c->to, run, &is);
        cairo_move_to(c->to, along, raised ? -size * RAISE : 0);
        if (show) cairo_show_text(c->to, run);
        along += is.x_advance;
    }
    cairo_new_path(c->to);
    return along;
}

double canvas_text_width(struct canvas *c, const char *text, double size)
{
    return run_all(c, text, size > 0 ? size : CANVAS_FONT, false);
}

void canvas_write(struct canvas *c, const struct label *l)
{
    static const double part[] = {0, 0.5, 1}; /* fraction of the width, by anchor */
    double size = l->size > 0 ? l->size : CANVAS_FONT;
    double back = part[l->anchor] * run_all(c, l->text, size, false);
    ink(c, 0);
    cairo_save(c->to);
    cairo_translate(c->to, l->x, l->y);
    if (l->up) cairo_rotate(c->to, -1.5707963267948966);
    cairo_translate(c->to, -back, 0);
    run_all(c, l->text, size, true);
    cairo_restore(c->to);
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
