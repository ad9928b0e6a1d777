#include "hdf5/table_h5.h"

#include <string.h>
#include <strings.h>

bool table_h5_named(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (strcasecmp(end, ".h5") == 0 || strcasecmp(end, ".hdf5") == 0);
}

#ifdef PTAH_HDF5
#include <stdio.h>

#include "base/mem.h"
#include "hdf5/single.h"

/* Values of a column, one after the other. (owner: caller, FREE) */
static void *gather(const struct table_h5_column *c, int64_t n)
{
    const size_t step = c->step ? c->step : 1;
    double *x = mem_new(sizeof *x * (size_t)n + 1, "table");
    for (size_t i = 0; i < (size_t)n; i++)
        memcpy(x + i, c->real ? (const void *)(c->real + i * step) : c->whole + i * step, 8);
    return x;
}

static void fill(struct hdf5_file *f, const void *ctx)
{
    const struct table_h5 *t = ctx;
    char kind[64];
    snprintf(kind, sizeof kind, "%.50s 1", t->kind);
    hdf5_word(f, "/", "ptah", kind);
    for (int i = 0; i < t->notes; i++) {
        const struct table_h5_note *a = &t->note[i];
        if (a->text)
            hdf5_word(f, "/", a->name, a->text);
        else if (a->n == 1)
            hdf5_scalar(f, "/", a->name, a->real ? 'd' : 'q',
                        a->real ? (const void *)a->real : a->whole);
        else
            hdf5_attr(f, "/", a->name, a->real ? 'd' : 'q', a->n,
                      a->real ? (const void *)a->real : a->whole);
    }
    hdf5_make_sets(f);
    for (int i = 0; i < t->columns; i++) {
        const struct table_h5_column *c = &t->column[i];
        hdf5_word(f, f->set[i].path, "units", c->unit ? c->unit : "");
        if (c->description) hdf5_word(f, f->set[i].path, "description", c->description);
    }
}

static enum err write_columns(struct hdf5_file *f, const struct table_h5 *t)
{
    for (int i = 0; i < t->columns; i++) {
        const struct table_h5_column *c = &t->column[i];
        BUG_ON(strchr(c->name, '/') != NULL);
        hdf5_add(f, c->real ? 'd' : 'q', t->n, t->n + 1, "%s", c->name);
    }
    TRY(hdf5_create(f, fill, t));
    for (int i = 0; i < t->columns; i++) {
        void *x = gather(&t->column[i], t->n);
        hdf5_put(f, i, 0, t->n, x);
        mem_free(x);
    }
    return OK;
}

enum err table_h5_write(const char *path, const struct table_h5 *t, bool force)
{
    struct hdf5_single f;
    TRY(hdf5_single_open(&f, path, force));
    return hdf5_single_close(&f, write_columns(&f.h5, t));
}
#else
enum err table_h5_write(const char *path, const struct table_h5 *t, bool force)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         path);
}
#endif
