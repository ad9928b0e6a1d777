/* ramses/read: the octs and particles of a RAMSES snapshot.
 *
 * Blocks of octs are lists of records, one per cell and variable. The records of a block are first
 * skipped, which checks their lengths, then read in parallel, CKPT_BATCH octs at a time. Ghost and
 * boundary octs are only skipped. Before a file is parsed its checksum is verified, if listed: the
 * second reading comes from the page cache. For callers that discard everything after an error
 * (`late`) the checksum is computed during the reading and compared at the end. The key of an oct
 * comes from its centre: at level l, (x − skip) 2^(l−1) − ½ is its integer coordinate, below coarse
 * * 2^(l−1). */
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "oct/gas_kern.h"
#include "ramses/priv.h"

struct walk {
    struct ramses *r;
    int file;
    struct amr_shape shape;
    bool values;
    source_octs_fn *fn;
    void *ctx;
    bool late;               /* whether checksums are computed during reading */
    bool known;              /* whether the caller has the tree, and needs only the keys of octs */
    enum files_kind kind[6]; /* kinds of the files read, ended by FILES_KINDS */
    struct fort_in amr, hydro, grav, rt,
        last; /* last: last bits of the photons, of files of ours */
    struct fort_rec last_rec;
    struct amr_head a;
    struct fort_rec *rec; /* records of a block: amr, then 8 * fields */
    char *raw;            /* buffer of one record's part of a batch */
    okey *key;
    unsigned char *split, (*flag)[8];
    uint64_t *ix[3]; /* integer coordinates; zero in missing dimensions */
    double *x[3], *values_store;
    double **row; /* rows of a batch in the order of records */
    double **val; /* rows by variable and cell */
    int *record;  /* [8*variable + cell] index in `row` */
    /* Files of conserved variables: places of the energy, of the momenta 1..momenta and of the six
     * faces (x left, x right, y left …; -1: no field). */
    int energy, momenta, face[6];
};

typedef enum err verify_fn(const struct ramses *r, enum files_kind k, int file);
static bool sums_late(const struct ramses *r);
static enum err verify(const struct ramses *r, int file, const enum files_kind *k, verify_fn *one);
static enum err verify_late(struct walk *w);
static enum err blame(const struct ramses *r, int file, const enum files_kind *k, enum err err);
static enum err walk_open(struct walk *w);
static void walk_close(struct walk *w);
static enum err read_block(struct walk *w, int level, int list, int32_t n);

enum err ramses_read_octs(struct ramses *r, int file, bool values, source_octs_fn *fn, void *ctx)
{
    struct walk w = {.r = r,
                     .shape = amr_shape(r->s->head.ndim),
                     .file = file,
                     .values = values,
                     .fn = fn,
                     .ctx = ctx};
    w.known = values && r->s->tree_known;
    w.late = sums_late(r);
    int nkind = 0;
    if (!w.known) w.kind[nkind++] = FILES_AMR;
    if (values && source_hydro(r->s)) w.kind[nkind++] = FILES_HYDRO;
    if (values && r->s->ngrav) w.kind[nkind++] = FILES_GRAV;
    if (values && r->s->nphoton) w.kind[nkind++] = FILES_RT;
    if (values && r->s->nphoton && !r->s->foreign) w.kind[nkind++] = FILES_RT_EXACT;
    w.kind[nkind] = FILES_KINDS;
    if (!w.late) TRY(verify(r, file, w.kind, ramses_verify_share));
    enum err err = walk_open(&w);
    int nlist = r->s->npiece + r->s->nboundary;
    for (int l = 1; err == OK && l <= r->s->head.levelmax; l++)
        for (int b = 0; err == OK && b < nlist; b++)
            err = read_block(&w, l, b + 1, w.a.numbl[(size_t)(l - 1) * (size_t)nlist + (size_t)b]);
    if (err == OK) err = fort_at_end(&w.amr);
    if (err == OK && values && source_hydro(r->s)) err = fort_at_end(&w.hydro);
    if (err == OK && values && r->s->ngrav) err = fort_at_end(&w.grav);
    if (err == OK && values && r->s->nphoton) err = fort_at_end(&w.rt);
    if (err == OK && w.last.path) err = fort_at_end(&w.last);
    if (err == OK)
        err = w.late ? verify_late(&w) : OK;
    else if (w.late || r->s->sharers > 0)
        err = blame(r, file, w.kind, err);
    walk_close(&w);
    return err;
}

