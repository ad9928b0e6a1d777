/* inspect: -m, writes maps to files. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "formats/formats.h"
#include "inspect.h"
#include "io/stream.h"
#include "plot/picture.h"
#include "sphview/sphview.h"
#include "view/map.h"

/* Saves a picture with axes, or bare pixels. */
static enum err save_picture(const struct map *m, const char *path, const char *file,
                             const struct options *q)
{
    const struct map_options *o = m->o;
    const struct map_range *r = &m->range;
    char range[160], time[64], axis[2] = {(char)('x' + o->axis), 0}, region[200];
    int n = snprintf(range, sizeof range, "%.9g to %.9g, %s", r->lo, r->hi,
                     r->logarithmic ? "logarithmic" : "linear");
    bool below = r->min < r->lo && (r->min > 0 || !r->logarithmic);
    if (!o->has_range && (below || r->max > r->hi))
        snprintf(range + n, sizeof range - (size_t)n,
                 "; values from %.9g to %.9g (--range full shows all)", r->min, r->max);
    snprintf(time, sizeof time, "%.15g", m->r->head.t);
    snprintf(region, sizeof region, "centre %.9g %.9g %.9g, width %.9g, depth %.9g", o->centre[0],
             o->centre[1], o->centre[2], o->width, o->depth);
    const char *text[] = {"Source",
                          path,
                          "Field",
                          o->field,
                          "Unit",
                          m->unit,
                          "Weight",
                          map_weight_name(m),
                          "Line of sight",
                          axis,
                          "Range",
                          range,
                          "Region",
                          region,
                          "Time",
                          time,
                          NULL};
    struct box size = map_plot_size(m);
    struct picture p = {.format = (enum picture_format)q->format,
                        .draw = map_plot,
                        .what = m,
                        .width = size.width,
                        .height = size.height,
                        .text = text};
    TRY(map_check_range(m));
    if (q->bare) {
        unsigned char *rgb = map_paint(m);
        enum err err = pixels_save(file, m->n, m->rows, rgb, text);
        FREE(rgb);
        if (err != OK) return err;
    } else {
        TRY(picture_save(file, &p));
    }
    if (strcmp(file, "-") != 0) log_info("%s of %s along %s: %s", o->field, path, axis, range);
    return OK;
}

enum err map_save(const struct map *m, const char *path, const char *file, const struct options *o)
{
    const struct map_range *r = &m->range;
    if (o->format == FORMAT_NPY)
        TRY(array_save(file, m->n, m->rows, m->sum));
    else
        TRY(save_picture(m, path, file, o));
    if (o->json) {
        json_begin("map", path);
        json_text("file", file);
        json_text("field", o->map.field);
        json_text("unit", m->unit);
        json_text("weight", map_weight_name(m));
        json_text("axis", (char[]){(char)('x' + o->map.axis), 0});
        json_count("pixels", m->n);
        if (m->rows != m->n) json_count("rows", m->rows);
        printf(",\"center\":[%.17g,%.17g,%.17g]", o->map.centre[0], o->map.centre[1],
               o->map.centre[2]);
        json_number("width", o->map.width);
        json_number("depth", o->map.depth);
        json_number("min", r->min);
        json_number("max", r->max);
        printf(",\"range\":[");
        json_value(r->lo);
        printf(",");
        json_value(r->hi);
        printf("]");
        json_bool("logarithmic", r->logarithmic);
        json_number("total", r->total);
        if (o->map.lines) json_count("lines", m->lines.n);
        json_end();
    } else if (strcmp(file, "-") != 0) {
        printf("%s\n", file);
    }
    return OK;
}

/* A map of smoothed particles by their kernels. */
static enum err draw_kernels(const char *path, const struct options *o)
{
    struct source *r = mem_zero(sizeof *r, "map");
    struct map m = {0};
    struct deposit_particles *s;
    char name[128];
    const char *file = o->out ? o->out : name;
    enum err err = deposit_open(path, &s);
    if (err == OK) {
        snprintf(name, sizeof name, "%.100s_%05d.%s", o->map.field, s->in->number,
                 format_name(o->format));
        err = temp_may_write(file, o->force);
    }
    if (err == OK) err = sphview_map(&m, r, s, &o->map);
    if (err == OK) err = map_save(&m, path, file, o);
    map_free(&m);
    deposit_close(&s);
    FREE(r);
    return err;
}

enum err map_draw(const char *path, const struct options *o, int *status)
{
    struct source *r;
    struct map m = {0};
    char name[128];
    const char *file = o->out ? o->out : name;
    if (sphview_draws(path, &o->map)) return draw_kernels(path, o);
    enum err err = source_open(path, &r);
    if (err == OK) {
        snprintf(name, sizeof name, "%.100s_%05d.%s", o->map.field, r->number,
                 format_name(o->format));
        err = temp_may_write(file, o->force);
    }
    if (err == OK) err = map_make(&m, r, &o->map);
    if (err == OK) err = map_save(&m, path, file, o);
    map_free(&m);
    source_close(&r);
    return err;
}
