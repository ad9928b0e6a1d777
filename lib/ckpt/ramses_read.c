/* ckpt/ramses_read: the octs and particles of a RAMSES snapshot (spec: ramses_binary §5.2, 5.4, 6, 7, 8).
 *
 * Blocks of octs are lists of records, one a cell and variable. The records of a block are first stepped over, which
 * checks their lengths, then read side by side, RAMSES_BATCH octs at a time. Ghost and boundary octs are only stepped over.
 * An oct's key comes from its centre: at level l, (x − skip) 2^(l−1) − ½ is its integer coordinate. */
#include "ckpt/ramses_read.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/hdf5_read.h"
#include "ckpt/ramses_priv.h"

struct walk {
    struct ramses *r;
    int file;
    bool values, geometry; /* geometry: r->skip is known */
    ramses_octs_fn *fn;
    void *ctx;
    struct fort_in amr, hydro, grav;
    struct amr_head a;
    struct fort_rec *rec; /* of a block: amr, then 8 * fields */
    char *raw;            /* one record's part of a batch */
    okey *key;
    unsigned char *split, (*flag)[8];
    double *x[3], *values_store;
    const double **val;
};

static enum err walk_open(struct walk *w);
static void walk_close(struct walk *w);
static enum err read_block(struct walk *w, int level, int list, int32_t n);

enum err ramses_read_octs(struct ramses *r, int file, bool values, ramses_octs_fn *fn, void *ctx)
{
    if (r->hdf5) return hdf5_read_octs(r, file, values, false, fn, ctx);
    struct walk w = {.r = r, .file = file, .values = values, .fn = fn, .ctx = ctx};
    enum err err = walk_open(&w);
    int nlist = r->ncpu + r->nboundary;
    for (int l = 1; err == OK && l <= r->head.levelmax; l++)
        for (int b = 0; err == OK && b < nlist; b++)
            err = read_block(&w, l, b + 1, w.a.numbl[(size_t)(l - 1) * (size_t)nlist + (size_t)b]);
    if (err == OK) err = fort_at_end(&w.amr);
    if (err == OK && values && r->nhydro) err = fort_at_end(&w.hydro);
    if (err == OK && values && r->ngrav) err = fort_at_end(&w.grav);
    walk_close(&w);
    return err;
}

static enum err check_count(const struct fort_in *f, int32_t nvar, int expect)
{
    if (nvar == expect) return OK;
    FAIL(ERR_FORMAT, "%s: has %d variables, file 1 has %d", f->path, nvar, expect);
}

static enum err open_values(struct walk *w)
{
    char path[PATH_MAX];
    int32_t nvar;
    double gamma;
    if (w->r->nhydro) {
        TRY(ramses_path(w->r, "hydro", w->file, path, sizeof path));
        TRY(fort_open(&w->hydro, path));
        TRY(ramses_hydro_head(&w->hydro, &w->a, &nvar, &gamma));
        TRY(check_count(&w->hydro, nvar, w->r->nhydro));
    }
    if (w->r->ngrav) {
        TRY(ramses_path(w->r, "grav", w->file, path, sizeof path));
        TRY(fort_open(&w->grav, path));
        TRY(ramses_grav_head(&w->grav, &w->a, &nvar));
        TRY(check_count(&w->grav, nvar, w->r->ngrav));
    }
    return OK;
}

static enum err walk_open(struct walk *w)
{
    char path[PATH_MAX];
    TRY(ramses_path(w->r, "amr", w->file, path, sizeof path));
    TRY(fort_open(&w->amr, path));
    TRY(ramses_amr_head(&w->amr, w->r, &w->a, false));
    if (w->values) TRY(open_values(w));
    size_t b = RAMSES_BATCH, nval = w->values ? 8 * (size_t)(w->r->nhydro + w->r->ngrav) : 0;
    w->rec = mem_new(sizeof *w->rec * (AMR_RECORDS + nval), "snapshot batch");
    w->raw = mem_new(8 * b, "snapshot batch");
    w->key = mem_new(sizeof *w->key * b, "snapshot batch");
    w->split = mem_new(b, "snapshot batch");
    w->flag = mem_new(sizeof *w->flag * b, "snapshot batch");
    for (int d = 0; d < 3; d++) w->x[d] = mem_new(sizeof **w->x * b, "snapshot batch");
    w->values_store = mem_new(sizeof *w->values_store * b * nval + 1, "snapshot batch");
    w->val = mem_new(sizeof *w->val * nval + 1, "snapshot batch");
    for (size_t i = 0; i < nval; i++) w->val[i] = w->values_store + i * b;
    return OK;
}