static bool sums_late(const struct ramses *r)
{
    return r->s->late && r->s->list && !r->s->pick;
}

static enum err verify(const struct ramses *r, int file, const enum files_kind *k, verify_fn *one)
{
    for (; *k != FILES_KINDS; k++) TRY(one(r, *k, file));
    return OK;
}

static enum err verify_late(struct walk *w)
{
    const struct ramses *r = w->r;
    if (!w->known) TRY(ramses_verify_sum(r, FILES_AMR, w->file, &w->amr));
    if (w->values && source_hydro(r->s)) TRY(ramses_verify_sum(r, FILES_HYDRO, w->file, &w->hydro));
    if (w->values && r->s->ngrav) TRY(ramses_verify_sum(r, FILES_GRAV, w->file, &w->grav));
    if (w->values && r->s->nphoton) TRY(ramses_verify_sum(r, FILES_RT, w->file, &w->rt));
    return w->last.path ? ramses_verify_sum(r, FILES_RT_EXACT, w->file, &w->last) : OK;
}

/* Replaces an error by a checksum mismatch of the files, if there is one, which explains the error.
 */
static enum err blame(const struct ramses *r, int file, const enum files_kind *k, enum err err)
{
    char message[1024];
    snprintf(message, sizeof message, "%s", err_message());
    TRY(verify(r, file, k, ramses_verify));
    return err_set(err, "%s", message);
}

static enum err check_count(const struct fort_in *f, int32_t nvar, int expect)
{
    if (nvar == expect) return OK;
    FAIL(ERR_FORMAT, "%s: has %d variables, but file 1 has %d", f->path, nvar, expect);
}

static enum err open_photons(struct walk *w)
{
    char path[PATH_MAX];
    int32_t nvar;
    double gamma;
    TRY(ramses_path(w->r, FILES_RT, w->file, path));
    TRY(fort_open(&w->rt, path));
    TRY(ramses_hydro_head(&w->rt, w->r->s->head.ndim, &w->a, &nvar, &gamma));
    TRY(check_count(&w->rt, nvar, w->r->s->nphoton));
    if (w->r->s->foreign) return OK;
    TRY(ramses_path(w->r, FILES_RT_EXACT, w->file, path));
    return fort_open(&w->last, path);
}

static enum err open_values(struct walk *w)
{
    char path[PATH_MAX];
    int32_t nvar;
    double gamma;
    if (source_hydro(w->r->s)) {
        TRY(ramses_path(w->r, FILES_HYDRO, w->file, path));
        TRY(fort_open(&w->hydro, path));
        TRY(ramses_hydro_head(&w->hydro, w->r->s->head.ndim, &w->a, &nvar, &gamma));
        TRY(check_count(&w->hydro, nvar, source_hydro(w->r->s)));
    }
    if (w->r->s->ngrav) {
        TRY(ramses_path(w->r, FILES_GRAV, w->file, path));
        TRY(fort_open(&w->grav, path));
        TRY(ramses_grav_head(&w->grav, &w->a, &nvar));
        TRY(check_count(&w->grav, nvar, w->r->s->ngrav));
    }
    return w->r->s->nphoton ? open_photons(w) : OK;
}

/* The records are ordered cell by cell, and in each by the file's variables. */
static void order_records(struct walk *w)
{
    int nh = source_hydro(w->r->s), nf = nh + w->r->s->ngrav, ncell = w->shape.ncell;
    for (int f = 0; f < w->r->s->nfield; f++)
        for (int c = 0; c < ncell; c++) {
            int k = f < nh   ? c * nh + fields_column(w->r->s->fields, source_order(w->r->s), f)
                    : f < nf ? ncell * nh + c * (nf - nh) + f - nh
                             : ncell * nf + c * w->r->s->nphoton + f - nf;
            w->record[8 * f + c] = k;
        }
}

