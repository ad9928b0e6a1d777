/* inspect: maps beside each other: -m FIELD,FIELD… and --panels. */
#include <stdio.h>
#include <string.h>

#include "atlas/atlas.h"
#include "base/mem.h"
#include "film/shot.h"
#include "inspect.h"
#include "io/temp.h"
#include "plot/picture.h"

enum { FIELDS = 16, PANELS = 64, COLUMNS = 3 };

struct panels {
    const struct options *o;
    int nfield, npath, n;
    char field[FIELDS][80];
    const char *const *path; /* [npath] */
    struct shot *shot[PANELS]; /* all checkpoints of the first field, then of the next */
};

static enum err split_fields(struct panels *k)
{
    for (const char *at = k->o->map.field;; at++) {
        const size_t n = strcspn(at, ",");
        if (n == 0 || n >= sizeof *k->field)
            FAIL(ERR_PARAM, "-m takes a field, or several with commas between, not %s",
                 k->o->map.field);
        if (k->nfield == FIELDS)
            FAIL(ERR_PARAM, "a picture has at most %d fields", FIELDS);
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

static enum err save(const struct panels *k, const char *file)
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

static enum err make(struct panels *k)
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
    TRY(save(k, file));
    for (int i = 0; i < k->n && o->json; i++)
        map_tell(&k->shot[i]->m, k->path[i % k->npath], file, o);
    if (!o->json && strcmp(file, "-") != 0) printf("%s\n", file);
    return OK;
}

enum err panels_draw(const char *path, const struct options *o)
{
    struct panels k = {.o = o, .npath = 1, .path = &path};
    if (o->panels) k.npath = o->npath, k.path = (const char *const *)o->paths;
    const enum err err = make(&k);
    for (int i = 0; i < k.n; i++) shot_free(&k.shot[i]);
    return err;
}
