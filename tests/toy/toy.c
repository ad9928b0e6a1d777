/* toy: the smallest format, a checkpoint as one file. An example of a new format: a struct
 * source_kind for reading, a struct writer_kind for writing, a row of the table. Linked into
 * convert and inspect (Makefile), which then support the format: tests/property/formats.py.
 *
 * The file, checkpoint.toy: a header; by level the octs' keys, masks of split and of flagged cells,
 * and conserved variables and what is beside them, oct by oct; the columns of particles, all of
 * 8 bytes. It trusts itself: a format that is not a toy does not. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "formats/formats.h"
#include "io/file.h"

static const char FILE_NAME[] = "checkpoint.toy", MAGIC[8] = "toy 1\n";
enum { CELLS = 8, WIDE = 8 };

struct toy_head {
    char magic[8];
    struct ckpt_head head;
    struct stars_formed formed;
    int number, nhydro, nfield, npart;
    field_set fields; /* beside the gas */
    struct ckpt_field field[CKPT_FIELDS], part[CKPT_FIELDS];
    int64_t octs[LEVEL_MAX + 2], particles;
};

/* ---- reading ---- */

struct toy {
    FILE *f;
    struct toy_head h;
};

static size_t oct_bytes(const struct toy_head *h)
{
    return sizeof(okey) + 2 + sizeof(double[CELLS]) * (size_t)h->nfield;
}

/* Reads n bytes at an offset of the file. */
static enum err take(const struct source *s, int64_t at, size_t n, void *p)
{
    struct toy *t = s->impl;
    if (fseek(t->f, at, SEEK_SET) != 0 || fread(p, 1, n, t->f) != n)
        FAIL(ERR_FORMAT, "%s/%s: ends early", s->path, FILE_NAME);
    return OK;
}

static bool toy_is(const char *dir)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s", dir, FILE_NAME);
    return file_exists(path);
}

static enum err toy_open(struct source *s)
{
    struct toy *t = s->impl = mem_zero(sizeof *t, "toy");
    struct toy_head *h = &t->h;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/%s", s->path, FILE_NAME);
    int fd;
    int64_t size;
    TRY(file_open(path, &fd, &size));
    t->f = fdopen(fd, "rb");
    TRY(take(s, 0, sizeof *h, h));
    if (memcmp(h->magic, MAGIC, sizeof MAGIC) != 0) FAIL(ERR_FORMAT, "%s: is no toy", path);
    s->head = h->head;
    s->formed = h->formed;
    s->number = h->number, s->npiece = s->nwriter = 1;
    s->nhydro = h->nhydro, s->fields = h->fields, s->npart = h->npart;
    s->ngrav = fields_count(s->fields, FILE_GRAVITY, s->head.ndim);
    memcpy(s->field, h->field, sizeof s->field);
    memcpy(s->part, h->part, sizeof s->part);
    memcpy(s->numbtot, h->octs, sizeof s->numbtot);
    return source_add_rows(s);
}

static void toy_close(struct source *s)
{
    struct toy *t = s->impl;
    if (t && t->f) fclose(t->f);
    FREE(s->impl);
}

static enum err toy_state(struct source *s)
{
    s->nvalue = s->nfield;
    s->values = s->fields;
    s->exact = s->state = true;
    return OK;
}

struct batch {
    okey key[CKPT_BATCH];
    unsigned char split[CKPT_BATCH], mask[CKPT_BATCH], flag[CKPT_BATCH][8];
    double *row, *column, *primitive; /* [oct][value][cell] · [value][cell][oct] */
    const double **val;
};

/* Transposes octs to columns; with gas as RAMSES stores it, if requested. */
static void turn(const struct source *s, enum source_mode mode, struct batch *b, int n)
{
    int nv = s->nfield;
    for (int k = 0; k < CELLS * nv; k++) {
        b->val[k] = b->column + (size_t)k * CKPT_BATCH;
        for (int i = 0; i < n; i++)
            b->column[(size_t)k * CKPT_BATCH + (size_t)i] = b->row[(size_t)(i * CELLS * nv + k)];
    }
    for (int c = 0; mode == SOURCE_STORED && s->nhydro && c < CELLS; c++)
        for (int i = 0; i < n; i += GAS_TILE) {
            const double *u[NVAR_MAX];
            double *prim[NVAR_MAX];
            for (int v = 0; v < s->nhydro; v++) {
                size_t at = (size_t)(CELLS * v + c) * CKPT_BATCH;
                u[v] = b->column + at + i;
                prim[v] = b->primitive + at + i;
                b->val[CELLS * v + c] = b->primitive + at;
            }
            const struct gas_equation g = {s->nhydro, s->head.gamma, s->head.smallr, NULL};
            gas_primitive(&g, n - i < GAS_TILE ? n - i : GAS_TILE, u, prim);
        }
}

