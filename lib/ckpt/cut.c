/* ckpt/cut: see cut.h. Positions are compared in units of the box. Faces of octs are exact there,
 * and a larger box is never farther away than a box inside it, so rounding preserves the
 * grading. */
#include "ckpt/cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"

struct cutting {
    struct source *inner;
    struct cut cut; /* region in units of the box */
    struct ckpt_pick pick;
    enum source_mode mode; /* mode and receiver of the walk */
    source_octs_fn *octs;
    source_parts_fn *parts;
    void *ctx;
    /* Retained part of a batch. */
    int64_t room, nvalue;
    okey *key;
    unsigned char *split, (*flag)[8];
    double *store;
    const double **val;
    struct source_parts part;
    void *column[COL_MAX];
    struct catalog sinks; /* sinks in the region */
};

/* ---- the region ---- */

enum err cut_region(struct cut *c, const char *text)
{
    double x[6];
    if (strncmp(text, "box:", 4) == 0 && opt_reals(text + 4, 6, x) == 6) {
        c->shape = CUT_BOX;
        for (int d = 0; d < 3; d++) {
            c->centre[d] = 0.5 * (x[d] + x[3 + d]);
            c->half[d] = 0.5 * (x[3 + d] - x[d]);
            if (!(c->half[d] > 0))
                FAIL(ERR_PARAM, "region %s: is empty along %c: give the lower corner first", text,
                     'x' + d);
        }
        return OK;
    }
    if (strncmp(text, "sphere:", 7) == 0 && opt_reals(text + 7, 4, x) == 4) {
        c->shape = CUT_SPHERE;
        memcpy(c->centre, x, sizeof c->centre);
        c->radius = x[3];
        if (!(c->radius > 0)) FAIL(ERR_PARAM, "region %s: the radius must be positive", text);
        return OK;
    }
    FAIL(ERR_PARAM, "region %s: must be box:X0,Y0,Z0,X1,Y1,Z1 or sphere:X,Y,Z,R", text);
}

/* Distance along one axis from c to the interval lo..hi or to its nearest periodic image. */
static double gap(double lo, double hi, double c)
{
    double min = INFINITY;
    for (int k = -1; k <= 1; k++) min = fmin(min, fmax(fmax(lo + k - c, c - (hi + k)), 0));
    return min;
}

static bool meets(const struct cut *c, const double lo[3], const double hi[3])
{
    double sum = 0;
    for (int d = 0; d < 3 && c->shape != CUT_NONE; d++) {
        double g = gap(lo[d], hi[d], c->centre[d]);
        if (c->shape == CUT_BOX && g > c->half[d]) return false;
        sum += g * g;
    }
    return c->shape != CUT_SPHERE || sum <= c->radius * c->radius;
}

static bool keeps_oct(const struct cut *c, int level, okey key)
{
    int64_t x[3];
    double lo[3], hi[3];
    if (level <= c->levelmin) return true;
    if (level > c->levelmax) return false;
    okey_coords(key, x);
    for (int d = 0; d < 3; d++) {
        lo[d] = ldexp((double)(x[d] - 1), 1 - level);
        hi[d] = ldexp((double)(x[d] + 2), 1 - level);
    }
    return meets(c, lo, hi);
}

static bool keeps_part(const struct cutting *t, const double *const x[3], int64_t i)
{
    double at[3];
    for (int d = 0; d < 3; d++) {
        at[d] = x[d][i] / t->inner->head.boxlen;
        at[d] -= floor(at[d]);
    }
    return meets(&t->cut, at, at);
}

static bool pick_octs(void *ctx, int level, int n, const okey *key)
{
    const struct cutting *t = ctx;
    for (int i = 0; i < n; i++)
        if (keeps_oct(&t->cut, level, key[i])) return true;
    return false;
}

static bool pick_parts(void *ctx, int64_t n, const double *const x[3])
{
    const struct cutting *t = ctx;
    for (int64_t i = 0; i < n; i++)
        if (keeps_part(t, x, i)) return true;
    return false;
}

/* ---- octs ---- */