static void walk_close(struct walk *w)
{
    fort_shut(&w->amr);
    fort_shut(&w->hydro);
    fort_shut(&w->grav);
    ramses_amr_head_free(&w->a);
    FREE(w->rec);
    FREE(w->raw);
    FREE(w->key);
    FREE(w->split);
    FREE(w->flag);
    for (int d = 0; d < 3; d++) FREE(w->x[d]);
    FREE(w->values_store);
    FREE(w->val);
}

/* ---- stepping over a block ---- */

static enum err step_amr(struct walk *w, int32_t n)
{
    for (int i = 0; i < AMR_RECORDS; i++) {
        bool real = i >= AMR_XG && i < AMR_XG + 3;
        TRY(fort_expect(&w->amr, "octs", (real ? 8 : 4) * (int64_t)n, &w->rec[i]));
    }
    return OK;
}

/* Blocks of hydro and grav files repeat level and number; the records may be of single precision. */
static enum err step_values(struct fort_in *f, int level, int32_t n, int nvar, struct fort_rec *rec)
{
    int32_t says[2];
    TRY(fort_get_i4(f, "level", &says[0]));
    TRY(fort_get_i4(f, "number of octs", &says[1]));
    if (says[0] != level || says[1] != n)
        FAIL(ERR_FORMAT,
             "%s: record %ld before byte %ld announces %d octs of level %d, the amr file has %d of level %d", f->path,
             (long)f->record - 1, (long)f->at, says[1], says[0], n, level);
    for (int i = 0; n > 0 && i < 8 * nvar; i++) {
        TRY(fort_next(f, "cell values", &rec[i]));
        if (rec[i].bytes != 8 * (int64_t)n && rec[i].bytes != 4 * (int64_t)n)
            FAIL(ERR_FORMAT, "%s: record %ld (cell values) at byte %ld has %ld bytes for %d octs", f->path,
                 (long)rec[i].number, (long)rec[i].at, (long)rec[i].bytes, n);
    }
    return OK;
}

/* ---- reading a block ---- */

static enum err load_doubles(struct walk *w, struct fort_in *f, const struct fort_rec *rec, int64_t total, int64_t at,
                             int n, double *out)
{
    if (rec->bytes == 8 * total) return fort_load(f, rec, 8 * at, 8 * (size_t)n, out);
    const float *narrow = (const float *)w->raw;
    TRY(fort_load(f, rec, 4 * at, 4 * (size_t)n, w->raw));
    for (int i = 0; i < n; i++) out[i] = narrow[i];
    return OK;
}

static enum err load_keys(struct walk *w, int level, int32_t total, int64_t at, int n)
{
    int64_t side = (int64_t)1 << (level - 1);
    for (int d = 0; d < 3; d++) TRY(load_doubles(w, &w->amr, &w->rec[AMR_XG + d], total, at, n, w->x[d]));
    for (int i = 0; i < n; i++) {
        uint64_t ix[3] = {0};
        for (int d = 0; d < 3; d++) {
            double x = (w->x[d][i] - (double)w->r->skip[d]) * (double)side - 0.5;
            if (!(x > -0.25 && x < (double)side - 0.75) || fabs(x - rint(x)) > 1e-3)
                FAIL(ERR_FORMAT, "%s: record %ld at byte %ld: oct %ld is centred at %g, which is no place of level %d",
                     w->amr.path, (long)w->rec[AMR_XG + d].number, (long)w->rec[AMR_XG + d].at, (long)at + i + 1,
                     w->x[d][i], level);
            ix[d] = (uint64_t)rint(x);
        }
        w->key[i] = okey_make(ix[0], ix[1], ix[2]);
    }
    return OK;
}

