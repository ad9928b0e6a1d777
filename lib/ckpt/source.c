/* ckpt/source: see source.h. */
#include "ckpt/source.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/sane.h"
#include "ramses/priv.h"

/* The last is what is complained about if none fits. */
static const struct source_kind *const KINDS[] = {&source_hdf5, &source_ramses};

static const struct catalog NONE = {.n = 0};
static const double SMALLR = 1e-10; /* RAMSES's default, which its files do not tell */

static void add_name(struct source *s, const char *name)
{
    size_t n = strlen(s->left_out);
    snprintf(s->left_out + n, sizeof s->left_out - n, "%s%s", n ? ", " : "", name);
}

static void list_rest(struct source *s)
{
    for (int c = 0; c < s->columns.n; c++) {
        const struct part_column *col = part_column(&s->columns, c);
        if (s->columns.has[c] && col->when == WHEN_FOUND) add_name(s, col->name);
    }
    if (s->sinks->n) add_name(s, "sink particles");
    if (s->stellar->n) add_name(s, "stellar objects");
}

enum err source_open(const char *dir, double gamma, double smallr, struct source **out)
{
    int n = sizeof KINDS / sizeof *KINDS, k = 0;
    *out = NULL;
    struct source *s = mem_zero(sizeof *s, "snapshot");
    if (snprintf(s->path, sizeof s->path, "%s", dir) >= (int)sizeof s->path) {
        FREE(s);
        FAIL(ERR_FILE, "%.80s…: path too long", dir);
    }
    while (k < n - 1 && !KINDS[k]->is(dir)) k++;
    s->kind = KINDS[k];
    s->format = s->kind->name;
    s->sinks = s->stellar = &NONE;
    s->gamma = gamma, s->smallr = smallr;
    enum err err = s->kind->open(s);
    if (s->gamma == 0) s->gamma = s->head.gamma;
    if (s->smallr == 0) s->smallr = s->head.smallr > 0 ? s->head.smallr : SMALLR;
    s->head.smallr = s->smallr;
    if (err == OK) list_rest(s);
    if (err != OK) source_close(&s);
    *out = s;
    return err;
}

void source_close(struct source **s)
{
    if (*s) (*s)->kind->close(*s);
    FREE(*s);
}

enum err source_set_rest(struct source *s, const struct ramses *r)
{
    char name[32];
    s->sinks = &r->sinks, s->stellar = &r->stellar;
    s->gas = r->field;
    s->formed = r->formed;
    snprintf(name, sizeof name, "cooling_%05d.out", r->number);
    if (r->cooling[0]) TRY(ramses_text_path(r, name, s->cooling, sizeof s->cooling));
    part_columns_init(&s->columns);
    for (int c = 0; c < COL_MOST; c++) s->column_at[c] = -1;
    for (int i = 0; i < r->npart_field; i++) {
        int c = part_column_add(&s->columns, r->part[i].name, r->part[i].type);
        if (c < 0) FAIL(ERR_LIMIT, "%s: has more than %d columns of particles", s->path, COL_MOST);
        s->column_at[c] = i;
    }
    return OK;
}

void source_files_close(struct source *s)
{
    struct ramses *r = s->impl;
    ramses_close(&r);
    s->impl = NULL;
}

enum err source_files_text(struct source *s, const char *name, char **text, size_t *bytes)
{
    return ramses_read_text(s->impl, name, text, bytes);
}

struct reading {
    const struct source *s;
    source_parts_fn *fn;
    void *ctx;
    int64_t *lacking[COL_COUNT]; /* [CKPT_PART_BATCH] of columns that are filled in */
};

/* The columns that the checkpoint lacks and every run has. */
static void fill_in(struct reading *g)
{
    const struct source *s = g->s;
    for (int c = 0; c < COL_COUNT; c++) {
        enum part_lack lack = part_column(&s->columns, c)->lack;
        if (!s->columns.has[c] || s->column_at[c] >= 0) continue;
        g->lacking[c] = mem_zero(sizeof(int64_t) * CKPT_PART_BATCH, "snapshot batch");
        for (int i = 0; lack == LACK_LEVELMIN && i < CKPT_PART_BATCH; i++)
            g->lacking[c][i] = s->head.levelmin;
    }
}

static enum err give_parts(const struct ramses *r, const struct ramses_parts *p, void *ctx)
{
    struct reading *g = ctx;
    const struct source *s = g->s;
    char file[PATH_MAX];
    ramses_file(r, "part", p->file, file);
    struct source_parts o = {.n = p->n, .file = file};
    for (int c = 0; c < s->columns.n; c++)
        o.col[c] = s->column_at[c] >= 0 ? p->col[s->column_at[c]]
                   : c < COL_COUNT      ? g->lacking[c]
                                        : NULL;
    TRY(sane_parts(file, s->head.boxlen, &o));
    return g->fn(&o, g->ctx);
}

enum err source_files_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    struct ramses *r = s->impl;
    struct reading g = {.s = s, .fn = fn, .ctx = ctx};
    fill_in(&g);
    r->pick = s->pick;
    enum err err = ramses_read_parts(r, piece + 1, give_parts, &g);
    r->pick = NULL;
    for (int c = 0; c < COL_COUNT; c++) FREE(g.lacking[c]);
    return err;
}

enum err source_octs(struct source *s, int piece, bool values, source_octs_fn *fn, void *ctx)
{
    return s->kind->octs(s, piece, values, fn, ctx);
}

enum err source_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    return s->kind->parts(s, piece, fn, ctx);
}

enum err source_text(struct source *s, const char *name, char **text, size_t *bytes)
{
    *text = NULL, *bytes = 0;
    return s->kind->text ? s->kind->text(s, name, text, bytes) : OK;
}