static void place_conserved(struct walk *w)
{
    const struct source *s = w->r->s;
    static const char *const faces[] = {"B_x_left",  "B_x_right", "B_y_left",
                                        "B_y_right", "B_z_left",  "B_z_right"};
    w->momenta = 0;
    for (int f = 0; f < 6; f++) w->face[f] = -1;
    for (int v = 0; v < source_hydro(s); v++) {
        const char *name = s->field[v].name;
        if (strcmp(name, "pressure") == 0) w->energy = v;
        w->momenta += strncmp(name, "velocity_", 9) == 0;
        for (int f = 0; f < 6; f++)
            if (strcmp(name, faces[f]) == 0) w->face[f] = v;
    }
}

static enum err walk_open(struct walk *w)
{
    char path[PATH_MAX];
    TRY(ramses_path(w->r, FILES_AMR, w->file, path));
    TRY(fort_open(&w->amr, path));
    TRY(ramses_amr_head(&w->amr, w->r, &w->a, false));
    if (w->values) TRY(open_values(w));
    if (w->late && !w->known) fort_watch(&w->amr);
    if (w->late) fort_watch(&w->hydro), fort_watch(&w->grav), fort_watch(&w->rt);
    if (w->late) fort_watch(&w->last);
    size_t b = CKPT_BATCH, nval = w->values ? 8 * (size_t)(w->r->s->nfield) : 0;
    w->rec = mem_new(sizeof *w->rec * (AMR_RECORDS + nval), "snapshot batch");
    w->raw = mem_new(8 * b, "snapshot batch");
    w->key = mem_new(sizeof *w->key * b, "snapshot batch");
    w->split = mem_new(b, "snapshot batch");
    w->flag = mem_new(sizeof *w->flag * b, "snapshot batch");
    for (int d = 0; d < 3; d++) {
        w->x[d] = mem_new(sizeof **w->x * b, "snapshot batch");
        w->ix[d] = mem_zero(sizeof **w->ix * b, "snapshot batch");
    }
    w->values_store = mem_new(sizeof *w->values_store * CKPT_PITCH * nval + 1, "snapshot batch");
    w->val = mem_new(sizeof *w->val * nval + 1, "snapshot batch");
    w->row = mem_new(sizeof *w->row * nval + 1, "snapshot batch");
    w->record = mem_new(sizeof *w->record * nval + 1, "snapshot batch");
    if (w->values) order_records(w);
    if (w->r->conserved) place_conserved(w);
    return OK;
}

static void walk_close(struct walk *w)
{
    fort_shut(&w->amr);
    fort_shut(&w->hydro);
    fort_shut(&w->grav);
    fort_shut(&w->rt);
    fort_shut(&w->last);
    ramses_amr_head_free(&w->a);
    FREE(w->rec);
    FREE(w->raw);
    FREE(w->key);
    FREE(w->split);
    FREE(w->flag);
    for (int d = 0; d < 3; d++) {
        FREE(w->x[d]);
        FREE(w->ix[d]);
    }
    FREE(w->values_store);
    FREE(w->row);
    FREE(w->record);
    FREE(w->val);
}

/* ---- stepping over a block ---- */

static enum err step_amr(struct walk *w, int32_t n)
{
    const struct amr_shape *s = &w->shape;
    for (int i = 0; i < s->records; i++) {
        if (i >= s->xg && i < s->xg + w->r->s->head.ndim)
            TRY(fort_next_real(&w->amr, "octs", n, &w->rec[i]));
        else
            TRY(fort_expect(&w->amr, "octs", 4 * (int64_t)n, &w->rec[i]));
    }
    return OK;
}

/* Skips a block of a hydro or grav file, which repeats level and number; the records may be of
 * single precision. */