static void make_room(struct cutting *t, int64_t n, int64_t nvalue)
{
    if (n <= t->room && nvalue <= t->nvalue) return;
    t->room = n > t->room ? n : t->room;
    t->nvalue = nvalue > t->nvalue ? nvalue : t->nvalue;
    size_t room = (size_t)t->room, rows = 8 * (size_t)t->nvalue;
    t->key = mem_grow(t->key, sizeof *t->key * room, "snapshot batch");
    t->split = mem_grow(t->split, room, "snapshot batch");
    t->flag = mem_grow(t->flag, sizeof *t->flag * room, "snapshot batch");
    t->store = mem_grow(t->store, sizeof *t->store * rows * room + 1, "snapshot batch");
    t->val = mem_grow(t->val, sizeof *t->val * rows + 1, "snapshot batch");
    for (size_t k = 0; k < rows; k++) t->val[k] = t->store + k * room;
}

/* Copies oct i of the batch to retained oct k, without the children that are dropped. */
static void keep_oct(struct cutting *t, const struct source_octs *o, int i, int k)
{
    unsigned char split = o->split[i];
    t->key[k] = o->key[i];
    memcpy(t->flag[k], o->flag[i], sizeof t->flag[k]);
    for (int c = 0; c < 8; c++) {
        bool drops = split >> c & 1 && !keeps_oct(&t->cut, o->level + 1, o->key[i] << 3 | (okey)c);
        if (drops) split &= (unsigned char)~(1u << c);
        if (drops || o->level >= t->cut.levelmax) t->flag[k][c] = 0;
    }
    t->split[k] = split;
}

static enum err cut_octs(const struct source_octs *o, void *ctx)
{
    struct cutting *t = ctx;
    int n = 0;
    int64_t nvalue = source_values(t->inner, t->mode), rows = 8 * nvalue;
    make_room(t, o->n, nvalue);
    for (int i = 0; i < o->n; i++) {
        if (!keeps_oct(&t->cut, o->level, o->key[i])) continue;
        keep_oct(t, o, i, n);
        for (int64_t v = 0; v < rows; v++) t->store[v * t->room + n] = o->val[v][i];
        n++;
    }
    struct source_octs retained = {.level = o->level,
                                   .file = o->file,
                                   .n = n,
                                   .key = t->key,
                                   .split = t->split,
                                   .flag = (const unsigned char(*)[8])t->flag,
                                   .val = o->val ? t->val : NULL};
    return n ? t->octs(&retained, t->ctx) : OK;
}

static enum err octs_cut(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                         void *ctx)
{
    struct cutting *t = s->impl;
    t->octs = fn, t->ctx = ctx, t->mode = mode;
    return source_octs(t->inner, piece, mode, cut_octs, t);
}

/* ---- particles ---- */

static const void *keep_column(struct cutting *t, int column, const void *from, int64_t n,
                               const int64_t *which)
{
    if (!from) return NULL;
    uint64_t *to = t->column[column] = mem_grow(t->column[column], sizeof *to * (size_t)n + 1,
                                                "snapshot batch");
    const char *c = from;
    for (int64_t i = 0; i < n; i++) memcpy(to + i, c + sizeof *to * (size_t)which[i], sizeof *to);
    return to;
}

static enum err hand_parts(struct cutting *t, const struct source_parts *p, const int64_t *which,
                           int64_t n)
{
    struct source_parts retained = {.n = n, .file = p->file};
    for (int c = 0; c < t->inner->columns.n; c++)
        retained.col[c] = keep_column(t, c, p->col[c], n, which);
    /* a particle's level must not exceed the new levelmax */
    int64_t *level = t->column[COL_LEVEL];
    for (int64_t i = 0; i < n; i++)
        if (level[i] > t->cut.levelmax) level[i] = t->cut.levelmax;
    return t->parts(&retained, t->ctx);
}

static enum err cut_parts(const struct source_parts *p, void *ctx)
{
    struct cutting *t = ctx;
    int64_t n = 0, *which = mem_new(sizeof *which * (size_t)p->n + 1, "snapshot batch");
    for (int64_t i = 0; i < p->n; i++)
        if (keeps_part(t, p->x, i)) which[n++] = i;
    enum err err = n ? hand_parts(t, p, which, n) : OK;
    FREE(which);
    return err;
}

static enum err parts_cut(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    struct cutting *t = s->impl;
    t->parts = fn, t->ctx = ctx;
    return source_parts(t->inner, piece, SOURCE_STATE, cut_parts, t);
}

/* ---- open, close ---- */

