/* film/frame: pictures of frames. See frame.h. */
#include "film/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atlas/atlas.h"
#include "base/mem.h"
#include "io/image.h"
#include "io/table.h"
#include "plot/picture.h"

void film_when(bool cosmo, double t, double aexp, char *text, size_t n)
{
    const double z = 1 / aexp - 1;
    if (cosmo)
        snprintf(text, n, "a = %.4g, z = %.4g", aexp, fabs(z) < 5e-5 ? 0 : z);
    else
        snprintf(text, n, "t = %.4g", t);
}

/* ---- a frame as a map ---- */

/* Labels of an axis and of the colours. Lengths count from the centre. */
static void label_frame(struct shot *s, const struct film_frame *f)
{
    static const char *const SIDES[] = {"right", "up"};
    for (int d = 0; d < 2; d++)
        snprintf(s->label[d], sizeof s->label[d], "%.20s [%s]", f->axis[d] ? f->axis[d] : SIDES[d],
                 f->size[d] > 0 ? "code" : "pixels");
    if (strcmp(f->name, "temp") == 0)
        snprintf(s->label[2], sizeof s->label[2], "T/μ [K]");
    else
        snprintf(s->label[2], sizeof s->label[2], "%.60s [code]", f->name);
    snprintf(s->title, sizeof s->title, "%.60s, %s %d%s%.60s", f->name, f->kind, f->number,
             *f->when ? ", " : "", f->when);
    for (int k = 0; k < 3; k++) s->m.label[k] = s->label[k];
    s->m.title = s->title;
}

struct shot *film_shot(const struct film_frame *f, const char *path, const struct map_options *o)
{
    struct shot *s = mem_zero(sizeof *s, "film");
    struct map *m = &s->m;
    const int n[2] = {f->nw, f->nh};
    s->o = *o;
    s->o.field = f->name, s->o.physical = false, s->o.width = s->o.depth = 1;
    snprintf(s->r.path, sizeof s->r.path, "%.3999s", path);
    s->r.number = f->number;
    s->r.head.boxlen = s->r.head.unit_l = s->r.head.unit_d = s->r.head.unit_t = 1;
    *m = (struct map){.r = &s->r,
                      .o = &s->o,
                      .n = f->nw,
                      .rows = f->nh,
                      .side = {1, 1, 1},
                      .plain = true,
                      .species = SPECIES_NONE,
                      .weight = BY_DEFAULT};
    for (int d = 0; d < 2; d++) {
        const double width = f->size[d] > 0 ? f->size[d] : n[d];
        m->lo[d] = f->size[d] > 0 ? -0.5 * width : 0, m->hi[d] = m->lo[d] + width;
        *(d ? &m->row : &m->pixel) = width / n[d];
    }
    m->sum = mem_new(sizeof *m->sum * (size_t)f->nw * (size_t)f->nh, "film");
    for (size_t i = 0; i < (size_t)f->nw * (size_t)f->nh; i++)
        m->sum[i] = isfinite(f->x[i]) ? f->x[i] : NAN;
    label_frame(s, f);
    return s;
}

static enum err draw_png(const char *path, struct shot *s, FILE *out)
{
    const struct map *m = &s->m;
    const struct box size = atlas_size(m);
    const char *text[] = {"Field", s->o.field, "Title", s->title, NULL};
    const struct picture p = {.format = PICTURE_PNG,
                              .draw = atlas_draw,
                              .what = m,
                              .width = size.width,
                              .height = size.height,
                              .text = text};
    const struct scale_ask ask = map_scale_ask(m);
    struct scale_values v = {0};
    scale_add(&v, m->sum, (size_t)m->n * (size_t)m->rows);
    scale_choose(&v, &ask, &s->m.range);
    scale_free(&v);
    return picture_write(out, path, &p);
}

enum err film_png(const char *path, const struct film_frame *f, char **png, size_t *n)
{
    const struct map_options o = {0};
    struct shot *s = film_shot(f, path, &o);
    char *text = NULL;
    FILE *out = open_memstream(&text, n);
    if (!out) mem_exhausted("the C library");
    const enum err err = draw_png(path, s, out);
    *png = mem_close_text(out, &text, n, "picture");
    shot_free(&s);
    if (err != OK) FREE(*png);
    return err;
}