static enum err step_values(struct fort_in *f, int level, int32_t n, int records,
                            struct fort_rec *rec)
{
    int32_t says[2];
    TRY(fort_get_i4(f, "level", &says[0]));
    TRY(fort_get_i4(f, "number of octs", &says[1]));
    if (says[0] != level || says[1] != n)
        FAIL(ERR_FORMAT,
             "%s: record %ld before byte %ld announces %d octs of level %d, but the amr file has "
             "%d of level %d",
             f->path, (long)f->record - 1, (long)f->at, says[1], says[0], n, level);
    for (int i = 0; n > 0 && i < records; i++) TRY(fort_next_real(f, "cell values", n, &rec[i]));
    return OK;
}

/* ---- reading a block ---- */

static enum err blame_place(const struct walk *w, int level, int64_t at, int n, int d)
{
    const struct ramses *r = w->r;
    const struct fort_rec *rec = &w->rec[w->shape.xg + d];
    double scale = ldexp(1, level - 1), side = (double)r->s->coarse[d] * scale;
    uint64_t ix;
    int i = 0;
    while (i < n && source_places(1, &w->x[d][i], (double)r->skip[d], scale, side, &ix)) i++;
    FAIL(ERR_FORMAT,
         "%s: record %ld at byte %ld: oct %ld is centred at %g, which is not a position of level "
         "%d",
         w->amr.path, (long)rec->number, (long)rec->at, (long)at + i + 1, w->x[d][i], level);
}

static enum err load_keys(struct walk *w, int level, int32_t total, int64_t at, int n)
{
    const struct ramses *r = w->r;
    int ndim = r->s->head.ndim;
    double scale = ldexp(1, level - 1);
    TRY(fort_load_rows(&w->amr, ndim, &w->rec[w->shape.xg], total, at, (size_t)n, w->x));
    for (int d = 0; d < ndim; d++) {
        double side = (double)r->s->coarse[d] * scale;
        if (side > ldexp(1, OKEY_LEVELS - 1))
            FAIL(ERR_LIMIT,
                 "%s: level %d on %ld coarse cells is finer than the keys of this build (make "
                 "MORTON128=1 for 42 levels)",
                 w->amr.path, level, (long)r->s->coarse[d]);
        if (!source_places(n, w->x[d], (double)r->skip[d], scale, side, w->ix[d]))
            return blame_place(w, level, at, n, d);
    }
    for (int i = 0; i < n; i++) w->key[i] = okey_make(w->ix[0][i], w->ix[1][i], w->ix[2][i]);
    return OK;
}

static void mark_split(int n, const int32_t *restrict son, int c, unsigned char *restrict split)
{
    const unsigned char bit = (unsigned char)(1 << c);
    for (int i = 0; i < n; i++) split[i] |= son[i] != 0 ? bit : 0;
}

static void mark_flags(int n, const int32_t *restrict is, int c, unsigned char (*restrict flag)[8])
{
    for (int i = 0; i < n; i++) flag[i][c] = is[i] == 1;
}

/* Loads the refinement of octs first..first+n-1 of the batch that begins at `at`. */
static enum err load_cells(struct walk *w, int64_t at, int first, int n)
{
    int32_t *raw = (int32_t *)(void *)w->raw + first;
    for (int c = 0; c < w->shape.ncell; c++) {
        TRY(fort_load(&w->amr, &w->rec[w->shape.son + c], 4, at + first, (size_t)n, raw));
        mark_split(n, raw, c, w->split + first);
        TRY(fort_load(&w->amr, &w->rec[w->shape.flag + c], 4, at + first, (size_t)n, raw));
        mark_flags(n, raw, c, w->flag + first);
    }
    return OK;
}

/* The number of parts of a batch that threads can read at a time. */
static int parts_of_tree(const struct walk *w, int n)
{
    const int parts = omp_get_max_threads();
    for (int i = w->shape.son; i < w->shape.records; i++)
        if (!fort_is_plain(&w->rec[i], 4 * (int64_t)(n / parts))) return 1;
    return parts;
}

