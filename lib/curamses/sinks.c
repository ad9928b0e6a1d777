#include "curamses/sinks.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const int64_t SINKS_MAX = 1 << 22;

static enum err fill_column(struct h5_file *f, struct h5_set *s, const char *name,
                            struct catalog *t)
{
    struct catalog_column *col;
    bool real = strchr("df", s->type) != NULL;
    if (s->n != t->n)
        FAIL(ERR_FORMAT, "%s: dataset /sinks/%s does not have one number for each of the %ld sinks",
             f->path, name, (long)t->n);
    TRY(catalog_add(t, f->path, name, real, &col));
    void *raw = mem_new(8 * (size_t)t->n + 1, "catalog");
    enum err err = h5_set_read(f, s, name, 0, t->n, raw);
    if (err == OK) h5_widen(s->type, t->n, raw, real ? (void *)col->real : (void *)col->whole);
    FREE(raw);
    return err;
}

static bool read_column(struct h5_file *f, const char *name, int64_t at, void *ctx)
{
    struct h5_set s;
    enum err err = h5_set_open(f, at, name, &s);
    if (err == OK) {
        err = fill_column(f, &s, name, ctx);
        h5_set_close(&s);
    }
    if (f->err == OK) f->err = err;
    return err != OK;
}

enum err hdf5_read_sinks(struct h5_file *f, struct catalog *t)
{
    struct h5_value v = {0};
    int64_t group = h5_find(f, "sinks");
    if (!group) return f->err;
    snprintf(t->from, sizeof t->from, "/sinks");
    bool ok = h5_attr(f, group, "nsink", &v) && v.data && v.n == 1 && strchr("qihbQIHB", v.type);
    if (ok) h5_widen(v.type, 1, v.data, &t->n);
    FREE(v.data);
    if (f->err != OK) return f->err;
    if (!ok || t->n < 0 || t->n > SINKS_MAX)
        FAIL(ERR_FORMAT, "%s: /sinks has no valid attribute nsink: the file is damaged", f->path);
    h5_each(f, group, read_column, t);
    return f->err;
}