/* ---- frame files ---- */

/* Value of a line "key = value" of a text; NaN: none. */
static enum err find_values(const char *path, int n, const char *const *key, double *x)
{
    enum { LONGEST = 1 << 20 };
    struct table t;
    bool got;
    enum err err = table_open(&t, path, TABLE_LOG, LONGEST);
    for (int k = 0; k < n; k++) x[k] = NAN;
    if (err != OK) return err;
    while ((err = table_next(&t, &got)) == OK && got)
        for (int k = 0; k < n; k++) {
            const size_t length = strlen(key[k]);
            const char *rest = t.at + strspn(t.at, " \t");
            if (strncmp(rest, key[k], length) != 0) continue;
            rest += length + strspn(rest + length, " \t");
            if (*rest == '=') x[k] = strtod(rest + 1, NULL);
        }
    table_close(&t);
    return err;
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Names the first number of a frame, a time or an expansion factor, by the info_NNNNN.txt beside
 * it. */
static void find_when(const struct film_entry *e, double when, char *text, size_t n)
{
    enum { TIME, AEXP, VALUES };
    static const char *const KEYS[] = {"time", "aexp"};
    char path[PATH_MAX];
    double x[VALUES];
    const char *slash = strrchr(e->path, '/');
    snprintf(path, sizeof path, "%.*sinfo_%05d.txt", slash ? (int)(slash - e->path + 1) : 0,
             e->path, e->number);
    const bool known = find_values(path, VALUES, KEYS, x) == OK;
    if (known && is_same(when, x[TIME]))
        film_when(false, when, 1, text, n);
    else if (known && is_same(when, x[AEXP]))
        film_when(true, 0, when, text, n);
    else
        snprintf(text, n, "t or a = %.4g", when);
}

/* Width and height of a frame: those of its line of sight, if it is known or does not matter. */
static void find_size(const struct film_map *m, int axis, struct film_frame *f)
{
    static const char *const NAMES[] = {"x", "y", "z"};
    const int u = axis == 0 ? 1 : 0, v = axis == 2 ? 1 : 2;
    bool cube = true, positive = true;
    for (int d = 0; d < 3; d++) {
        cube &= m->size[d] == m->size[0];
        positive &= isfinite(m->size[d]) && m->size[d] > 0;
    }
    if (!positive || (axis < 0 && !cube)) return;
    f->size[0] = m->size[axis < 0 ? 0 : u], f->size[1] = m->size[axis < 0 ? 0 : v];
    if (axis < 0) return;
    f->axis[0] = NAMES[u], f->axis[1] = NAMES[v];
}

static enum err read_picture(const struct film_entry *e, const char *name, struct shot **out)
{
    unsigned char *rgb;
    int columns, rows;
    TRY(image_read_png(e->path, &columns, &rows, &rgb));
    struct shot *s = *out = mem_zero(sizeof *s, "film");
    snprintf(s->r.path, sizeof s->r.path, "%.3999s", e->path);
    s->r.number = e->number;
    s->o.field = name;
    s->m = (struct map){.r = &s->r, .o = &s->o, .n = columns, .rows = rows};
    s->rgb = rgb;
    return OK;
}

enum err film_read(const struct film_list *list, int i, const struct map_options *o, int axis,
                   struct shot **s)
{
    const struct film_entry *e = &list->at[i];
    struct film_map m;
    char when[80];
    *s = NULL;
    if (e->picture) return read_picture(e, list->name, s);
    TRY(film_map_read(e->path, &m));
    find_when(e, m.when, when, sizeof when);
    struct film_frame f = {.nw = m.nw,
                           .nh = m.nh,
                           .x = m.x,
                           .name = list->name,
                           .kind = "frame",
                           .number = e->number,
                           .when = when};
    find_size(&m, axis, &f);
    *s = film_shot(&f, e->path, o);
    FREE(m.x);
    return OK;
}