static enum err load_tree(struct walk *w, int64_t at, int n)
{
    struct err_first trouble = {0};
    memset(w->split, 0, (size_t)n);
    memset(w->flag, 0, sizeof *w->flag * (size_t)n);
    if (w->known) return OK;
    const int parts = parts_of_tree(w, n);
#pragma omp parallel for schedule(static) if (parts > 1)
    for (int k = 0; k < parts; k++) {
        const int first = n * k / parts, end = n * (k + 1) / parts;
        err_save(&trouble, load_cells(w, at, first, end - first), k);
    }
    return err_restore(&trouble);
}

/* Row of variable v of cell c in a batch. */
static double *values_row(const struct walk *w, int v, int c)
{
    return w->val[8 * v + c];
}

static void take_field_energy(const struct walk *w, int c, int n, double *e)
{
    const double *b[6];
    for (int f = 0; f < 6; f++) b[f] = values_row(w, w->face[f], c);
    for (int i = 0; i < n; i++)
        e[i] -= gas_magnetic_faces(b[0][i], b[1][i], b[2][i], b[3][i], b[4][i], b[5][i]);
}

/* Whether variable v is density times another one. */
static bool is_carried(const struct walk *w, int v)
{
    bool face = false;
    for (int f = 0; f < 6; f++) face |= v == w->face[f];
    return v != w->energy && !face && !gas_name_energy(w->r->s->field[v].name);
}

/* A non-thermal energy, which is in the total energy, becomes its pressure. */
static void take_energy(int n, double gamma, double *q, double *e)
{
    for (int i = 0; i < n; i++) {
        e[i] = e[i] - q[i];
        q[i] = gas_pressure(q[i], gamma);
    }
}

/* Converts conserved variables of a file, by the operations of gas_primitive. */
static void make_primitive(const struct walk *w, int n)
{
    const struct source *s = w->r->s;
    const struct gas_energies *more = s->energy.n > 0 ? &s->energy : &s->head.energy;
    const double gamma = s->gamma > 0 ? s->gamma : s->head.gamma;
    for (int c = 0; c < w->shape.ncell; c++) {
        const double *density = values_row(w, 0, c), *index = more->gamma;
        double *e = values_row(w, w->energy, c);
        if (w->face[0] >= 0) take_field_energy(w, c, n, e);
        for (int v = 1; v < source_hydro(s); v++) {
            double *q = values_row(w, v, c);
            if (gas_name_energy(s->field[v].name)) take_energy(n, *index++, q, e);
            for (int i = 0; i < n && is_carried(w, v); i++) {
                const double rho = density[i] > s->smallr ? density[i] : s->smallr;
                if (v <= w->momenta) e[i] = e[i] - gas_kinetic_part(rho, q[i]);
                q[i] /= rho;
            }
        }
        for (int i = 0; i < n; i++) e[i] = gas_pressure(e[i], gamma);
    }
}

/* Photons: in files of RAMSES as they are stored; of ours the density with its last bits. */
static enum err load_photons(struct walk *w, int32_t total, int64_t at, int n)
{
    const struct source *s = w->r->s;
    const int first = w->shape.ncell * (s->nfield - s->nphoton), each = 1 + s->head.ndim,
              groups = s->nphoton / each, all = w->shape.ncell * s->nphoton;
    TRY(fort_load_rows(&w->rt, all, w->rec + AMR_RECORDS + first, total, at, (size_t)n,
                       w->row + first));
    for (int k = 0; !s->foreign && k < w->shape.ncell * groups; k++) {
        TRY(fort_load(&w->last, &w->last_rec, 1, (int64_t)k * n, (size_t)n, w->raw));
        photons_from_file(n, s->head.radiation.c, (const signed char *)w->raw,
                          w->row[first + each * k]);
    }
    return OK;
}

