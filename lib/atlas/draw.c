/* atlas/draw: a map and what is over it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "atlas/over.h"
#include "base/mem.h"
#include "plot/arrow.h"
#include "plot/contour.h"
#include "plot/frame.h"
#include "plot/numbers.h"

enum { TITLE = FRAME_TITLE };

static struct box pixels_at(const struct map *m, double x, double y)
{
    const double side = map_side(m), n = m->n > m->rows ? m->n : m->rows;
    return (struct box){x + FRAME_LEFT, y + FRAME_TOP + TITLE, side * m->n / n, side * m->rows / n};
}

struct box atlas_size(const struct map *m)
{
    const struct box in = pixels_at(m, 0, 0);
    return (struct box){0, 0, in.width + FRAME_LEFT + FRAME_RIGHT + FRAME_BAR,
                        in.height + FRAME_TOP + TITLE + FRAME_BOTTOM};
}

/* Labels of the two axes. */
static void axes_of(const struct map *m, struct unit length, char text[2][96])
{
    for (int d = 0; d < 2; d++)
        unit_axis(&m->r->head, (char[]){(char)('x' + (d ? m->v : m->u)), 0}, length, text[d],
                  sizeof text[d]);
}

/* Title such as "gas density, run, output 2, z = 0.5, depth 20 kpc". */
static void title_of(const struct map *m, char *title, size_t n)
{
    const double depth = m->o->depth;
    const struct unit u = unit_length(&m->r->head, depth, m->o->physical);
    atlas_name(m, title, n);
    size_t k = strlen(title);
    k += (size_t)snprintf(title + k, n - k, ", ");
    unit_title(m->r, m->o->physical, title + k, n - k);
    k = strlen(title);
    if (depth < 1)
        snprintf(title + k, n - k, ", depth %.4g %s", depth * u.worth,
                 m->o->physical ? u.name : "of the box");
}

static void draw_outlines(const struct map *m, const struct frame *f, struct canvas *c)
{
    const double width = m->hi[0] - m->lo[0], height = m->hi[1] - m->lo[1];
    for (int64_t i = 0; i < m->outlines; i++) {
        const double *b = m->outline[i];
        const double x = f->in.x + (b[0] - m->lo[0]) / width * f->in.width,
                     dx = b[2] / width * f->in.width,
                     y = f->in.y + (m->hi[1] - b[1]) / height * f->in.height,
                     dy = b[3] / height * f->in.height;
        const double corner[5][2] = {{x, y}, {x + dx, y}, {x + dx, y - dy}, {x, y - dy}, {x, y}};
        canvas_line(c, 5, corner, (struct pen){0x808080, 0.5, false});
    }
}

static void draw_lines(const struct map *m, const struct frame *f, struct canvas *c)
{
    for (int i = 0; i < m->lines.n; i++) {
        const double(*at)[2];
        const int n = streamlines_points(&m->lines, i, &at);
        arrow_draw(c, &f->in, n, at);
    }
}

/* ---- contours ---- */

struct contours {
    const struct map *m;
    const struct frame *f;
    struct canvas *c;
};

static void draw_contour(void *ctx, int n, const double (*xy)[2])
{
    const struct contours *k = ctx;
    const struct box *in = &k->f->in;
    double(*at)[2] = mem_new(sizeof *at * (size_t)n, "contours");
    for (int i = 0; i < n; i++) {
        at[i][0] = in->x + xy[i][0] / k->m->n * in->width;
        at[i][1] = in->y + (1 - xy[i][1] / k->m->rows) * in->height;
    }
    canvas_line_seamed(k->c, n, (const double(*)[2])at);
    FREE(at);
}

int atlas_levels(const struct map *m, double level[MAP_CONTOURS_MAX])
{
    const struct map_options *o = m->o;
    const int n = o->levels ? o->levels : o->contours;
    for (int k = 0; k < n; k++)
        level[k] = o->levels ? o->level[k] : scale_value(&m->range, (k + 1.0) / (n + 1));
    return n;
}

static void draw_contours(const struct map *m, const struct frame *f, struct canvas *c)
{
    double level[MAP_CONTOURS_MAX];
    const int n = atlas_levels(m, level);
    struct contours k = {m, f, c};
    for (int i = 0; i < n; i++) contour_trace(m->n, m->rows, m->sum, level[i], draw_contour, &k);
}

/* ---- the scale bar ---- */

