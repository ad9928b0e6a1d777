/* ramses/fields: writes the hydro, grav and particle files of a rank.
 *
 * Hydro files contain primitive variables of all cells, split cells included. One pass over the
 * mesh computes all records of a block: tiles of octs stay in the cache while each of their cells
 * and variables is selected. */
#include <string.h>

#include "base/mem.h"
#include "oct/field_sets.h"
#include "oct/transpose.h"
#include "ramses/exact.h"

enum { TILE = GAS_TILE, CHUNK = 65536 }; /* octs per tile, particles per chunk */

/* ---- cells ---- */

/* The field of value v, of the gas files, then of the gravity files. */
static int field_of(const struct ramses_out *w, int v)
{
    return field_stored(w->o.fields, w->o.h->hydro ? w->o.h->nvar : 0, v, 3);
}

static int velocities(const struct ckpt_head *h)
{
    return gas_velocities(h->ndim, h->magnetic);
}

enum err ramses_lines_of(const struct ramses_block *b, enum ramses_lines_of of, int64_t at, int n,
                         struct ramses_lines *out)
{
    const struct ramses_out *w = b->w;
    if (w->values) return w->values->octs(w->values->ctx, b, of, at, n, out);
    const int hydro = out_hydro(&w->o), gas = of == LINES_GAS, first = gas ? 0 : hydro,
              all = gas ? hydro : out_gravity(&w->o) + out_photons(&w->o);
    for (int v = 0; v < all; v++) out->fld[v] = w->o.m->lev[b->level].fld[field_of(w, first + v)];
    out->line = b->oct + at;
    return OK;
}

/* A table of fort_table, filled in batches. */
struct table {
    const struct ramses_block *b;
    struct exact_out *x; /* exact file; NULL: gravity */
    enum err *err;
};

/* Applies boundary conditions to cell c of octs beyond the boundary: vectors change sign, and
 * imposed values replace the values of the reference. */
static void hydro_beyond(const struct ckpt_head *h, const struct boundary_rule *r, int n,
                         double *const *prim)
{
    for (int v = 0; r->imposed >= 0 && v < h->nvar; v++)
        for (int i = 0; i < n; i++) prim[v][i] = h->boundary.region[r->imposed].state[v];
    for (int d = 0; d < 3; d++)
        for (int i = 0; r->flip[d] && i < n; i++) prim[1 + d][i] = -prim[1 + d][i];
}

/* The first value of the file that is written, and the first column that is written as it is in
 * memory: behind the variables of the gas; files of before 2015 have no potential. */
static int file_first(const struct table *t)
{
    return !t->x && t->b->w->o.h->legacy & CKPT_BEFORE_2015 ? 1 : 0;
}

static int raw_first(const struct table *t)
{
    const struct ckpt_head *h = t->b->w->o.h;
    return t->x ? gas_count_in_file(velocities(h), h->nvar) : 0;
}

/* Where value k of a cell is in its file. */
static int column_of(const struct table *t, int k)
{
    const struct ckpt_head *h = t->b->w->o.h;
    const struct gas_order order = {raw_first(t), velocities(h) + 1, h->energy.n};
    return t->x ? fields_column(t->b->w->o.fields, order, k) : k;
}

/* The value of column k, from raw_first on: vectors have fewer components in files. */
static int raw_value(const struct table *t, int k)
{
    const struct ckpt_out *o = &t->b->w->o;
    const int of = t->x ? 0 : out_hydro(o);
    int v = t->x ? o->h->nvar : 0, before = k - raw_first(t) + file_first(t);
    while (before > 0 || !out_in_file(o, of + v)) before -= out_in_file(o, of + v++);
    return v;
}

static int file_columns(const struct table *t)
{
    const struct ckpt_out *o = &t->b->w->o;
    return (t->x ? out_hydro_file(o) : out_gravity_file(o)) - file_first(t);
}

/* Replaces primitive variables in the rows of a file by conserved ones: those of the run, or beyond
 * the boundary those of the values there. */
static void conserve(const struct ckpt_head *h, const struct boundary_rule *rule, int n,
                     const double *const *u, double *const *prim)
{
    double store[NVAR_MAX * TILE], *made[NVAR_MAX];
    for (int v = 0; v < h->nvar; v++) made[v] = store + v * TILE;
    const struct gas_equation gas = {h->nvar, h->gamma, h->smallr, &h->energy};
    if (rule) gas_conserved(&gas, n, (const double *const *)prim, made);
    if (rule && h->magnetic) gas_add_field(n, u + h->nvar, made[GAS_ENERGY]);
    for (int v = 0; v < h->nvar; v++)
        memcpy(prim[v], rule ? made[v] : u[v], sizeof(double) * (size_t)n);
}