static enum err load_tree(struct walk *w, int level, int64_t at, int n)
{
    const int32_t *v = (const int32_t *)w->raw;
    struct ramses_tally *t = &w->r->tally;
    memset(w->split, 0, (size_t)n);
    for (int c = 0; c < 8; c++) {
        TRY(fort_load(&w->amr, &w->rec[AMR_SON + c], 4 * at, 4 * (size_t)n, w->raw));
        for (int i = 0; i < n; i++) {
            w->split[i] |= (unsigned char)((v[i] != 0) << c);
            t->split[level] += v[i] != 0;
        }
        TRY(fort_load(&w->amr, &w->rec[AMR_FLAG + c], 4 * at, 4 * (size_t)n, w->raw));
        for (int i = 0; i < n; i++) w->flag[i][c] = v[i] == 1;
    }
    t->octs[level] += n;
    return OK;
}

static enum err load_values(struct walk *w, int32_t total, int64_t at, int n)
{
    int nh = w->r->nhydro, nf = nh + w->r->ngrav;
    for (int f = 0; f < nf; f++)
        for (int c = 0; c < 8; c++) {
            struct fort_in *in = f < nh ? &w->hydro : &w->grav;
            /* in a file: cell by cell, the file's variables in each */
            int k = f < nh ? c * nh + f : 8 * nh + c * (nf - nh) + f - nh;
            TRY(load_doubles(w, in, &w->rec[AMR_RECORDS + k], total, at, n,
                             w->values_store + (8 * f + c) * RAMSES_BATCH));
        }
    return OK;
}

/* The one level-1 oct inside the box tells how many layers of boundary cells lie below it. */
static enum err find_skip(struct walk *w)
{
    for (int d = 0; d < 3; d++) {
        double x;
        TRY(fort_load(&w->amr, &w->rec[AMR_XG + d], 0, sizeof x, &x));
        if (!(x > 0 && x < 3)) FAIL(ERR_FORMAT, "%s: the first oct is centred at %g", w->amr.path, x);
        w->r->skip[d] = (int64_t)x;
    }
    w->geometry = true;
    return OK;
}

static enum err read_block(struct walk *w, int level, int list, int32_t n)
{
    struct ramses *r = w->r;
    struct fort_rec *value = w->rec + AMR_RECORDS;
    if (w->values && r->nhydro) TRY(step_values(&w->hydro, level, n, r->nhydro, value));
    if (w->values && r->ngrav) TRY(step_values(&w->grav, level, n, r->ngrav, value + 8 * r->nhydro));
    if (n == 0) return OK;
    TRY(step_amr(w, n));
    if (level == 1 && list <= r->ncpu) {
        if (n != 1 || w->geometry)
            FAIL(ERR_LIMIT, "%s: more than one coarse cell inside the box is not supported", w->amr.path);
        TRY(find_skip(w));
    }
    if (list != w->file) return OK;
    if (!w->geometry) FAIL(ERR_FORMAT, "%s: has octs of level %d but none of level 1", w->amr.path, level);
    for (int64_t at = 0; at < n; at += RAMSES_BATCH) {
        int k = n - at < RAMSES_BATCH ? (int)(n - at) : RAMSES_BATCH;
        TRY(load_keys(w, level, n, at, k));
        TRY(load_tree(w, level, at, k));
        if (w->values) TRY(load_values(w, n, at, k));
        struct ramses_octs o = {.level = level,
                                .file = w->file,
                                .n = k,
                                .key = w->key,
                                .split = w->split,
                                .flag = (const unsigned char(*)[8])w->flag,
                                .val = w->values ? w->val : NULL};
        TRY(w->fn(r, &o, w->ctx));
    }
    return OK;
}

enum err ramses_check_tree(const struct ramses *r)
{
    const struct ramses_tally *t = &r->tally;
    for (int l = 1; l <= LEVEL_MAX; l++) {
        int64_t made = l == 1 ? 1 : t->split[l - 1];
        if (t->octs[l] != made)
            FAIL(ERR_FORMAT, "%s: level %d has %ld octs, but %ld cells of level %d are refined", r->dir, l,
                 (long)t->octs[l], (long)made, l - 1);
        if (t->octs[l] != r->numbtot[l])
            FAIL(ERR_FORMAT, "%s: level %d has %ld octs, the header says %ld", r->dir, l, (long)t->octs[l],
                 (long)r->numbtot[l]);
    }
    if (t->split[LEVEL_MAX]) FAIL(ERR_FORMAT, "%s: refined cells on the last level", r->dir);
    return OK;
}