static void close_cut(struct source *s)
{
    struct cutting *t = s->impl;
    source_close(&t->inner);
    catalog_free(&t->sinks);
    FREE(t->key);
    FREE(t->split);
    FREE(t->flag);
    FREE(t->store);
    FREE(t->val);
    for (size_t i = 0; i < sizeof t->column / sizeof *t->column; i++) FREE(t->column[i]);
    FREE(s->impl);
}

static enum err text_cut(struct source *s, enum files_kind k, char **text, size_t *bytes)
{
    return source_text(((struct cutting *)s->impl)->inner, k, text, bytes);
}

static const struct source_kind KIND = {.name = "part of a checkpoint",
                                        .close = close_cut,
                                        .octs = octs_cut,
                                        .parts = parts_cut,
                                        .text = text_cut};

/* Keeps the sinks in the region; a table without positions is kept whole. */
static enum err cut_sinks(struct cutting *t, const struct catalog *in)
{
    static const char *const name[] = {"position_x", "position_y", "position_z"};
    const double *x[3];
    bool placed = true;
    for (int d = 0; d < 3; d++) {
        const struct catalog_column *c = catalog_find(in, name[d]);
        x[d] = c ? c->real : NULL;
        placed &= x[d] != NULL;
    }
    int64_t n = 0, *which = mem_new(sizeof *which * (size_t)in->n + 1, "catalog");
    for (int64_t i = 0; i < in->n; i++)
        if (!placed || keeps_part(t, x, i)) which[n++] = i;
    enum err err = catalog_select(&t->sinks, in, n, which);
    FREE(which);
    return err;
}

static enum err check_cut(const struct source *s, const struct cut *c)
{
    int lo = s->head.levelmin, hi = s->head.levelmax;
    if (c->levelmin < 1 || c->levelmin > lo)
        FAIL(ERR_PARAM, "%s: is complete on levels 1 to %d only: --levelmin cannot be %d", s->path,
             lo, c->levelmin);
    if (c->levelmax < c->levelmin)
        FAIL(ERR_PARAM, "%s: --levelmax %d is below levelmin, %d, up to which the mesh is complete",
             s->path, c->levelmax, c->levelmin);
    if (c->levelmax > hi)
        FAIL(ERR_PARAM, "%s: has levels up to %d only: --levelmax cannot be %d", s->path, hi,
             c->levelmax);
    for (int d = 0; d < 3 && c->shape != CUT_NONE; d++)
        if (!(c->centre[d] > -0.5 && c->centre[d] < 1.5))
            FAIL(ERR_PARAM,
                 "%s: the region is centred at %g along %c, but the box is %g wide: give the "
                 "region in code units",
                 s->path, c->centre[d] * s->head.boxlen, 'x' + d, s->head.boxlen);
    return OK;
}

enum err source_cut(struct source *inner, const struct cut *c, struct source **out)
{
    struct cut cut = *c;
    if (!cut.levelmin) cut.levelmin = inner->head.levelmin;
    if (!cut.levelmax) cut.levelmax = inner->head.levelmax;
    for (int d = 0; d < 3; d++) {
        cut.centre[d] /= inner->head.boxlen;
        cut.half[d] /= inner->head.boxlen;
    }
    cut.radius /= inner->head.boxlen;
    enum err err = check_cut(inner, &cut);
    *out = NULL;
    if (err != OK) {
        source_close(&inner);
        return err;
    }
    for (int d = 0; d < 3; d++) cut.centre[d] -= floor(cut.centre[d]);
    struct source *s = *out = mem_new(sizeof *s, "snapshot");
    struct cutting *t = mem_zero(sizeof *t, "snapshot");
    *s = *inner;
    s->kind = &KIND;
    s->impl = t;
    s->is_cut = true;
    s->out_times = NULL, s->list = NULL, s->table = NULL; /* owned by the inner source */
    memset(s->lacking, 0, sizeof s->lacking);
    s->head.levelmin = cut.levelmin;
    s->head.levelmax = cut.levelmax;
    t->inner = inner;
    t->cut = cut;
    t->pick = (struct ckpt_pick){.octs = pick_octs, .parts = pick_parts, .ctx = t};
    inner->pick = &t->pick;
    s->sinks = &t->sinks;
    return cut_sinks(t, inner->sinks);
}