/* Asks for the values of n octs: their transposition waited for memory for half of its time. */
static inline void prefetch_octs(const double (*row)[8], const lidx *oct, int n)
{
    for (int k = 0; k < n; k++) __builtin_prefetch(row[oct[k]]);
}

/* Octs i..i+n-1 of `in`, by one of the parts; in their batch they begin at `at`. First their values
 * are laid out by cell and variable. rule: that of octs beyond the boundary, else NULL. */
static void hydro_tile(const struct table *t, int part, const struct ramses_lines *in, int i, int n,
                       int at, const struct boundary_rule *rule, char *rows, size_t stride)
{
    const struct ckpt_head *h = t->b->w->o.h;
    const lidx *oct = in->line + i;
    const int ncol = file_columns(t);
    bool own = t->b->rank == t->b->w->o.c->rank;
    const int nrow = h->nvar + (h->magnetic ? 6 : 0); /* the field is behind the variables */
    double *value = t->x->value + part * 8 * nrow * EXACT_PITCH;
    for (int v = 0; v < nrow; v++) {
        const double(*u)[8] = (const double(*)[8])in->fld[v];
        if (v + 1 < nrow) prefetch_octs((const double(*)[8])in->fld[v + 1], oct, n);
        transpose_rows(u, oct, n, value + 8 * v * EXACT_PITCH, EXACT_PITCH);
    }
    double missing[2][TILE], energy[TILE]; /* velocities that the file does not have */
    for (int c = 0; c < 1 << h->ndim; c++) {
        const double *u[NVAR_MAX + 6], *const *b = h->magnetic ? u + h->nvar : NULL;
        double *prim[NVAR_MAX];
        for (int v = 0; v < nrow; v++)
            u[v] = value + (8 * v + (rule ? rule->from[c] : c)) * EXACT_PITCH;
        for (int v = 0; v < h->nvar; v++) {
            const int k = gas_in_file(velocities(h), v);
            prim[v] = k < 0 ? missing[v - GAS_VELOCITY - h->ndim]
                            : (double *)(rows + (size_t)(c * ncol + column_of(t, k)) * stride) + i;
        }
        const double *with = u[GAS_ENERGY];
        if (b) gas_leave_field(n, b, with, energy), u[GAS_ENERGY] = energy;
        gas_primitive(&(struct gas_equation){h->nvar, h->gamma, h->smallr, &h->energy}, n, u, prim);
        u[GAS_ENERGY] = with;
        if (rule) hydro_beyond(h, rule, n, prim);
        if (own)
            exact_differ(t->x, (struct exact_cells){part, at, n, c}, u, (const double *const *)prim,
                         b);
        if (h->conservative) conserve(h, rule, n, u, prim);
    }
}

static void put_hydro(const struct table *t, const struct ramses_lines *in, int n, int at,
                      char *rows, size_t stride)
{
    int parts = t->x->parts;
#pragma omp parallel for schedule(static)
    for (int k = 0; k < parts; k++)
        for (int i = gas_cut(n, k, parts), end = gas_cut(n, k + 1, parts); i < end; i += TILE)
            hydro_tile(t, k, in, i, end - i < TILE ? end - i : TILE, at + i, NULL, rows, stride);
    exact_join(t->x);
}

/* Writes octs first..first+n-1 of a region, in runs of one rule. */
static void put_hydro_beyond(const struct table *t, const struct ramses_lines *in, int64_t first,
                             int n, int at, char *rows, size_t stride)
{
    for (int i = 0, k; i < n; i += k) {
        int32_t end;
        const struct boundary_rule *r = ramses_block_rule(t->b, (int32_t)first + i, &end);
        k = end - (int)first - i < TILE ? end - (int)first - i : TILE;
        if (k > n - i) k = n - i;
        hydro_tile(t, 0, in, i, k, at + i, r, rows, stride);
    }
}

