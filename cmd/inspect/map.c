/* inspect: -m and --film, maps as pictures, several in one picture, and as films. */
#include <stdio.h>
#include <string.h>

#include "atlas/atlas.h"
#include "base/log.h"
#include "base/mem.h"
#include "comm/lines.h"
#include "film/camera.h"
#include "film/film.h"
#include "film/frame.h"
#include "inspect.h"
#include "io/stream.h"
#include "io/temp.h"
#include "plot/picture.h"

/* Saves a picture with axes, or bare pixels. */
static enum err save_picture(const struct map *m, const char *path, const char *file,
                             const struct options *q)
{
    const struct map_options *o = m->o;
    const struct colour_scale *r = &m->range;
    char range[160], time[64], axis[2] = {(char)('x' + o->axis), 0}, region[200];
    int n = snprintf(range, sizeof range, "%.9g to %.9g, %s", r->lo, r->hi, scale_name(r));
    bool below = r->min < r->lo && (r->min > 0 || !r->logarithmic);
    if (!o->scale.has_range && (below || r->max > r->hi))
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
    struct box size = atlas_size(m);
    struct picture p = {.format = (enum picture_format)q->format,
                        .draw = atlas_draw,
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

/* Tells the user if no contour that was asked for lies in the range of the map. */
static void tell_contours(const struct map *m)
{
    const struct map_options *o = m->o;
    int n = 0;
    for (int k = 0; k < o->levels; k++)
        n += o->level[k] > m->range.min && o->level[k] <= m->range.max;
    if (o->levels && n == 0)
        log_info("no contour is drawn: the values of %s are from %g to %g%s%s", o->field,
                 m->range.min, m->range.max, o->physical ? " " : "", o->physical ? m->unit : "");
}

static void map_tell(const struct map *m, const char *path, const char *file,
                     const struct options *o)
{
    const struct colour_scale *r = &m->range;
    if (o->json) {
        json_begin("map", path);
        json_text("file", file);
        json_text("field", m->o->field);
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
        if (r->threshold > 0) json_number("threshold", r->threshold);
        json_number("total", m->total);
        if (o->map.lines) json_count("lines", m->lines.n);
        json_end();
    } else if (strcmp(file, "-") != 0) {
        printf("%s\n", file);
    }
}

/* The numbers of a map: an array, or a table. */
static enum err save_numbers(const struct map *m, const char *path, const struct options *o)
{
    const struct picture p = {.draw = atlas_draw, .what = m};
    const char *end = o->data ? strrchr(o->data, '.') : NULL;
    if (end && strcmp(end, ".npy") == 0) return array_save(o->data, m->n, m->rows, m->sum);
    return picture_save_numbers(o->data, path, &p);
}

enum err map_save(const struct map *m, const char *path, const char *file, const struct options *o)
{
    if (o->format == FORMAT_NPY)
        TRY(array_save(file, m->n, m->rows, m->sum));
    else
        TRY(save_picture(m, path, file, o));
    TRY(save_numbers(m, path, o));
    tell_contours(m);
    map_tell(m, path, file, o);
    return OK;
}

/* ---- maps beside each other: -m FIELD,FIELD… and --panels ---- */

enum { FIELDS = 16, PANELS = 64, COLUMNS = 3 };

struct panels {
    const struct options *o;
    int nfield, npath, n;
    char field[FIELDS][80];
    const char *const *path;   /* [npath] */
    struct shot *shot[PANELS]; /* all checkpoints of the first field, then of the next */
};

static enum err split_fields(struct panels *k)
{
    for (const char *at = k->o->map.field;; at++) {
        const size_t n = strcspn(at, ",");
        if (n == 0 || n >= sizeof *k->field)
            FAIL(ERR_PARAM, "-m takes a field, or several with commas between, not %s",
                 k->o->map.field);
        if (k->nfield == FIELDS) FAIL(ERR_PARAM, "a picture has at most %d fields", FIELDS);
        memcpy(k->field[k->nfield++], at, n);
        at += n;
        if (!*at) break;
    }
    if (k->nfield * k->npath > PANELS)
        FAIL(ERR_PARAM, "%d panels are asked for: a picture has at most %d", k->nfield * k->npath,
             PANELS);
    return OK;
}

/* The maps of all checkpoints of a field, in one range of colours. */
static enum err draw_field(struct panels *k, int f)
{
    struct scale_values v = {.images = k->npath};
    struct map_options o = k->o->map;
    enum err err = OK;
    o.field = k->field[f];
    for (int i = 0; i < k->npath && err == OK; i++) {
        struct shot **s = &k->shot[k->n++];
        err = shot_open(s, k->path[i], &o);
        if (err == OK) err = shot_draw(*s, NULL);
        if (err == OK) scale_add(&v, (*s)->m.sum, (size_t)(*s)->m.n * (size_t)(*s)->m.rows);
        err = err_about(err, k->path[i]);
    }
    if (err == OK) {
        struct shot **s = &k->shot[(ptrdiff_t)f * k->npath];
        const struct scale_ask ask = map_scale_ask(&s[0]->m);
        struct colour_scale range;
        scale_choose(&v, &ask, &range);
        for (int i = 0; i < k->npath; i++) s[i]->m.range = range;
        err = map_check_range(&s[0]->m);
    }
    scale_free(&v);
    return err;
}

/* Few panels are in a row; of several checkpoints and fields each row is a field. */
static int columns_of(const struct panels *k)
{
    if (k->nfield > 1 && k->npath > 1) return k->npath;
    return k->n == 4 ? 2 : k->n < COLUMNS ? k->n : COLUMNS;
}

static enum err save_arrays(const struct panels *k, const char *file)
{
    const double *x[PANELS];
    const struct map *m = &k->shot[0]->m;
    for (int i = 0; i < k->n; i++) {
        const struct map *q = &k->shot[i]->m;
        x[i] = q->sum;
        if (q->n != m->n || q->rows != m->rows)
            FAIL(ERR_PARAM, "%s: has %d x %d pixels, the first panel %d x %d: no array has both",
                 q->r->path, q->n, q->rows, m->n, m->rows);
    }
    return arrays_save(file, k->n, m->n, m->rows, x);
}

static enum err save_panels(const struct panels *k, const char *file)
{
    const struct options *o = k->o;
    const struct map *map[PANELS];
    for (int i = 0; i < k->n; i++) map[i] = &k->shot[i]->m;
    const struct atlas_sheet sheet = {k->n, columns_of(k), map, k->npath > 1};
    const struct box size = atlas_sheet_size(&sheet);
    const char *text[] = {"Source", k->path[0], "Field", o->map.field, NULL};
    const struct picture p = {.format = (enum picture_format)o->format,
                              .draw = atlas_draw_sheet,
                              .what = &sheet,
                              .width = size.width,
                              .height = size.height,
                              .text = text};
    const char *end = o->data ? strrchr(o->data, '.') : NULL;
    TRY(o->format == FORMAT_NPY ? save_arrays(k, file) : picture_save(file, &p));
    if (end && strcmp(end, ".npy") == 0) return save_arrays(k, o->data);
    return picture_save_numbers(o->data, k->path[0], &p);
}

static enum err make_panels(struct panels *k)
{
    const struct options *o = k->o;
    char name[200];
    const char *file = o->out ? o->out : name;
    TRY(split_fields(k));
    TRY(plot_allowed(o));
    for (int f = 0; f < k->nfield; f++) TRY(draw_field(k, f));
    snprintf(name, sizeof name, "%.100s_%05d.%s", o->map.field, k->shot[k->npath - 1]->r.number,
             format_name(o->format));
    for (char *c = name; *c; c++) *c = *c == ',' ? '_' : *c;
    TRY(temp_may_write(file, o->force));
    if (o->data) TRY(temp_may_write(o->data, o->force));
    TRY(save_panels(k, file));
    for (int i = 0; i < k->n; i++) tell_contours(&k->shot[i]->m);
    for (int i = 0; i < k->n && o->json; i++)
        map_tell(&k->shot[i]->m, k->path[i % k->npath], file, o);
    if (!o->json && strcmp(file, "-") != 0) printf("%s\n", file);
    return OK;
}

static enum err panels_draw(const char *path, const struct options *o)
{
    struct panels k = {.o = o, .npath = 1, .path = &path};
    if (o->panels) k.npath = o->npath, k.path = (const char *const *)o->paths;
    const enum err err = make_panels(&k);
    for (int i = 0; i < k.n; i++) shot_free(&k.shot[i]);
    return err;
}

enum err map_draw(const char *path, const struct options *o, int *status)
{
    struct shot *s = NULL;
    char name[128];
    const char *file = o->out ? o->out : name;
    if (o->panels || strchr(o->map.field, ',')) return panels_draw(path, o);
    enum err err = shot_open(&s, path, &o->map);
    if (err == OK) {
        snprintf(name, sizeof name, "%.100s_%05d.%s", o->map.field, s->r.number,
                 format_name(o->format));
        err = temp_may_write(file, o->force);
        if (err == OK && o->data) err = temp_may_write(o->data, o->force);
    }
    if (err == OK) err = shot_draw(s, NULL);
    if (err == OK) err = map_save(&s->m, path, file, o);
    shot_free(&s);
    return err;
}

/* ---- films ---- */

struct operands {
    int n, room;
    char **path;
};

static void add_operand(struct operands *a, const char *path)
{
    const size_t n = strlen(path) + 1;
    MEM_ROOM(a->path, a->n, a->room, 64, "film");
    a->path[a->n] = mem_new(n, "film");
    memcpy(a->path[a->n++], path, n);
}

/* All paths, those of standard input too. (collective) */
static enum err read_operands(const struct options *o, struct operands *a)
{
    struct lines lines = {0};
    for (int i = 0; i < o->npath; i++) {
        if (strcmp(o->paths[i], "-") != 0) {
            add_operand(a, o->paths[i]);
            continue;
        }
        for (bool got;;) {
            TRY(lines_next(&lines, &o->c, &got));
            if (!got) break;
            add_operand(a, lines.text);
        }
    }
    if (a->n == 0) FAIL(ERR_PARAM, "standard input names no checkpoint and no frames");
    return OK;
}

static void free_operands(struct operands *a)
{
    for (int i = 0; i < a->n; i++) FREE(a->path[i]);
    FREE(a->path);
}

/* The parts of a film. */
struct reels {
    const struct options *o;
    struct operands from;
    struct map_options map;
    struct shot_cube cube;
    struct film_list frames;
    struct film_camera *camera;
};

static enum err take_checkpoint(void *ctx, int i, struct shot **s)
{
    struct reels *k = ctx;
    TRY(shot_open(s, k->from.path[i], &k->map));
    return err_about(shot_draw(*s, &k->cube), k->from.path[i]);
}

static enum err take_frame(void *ctx, int i, struct shot **s)
{
    const struct reels *k = ctx;
    return film_read(&k->frames, i, &k->map, k->o->map.axis, s);
}

static enum err take_painted(void *ctx, int i, struct shot **s)
{
    struct reels *k = ctx;
    return film_camera_take(k->camera, k->from.path[i], s);
}

static bool is_placed(const struct options *o)
{
    const struct map_options *m = &o->map;
    return o->pixels || m->width < 1 || m->depth < 1 || m->centre[0] != 0.5 ||
           m->centre[1] != 0.5 || m->centre[2] != 0.5;
}

/* Refuses options of maps that frames do not follow. */
static enum err check_drawn(const struct options *o)
{
    const struct map_options *m = &o->map;
    const char *wrong = m->weight     ? "--weight"
                        : m->mesh     ? "--mesh"
                        : m->lines    ? "--lines"
                        : m->smooth   ? "--smooth"
                        : m->physical ? "--units"
                                      : NULL;
    if (wrong) FAIL(ERR_PARAM, "%s is for films of maps, not for frames of movies", wrong);
    return OK;
}

static enum err open_camera(struct reels *k)
{
    const struct options *o = k->o;
    const struct film_camera_ask ask = {
        .camera = o->camera, .variable = o->map.field, .map = &o->map, .placed = is_placed(o)};
    if (o->map.axis >= 0)
        FAIL(ERR_PARAM, "-a and --camera exclude each other: --camera %c has this line of sight",
             'x' + o->map.axis);
    TRY(check_drawn(o));
    return film_camera_open(&ask, &k->camera);
}

static enum err prepare_frames(struct reels *k)
{
    const struct options *o = k->o;
    if (is_placed(o))
        FAIL(ERR_PARAM,
             "--center, --width, --depth and --pixels are for films of checkpoints: frames have "
             "been drawn already");
    TRY(check_drawn(o));
    return film_list(k->from.n, k->from.path, o->map.field, &k->frames);
}

static enum err prepare_film(struct reels *k, struct film *f)
{
    const struct options *o = k->o;
    const struct operands *a = &k->from;
    f->ctx = k, f->bare = o->bare, f->memory = o->memory;
    k->map = o->map;
    if (film_has_frames(a->path[0])) {
        if (o->camera)
            FAIL(ERR_PARAM, "%s: --camera is for checkpoints: frames have been drawn already",
                 a->path[0]);
        TRY(prepare_frames(k));
        f->take = take_frame, f->n = k->frames.n;
        return OK;
    }
    f->n = a->n;
    if (o->camera) {
        f->take = take_painted;
        return open_camera(k);
    }
    if (!o->map.field)
        FAIL(ERR_PARAM,
             "%s: has no frames NAME_NNNNN.map or .png; for a film of checkpoints -m chooses a "
             "field",
             a->path[0]);
    if (k->map.axis < 0) k->map.axis = 2;
    f->take = take_checkpoint;
    return OK;
}

/* Path and format: as asked for, else a film by ffmpeg if it is installed. */
static void name_film(const struct options *o, const char *field, struct reel_how *how,
                      char name[128])
{
    static const enum film_format OF[] = {[FORMAT_PNG] = FILM_PNG,
                                          [FORMAT_MP4] = FILM_MP4,
                                          [FORMAT_GIF] = FILM_GIF,
                                          [FORMAT_RGB] = FILM_RGB,
                                          [FORMAT_NPY] = FILM_NPY};
    char program[PATH_MAX];
    const enum file_format format = o->format              ? o->format
                                    : reel_ffmpeg(program) ? FORMAT_MP4
                                                           : FORMAT_PNG;
    how->format = OF[format];
    snprintf(name, 128, "%.100s.%s", field, format_name(format));
    how->path = o->out ? o->out : name;
}

static void tell_film(const struct film *f, const struct film_made *made, const char *field,
                      const struct options *o)
{
    const struct colour_scale *c = &made->scale;
    const char *file = f->how.path;
    if (made->drawn)
        log_info("%s, %d frame%s of %d x %d pixels, %.9g per second: %.9g to %.9g, %s", field, f->n,
                 f->n == 1 ? "" : "s", made->columns, made->rows, f->how.rate, c->lo, c->hi,
                 scale_name(c));
    if (!o->json) {
        if (strcmp(file, "-") != 0) printf("%s\n", file);
        return;
    }
    json_begin("film", file);
    json_text("field", field);
    json_text("unit", made->unit);
    json_count("frames", f->n);
    json_count("columns", made->columns);
    json_count("rows", made->rows);
    json_number("rate", f->how.rate);
    if (made->has_values) json_number("min", c->min), json_number("max", c->max);
    if (made->drawn) {
        printf(",\"range\":[%.17g,%.17g]", c->lo, c->hi);
        json_bool("logarithmic", c->logarithmic);
    }
    json_end();
}

static enum err make_film(struct reels *k)
{
    const struct options *o = k->o;
    struct film f = {0};
    struct film_made made;
    char name[128];
    TRY(prepare_film(k, &f));
    const char *field = k->camera     ? film_camera_variable(k->camera)
                        : k->frames.n ? k->frames.name
                                      : o->map.field;
    const char *text[] = {"Field", field, "Source", k->from.path[0], NULL};
    name_film(o, field, &f.how, name);
    f.how.frames = f.n, f.how.rate = o->rate, f.how.text = text;
    TRY(temp_may_write(f.how.path, o->force));
    TRY(film_make(&f, &made));
    tell_film(&f, &made, field, o);
    return OK;
}

enum err film_print(const char *path, const struct options *o, int *status)
{
    struct reels k = {.o = o};
    enum err err = read_operands(o, &k.from);
    if (err == OK && o->c.rank == 0) err = make_film(&k);
    film_camera_close(&k.camera);
    film_list_free(&k.frames);
    free_operands(&k.from);
    return err;
}
