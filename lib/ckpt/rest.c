/* ckpt/rest: see rest.h. */
#include "ckpt/rest.h"

#include "base/mem.h"
#include "ckpt/source.h"
#include "io/file.h"

static const size_t COOLING_MAX = (size_t)1 << 30;

static enum err copy_table(struct catalog *to, const struct catalog *from)
{
    int64_t *all = mem_new(sizeof *all * (size_t)from->n + 1, "catalog");
    for (int64_t i = 0; i < from->n; i++) all[i] = i;
    enum err err = catalog_select(to, from, from->n, all);
    FREE(all);
    return err;
}

enum err rest_copy(struct ckpt_rest *to, const struct source *s)
{
    *to = (struct ckpt_rest){.formed = s->formed};
    TRY(copy_table(&to->sinks, s->sinks));
    TRY(copy_table(&to->stellar, s->stellar));
    return *s->cooling ? file_load(s->cooling, COOLING_MAX, &to->cooling, &to->cooling_bytes) : OK;
}

void rest_free(struct ckpt_rest *r)
{
    catalog_free(&r->sinks);
    catalog_free(&r->stellar);
    FREE(r->cooling);
    *r = (struct ckpt_rest){0};
}