/* Field f, value v of the file, of an oct beyond the boundary. */
static void raw_beyond(const struct table *t, const struct boundary_rule *r,
                       const struct ramses_lines *in, lidx line, int v, double out[8])
{
    const struct ramses_out *w = t->b->w;
    const int f = field_of(w, (t->x ? 0 : out_hydro(&w->o)) + v), axis = field_axis(f);
    const struct field_row *row = field_row_of(f);
    const double *is = in->fld[v][line];
    if (field_in(PHI, f)) {
        boundary_phi(r, is, out);
    } else if (row->centre == FIELD_FACE) {
        const double *faces[6];
        double all[6][8];
        for (int k = 0; k < 6; k++) faces[k] = in->fld[v - (f - row->first) + k][line];
        boundary_field(&w->o.h->boundary, r, faces, all);
        memcpy(out, all[f - row->first], sizeof all[0]);
    } else {
        for (int c = 0; c < 8; c++)
            out[c] = axis >= 0 && r->flip[axis] ? -is[r->from[c]] : is[r->from[c]];
    }
}

static void put_raw_beyond(const struct table *t, const struct ramses_lines *in, int64_t first,
                           int n, char *rows, size_t stride)
{
    const int ncol = file_columns(t);
    for (int i = 0; raw_first(t) < ncol && i < n; i++) {
        const struct boundary_rule *r = ramses_block_rule(t->b, (int32_t)first + i, NULL);
        for (int k = raw_first(t); k < ncol; k++) {
            double out[8];
            raw_beyond(t, r, in, in->line[i], raw_value(t, k), out);
            for (int c = 0; c < ramses_out_cells(t->b->w); c++)
                ((double *)(rows + (size_t)(c * ncol + column_of(t, k)) * stride))[i] = out[c];
        }
    }
}

static void put_raw(const struct table *t, const struct ramses_lines *in, int n, char *rows,
                    size_t stride)
{
    const int ncol = file_columns(t), from = raw_first(t), cells = ramses_out_cells(t->b->w);
    if (from == ncol) return;
#pragma omp parallel for schedule(static)
    for (int o = 0; o < n; o += TILE)
        for (int k = 0; k < cells * ncol; k++) {
            if (k % ncol < from) continue;
            const int at = k / ncol * ncol + column_of(t, k % ncol);
            double *row = (double *)(rows + (size_t)at * stride);
            double(*fld)[8] = in->fld[raw_value(t, k % ncol)];
            for (int i = o; i < n && i < o + TILE; i++) row[i] = fld[in->line[i]][k / ncol];
        }
}

static enum err fill_batch(const struct table *t, int64_t first, int n, char *rows, size_t stride)
{
    const struct ramses_block *b = t->b;
    struct ramses_lines in;
    int at = (int)(first % CKPT_BATCH);
    bool whole = at + n == CKPT_BATCH || first + n == b->n;
    TRY(ramses_lines_of(b, t->x ? LINES_GAS : LINES_GRAVITY, first, n, &in));
    if (b->rank >= b->w->o.c->size) {
        if (t->x) put_hydro_beyond(t, &in, first, n, at, rows, stride);
        put_raw_beyond(t, &in, first, n, rows, stride);
        return OK;
    }
    put_raw(t, &in, n, rows, stride);
    if (!t->x) return OK;
    put_hydro(t, &in, n, at, rows, stride);
    return whole && b->rank == b->w->o.c->rank ? exact_put(t->x, b->level, at + n) : OK;
}

static void fill(const void *ctx, int64_t first, int64_t n, char *rows, size_t stride)
{
    const struct table *t = ctx;
    const struct ramses_out *w = t->b->w;
    if (!t->x && t->b->level < w->o.h->levelmin) { /* coarser levels are not solved: zero */
        for (int k = 0; k < ramses_out_cells(w) * file_columns(t); k++)
            memset(rows + (size_t)k * stride, 0, sizeof(double) * (size_t)n);
        return;
    }
    for (int64_t at = 0, k; at < n && *t->err == OK; at += k) {
        k = CKPT_BATCH - (first + at) % CKPT_BATCH;
        if (k > n - at) k = n - at;
        *t->err = fill_batch(t, first + at, (int)k, rows + 8 * at, stride);
    }
}

static void write_blocks(struct fort_out *f, const struct ramses_out *w, int nvar,
                         struct exact_out *x)
{
    for (int l = 1; l <= w->o.nlevel; l++)
        for (int r = 0; r < w->o.c->size + w->o.h->boundary.n && f->err == OK; r++) {
            struct ramses_block b = ramses_block_of(w, l, r);
            enum err err = OK;
            ramses_block_header(f, l, b.n);
            if (b.n)
                fort_table(f, (1 << w->o.h->ndim) * nvar, sizeof(double), b.n, fill,
                           &(struct table){&b, x, &err});
            if (f->err == OK) f->err = err;
        }
}

