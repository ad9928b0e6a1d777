/* sphfile/write: writes a checkpoint. Rows are in the order of ids. Each rank stores an equal part
 * of the file's blocks, in windows of bounded size. The ids at which windows begin follow from
 * bisection: ranks count their ids below a guess, for the windows of all ranks at once. Ranks that
 * have particles of a window send them, column by column. */
#include "sphfile/priv.h"

#ifdef PTAH_HDF5
#include <string.h>

#include "base/mem.h"
#include "hdf5/file.h"

enum { WINDOW = 8 }; /* blocks */

struct place {
    int64_t id, at; /* id and row in memory */
};
MEM_ORDER2(by_id, struct place, id, at)

struct sph_out {
    struct ckpt_out o;
    struct ckpt_head h;
    struct hdf5_file f;
    const struct sphfile_head *head;
    struct smooth p;          /* lent; own particles */
    int64_t n, block, nblock; /* particles of all ranks; rows of a block; blocks */
    int64_t small, large;     /* least and greatest id */
    struct place *order;      /* [p.n] by id */
    int64_t *begin, *end;     /* [size] own places in the window of each rank */
    int64_t *to;              /* [size] rows to each rank */
    struct place *row;        /* rows received, by id */
    char *send, *window;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- layout ---- */

static void fill_file(struct hdf5_file *f, const void *ctx)
{
    const struct sph_out *w = ctx;
    const struct sphfile_head *h = w->head;
    const struct onefile_head common = sphfile_common(h);
    char names[SPHFILE_SINK_COLUMNS][SPHFILE_NAME] = {{0}};
    onefile_fill_head(f, &common, "sph", SPHFILE_VERSION);
    hdf5_scalar(f, "header", "npart", 'q', &w->n);
    hdf5_scalar(f, "header", "rows", 'q', &w->block);
    onefile_fill_texts(f, h->namelist, h->provenance);
    hdf5_make_sets(f);
    if (f->err != OK || !h->nsink) return;
    for (int i = 0; i < h->sink_width; i++)
        memcpy(names[i], h->sink_column[i], strnlen(h->sink_column[i], SPHFILE_NAME - 1));
    hdf5_list(f, "sinks", "columns", h->sink_width, SPHFILE_NAME, names[0]);
}

static void lay_out(struct sph_out *w)
{
    const struct sphfile_head *h = w->head;
    char path[PATH_MAX];
    enum err err = files_path(w->o.tmp, FILES_SPH, w->o.output, 0, path);
    BUG_ON(err != OK); /* out_name guarantees that the path fits */
    hdf5_init(&w->f, w->o.c, path, 0);
    w->f.sync = w->o.sync;
    for (int i = 0; i < SPHFILE_COLUMNS; i++) {
        const struct smooth_row *r = &smooth_row[sphfile_column(i)];
        hdf5_add(&w->f, r->type, w->n, w->block, "particles/%s", r->name);
    }
    if (!h->nsink) return;
    const int64_t all = h->nsink * h->sink_width, dim[2] = {h->nsink, h->sink_width};
    hdf5_shape(&w->f, hdf5_add(&w->f, 'd', all, all, "sinks"), 2, dim);
}

/* ---- windows ---- */

/* End of window k of a rank's part of the file. */
static int64_t window_end(const struct sph_out *w, int rank, int64_t k)
{
    int64_t size = w->o.c->size, first = w->nblock * rank / size,
            end = w->nblock * (rank + 1) / size;
    return least(least(first + WINDOW * (k + 1), end) * w->block, w->n);
}

static enum err repeated(const struct sph_out *w, int64_t id)
{
    FAIL(ERR_FORMAT, "%s: two particles have the id %ld: ids must be distinct", w->o.final,
         (long)id);
}

/* Own ids below a number, or not above it. */
static int64_t count_ids(const struct sph_out *w, int64_t id, bool equal)
{
    int64_t lo = 0, hi = w->p.n;
    MEM_BISECT(lo, hi, mid, w->order[mid].id < id || (equal && w->order[mid].id == id))
    return lo;
}

static int64_t middle(int64_t lo, int64_t hi)
{
    return (int64_t)((uint64_t)lo + ((uint64_t)hi - (uint64_t)lo) / 2);
}

/* Halves the intervals lo[r] … hi[r] that have the id of row[r] until each is that id. count:
 * scratch. (collective) */
static void bisect(const struct sph_out *w, const int64_t *row, int64_t *lo, int64_t *hi,
                   int64_t *count)
{
    const int size = w->o.c->size;
    for (bool more = true; more;) {
        more = false;
        for (int r = 0; r < size; r++) count[r] = count_ids(w, middle(lo[r], hi[r]), true);
        comm_add_i64(w->o.c, count, size);
        for (int r = 0; r < size; r++) {
            if (lo[r] == hi[r]) continue;
            if (count[r] > row[r])
                hi[r] = middle(lo[r], hi[r]);
            else
                lo[r] = middle(lo[r], hi[r]) + 1;
            more |= lo[r] < hi[r];
        }
    }
}

/* Finds how many own particles come before these rows of the file, one for each rank; row n is
 * behind the last one. (collective, agreed) */
static enum err find_rows(const struct sph_out *w, const int64_t *row, int64_t *before)
{
    const int size = w->o.c->size;
    int64_t *lo = mem_new(3 * sizeof *lo * (size_t)size, "checkpoint"), *hi = lo + size,
            *count = hi + size;
    enum err err = OK;
    for (int r = 0; r < size; r++) lo[r] = w->small, hi[r] = w->large;
    bisect(w, row, lo, hi, count);
    for (int r = 0; r < size; r++)
        before[r] = count[r] = row[r] == w->n ? w->p.n : count_ids(w, lo[r], false);
    comm_add_i64(w->o.c, count, size);
    for (int r = 0; r < size && err == OK; r++)
        if (count[r] != row[r]) err = repeated(w, lo[r]);
    FREE(lo);
    return err;
}

/* ---- data ---- */

/* Own values of a column in the windows of all ranks, as they are sent. Returns their number. */
static int64_t pack(struct sph_out *w, enum smooth_column column)
{
    const size_t bytes = smooth_row[column].bytes;
    const char *values = *smooth_at(&w->p, column);
    int64_t n = 0;
    for (int r = 0; r < w->o.c->size; r++) n += w->to[r] = w->end[r] - w->begin[r];
    w->send = mem_grow(w->send, bytes * (size_t)n + 8, "checkpoint");
    char *to = w->send;
    for (int r = 0; r < w->o.c->size; r++)
        for (int64_t i = w->begin[r]; i < w->end[r]; i++, to += bytes)
            memcpy(to, values + (size_t)w->order[i].at * bytes, bytes);
    return n;
}

/* Brings the rows of a window into the order of ids. */
static enum err receive_ids(struct sph_out *w, int64_t n)
{
    int64_t got;
    pack(w, SMOOTH_ID_COLUMN);
    int64_t *id = comm_exchange_all(w->o.c, w->send, w->to, sizeof *id, &got, NULL);
    BUG_ON(got != n);
    for (int64_t i = 0; i < n; i++) w->row[i] = (struct place){id[i], i};
    FREE(id);
    mem_sort(w->row, (size_t)n, sizeof *w->row, by_id);
    for (int64_t i = 1; i < n; i++)
        if (w->row[i].id == w->row[i - 1].id) return repeated(w, w->row[i].id);
    return OK;
}

static void put_column(struct sph_out *w, int i, int64_t first, int64_t n)
{
    const enum smooth_column column = sphfile_column(i);
    const size_t bytes = smooth_row[column].bytes;
    int64_t got;
    pack(w, column);
    char *all = comm_exchange_all(w->o.c, w->send, w->to, bytes, &got, NULL);
    BUG_ON(got != n);
    for (int64_t k = 0; k < n; k++)
        memcpy(w->window + (size_t)k * bytes, all + (size_t)w->row[k].at * bytes, bytes);
    FREE(all);
    hdf5_put(&w->f, i, first, n, w->window);
}

static enum err put_window(struct sph_out *w, int64_t k)
{
    const struct comm *c = w->o.c;
    const int64_t first = window_end(w, c->rank, k - 1), n = window_end(w, c->rank, k) - first;
    int64_t *row = mem_new(sizeof *row * (size_t)c->size, "checkpoint");
    for (int r = 0; r < c->size; r++) row[r] = window_end(w, r, k);
    enum err err = find_rows(w, row, w->end);
    FREE(row);
    if (err == OK) err = err_agree(c, receive_ids(w, n));
    for (int i = 0; i < SPHFILE_COLUMNS && err == OK; i++) put_column(w, i, first, n);
    memcpy(w->begin, w->end, sizeof *w->end * (size_t)c->size);
    return err;
}

static void sort_own(struct sph_out *w)
{
    int64_t span[2] = {INT64_MIN, INT64_MIN}; /* −least − 1, greatest */
    w->order = mem_new(sizeof *w->order * (size_t)w->p.n + 8, "checkpoint");
    for (int64_t i = 0; i < w->p.n; i++) {
        const int64_t id = w->p.id[i];
        w->order[i] = (struct place){id, i};
        if (~id > span[0]) span[0] = ~id;
        if (id > span[1]) span[1] = id;
    }
    mem_sort(w->order, (size_t)w->p.n, sizeof *w->order, by_id);
    comm_max_i64(w->o.c, span, 2);
    w->small = ~span[0], w->large = span[1];
}

static enum err put_all(struct sph_out *w)
{
    const struct comm *c = w->o.c;
    const int64_t part = (w->nblock + c->size - 1) / c->size;
    int64_t *row = mem_new(sizeof *row * (size_t)c->size, "checkpoint");
    for (int r = 0; r < c->size; r++) row[r] = window_end(w, r, -1);
    enum err err = find_rows(w, row, w->begin);
    FREE(row);
    for (int64_t k = 0; k * WINDOW < part && err == OK; k++) err = put_window(w, k);
    return err;
}

static enum err write_file(void *ctx)
{
    struct sph_out *w = ctx;
    const struct sphfile_head *h = w->head;
    const size_t size = (size_t)w->o.c->size, rows = (size_t)(WINDOW * w->block);
    TRY(hdf5_create(&w->f, fill_file, w));
    w->begin = mem_zero(3 * sizeof *w->to * size, "checkpoint");
    w->end = w->begin + size, w->to = w->end + size;
    w->row = mem_new(sizeof *w->row * rows, "checkpoint");
    w->window = mem_new(8 * rows, "checkpoint");
    sort_own(w);
    if (w->n) TRY(put_all(w));
    if (h->nsink)
        hdf5_put(&w->f, SPHFILE_COLUMNS, 0, w->o.c->rank ? 0 : h->nsink * h->sink_width, h->sink);
    return hdf5_close(&w->f);
}

static enum err write_all(struct sph_out *w, struct out_pending *out)
{
    lay_out(w);
    enum err err = onefile_write(&w->o, out, write_file, w);
    hdf5_fini(&w->f);
    return err;
}

static void free_out(struct sph_out *w)
{
    FREE(w->order);
    FREE(w->begin);
    FREE(w->row);
    FREE(w->send);
    FREE(w->window);
    FREE(w);
}

enum err sphfile_write(const char *dir, int number, const struct sphfile_head *h,
                       const struct comm *c, const struct smooth *p, struct out_pending *out)
{
    struct sph_out *w = mem_zero(sizeof *w, "checkpoint");
    struct manifest list = {.backup = h->backup};
    *w = (struct sph_out){.head = h, .p = *p, .n = p->n};
    comm_add_i64(c, &w->n, 1);
    w->block = sphfile_block(w->n);
    w->nblock = (w->n + w->block - 1) / w->block;
    w->h = (struct ckpt_head){.ndim = 3,
                              .namelist = h->namelist,
                              .provenance = h->provenance,
                              .backup = h->backup,
                              .overwrite = h->overwrite};
    w->o = (struct ckpt_out){.h = &w->h, .c = c, .list = &list, .sync = &out->sync};
    enum err err = out_name(&w->o, dir, number);
    if (err == OK) err = sphfile_check_head(h, w->o.final);
    if (err == OK) err = write_all(w, out);
    manifest_fini(&list);
    free_out(w);
    return err;
}
#else
enum err sphfile_write(const char *dir, int number, const struct sphfile_head *h,
                       const struct comm *c, const struct smooth *p, struct out_pending *out)
{
    FAIL(ERR_LIMIT, "%s: this program was built without HDF5: install its library, then run make",
         dir);
}
#endif
