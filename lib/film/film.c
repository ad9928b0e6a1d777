#include "film/film.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"

struct making {
    const struct film *f;
    struct film_made *made;
    struct shot **kept; /* [n] NULL: not kept */
    size_t bytes;
    int columns, rows; /* of maps; 0: none yet */
    struct reel *reel;
};

static enum err check_size(struct making *k, const struct shot *s)
{
    const struct map *m = &s->m;
    if (k->columns == 0) k->columns = m->n, k->rows = m->rows;
    if (m->n != k->columns || m->rows != k->rows)
        FAIL(ERR_PARAM, "%s: has %d x %d pixels, earlier frames of the film %d x %d", s->r.path,
             m->n, m->rows, k->columns, k->rows);
    return OK;
}

static enum err take(struct making *k, int i, struct shot **s)
{
    log_live("frame %d of %d", i + 1, k->f->n);
    TRY(k->f->take(k->f->ctx, i, s));
    return check_size(k, *s);
}

/* Collects the values of all maps. */
static enum err see(struct making *k, int i, struct scale_values *v)
{
    struct shot *s = NULL;
    const enum err err = take(k, i, &s);
    if (err == OK) scale_add(v, s->m.sum, (size_t)s->m.n * (size_t)s->m.rows);
    const size_t bytes = s ? shot_bytes(s) : 0;
    if (err == OK && k->bytes + bytes <= k->f->memory)
        k->kept[i] = s, k->bytes += bytes;
    else
        shot_free(&s);
    return err;
}

static enum err check_scale(const struct shot *s, const struct colour_scale *scale)
{
    if (scale->logarithmic && !(scale->lo > 0))
        FAIL(ERR_PARAM,
             "the range of the film of %s begins at %g, which has no logarithm: give a range or "
             "--linear",
             s->o.field, scale->lo);
    return OK;
}

/* Writes a picture, or values, of this size. */
static enum err write(struct making *k, const struct shot *s, int columns, int rows,
                      const void *picture)
{
    struct film_made *made = k->made;
    if (!k->reel) {
        made->columns = columns, made->rows = rows;
        snprintf(made->unit, sizeof made->unit, "%s", s->m.unit);
        TRY(reel_open(&k->reel, &k->f->how, columns, rows));
    }
    return reel_add(k->reel, picture);
}

static enum err put(struct making *k, struct shot *s)
{
    const struct colour_scale *scale = &k->made->scale;
    int columns, rows;
    unsigned char *rgb = NULL;
    if (reel_has_values(k->f->how.format) && s->rgb)
        FAIL(ERR_PARAM, "%s: is a picture, and has no values for an array", s->r.path);
    if (reel_has_values(k->f->how.format)) return write(k, s, s->m.n, s->m.rows, s->m.sum);
    s->m.range = *scale;
    if (!s->rgb) TRY(check_scale(s, scale));
    TRY(shot_paint(s, k->f->bare, &columns, &rows, &rgb));
    const enum err err = write(k, s, columns, rows, rgb);
    FREE(rgb);
    return err;
}

static enum err write_all(struct making *k)
{
    enum err err = OK;
    for (int i = 0; i < k->f->n && err == OK; i++) {
        struct shot *s = k->kept[i];
        if (!s) err = take(k, i, &s);
        k->kept[i] = s;
        if (err == OK) err = put(k, s);
        shot_free(&k->kept[i]);
    }
    return k->reel ? reel_close(&k->reel, err) : err;
}

/* The range of colours is that of the first map's kind. */
static enum err find_range(struct making *k)
{
    const struct film *f = k->f;
    struct scale_values v = {.images = f->n};
    struct scale_ask ask = {0};
    struct shot *s = NULL;
    enum err err = take(k, 0, &s);
    if (err == OK) ask = map_scale_ask(&s->m);
    k->kept[0] = s;
    if (s && s->rgb) ask.has_range = true; /* pictures have their colours */
    k->made->drawn = s && !s->rgb && !reel_has_values(f->how.format);
    if (err == OK && !ask.has_range && k->made->drawn) {
        scale_add(&v, s->m.sum, (size_t)s->m.n * (size_t)s->m.rows);
        for (int i = 1; i < f->n && err == OK; i++) err = see(k, i, &v);
    }
    scale_choose(&v, &ask, &k->made->scale);
    k->made->has_values = v.n > 0;
    scale_free(&v);
    return err;
}

enum err film_make(const struct film *f, struct film_made *made)
{
    struct making k = {.f = f, .made = made};
    *made = (struct film_made){0};
    k.kept = mem_zero(sizeof *k.kept * (size_t)f->n, "film");
    enum err err = find_range(&k);
    if (err == OK) err = write_all(&k);
    for (int i = 0; i < f->n; i++) shot_free(&k.kept[i]);
    FREE(k.kept);
    log_live(NULL);
    return err;
}
