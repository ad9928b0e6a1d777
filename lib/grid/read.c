/* grid/read: opens a checkpoint and reads boxes of cells, block by block, by Ptah's own parser of
 * HDF5. No number in the file is trusted. */
#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "grid/priv.h"
#include "h5/parse.h"

struct field_set {
    struct h5_set h5;
    int64_t sum; /* index of its first checksum */
    char name[96];
};

struct grid_in {
    struct onefile file;
    struct field_set set[GRID_FIELDS];
    int64_t rows; /* lines of a block */
    /* The last block read: its field and number, −1: none. */
    int field;
    int64_t number;
    double *block;
};

bool grid_is(const char *path)
{
    return onefile_is(path, FILES_STENCIL);
}

/* ---- header ---- */

static enum err read_head(struct grid *g)
{
    struct grid_head *h = &g->head;
    struct onefile *f = &g->impl->file;
    int64_t order;
    TRY(onefile_one(f, "it", 'q', &h->it));
    TRY(onefile_one(f, "t", 'd', &h->t));
    TRY(onefile_one(f, "dt", 'd', &h->dt));
    for (int d = 0; d < 3; d++) {
        const char cells[] = {'n', (char)('x' + d), 0}, side[] = {'l', (char)('x' + d), 0};
        TRY(onefile_one(f, cells, 'q', &h->n[d]));
        TRY(onefile_one(f, side, 'd', &h->length[d]));
    }
    TRY(onefile_one(f, "order", 'q', &order));
    h->order = order < 0 || order > 100 ? 0 : (int)order;
    TRY(onefile_one(f, "rows", 'q', &g->impl->rows));
    TRY(onefile_names(f, "fields", GRID_FIELDS, h->field, &h->nfield));
    TRY(onefile_keys(f, &h->keys));
    TRY(grid_check_head(h, g->file));
    if (g->impl->rows < 1 || g->impl->rows > h->n[1] * h->n[2])
        FAIL(ERR_FORMAT, "%s: /header: rows is %ld, expected 1 to %ld", g->file,
             (long)g->impl->rows, (long)(h->n[1] * h->n[2]));
    return OK;
}

/* ---- datasets ---- */

static enum err open_field(struct grid *g, int i)
{
    struct grid_in *in = g->impl;
    struct field_set *s = &in->set[i];
    const int64_t *n = g->head.n;
    grid_dataset(&g->head, g->number, i, s->name);
    int64_t at = h5_find(&in->file.h5, s->name);
    if (in->file.h5.err != OK) return in->file.h5.err;
    if (!at) FAIL(ERR_FORMAT, "%s: has no dataset /%s: the file is damaged", g->file, s->name);
    TRY(h5_table_open(&in->file.h5, at, s->name, &s->h5));
    if (s->h5.type != 'd')
        FAIL(ERR_FORMAT, "%s: dataset /%s does not have numbers of double precision", g->file,
             s->name);
    if (s->h5.ndim != 3 || s->h5.dim[0] != n[2] || s->h5.dim[1] != n[1] || s->h5.dim[2] != n[0])
        FAIL(ERR_FORMAT, "%s: dataset /%s does not have %ld x %ld x %ld cells, as /header says",
             g->file, s->name, (long)n[0], (long)n[1], (long)n[2]);
    return onefile_sum(&in->file, at, s->name, (n[1] * n[2] + in->rows - 1) / in->rows, &s->sum);
}

static enum err read_state(struct grid *g);

static enum err open_file(struct grid *g, const char *path)
{
    struct onefile *f = &g->impl->file;
    TRY(onefile_open(f, path, FILES_STENCIL, "stencil", GRID_VERSION));
    memcpy(g->path, f->path, sizeof g->path);
    memcpy(g->file, f->file, sizeof g->file);
    g->number = f->number;
    TRY(read_head(g));
    for (int i = 0; i < g->head.nfield; i++) TRY(open_field(g, i));
    return read_state(g);
}

