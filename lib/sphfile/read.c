/* sphfile/read: opens a checkpoint and reads rows of particles, block by block, by Ptah's own
 * parser of HDF5. No number in the file is trusted. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "sphfile/priv.h"

struct column_set {
    struct h5_set h5;
    int64_t sum; /* index of its first checksum */
    char name[64];
};

struct sphfile_in {
    struct onefile file;
    struct column_set set[SPHFILE_COLUMNS];
    char sink_name[SPHFILE_SINK_COLUMNS][SPHFILE_NAME];
    const char *sink_column[SPHFILE_SINK_COLUMNS];
    void *block; /* a block of a column */
};

bool sphfile_is(const char *path)
{
    return onefile_is(path, FILES_SPH);
}

/* ---- opening ---- */

static enum err read_head(struct sphfile *f)
{
    struct onefile *o = &f->impl->file;
    struct sphfile_head *h = &f->head;
    TRY(onefile_one(o, "it", 'q', &h->it));
    TRY(onefile_one(o, "t", 'd', &h->t));
    TRY(onefile_one(o, "dt", 'd', &h->dt));
    TRY(onefile_one(o, "npart", 'q', &h->n));
    TRY(onefile_one(o, "rows", 'q', &f->block));
    TRY(onefile_keys(o, &h->keys));
    TRY(sphfile_check_head(h, f->file));
    if (f->block < 1 || f->block > SPHFILE_BLOCK)
        FAIL(ERR_FORMAT, "%s: /header: rows is %ld, expected 1 to %d", f->file, (long)f->block,
             SPHFILE_BLOCK);
    return OK;
}

static enum err open_column(struct sphfile *f, int i)
{
    struct sphfile_in *in = f->impl;
    struct column_set *s = &in->set[i];
    const struct smooth_row *r = &smooth_row[sphfile_column(i)];
    snprintf(s->name, sizeof s->name, "particles/%s", r->name);
    int64_t at = h5_find(&in->file.h5, s->name);
    if (in->file.h5.err != OK) return in->file.h5.err;
    if (!at) FAIL(ERR_FORMAT, "%s: has no dataset /%s: the file is damaged", f->file, s->name);
    TRY(h5_set_open(&in->file.h5, at, s->name, &s->h5));
    if (s->h5.type != r->type)
        FAIL(ERR_FORMAT, "%s: dataset /%s has numbers of type %c, expected %c", f->file, s->name,
             s->h5.type, r->type);
    if (s->h5.n != f->head.n)
        FAIL(ERR_FORMAT, "%s: dataset /%s has %ld rows, but npart of /header is %ld", f->file,
             s->name, (long)s->h5.n, (long)f->head.n);
    return onefile_sum(&in->file, at, s->name, (f->head.n + f->block - 1) / f->block, &s->sum);
}

static enum err read_sinks(struct sphfile *f)
{
    struct sphfile_in *in = f->impl;
    struct sphfile_head *h = &f->head;
    void *p;
    int64_t n;
    TRY(onefile_small(&in->file, "sinks", 'd', SPHFILE_SINKS * SPHFILE_SINK_COLUMNS, &p, &n));
    h->sink = p, h->sink_column = in->sink_column;
    if (n == 0) return OK;
    TRY(onefile_names_of(&in->file, "sinks", "columns", SPHFILE_SINK_COLUMNS, in->sink_name,
                         &h->sink_width));
    TRY(onefile_check_names(f->file, "columns of sinks", h->sink_width, in->sink_name));
    if (h->sink_width < 1 || n % h->sink_width)
        FAIL(ERR_FORMAT, "%s: /sinks has %ld numbers and %d names of columns", f->file, (long)n,
             h->sink_width);
    h->nsink = n / h->sink_width;
    for (int i = 0; i < h->sink_width; i++) in->sink_column[i] = in->sink_name[i];
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(h->sink[i]))
            FAIL(ERR_FORMAT, "%s: /sinks: %s of sink %ld is not finite", f->file,
                 in->sink_name[i % h->sink_width], (long)(i / h->sink_width) + 1);
    return sphfile_check_head(h, f->file);
}

static enum err open_file(struct sphfile *f, const char *path)
{
    struct onefile *o = &f->impl->file;
    TRY(onefile_open(o, path, FILES_SPH, "sph", SPHFILE_VERSION));
    memcpy(f->path, o->path, sizeof f->path);
    memcpy(f->file, o->file, sizeof f->file);
    f->number = o->number;
    TRY(read_head(f));
    for (int i = 0; i < SPHFILE_COLUMNS; i++) TRY(open_column(f, i));
    return read_sinks(f);
}

enum err sphfile_open(const char *path, struct sphfile **out)
{
    struct sphfile *f = mem_zero(sizeof *f, "snapshot");
    f->impl = mem_zero(sizeof *f->impl, "snapshot");
    f->impl->file.h5.fd = -1;
    *out = NULL;
    enum err err = open_file(f, path);
    if (err == OK)
        *out = f;
    else
        sphfile_close(&f);
    return err;
}