/* ---- particles ---- */

static int type_size(char type)
{
    return type == 'd' || type == 'q' ? 8 : type == 'f' || type == 'i' ? 4 : type == 'h' ? 2 : 1;
}

/* One column of a batch, widened to 8 bytes. */
static enum err load_column(struct fort_in *f, const struct fort_rec *rec, char type, int64_t at, int64_t n, char *raw,
                            void *out)
{
    int64_t *i8 = out;
    double *r8 = out;
    int size = type_size(type);
    if (size == 8) return fort_load(f, rec, 8 * at, 8 * (size_t)n, out);
    TRY(fort_load(f, rec, size * at, (size_t)(size * n), raw));
    for (int64_t i = 0; i < n; i++) {
        if (type == 'f')
            r8[i] = ((const float *)raw)[i];
        else if (type == 'i')
            i8[i] = ((const int32_t *)raw)[i];
        else if (type == 'h')
            i8[i] = ((const int16_t *)raw)[i];
        else
            i8[i] = ((const int8_t *)raw)[i];
    }
    return OK;
}

static enum err part_batches(struct ramses *r, struct fort_in *f, int file, const struct fort_rec *rec, int64_t npart,
                             ramses_parts_fn *fn, void *ctx)
{
    int64_t b = RAMSES_PART_BATCH;
    int nf = r->npart_field;
    char *raw = mem_new(8 * (size_t)b, "snapshot batch");
    char *store = mem_new(8 * (size_t)b * (size_t)nf, "snapshot batch");
    const void *col[RAMSES_FIELDS];
    enum err err = OK;
    for (int i = 0; i < nf; i++) col[i] = store + i * 8 * b;
    for (int64_t at = 0; err == OK && at < npart; at += b) {
        int64_t n = npart - at < b ? npart - at : b;
        for (int i = 0; err == OK && i < nf; i++)
            err = load_column(f, &rec[i], r->part[i].type, at, n, raw, store + i * 8 * b);
        struct ramses_parts p = {.file = file, .n = n, .col = col};
        if (err == OK) err = fn(r, &p, ctx);
    }
    FREE(store);
    FREE(raw);
    return err;
}

static enum err parts_of(struct ramses *r, struct fort_in *f, int file, ramses_parts_fn *fn, void *ctx)
{
    int32_t npart;
    struct fort_rec rec[RAMSES_FIELDS];
    TRY(ramses_part_head(f, r->ncpu, &npart));
    for (int i = 0; i < r->npart_field; i++)
        TRY(fort_expect(f, r->part[i].name, type_size(r->part[i].type) * (int64_t)npart, &rec[i]));
    TRY(fort_at_end(f));
    r->tally.particles += npart;
    return part_batches(r, f, file, rec, npart, fn, ctx);
}

enum err ramses_read_parts(struct ramses *r, int file, ramses_parts_fn *fn, void *ctx)
{
    char path[PATH_MAX];
    struct fort_in f;
    if (!r->head.particles) return OK;
    if (r->hdf5) return hdf5_read_parts(r, file, fn, ctx);
    TRY(ramses_path(r, "part", file, path, sizeof path));
    enum err err = fort_open(&f, path);
    if (err == OK) err = parts_of(r, &f, file, fn, ctx);
    fort_shut(&f);
    return err;
}

const double *ramses_f64(const struct ramses *r, const struct ramses_parts *p, enum ramses_column c)
{
    return r->column[c] < 0 ? NULL : p->col[r->column[c]];
}

const int64_t *ramses_i64(const struct ramses *r, const struct ramses_parts *p, enum ramses_column c)
{
    return r->column[c] < 0 ? NULL : p->col[r->column[c]];
}

int ramses_family(const struct ramses *r, const struct ramses_parts *p, int64_t i)
{
    const int64_t *family = ramses_i64(r, p, COL_FAMILY);
    const double *birth = ramses_f64(r, p, COL_BIRTH);
    if (family) return (int)family[i];
    /* no mass: a tracer of gas, family 0 */
    if (!birth || birth[i] == 0) return ramses_f64(r, p, COL_MASS)[i] == 0 ? 0 : FAM_DM;
    return ramses_i64(r, p, COL_ID)[i] > 0 ? FAM_STAR : FAM_CLOUD;
}