static enum err read_level(struct source *s, int l, int64_t start, enum source_mode mode,
                           struct batch *b, source_octs_fn *fn, void *ctx)
{
    const struct toy *t = s->impl;
    int64_t all = t->h.octs[l], row = (int64_t)(oct_bytes(&t->h) - sizeof(okey) - 2);
    for (int64_t at = 0; at < all; at += CKPT_BATCH) {
        int n = all - at < CKPT_BATCH ? (int)(all - at) : CKPT_BATCH;
        int64_t keys = (int64_t)sizeof(okey) * all;
        TRY(take(s, start + (int64_t)sizeof(okey) * at, sizeof(okey) * (size_t)n, b->key));
        if (s->pick && !s->pick->octs(s->pick->ctx, l, n, b->key)) continue;
        TRY(take(s, start + keys + at, (size_t)n, b->split));
        TRY(take(s, start + keys + all + at, (size_t)n, b->mask));
        for (int i = 0; i < CELLS * n; i++) b->flag[i / 8][i % 8] = b->mask[i / 8] >> i % 8 & 1;
        if (mode != SOURCE_TREE) {
            TRY(take(s, start + keys + 2 * all + row * at, (size_t)(row * n), b->row));
            turn(s, mode, b, n);
        }
        struct source_octs o = {.level = l,
                                .n = n,
                                .key = b->key,
                                .split = b->split,
                                .flag = (const unsigned char(*)[8])b->flag,
                                .val = mode == SOURCE_TREE ? NULL : b->val};
        TRY(fn(&o, ctx));
    }
    return OK;
}

static enum err toy_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                         void *ctx)
{
    const struct toy *t = s->impl;
    struct batch *b = mem_zero(sizeof *b, "toy");
    size_t rows = (size_t)(CELLS * s->nfield) + 1;
    int64_t start = sizeof t->h;
    enum err err = OK;
    b->row = mem_new(sizeof *b->row * rows * CKPT_BATCH, "toy");
    b->column = mem_new(sizeof *b->column * rows * CKPT_BATCH, "toy");
    b->primitive = mem_new(sizeof *b->primitive * rows * CKPT_BATCH, "toy");
    b->val = mem_new(sizeof *b->val * rows, "toy");
    for (int l = 1; err == OK && l <= LEVEL_MAX; l++) {
        err = read_level(s, l, start, mode, b, fn, ctx);
        start += t->h.octs[l] * (int64_t)oct_bytes(&t->h);
    }
    FREE(b->row);
    FREE(b->column);
    FREE(b->primitive);
    FREE(b->val);
    FREE(b);
    return err;
}

static enum err read_parts(struct source *s, int64_t start, char *store, source_parts_fn *fn,
                           void *ctx)
{
    int64_t all = ((const struct toy *)s->impl)->h.particles;
    const void *col[CKPT_FIELDS];
    for (int i = 0; i < s->npart; i++) col[i] = store + (size_t)i * WIDE * CKPT_PART_BATCH;
    for (int64_t at = 0; at < all; at += CKPT_PART_BATCH) {
        int64_t n = all - at < CKPT_PART_BATCH ? all - at : CKPT_PART_BATCH;
        for (int i = 0; i < s->npart; i++)
            TRY(take(s, start + WIDE * (i * all + at), WIDE * (size_t)n,
                     store + (size_t)i * WIDE * CKPT_PART_BATCH));
        if (source_picks_parts(s, n, col)) TRY(source_hand_parts(s, n, col, fn, ctx));
    }
    return OK;
}

static enum err toy_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    const struct toy *t = s->impl;
    int64_t start = sizeof t->h;
    char *store = mem_new(WIDE * CKPT_PART_BATCH * (size_t)(s->npart + 1), "toy");
    for (int l = 1; l <= LEVEL_MAX; l++) start += t->h.octs[l] * (int64_t)oct_bytes(&t->h);
    enum err err = read_parts(s, start, store, fn, ctx);
    FREE(store);
    return err;
}

/* ---- writing, by rank 0 ---- */

static enum err put(FILE *f, const void *p, size_t n)
{
    if (fwrite(p, 1, n, f) != n) FAIL(ERR_FILE, "%s: cannot write", FILE_NAME);
    return OK;
}