void sphfile_close(struct sphfile **f)
{
    struct sphfile_in *in = *f ? (*f)->impl : NULL;
    if (!in) return;
    for (int i = 0; i < SPHFILE_COLUMNS; i++) h5_set_close(&in->set[i].h5);
    onefile_close(&in->file);
    FREE((*f)->head.sink);
    FREE(in->block);
    FREE((*f)->impl);
    FREE(*f);
}

/* ---- values ---- */

static enum err read_column(struct sphfile *f, int i, int64_t first, int64_t n, char *to)
{
    struct sphfile_in *in = f->impl;
    struct column_set *s = &in->set[i];
    const int64_t size = h5_size(s->h5.type), end = first + n;
    while (first < end) {
        const int64_t number = first / f->block, at = number * f->block;
        int64_t rows = f->head.n - at < f->block ? f->head.n - at : f->block,
                last = at + rows < end ? at + rows : end;
        TRY(h5_set_read(&in->file.h5, &s->h5, s->name, at, rows, in->block));
        if (!checksum_agrees(in->file.sum[s->sum + number],
                             checksum_of(in->block, (size_t)(rows * size))))
            FAIL(ERR_FORMAT, "%s: /%s is damaged: rows %ld to %ld do not match their checksum",
                 f->file, s->name, (long)at, (long)(at + rows - 1));
        memcpy(to, (char *)in->block + (first - at) * size, (size_t)((last - first) * size));
        to += (last - first) * size;
        first = last;
    }
    return OK;
}

static enum err check_reals(const struct sphfile *f, int i, int64_t first, int64_t n,
                            const double *x)
{
    const bool positive = sphfile_column(i) == SMOOTH_H_COLUMN;
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(x[k]) || (positive && !(x[k] > 0)))
            FAIL(ERR_FORMAT, "%s: /%s is %g in row %ld (counted from 0)%s", f->file,
                 f->impl->set[i].name, x[k], (long)(first + k),
                 positive ? ", expected a positive number" : "");
    return OK;
}

static enum err check_kinds(const struct sphfile *f, int64_t first, int64_t n,
                            const struct smooth *p)
{
    for (int64_t k = 0; k < n; k++) {
        const int type = p->type[p->n + k];
        const int64_t *id = &p->id[p->n + k];
        if (type != SMOOTH_GAS && type != SMOOTH_BOUNDARY)
            FAIL(ERR_FORMAT,
                 "%s: /particles/type is %d in row %ld (counted from 0), expected %d "
                 "(gas) or %d (boundary)",
                 f->file, type, (long)(first + k), SMOOTH_GAS, SMOOTH_BOUNDARY);
        if (k && id[0] <= id[-1])
            FAIL(ERR_FORMAT,
                 "%s: /particles/id is %ld in row %ld (counted from 0), after %ld: ids "
                 "must ascend",
                 f->file, (long)id[0], (long)(first + k), (long)id[-1]);
    }
    return OK;
}

static enum err check_rows(const struct sphfile *f, int64_t first, int64_t n, struct smooth *p)
{
    for (int i = 0; i < SPHFILE_COLUMNS; i++)
        if (smooth_row[sphfile_column(i)].type == 'd')
            TRY(check_reals(f, i, first, n, (double *)*smooth_at(p, sphfile_column(i)) + p->n));
    return check_kinds(f, first, n, p);
}

enum err sphfile_read(struct sphfile *f, int64_t first, int64_t n, struct smooth *p)
{
    BUG_ON(first < 0 || n < 0 || first + n > f->head.n || p->ghosts);
    if (!f->impl->block) f->impl->block = mem_new(8 * (size_t)f->block, "snapshot");
    smooth_reserve(p, p->n + n);
    for (int c = 0; c < SMOOTH_COLUMNS && n; c++)
        memset((char *)*smooth_at(p, (enum smooth_column)c) + (size_t)p->n * smooth_row[c].bytes, 0,
               (size_t)n * smooth_row[c].bytes);
    for (int i = 0; i < SPHFILE_COLUMNS; i++) {
        const enum smooth_column c = sphfile_column(i);
        char *at = *smooth_at(p, c);
        if (n) TRY(read_column(f, i, first, n, at + (size_t)p->n * smooth_row[c].bytes));
    }
    if (!f->any) TRY(check_rows(f, first, n, p));
    p->n += n;
    return OK;
}

enum err sphfile_text(struct sphfile *f, bool history, char **text, size_t *bytes)
{
    return onefile_text(&f->impl->file, history, text, bytes);
}

enum err sphfile_check_files(const struct sphfile *f)
{
    return onefile_check_files(&f->impl->file);
}