/* Finds the rows of a batch: of the walk, or of the caller. */
static void place_rows(struct walk *w, const struct source_octs *o)
{
    const struct source *s = w->r->s;
    const int nval = 8 * s->nfield;
    for (int i = 0; i < nval; i++) w->val[i] = w->values_store + (size_t)i * CKPT_PITCH;
    if (s->place && w->shape.ncell == 8) s->place->octs(s->place->ctx, o, w->val);
    for (int i = 0; i < nval; i++)
        if (i % 8 < w->shape.ncell) w->row[w->record[i]] = w->val[i];
}

static enum err load_values(struct walk *w, int32_t total, int64_t at, int n)
{
    int nh = w->shape.ncell * source_hydro(w->r->s), ng = w->shape.ncell * w->r->s->ngrav;
    const struct fort_rec *rec = w->rec + AMR_RECORDS;
    TRY(fort_load_rows(&w->hydro, nh, rec, total, at, (size_t)n, w->row));
    if (w->r->conserved) make_primitive(w, n);
    TRY(fort_load_rows(&w->grav, ng, rec + nh, total, at, (size_t)n, w->row + nh));
    return w->r->s->nphoton ? load_photons(w, total, at, n) : OK;
}

static enum err step_last(struct walk *w, int n)
{
    return fort_expect(&w->last, "last bits of photons",
                       (int64_t)w->shape.ncell * w->r->s->head.radiation.groups * n, &w->last_rec);
}

static enum err read_block(struct walk *w, int level, int list, int32_t n)
{
    struct ramses *r = w->r;
    struct fort_rec *value = w->rec + AMR_RECORDS;
    int ncell = w->shape.ncell;
    if (w->values && source_hydro(r->s))
        TRY(step_values(&w->hydro, level, n, ncell * source_hydro(r->s), value));
    if (w->values && r->s->ngrav)
        TRY(step_values(&w->grav, level, n, ncell * r->s->ngrav,
                        value + ncell * source_hydro(r->s)));
    if (w->values && r->s->nphoton)
        TRY(step_values(&w->rt, level, n, ncell * r->s->nphoton,
                        value + ncell * (r->s->nfield - r->s->nphoton)));
    if (n == 0) return OK;
    TRY(step_amr(w, n));
    if (list != w->file) return OK;
    for (int64_t at = 0; at < n; at += CKPT_BATCH) {
        int k = n - at < CKPT_BATCH ? (int)(n - at) : CKPT_BATCH;
        if (w->last.path) TRY(step_last(w, k));
        TRY(load_keys(w, level, n, at, k));
        if (r->s->pick && !r->s->pick->octs(r->s->pick->ctx, level, k, w->key)) continue;
        TRY(load_tree(w, at, k));
        struct source_octs o = {.level = level,
                                .n = k,
                                .key = w->key,
                                .split = w->split,
                                .flag = (const unsigned char(*)[8])w->flag,
                                .val = w->values ? (const double *const *)w->val : NULL};
        if (w->values) place_rows(w, &o);
        if (w->values) TRY(load_values(w, n, at, k));
        TRY(w->fn(&o, w->ctx));
    }
    return OK;
}

/* ---- particles ---- */

