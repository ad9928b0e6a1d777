/* ckpt/source: see source.h. */
#include "ckpt/source.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* The last is what is complained about if none fits. */
static const struct source_kind *const KINDS[] = {&source_hdf5, &source_ramses};

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
    s->gamma = gamma, s->smallr = smallr;
    enum err err = s->kind->open(s);
    if (err != OK) source_close(&s);
    *out = s;
    return err;
}

void source_close(struct source **s)
{
    if (*s) (*s)->kind->close(*s);
    FREE(*s);
}

enum err source_octs(struct source *s, int piece, bool values, source_octs_fn *fn, void *ctx)
{
    return s->kind->octs(s, piece, values, fn, ctx);
}

enum err source_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    return s->kind->parts(s, piece, fn, ctx);
}