static enum err put_head(const struct rewrite *w, FILE *f)
{
    struct toy_head *h = mem_zero(sizeof *h, "toy");
    const struct part_columns *columns = w->o.columns;
    memcpy(h->magic, MAGIC, sizeof MAGIC);
    h->head = *w->o.h;
    h->head.tout = h->head.aout = NULL, h->head.noutput = 0;
    h->head.namelist = h->head.provenance = NULL, h->head.rest = NULL;
    h->formed = w->s->formed;
    h->number = w->o.output;
    h->nhydro = w->head.hydro ? w->head.nvar : 0, h->nfield = w->s->nvalue;
    h->fields = w->o.fields;
    for (int v = 0; v < h->nhydro; v++) h->field[v] = w->s->field[v];
    for (int c = 0; columns && c < columns->n; c++) {
        if (!columns->has[c]) continue;
        struct ckpt_field *to = &h->part[h->npart++];
        snprintf(to->name, sizeof to->name, "%s", part_column(columns, c)->name);
        to->type = part_column(columns, c)->type;
    }
    memcpy(h->octs, w->o.total, sizeof h->octs);
    for (int t = 0; columns && t < w->ntarget; t++)
        h->particles += spill_count(&w->spill, part_list(w, t));
    enum err err = put(f, h, sizeof *h);
    FREE(h);
    return err;
}

/* Gas and gravity are spilled separately, and adjacent in the file. */
static enum err put_values(const struct rewrite *w, FILE *f, const struct oct_item *x, int64_t n)
{
    size_t part[2] = {w->spill.kind[ROW_OCT].width[OCT_GAS],
                      w->spill.kind[ROW_OCT].width[OCT_GRAV]};
    double(*row)[8] = mem_new(part[0] + part[1] + 1, "toy");
    enum err err = OK;
    for (int64_t i = 0; i < n && err == OK; i++) {
        if (part[0]) err = rewrite_fetch(w, OCT_GAS, &x[i].ref, 1, row);
        if (part[1] && err == OK)
            err = rewrite_fetch(w, OCT_GRAV, &x[i].ref, 1, row + part[0] / sizeof *row);
        if (err == OK) err = put(f, row, part[0] + part[1]);
    }
    FREE(row);
    return err;
}

/* Writes a section of the octs of a level: keys, masks or values, target after target, hence in
 * Morton order. */
static enum err put_level(const struct rewrite *w, FILE *f, int l, int what)
{
    enum err err = OK;
    for (int t = 0; t < w->ntarget && err == OK; t++) {
        struct oct_item *x = NULL;
        int64_t n = 0;
        err = rewrite_load(w, t, l, &x, &n);
        for (int64_t i = 0; i < n && what < 3 && err == OK; i++)
            err = what == 0   ? put(f, &x[i].key, sizeof x[i].key)
                  : what == 1 ? put(f, &x[i].split, 1)
                              : put(f, &x[i].flag, 1);
        if (what == 3 && err == OK) err = put_values(w, f, x, n);
        FREE(x);
    }
    return err;
}

static enum err put_column(const struct rewrite *w, FILE *f, int c)
{
    const struct spill *s = &w->spill;
    size_t size = s->kind[ROW_PART].width[c];
    for (int t = 0; t < w->ntarget; t++) {
        int list = part_list(w, t);
        for (int64_t k = s->first[list]; k < s->first[list + 1]; k++)
            for (int i = 0; i < s->chunk[k].n; i++) {
                union {
                    int8_t b;
                    int16_t h;
                    int32_t i;
                    int64_t q;
                } x = {.q = 0};
                TRY(spill_get(s, k, c, i, 1, &x));
                int64_t wide = size == 8 ? x.q : size == 4 ? x.i : size == 2 ? x.h : x.b;
                TRY(put(f, &wide, sizeof wide));
            }
    }
    return OK;
}

static enum err put_all(const struct rewrite *w, FILE *f)
{
    TRY(put_head(w, f));
    for (int l = 1; l <= w->nlevel; l++)
        for (int what = 0; what < 4; what++) TRY(put_level(w, f, l, what));
    for (int c = 0; w->o.columns && c < w->o.columns->n; c++)
        if (w->o.columns->has[c]) TRY(put_column(w, f, c));
    return OK;
}

static enum err toy_rewrite(struct rewrite *w)
{
    char path[PATH_MAX];
    enum err err = OK;
    snprintf(path, sizeof path, "%.4000s/%s", w->o.tmp, FILE_NAME);
    int fd = -1;
    if (w->c->rank == 0) err = file_create(path, &fd);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (f) err = put_all(w, f);
    if (f && fclose(f) != 0 && err == OK) err = err_set(ERR_FILE, "%s: cannot write", path);
    return err_agree(w->c, err);
}

/* ---- the tables ---- */

static const struct source_kind TOY_KIND = {.name = "toy",
                                            .is = toy_is,
                                            .open = toy_open,
                                            .close = toy_close,
                                            .octs = toy_octs,
                                            .parts = toy_parts,
                                            .state = toy_state};

static const struct writer_kind TOY_WRITER = {.name = "toy", .rewrite = toy_rewrite};

__attribute__((constructor)) static void add_toy(void)
{
    static const struct format toy = {.name = "toy", .reader = &TOY_KIND, .writer = &TOY_WRITER};
    format_add(&toy);
}