/* Loads one column of a batch, widened to 8 bytes. */
static enum err load_column(struct fort_in *f, const struct fort_rec *rec, char type, int64_t at,
                            int64_t n, char *raw, void *out)
{
    int64_t *i8 = out;
    double *r8 = out;
    int size = part_type_size(type);
    TRY(fort_load(f, rec, size, at, (size_t)n, size == 8 ? out : raw));
    if (size == 8) return OK;
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

/* Derives families where the file has none: sink clouds have negative ids, stars a birth time, and
 * gas tracers no mass. */
static void make_family(const struct source *s, int64_t n, const void *const *col, int64_t *family)
{
    const double *mass = col[s->column_at[COL_MASS]],
                 *birth = s->column_at[COL_BIRTH] < 0 ? NULL : col[s->column_at[COL_BIRTH]];
    const int64_t *id = col[s->column_at[COL_ID]];
    for (int64_t i = 0; i < n; i++) {
        bool born = birth && birth[i] != 0;
        family[i] = birth && id[i] < 0 ? FAM_CLOUD : born ? FAM_STAR : mass[i] == 0 ? 0 : FAM_DM;
    }
}

/* Reads particles in batches; positions first, which decide whether the rest is needed. */
static enum err part_batches(struct ramses *r, struct fort_in *f, const struct fort_rec *rec,
                             const char *type, int64_t npart, source_parts_fn *fn, void *ctx)
{
    const struct source *s = r->s;
    int64_t b = CKPT_PART_BATCH;
    int nf = s->npart, made = r->made_family ? r->s->column_at[COL_FAMILY] : -1;
    char *raw = mem_new(8 * (size_t)b, "snapshot batch");
    char *store = mem_new(8 * (size_t)b * (size_t)nf, "snapshot batch");
    const void *col[CKPT_FIELDS];
    enum err err = OK;
    for (int i = 0; i < nf; i++) col[i] = store + i * 8 * b;
    for (int64_t at = 0; err == OK && at < npart; at += b) {
        int64_t n = npart - at < b ? npart - at : b;
        bool wanted = true;
        for (int pass = 0; err == OK && wanted && pass < 2; pass++) {
            for (int i = 0; err == OK && i < nf; i++)
                if (i != made && source_is_position(s, i) == (pass == 0))
                    err = load_column(f, &rec[i], type[i], at, n, raw, store + i * 8 * b);
            if (pass == 0) wanted = err == OK && source_picks_parts(s, n, col);
        }
        if (err != OK || !wanted) continue;
        if (made >= 0) make_family(s, n, col, (int64_t *)(void *)(store + made * 8 * b));
        err = source_hand_parts(s, n, col, fn, ctx);
    }
    FREE(store);
    FREE(raw);
    return err;
}

/* Finds the width of a column from its record: descriptors do not mention reals of 4 bytes or ids
 * of 8. */
static enum err step_column(struct fort_in *f, const struct ckpt_field *field, int64_t npart,
                            struct fort_rec *rec, char *type)
{
    bool real = field->type == 'd' || field->type == 'f';
    *type = field->type;
    TRY(fort_next(f, field->name, rec));
    if (npart > 0 && rec->bytes == 8 * npart) *type = real ? 'd' : 'q';
    if (npart > 0 && rec->bytes == 4 * npart) *type = real ? 'f' : 'i';
    if (rec->bytes == part_type_size(*type) * npart) return OK;
    FAIL(ERR_FORMAT,
         "%s: record %ld (%s) at byte %ld has %ld bytes, which does not fit %ld particles", f->path,
         (long)rec->number, field->name, (long)rec->at, (long)rec->bytes, (long)npart);
}

static enum err parts_of(struct ramses *r, struct fort_in *f, int file, source_parts_fn *fn,
                         void *ctx)
{
    int64_t npart;
    struct fort_rec rec[CKPT_FIELDS];
    char type[CKPT_FIELDS];
    TRY(ramses_part_head(f, r, &npart, NULL));
    for (int i = 0; i < r->s->npart; i++)
        if (!r->made_family || i != r->s->column_at[COL_FAMILY])
            TRY(step_column(f, &r->s->part[i], npart, &rec[i], &type[i]));
    TRY(fort_at_end(f));
    return part_batches(r, f, rec, type, npart, fn, ctx);
}

enum err ramses_read_parts(struct ramses *r, int file, source_parts_fn *fn, void *ctx)
{
    static const enum files_kind KIND[] = {FILES_PART, FILES_KINDS};
    const bool late = sums_late(r);
    char path[PATH_MAX];
    struct fort_in f;
    if (!late) TRY(verify(r, file, KIND, ramses_verify_share));
    TRY(ramses_path(r, FILES_PART, file, path));
    enum err err = fort_open(&f, path);
    if (late) fort_watch(&f);
    if (err == OK) err = parts_of(r, &f, file, fn, ctx);
    if (err == OK)
        err = late ? ramses_verify_sum(r, FILES_PART, file, &f) : OK;
    else if (late || r->s->sharers > 0)
        err = blame(r, file, KIND, err);
    fort_shut(&f);
    return err;
}