void ramses_gas_head(struct fort_out *f, const struct ramses_out *w, int n)
{
    fort_i4(f, w->o.c->size);
    fort_i4(f, n);
    fort_i4(f, w->o.h->ndim);
    fort_i4(f, w->o.nlevel);
    fort_i4(f, w->o.h->boundary.n);
    fort_r8(f, w->o.h->gamma);
}

enum err ramses_write_hydro(const struct ramses_out *w, const char *path, struct exact_out *x)
{
    struct fort_out f;
    ramses_out_create(&f, w, path);
    ramses_gas_head(&f, w, out_hydro_file(&w->o));
    write_blocks(&f, w, out_hydro_file(&w->o), x);
    return fort_close(&f);
}

enum err ramses_write_grav(const struct ramses_out *w, const char *path)
{
    struct fort_out f;
    const struct ramses_block any = {.w = w};
    const int ncol = file_columns(&(struct table){.b = &any});
    ramses_out_create(&f, w, path);
    fort_i4(&f, w->o.c->size);
    fort_i4(&f, ncol);
    fort_i4(&f, w->o.nlevel);
    fort_i4(&f, w->o.h->boundary.n);
    write_blocks(&f, w, ncol, NULL);
    return fort_close(&f);
}

/* ---- particles ---- */

/* Positions wrapped into [0, boxlen) where the box is periodic, with RAMSES's arithmetic; a
 * particle that moved since the last sort may be outside. */
static const void *wrapped(const struct ramses_out *w, int d, const double *x, int64_t n,
                           double *chunk)
{
    for (int64_t i = 0; i < n; i++) chunk[i] = mesh_wrapped(w->o.m, d, x[i]);
    return chunk;
}

/* Ids converted to integers of fewer bytes. */
static const void *shortened(const int64_t *x, int64_t n, size_t bytes, double *chunk)
{
    char *out = (char *)chunk;
    /* little-endian */
    for (int64_t i = 0; i < n; i++) memcpy(out + (size_t)i * bytes, x + i, bytes);
    return out;
}

static void write_column(struct fort_out *f, const struct ramses_out *w, int c, double *chunk)
{
    size_t size = (size_t)part_type_size(part_column(w->o.columns, c)->type),
           bytes = (size_t)part_type_size(out_type(&w->o, c));
    if (f->err != OK) return;
    fort_begin(f, (int64_t)bytes * w->o.npart);
    for (int64_t at = 0, n; at < w->o.npart; at += n) {
        const void *rows = NULL;
        n = w->o.npart - at < CHUNK ? w->o.npart - at : CHUNK;
        enum err err = OK;
        if (w->values)
            err = w->values->parts(w->values->ctx, c, at, &n, &rows);
        else
            rows = (const char *)w->o.p->col[c] + size * (size_t)at;
        if (f->err == OK) f->err = err;
        if (f->err != OK) return;
        if (c <= COL_Z && !w->values) rows = wrapped(w, c - COL_X, rows, n, chunk);
        if (bytes < size) rows = shortened(rows, n, bytes, chunk);
        fort_put(f, rows, bytes * (size_t)n);
    }
    fort_end(f);
}

enum err ramses_write_part(const struct ramses_out *w, const char *path)
{
    struct fort_out f;
    struct stars_formed formed = out_formed(&w->o);
    double *chunk = mem_new(sizeof *chunk * CHUNK, "checkpoint");
    ramses_out_create(&f, w, path);
    fort_i4(&f, w->o.c->size);
    fort_i4(&f, w->o.h->ndim);
    if (w->o.npart > INT32_MAX && f.err == OK)
        f.err = err_set(ERR_LIMIT,
                        "%s: one rank has %ld particles, but RAMSES files hold 2147483647 at most: "
                        "use more ranks",
                        path, (long)w->o.npart);
    fort_i4(&f, (int32_t)w->o.npart);
    /* RAMSES's random seed and, with Monte-Carlo tracers, that of the tracers: both unused */
    fort_record(&f, (int32_t[]){-1, -1, -1, -1, -1, -1, -1, -1},
                w->o.columns->has[COL_PARTNER] ? 32 : 16);
    fort_i4(&f, formed.number > INT32_MAX ? INT32_MAX : (int32_t)formed.number);
    fort_r8(&f, formed.mass);
    fort_r8(&f, formed.lost);
    fort_i4(&f, w->o.h->rest ? (int32_t)w->o.h->rest->sinks.n : 0);
    for (int c = 0; c < w->o.columns->n; c++)
        if (out_has(&w->o, c)) write_column(&f, w, c, chunk);
    FREE(chunk);
    return fort_close(&f);
}
