/* plot/picture_cairo: writes drawings to files through cairo. */
#ifdef PTAH_CAIRO
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "io/image.h"
#include "plot/canvas_priv.h"
#include "plot/picture.h"

enum { SCALE = 2 }; /* pixels per point */

static cairo_status_t put(void *out, const unsigned char *data, unsigned n)
{
    return fwrite(data, 1, n, out) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* The pixels of an image surface, 3 bytes each (owner: caller). */
static unsigned char *take_pixels(cairo_surface_t *s, int *columns, int *rows)
{
    const int width = cairo_image_surface_get_width(s), height = cairo_image_surface_get_height(s),
              stride = cairo_image_surface_get_stride(s);
    const unsigned char *from = cairo_image_surface_get_data(s);
    unsigned char *rgb = mem_new((size_t)width * (size_t)height * 3, "picture"), *to = rgb;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            unsigned q;
            memcpy(&q, from + (size_t)y * (size_t)stride + (size_t)x * 4, 4);
            *to++ = (unsigned char)(q >> 16), *to++ = (unsigned char)(q >> 8);
            *to++ = (unsigned char)q;
        }
    *columns = width, *rows = height;
    return rgb;
}

static int write_png(FILE *out, cairo_surface_t *s, const char *const *text)
{
    int width, height;
    unsigned char *rgb = take_pixels(s, &width, &height);
    const int why = image_write_png(out, width, height, rgb, text);
    FREE(rgb);
    return why;
}

static cairo_surface_t *surface_of(FILE *out, const struct picture *p, double width, double height)
{
    switch (p->format) {
    case PICTURE_SVG:
        return cairo_svg_surface_create_for_stream(put, out, width, height);
    case PICTURE_PDF:
        return cairo_pdf_surface_create_for_stream(put, out, width, height);
    case PICTURE_PNG:
    case PICTURE_NONE:
        break;
    }
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(SCALE * width),
                                                    (int)(SCALE * height));
    cairo_surface_set_device_scale(s, SCALE, SCALE);
    return s;
}

/* Turns off font hinting, so that letters have the same relative width at any scale. */
static void set_fonts(cairo_t *to)
{
    cairo_font_options_t *o = cairo_font_options_create();
    cairo_font_options_set_hint_style(o, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(o, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(o, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(to, o);
    cairo_font_options_destroy(o);
}

/* Draws on a surface; the result is an error of cairo. */
static cairo_status_t draw_on(cairo_surface_t *s, const struct picture *p, struct box whole)
{
    struct canvas c = {.to = cairo_create(s)};
    set_fonts(c.to);
    canvas_fill(&c, whole, 0xffffff);
    p->draw(&c, p->what);
    const cairo_status_t bad = cairo_status(c.to);
    cairo_destroy(c.to);
    cairo_surface_flush(s);
    return bad;
}

static struct box size_of(const struct picture *p)
{
    return (struct box){0, 0, p->width > 0 ? p->width : CANVAS_WIDTH,
                        p->height > 0 ? p->height : CANVAS_HEIGHT};
}

enum err picture_write(FILE *out, const char *name, const struct picture *p)
{
    const struct box whole = size_of(p);
    errno = 0;
    cairo_surface_t *s = surface_of(out, p, whole.width, whole.height);
    cairo_status_t bad = draw_on(s, p, whole);
    int why = 0;
    if (!bad && p->format != PICTURE_SVG && p->format != PICTURE_PDF)
        why = write_png(out, s, p->text);
    cairo_surface_finish(s);
    if (!bad) bad = cairo_surface_status(s);
    cairo_surface_destroy(s);
    if (!why && (bad == CAIRO_STATUS_WRITE_ERROR || (!bad && fflush(out) != 0)))
        why = errno ? errno : EIO;
    if (why) FAIL(ERR_FILE, "%s: cannot write: %s", name, strerror(why));
    if (bad) FAIL(ERR_LIMIT, "%s: cannot draw: %s", name, cairo_status_to_string(bad));
    return OK;
}

/* A surface of one pixel measures texts as any other does. */
void picture_numbers(FILE *out, const struct picture *p)
{
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    struct canvas c = {.to = cairo_create(s), .numbers = out};
    set_fonts(c.to);
    p->draw(&c, p->what);
    cairo_destroy(c.to);
    cairo_surface_destroy(s);
}

enum err picture_pixels(const struct picture *p, int *columns, int *rows, unsigned char **rgb)
{
    const struct box whole = size_of(p);
    cairo_surface_t *s = surface_of(NULL, p, whole.width, whole.height);
    const cairo_status_t bad = draw_on(s, p, whole);
    *rgb = bad ? NULL : take_pixels(s, columns, rows);
    cairo_surface_destroy(s);
    if (bad) FAIL(ERR_LIMIT, "a picture cannot be drawn: %s", cairo_status_to_string(bad));
    return OK;
}
#endif
