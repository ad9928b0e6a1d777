/* grid/write: writes a checkpoint. Each rank stores an equal part of the file's blocks, in windows
 * of bounded size; ranks that have lines of cells of a window send them. So a rank sends and
 * receives as much as it stores. */
#include "grid/grid.h"

#ifdef PTAH_HDF5
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/files.h"
#include "grid/priv.h"
#include "hdf5/file.h"

enum { WINDOW = 8 }; /* blocks */

/* The own cells of a brick. */
struct part {
    int64_t first[3], own[3];
};

struct grid_out {
    struct ckpt_out o;
    struct ckpt_head h;
    struct hdf5_file f;
    const struct grid_head *head;
    const struct brick *b;
    double *const *field;
    struct part *part;           /* [size] */
    int64_t rows, block, nblock; /* lines of the mesh and of a block; blocks */
    int64_t *to;                 /* [size] cells to each rank */
    double *send, *window;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- layout ---- */

/* Powers of length, mass, time, current, temperature in a unit; amount and luminous intensity are
 * 0. The numbers in the file are in units of the run. */
static const struct unit_row {
    const char *name;
    double power[7];
} UNITS[] = {{"u", {1, 0, -1}}, {"s", {2, 0, -2, 0, -1}}, {"a", {1, 1, -2, -1}}};

static void fill_mesh(struct hdf5_file *f, const struct grid_head *h, const char *path,
                      const char *name)
{
    double spacing[3], power[7] = {0}, zero[3] = {0}, one = 1;
    for (int d = 0; d < 3; d++) spacing[d] = h->length[2 - d] / (double)h->n[2 - d];
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (strcmp(name, UNITS[i].name) == 0) memcpy(power, UNITS[i].power, sizeof power);
    hdf5_word(f, path, "geometry", "cartesian");
    hdf5_word(f, path, "dataOrder", "C");
    hdf5_list(f, path, "axisLabels", 3, 2, "z\0y\0x");
    hdf5_attr(f, path, "gridSpacing", 'd', 3, spacing);
    hdf5_attr(f, path, "gridGlobalOffset", 'd', 3, zero);
    hdf5_scalar(f, path, "gridUnitSI", 'd', &one);
    hdf5_attr(f, path, "unitDimension", 'd', 7, power);
    hdf5_scalar(f, path, "timeOffset", 'd', zero);
}

static void fill_fields(struct hdf5_file *f, const struct grid_out *w)
{
    const struct grid_head *h = w->head;
    const double half[3] = {0.5, 0.5, 0.5}, one = 1;
    char done[GRID_NAME] = "", prefix[GRID_NAME];
    for (int i = 0; i < h->nfield; i++) {
        const char *path = f->set[i].path;
        bool vector = grid_is_component(h, i, prefix);
        hdf5_scalar(f, path, "unitSI", 'd', &one);
        hdf5_attr(f, path, "position", 'd', 3, half);
        if (!vector) fill_mesh(f, h, path, h->field[i]);
        if (!vector || strcmp(done, prefix) == 0) continue;
        char group[64];
        snprintf(group, sizeof group, "%.*s", (int)(strrchr(path, '/') - path), path);
        if (h->field[i][strlen(prefix)] != 'x') continue; /* once a vector */
        fill_mesh(f, h, group, prefix);
        memcpy(done, prefix, sizeof done);
    }
}

static void fill_openpmd(struct hdf5_file *f, const struct grid_out *w)
{
    const struct grid_head *h = w->head;
    const double one = 1;
    const uint32_t none = 0;
    char data[32];
    snprintf(data, sizeof data, "data/%d", w->o.output);
    hdf5_word(f, "/", "openPMD", "1.1.0");
    hdf5_scalar(f, "/", "openPMDextension", 'I', &none);
    hdf5_word(f, "/", "basePath", "/data/%T/");
    hdf5_word(f, "/", "meshesPath", "fields/");
    hdf5_word(f, "/", "iterationEncoding", "fileBased");
    hdf5_word(f, "/", "iterationFormat", "stencil_%05T.h5");
    hdf5_word(f, "/", "software", "Ptah");
    hdf5_scalar(f, data, "time", 'd', &h->t);
    hdf5_scalar(f, data, "dt", 'd', &h->dt);
    hdf5_scalar(f, data, "timeUnitSI", 'd', &one);
}

static void fill_header(struct hdf5_file *f, const struct grid_out *w)
{
    const struct grid_head *h = w->head;
    const struct onefile_head common = grid_common(h);
    const int32_t order = h->order;
    onefile_fill_head(f, &common, "stencil", GRID_VERSION);
    for (int d = 0; d < 3; d++) {
        char n[] = {'n', (char)('x' + d), 0}, l[] = {'l', (char)('x' + d), 0};
        hdf5_scalar(f, "header", n, 'q', &h->n[d]);
        hdf5_scalar(f, "header", l, 'd', &h->length[d]);
    }
    hdf5_scalar(f, "header", "order", 'i', &order);
    hdf5_scalar(f, "header", "rows", 'q', &w->block);
    hdf5_list(f, "header", "fields", h->nfield, GRID_NAME, h->field[0]);
}

static void fill_file(struct hdf5_file *f, const void *ctx)
{
    const struct grid_out *w = ctx;
    fill_header(f, w);
    hdf5_small(f, "state", 'd', w->head->nstate, w->head->state);
    onefile_fill_texts(f, w->head->namelist, w->head->provenance);
    hdf5_make_sets(f);
    if (f->err != OK) return;
    fill_openpmd(f, w);
    fill_fields(f, w);
}

static void lay_out(struct grid_out *w)
{
    const struct grid_head *h = w->head;
    const int64_t dim[3] = {h->n[2], h->n[1], h->n[0]};
    char path[PATH_MAX];
    enum err err = files_path(w->o.tmp, FILES_STENCIL, w->o.output, 0, path);
    BUG_ON(err != OK); /* out_name guarantees that the path fits */
    hdf5_init(&w->f, w->o.c, path, 0);
    w->f.sync = w->o.sync;
    w->rows = h->n[1] * h->n[2];
    w->block = grid_rows(h->n);
    w->nblock = (w->rows + w->block - 1) / w->block;
    for (int i = 0; i < h->nfield; i++) {
        char set[96];
        grid_dataset(h, w->o.output, i, set);
        hdf5_add(&w->f, 'd', w->rows * h->n[0], w->block * h->n[0], "%s", set);
        hdf5_shape(&w->f, i, 3, dim);
    }
}

/* ---- data ---- */

/* Each rank learns the bricks of all. */
static void share_parts(struct grid_out *w)
{
    const struct comm *c = w->o.c;
    struct part mine = {{0}, {0}}, *send = mem_new(sizeof mine * (size_t)c->size, "checkpoint");
    int64_t got;
    for (int d = 0; d < 3; d++) mine.first[d] = w->b->first[d], mine.own[d] = w->b->own[d];
    for (int r = 0; r < c->size; r++) send[r] = mine, w->to[r] = 1;
    w->part = comm_exchange_all(c, send, w->to, sizeof mine, &got, NULL);
    BUG_ON(got != c->size);
    FREE(send);
}

/* Lines of window k of a rank's part of the file. */
static void window_of(const struct grid_out *w, int rank, int64_t k, int64_t line[2])
{
    int64_t size = w->o.c->size, first = w->nblock * rank / size,
            end = w->nblock * (rank + 1) / size;
    line[0] = least(least(first + WINDOW * k, end) * w->block, w->rows);
    line[1] = least(least(first + WINDOW * (k + 1), end) * w->block, w->rows);
}

/* Copies the cells that a brick has in these lines, in the order of the file, between `packed` and
 * the array of a brick (at: its first own cell) or of a window. Returns their number. packed NULL:
 * only counts. */
enum way { PACK, UNPACK };
static int64_t move_part(const struct grid_out *w, const struct part *p, const int64_t line[2],
                         enum way way, double *packed, double *at)
{
    const int64_t ny = w->head->n[1], nx = w->head->n[0], *stride = w->b->stride;
    int64_t n = 0, end = p->first[2] + p->own[2];
    if (line[1] <= line[0] || p->own[0] == 0) return 0;
    for (int64_t z = p->first[2]; z < end; z++) {
        int64_t y = line[0] - z * ny, last = least(line[1] - z * ny, p->first[1] + p->own[1]);
        for (y = y > p->first[1] ? y : p->first[1]; y < last; y++, n += p->own[0]) {
            size_t bytes = sizeof *packed * (size_t)p->own[0];
            if (packed && way == PACK)
                memcpy(packed + n,
                       at + (y - p->first[1]) * stride[1] + (z - p->first[2]) * stride[2], bytes);
            if (packed && way == UNPACK)
                memcpy(at + (z * ny + y - line[0]) * nx + p->first[0], packed + n, bytes);
        }
    }
    return n;
}

static void put_window(struct grid_out *w, int field, double *values, int64_t k)
{
    const struct comm *c = w->o.c;
    const struct part *mine = &w->part[c->rank];
    int64_t line[2], n = 0, got, nx = w->head->n[0];
    for (int r = 0; r < c->size; r++) {
        window_of(w, r, k, line);
        n += w->to[r] = move_part(w, mine, line, PACK, NULL, NULL);
    }
    w->send = mem_grow(w->send, sizeof *w->send * (size_t)(n + 1), "checkpoint");
    n = 0;
    for (int r = 0; r < c->size; r++) {
        window_of(w, r, k, line);
        n += move_part(w, mine, line, PACK, w->send + n, values + w->b->start);
    }
    double *all = comm_exchange_all(c, w->send, w->to, sizeof *all, &got, NULL);
    window_of(w, c->rank, k, line);
    BUG_ON(got != (line[1] - line[0]) * nx);
    n = 0;
    for (int r = 0; r < c->size; r++)
        n += move_part(w, &w->part[r], line, UNPACK, all + n, w->window);
    FREE(all);
    hdf5_put(&w->f, field, line[0] * nx, (line[1] - line[0]) * nx, w->window);
}

static enum err write_file(void *ctx)
{
    struct grid_out *w = ctx;
    int64_t size = w->o.c->size, part = (w->nblock + size - 1) / size;
    TRY(hdf5_create(&w->f, fill_file, w));
    w->to = mem_zero(sizeof *w->to * (size_t)size, "checkpoint");
    w->window = mem_new(sizeof(double) * (size_t)(WINDOW * w->block * w->head->n[0]), "checkpoint");
    share_parts(w);
    for (int i = 0; i < w->head->nfield; i++)
        for (int64_t k = 0; k * WINDOW < part; k++) put_window(w, i, w->field[i], k);
    return hdf5_close(&w->f);
}

static enum err write_all(struct grid_out *w, struct out_pending *out)
{
    lay_out(w);
    enum err err = onefile_write(&w->o, out, write_file, w);
    hdf5_fini(&w->f);
    return err;
}

enum err grid_write(const char *dir, int number, const struct grid_head *h, const struct brick *b,
                    double *const *field, struct out_pending *out)
{
    struct grid_out *w = mem_zero(sizeof *w, "checkpoint");
    struct manifest list = {.backup = h->backup};
    *w = (struct grid_out){.head = h, .b = b, .field = field};
    w->h = (struct ckpt_head){.ndim = 3,
                              .namelist = h->namelist,
                              .provenance = h->provenance,
                              .backup = h->backup,
                              .overwrite = h->overwrite};
    w->o = (struct ckpt_out){.h = &w->h, .c = b->comm, .list = &list, .sync = &out->sync};
    enum err err = out_name(&w->o, dir, number);
    if (err == OK) err = grid_check_head(h, w->o.final);
    if (err == OK) err = write_all(w, out);
    manifest_fini(&list);
    FREE(w->part);
    FREE(w->to);
    FREE(w->send);
    FREE(w->window);
    FREE(w);
    return err;
}
#else
enum err grid_write(const char *dir, int number, const struct grid_head *h, const struct brick *b,
                    double *const *field, struct out_pending *out)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         dir);
}
#endif