double atlas_ruler(double room)
{
    const double ten = pow(10, floor(log10(room) + 1e-9)), q = room / ten;
    return (q >= 5 ? 5 : q >= 2 ? 2 : 1) * ten;
}

/* Unit of the axes of a frame of a movie, which is in the brackets of their label. */
static void frame_unit(const struct map *m, char text[32])
{
    const char *from = strchr(m->label[0], '[');
    snprintf(text, 32, "%.*s", from ? (int)strcspn(from + 1, "]") : 0, from ? from + 1 : "");
}

/* A bar of a round length, at most a third of the width, in the lower left corner, and the time in
 * the upper left one. */
static void draw_ruler(const struct map *m, const struct frame *f, struct canvas *c)
{
    enum { AWAY = 16, HIGH = 5 };
    const double share = (m->hi[0] - m->lo[0]) * m->side[0];
    const bool known = !m->plain && m->r->head.unit_l != 1;
    const struct unit u = unit_length(&m->r->head, share, known);
    const double whole = share * u.worth, length = atlas_ruler(whole / 3),
                 width = length / whole * f->in.width, x = f->in.x + AWAY,
                 y = f->in.y + f->in.height - AWAY;
    char text[96], when[64], unit[32];
    snprintf(unit, sizeof unit, "%s", u.name);
    if (m->label[0]) frame_unit(m, unit);
    snprintf(text, sizeof text, "%g %s%s", length, unit,
             known && m->r->head.cosmo ? ", proper" : "");
    unit_when(&m->r->head, known, when, sizeof when);
    canvas_line_seamed(c, 2, (const double[2][2]){{x, y}, {x + width, y}});
    for (int k = 0; k < 2; k++) {
        const double end = x + k * width;
        canvas_line_seamed(c, 2, (const double[2][2]){{end, y - HIGH}, {end, y + HIGH}});
    }
    canvas_write_seamed(c, &(struct label){x, y - 10, ANCHOR_START, false, text, 0});
    if (!m->title)
        canvas_write_seamed(c,
                            &(struct label){x, f->in.y + AWAY + 10, ANCHOR_START, false, when, 0});
}

/* ---- the map ---- */

static void draw_over(const struct map *m, const struct frame *f, struct canvas *c)
{
    canvas_clip(c, &f->in);
    draw_outlines(m, f, c);
    draw_contours(m, f, c);
    draw_lines(m, f, c);
    if (m->o->ruler) draw_ruler(m, f, c);
    canvas_clip(c, NULL);
}

static void draw_bar(const struct map *m, const struct frame *f, struct canvas *c,
                     const char *label)
{
    struct axis bar = scale_axis(&m->range, label);
    double level[MAP_CONTOURS_MAX];
    const int n = atlas_levels(m, level);
    bar.whole = m->field == GAS_LEVEL && !m->plain;
    frame_bar(f, c, m->range.colours, &bar);
    for (int k = 0; k < n; k++) frame_bar_mark(f, c, scale_share(&m->range, level[k]));
}

void atlas_draw_at(struct canvas *c, const struct map *m, double x, double y, bool with_bar)
{
    char text[2][96], name[160], title[240];
    const struct unit length = unit_length(&m->r->head, m->o->width, m->o->physical);
    const char *label[3] = {text[0], text[1], name};
    axes_of(m, length, text);
    atlas_label(m, name, sizeof name);
    title_of(m, title, sizeof title);
    for (int k = 0; k < 3; k++)
        if (m->label[k]) label[k] = m->label[k];
    const double dx = length.worth * m->side[0], dy = length.worth * m->side[1];
    const struct frame f = {.x = {.lo = m->lo[0] * dx, .hi = m->hi[0] * dx, .name = label[0]},
                            .y = {.lo = m->lo[1] * dy, .hi = m->hi[1] * dy, .name = label[1]},
                            .in = pixels_at(m, x, y),
                            .outside = true,
                            .title = m->title ? m->title : title};
    unsigned char *rgb = map_paint(m);
    numbers_of_image(c, &f, label[2], m->n, m->rows, m->sum);
    canvas_pixels(c, f.in, m->n, m->rows, rgb);
    FREE(rgb);
    draw_over(m, &f, c);
    if (with_bar) draw_bar(m, &f, c, label[2]);
    frame_draw(&f, c);
}

void atlas_draw(struct canvas *c, const void *map)
{
    atlas_draw_at(c, map, 0, 0, true);
}