enum err grid_open(const char *path, struct grid **out)
{
    struct grid *g = mem_zero(sizeof *g, "snapshot");
    g->impl = mem_zero(sizeof *g->impl, "snapshot");
    g->impl->file.h5.fd = -1;
    g->impl->field = -1;
    *out = NULL;
    enum err err = open_file(g, path);
    if (err == OK)
        *out = g;
    else
        grid_close(&g);
    return err;
}

void grid_close(struct grid **g)
{
    struct grid_in *in = *g ? (*g)->impl : NULL;
    if (!in) return;
    for (int i = 0; i < GRID_FIELDS; i++) h5_set_close(&in->set[i].h5);
    onefile_close(&in->file);
    FREE((*g)->head.state);
    FREE(in->block);
    FREE((*g)->impl);
    FREE(*g);
}

/* ---- values ---- */

static enum err load_block(struct grid *g, int field, int64_t number)
{
    struct grid_in *in = g->impl;
    struct field_set *s = &in->set[field];
    const int64_t nx = g->head.n[0], first = number * in->rows * nx;
    int64_t n = in->rows * nx;
    if (in->field == field && in->number == number) return OK;
    if (n > s->h5.n - first) n = s->h5.n - first;
    if (!in->block) in->block = mem_new(sizeof(double) * (size_t)(in->rows * nx), "snapshot");
    in->field = -1;
    TRY(h5_set_read(&in->file.h5, &s->h5, s->name, first, n, in->block));
    if (!checksum_agrees(in->file.sum[s->sum + number], checksum_of(in->block, 8 * (size_t)n)))
        FAIL(ERR_FORMAT, "%s: /%s is damaged: lines %ld to %ld do not match their checksum",
             g->file, s->name, (long)(first / nx), (long)((first + n) / nx - 1));
    in->field = field, in->number = number;
    return OK;
}

static int64_t wrapped(int64_t i, int64_t n)
{
    return (i % n + n) % n;
}

static enum err check_line(const struct grid *g, const struct field_set *s, const double *line,
                           int64_t row)
{
    const int64_t nx = g->head.n[0], ny = g->head.n[1];
    for (int64_t x = 0; x < nx; x++)
        if (!isfinite(line[x]))
            FAIL(ERR_FORMAT, "%s: /%s is %s in cell %ld %ld %ld (counted from 0 along x, y, z)",
                 g->file, s->name, isnan(line[x]) ? "not a number" : "infinite", (long)x,
                 (long)(row % ny), (long)(row / ny));
    return OK;
}

enum err grid_read(struct grid *g, int field, const int64_t first[3], const int64_t n[3],
                   double *to, const int64_t stride[3])
{
    struct grid_in *in = g->impl;
    const int64_t *all = g->head.n;
    BUG_ON(field < 0 || field >= g->head.nfield);
    if (n[0] < 1) return OK;
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            int64_t row = wrapped(first[2] + z, all[2]) * all[1] + wrapped(first[1] + y, all[1]),
                    x = wrapped(first[0], all[0]);
            TRY(load_block(g, field, row / in->rows));
            const double *line = in->block + row % in->rows * all[0];
            double *p = to + z * stride[2] + y * stride[1];
            if (!g->any) TRY(check_line(g, &in->set[field], line, row));
            for (int64_t i = 0; i < n[0]; i++) {
                p[i * stride[0]] = line[x++];
                if (x == all[0]) x = 0;
            }
        }
    return OK;
}

/* ---- small datasets ---- */

static enum err read_state(struct grid *g)
{
    enum { STATE_MAX = 1 << 24 };
    struct grid_head *h = &g->head;
    void *p;
    TRY(onefile_small(&g->impl->file, "state", 'd', STATE_MAX, &p, &h->nstate));
    h->state = p;
    for (int64_t i = 0; i < h->nstate; i++)
        if (!isfinite(h->state[i]))
            FAIL(ERR_FORMAT, "%s: /state: number %ld is not finite", g->file, (long)i + 1);
    return OK;
}

enum err grid_text(struct grid *g, bool history, char **text, size_t *bytes)
{
    return onefile_text(&g->impl->file, history, text, bytes);
}

enum err grid_check_files(const struct grid *g)
{
    return onefile_check_files(&g->impl->file);
}
