/* ckpt/source: see source.h. */
#include "ckpt/source.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/ramses_priv.h"

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
    for (int k = 0; k < s->nextra; k++) add_name(s, s->extra[k].name);
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
    for (int i = 0; i < r->npart_field; i++) {
        bool known = false;
        for (int c = 0; c < COL_COUNT; c++) known |= r->column[c] == i;
        if (known) continue;
        s->extra[s->nextra] = r->part[i];
        s->extra_at[s->nextra++] = i;
    }
    return OK;
}

void source_give_extra(const struct source *s, const struct ramses_parts *p, struct source_parts *out)
{
    for (int k = 0; k < s->nextra; k++) out->extra[k] = p->col[s->extra_at[k]];
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
