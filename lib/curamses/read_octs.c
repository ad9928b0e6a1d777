/* curamses/read_octs: octs and their values, in batches. The file stores conserved values;
 * SOURCE_STORED converts them to primitive variables, or to the stored variables of another code
 * with the help of the additional last bits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "curamses/read_sets.h"
#include "oct/gas_kern.h"
#include "oct/transpose.h"

struct walk {
    const struct source *s;
    struct hdf5_in *h;
    bool values, conserved, has_flag;
    struct hdf5_open_set x[3], son, flag, *field, *last;
    int cells;
    double *raw, *store; /* batch of a dataset · [8*field + cell][CKPT_PITCH] */
    double *made; /* reconstructed gas values of another code, in the shape of `store`; else NULL */
    double **row; /* [8*field + cell] in `store`, or in memory of the caller */
    const double **val;
    okey *key;
    unsigned char *split, (*flagged)[8];
    double *centre[3];
    uint64_t *place[3]; /* integer coordinates; zero in missing dimensions */
};

static void walk_free(struct walk *w)
{
    for (int d = 0; d < 3; d++) {
        FREE(w->centre[d]);
        FREE(w->place[d]);
    }
    FREE(w->field);
    FREE(w->last);
    FREE(w->made);
    FREE(w->raw);
    FREE(w->store);
    FREE(w->row);
    FREE(w->val);
    FREE(w->key);
    FREE(w->split);
    FREE(w->flagged);
}

static void level_close(struct walk *w)
{
    for (int d = 0; d < 3; d++) hdf5_set_close(&w->x[d]);
    hdf5_set_close(&w->son);
    hdf5_set_close(&w->flag);
    for (int i = 0; w->values && i < w->s->nfield; i++) hdf5_set_close(&w->field[i]);
    for (int i = 0; w->made && i < w->s->nhydro; i++) hdf5_set_close(&w->last[i]);
}

/* Opens the datasets of last bits; a variable that is reconstructed exactly has none. */
static enum err open_last(struct walk *w, int l)
{
    char path[64];
    int64_t n = w->cells * w->s->numbtot[l];
    for (int v = 0; w->made && v < w->s->nhydro; v++) {
        snprintf(path, sizeof path, "ptah/hydro/level_%d/last_%d", l, v + 1);
        if (hdf5_has(w->h, path))
            TRY(hdf5_set_open(w->h, &w->last[v], path, false, n, w->cells * OCTS));
    }
    return w->h->file.err;
}

static enum err level_open(struct walk *w, int l)
{
    char path[64];
    int64_t n = w->s->numbtot[l];
    for (int d = 0; d < w->s->head.ndim; d++) {
        snprintf(path, sizeof path, "amr/level_%d/xg_%d", l, d + 1);
        TRY(hdf5_set_open(w->h, &w->x[d], path, true, n, OCTS));
    }
    snprintf(path, sizeof path, "amr/level_%d/son_flag", l);
    TRY(hdf5_set_open(w->h, &w->son, path, false, w->cells * n, w->cells * OCTS));
    snprintf(path, sizeof path, "ptah/amr/level_%d/flag", l);
    w->has_flag = w->h->ours && hdf5_has(w->h, path);
    if (w->has_flag) TRY(hdf5_set_open(w->h, &w->flag, path, false, n, OCTS));
    for (int i = 0; w->values && i < w->s->nfield; i++) {
        const char *form = w->h->field_set[i], *at = strchr(form, '%');
        snprintf(path, sizeof path, "%.*s%d%s", (int)(at - form), form, l, at + 2);
        TRY(hdf5_set_open(w->h, &w->field[i], path, true, w->cells * n, w->cells * OCTS));
    }
    return open_last(w, l);
}

static enum err blame_place(const struct walk *w, int l, int64_t at, int n, int d)
{
    const double side = ldexp(1, l - 1), *x = w->centre[d];
    uint64_t place;
    int i = 0;
    while (i < n - 1 && source_places(1, x + i, (double)w->h->skip[d], side, side, &place)) i++;
    FAIL(ERR_FORMAT, "%s: /%s: oct %ld is centred at %g, which is not a position of level %d",
         w->h->path, w->x[d].name, (long)at + i, x[i], l);
}

static enum err load_keys(struct walk *w, int l, int64_t at, int n)
{
    const double side = ldexp(1, l - 1);
    for (int d = 0; d < w->s->head.ndim; d++) {
        double *x = w->centre[d];
        TRY(hdf5_set_load(w->h, &w->x[d], at, n, OCTS, w->raw, x));
        if (!source_places(n, x, (double)w->h->skip[d], side, side, w->place[d]))
            return blame_place(w, l, at, n, d);
    }
    for (int i = 0; i < n; i++)
        w->key[i] = okey_make(w->place[0][i], w->place[1][i], w->place[2][i]);
    return OK;
}

/* Reads the cell values of a batch, rows of eight; `narrow`: workspace. */
static enum err load_cells(struct walk *w, struct hdf5_open_set *s, int64_t at, int n, void *narrow,
                           void *rows)
{
    uint64_t(*row)[8] = rows, *cell = rows;
    int cells = w->cells;
    TRY(hdf5_set_load(w->h, s, cells * at, (int64_t)cells * n, cells * OCTS, narrow, rows));
    for (int i = n - 1; cells < 8 && i >= 0; i--)
        for (int c = 7; c >= 0; c--) row[i][c] = c < cells ? cell[cells * i + c] : 0;
    return OK;
}

/* Spreads bits 0 to 7 to bytes: bit c to byte c, which by the addition carries into its bit 7. */
static void spread_bits(uint64_t bits, unsigned char byte[8])
{
    const uint64_t ones = 0x0101010101010101u, mine = (bits & 0xff) * ones & 0x8040201008040201u,
                   out = (mine + 0x7f * ones) >> 7 & ones;
    memcpy(byte, &out, sizeof out);
}

/* Reads the refinement of octs. Without flags, refined cells are flagged to stay refined. */
static enum err load_tree(struct walk *w, int64_t at, int n)
{
    const int64_t *v = (const int64_t *)w->store;
    TRY(load_cells(w, &w->son, at, n, w->raw, w->store));
    for (int i = 0; i < n; i++) {
        unsigned split = 0;
        for (int c = 0; c < 8; c++) split |= (unsigned)(v[8 * i + c] != 0) << c;
        w->split[i] = (unsigned char)split;
    }
    if (w->has_flag) TRY(hdf5_set_load(w->h, &w->flag, at, n, OCTS, w->raw, w->store));
    for (int i = 0; i < n; i++)
        spread_bits(w->has_flag ? (uint64_t)v[i] : w->split[i], w->flagged[i]);
    return OK;
}

/* Converts conserved to primitive variables with the operations of the binary writer in the same
 * order, so that both give equal bits. */
static void make_primitive(struct walk *w, int n)
{
    double smallr = w->h->smallr, gamma = w->s->head.gamma;
    const int energy = source_velocities(w->s) + 1,
              field = fields_faces(w->s->fields, w->s->nhydro);
#pragma omp parallel for schedule(static)
    for (int c = 0; c < 8; c++) {
        double *rho = w->row[c], *p = w->row[8 * energy + c];
        const double *b[6];
        for (int f = 0; f < 6 && field >= 0; f++) b[f] = w->row[8 * (field + f) + c];
        if (field >= 0) gas_leave_field(n, b, p, p);
        for (int v = 1; v < w->s->nhydro; v++) {
            double *q = w->row[8 * v + c];
            const int k = v - energy - 1;
            if (k >= 0 && k < w->s->head.energy.n) {
                for (int i = 0; i < n; i++) {
                    p[i] = p[i] - q[i];
                    q[i] = gas_pressure(q[i], w->s->head.energy.gamma[k]);
                }
                continue;
            }
            for (int i = 0; v != energy && i < n; i++) {
                double m = q[i], r = rho[i] > smallr ? rho[i] : smallr;
                q[i] = m / r;
                if (v < energy) p[i] = p[i] - gas_kinetic_part(r, m);
            }
        }
        for (int i = 0; i < n; i++) p[i] = gas_pressure(p[i], gamma);
    }
}

static enum err mend(struct walk *w, int v, int64_t at, int n)
{
    uint64_t(*word)[8] = (uint64_t(*)[8])(void *)w->raw, *column = (uint64_t *)(void *)w->raw;
    if (!*w->last[v].name) return OK;
    bool narrow = w->last[v].h5.type == 'i';
    column += 8 * OCTS;
    TRY(load_cells(w, &w->last[v], at, n, column, word));
    for (int c = 0; c < w->cells; c++) {
        for (int i = 0; i < n; i++) column[i] = narrow ? (uint32_t)word[i][c] : word[i][c];
        asis_mend(n, column, w->made + (size_t)(8 * v + c) * CKPT_PITCH);
    }
    return OK;
}

/* Reconstructs the values stored by another code from the conserved values and their last bits. */
static enum err make_stored(struct walk *w, int64_t at, int n)
{
    int nvar = w->s->nhydro;
    for (int c = 0; c < w->cells; c++) {
        const double *u[CKPT_FIELDS];
        double *to[CKPT_FIELDS];
        for (int v = 0; v < nvar; v++)
            u[v] = w->store + (size_t)(8 * v + c) * CKPT_PITCH,
            to[v] = w->made + (size_t)(8 * v + c) * CKPT_PITCH;
        asis_stored(&w->h->asis, n, u, to);
    }
    for (int v = 0; v < nvar; v++) TRY(mend(w, v, at, n));
    return OK;
}

/* Adds the energy of the magnetic field to an energy without it. */
static void add_field(struct walk *w, int n)
{
    const int field = fields_faces(w->s->fields, w->s->nhydro);
    for (int c = 0; c < w->cells; c++) {
        const double *b[6];
        for (int f = 0; f < 6; f++) b[f] = w->store + (size_t)(8 * (field + f) + c) * CKPT_PITCH;
        gas_add_field(n, b, w->store + (size_t)(8 * GAS_ENERGY + c) * CKPT_PITCH);
    }
}

/* Finds the rows of a batch: of the walk, or of the caller, who takes them as they are. */
static void place_rows(struct walk *w, const struct source_octs *o)
{
    const struct ckpt_place *place = w->s->place;
    const int nval = 8 * w->s->nfield;
    for (int i = 0; i < nval; i++) w->row[i] = w->store + (size_t)i * CKPT_PITCH;
    if (w->conserved || w->made) return;
    if (place && w->cells == 8) place->octs(place->ctx, o, w->row);
    for (int i = 0; i < nval; i++) w->val[i] = w->row[i];
}

static enum err load_values(struct walk *w, int64_t at, int n)
{
    void *narrow = w->raw + 8 * OCTS;
    for (int f = 0; f < w->s->nfield; f++) {
        TRY(load_cells(w, &w->field[f], at, n, narrow, w->raw));
        double **row = w->row + 8 * f;
        transpose_rows((const double(*)[8])w->raw, NULL, n, row[0], (size_t)(row[1] - row[0]));
    }
    if (w->made) return make_stored(w, at, n);
    if (w->conserved && w->h->lacks_field) add_field(w, n);
    if (w->s->nhydro && !w->conserved) make_primitive(w, n);
    return OK;
}

static enum err read_level(struct walk *w, int l, int piece, source_octs_fn *fn, void *ctx)
{
    int64_t first, end;
    hdf5_part_of(w->s->numbtot[l], OCTS, piece, w->s->npiece, &first, &end);
    if (first >= end) return OK;
    TRY(level_open(w, l));
    for (int64_t at = first; at < end; at += OCTS) {
        int n = end - at < OCTS ? (int)(end - at) : OCTS;
        TRY(load_keys(w, l, at, n));
        if (w->s->pick && !w->s->pick->octs(w->s->pick->ctx, l, n, w->key)) continue;
        TRY(load_tree(w, at, n));
        struct source_octs o = {.level = l,
                                .n = n,
                                .key = w->key,
                                .split = w->split,
                                .flag = (const unsigned char(*)[8])w->flagged,
                                .val = w->values ? w->val : NULL};
        if (w->values) place_rows(w, &o);
        if (w->values) TRY(load_values(w, at, n));
        TRY(fn(&o, ctx));
    }
    return OK;
}

/* The values of a state: momenta that the file does not have are zero, and cells repeat. */
static void lay_state(struct walk *w)
{
    const struct source *s = w->s;
    const int nvar = s->nhydro ? s->head.nvar : 0;
    for (int v = 0; v < s->nvalue; v++) {
        int f = source_value_of(s, field_stored(s->values, nvar, v, 3));
        if (f < 0) f = s->nfield; /* zeros */
        for (int c = 0; c < 8; c++)
            w->val[8 * v + c] = w->store + (size_t)(8 * f + c % w->cells) * CKPT_PITCH;
    }
}

enum err hdf5_read_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                        void *ctx)
{
    struct walk w = {.s = s, .h = hdf5_in_of(s)};
    w.values = mode != SOURCE_TREE, w.conserved = mode == SOURCE_STATE;
    size_t nfield = (size_t)(w.values ? s->nfield : 0);
    w.field = mem_zero(sizeof *w.field * nfield + 1, "snapshot batch");
    w.raw = mem_new(2 * 64 * OCTS, "snapshot batch");
    w.store = mem_new(64 * (size_t)CKPT_PITCH * (nfield + 1), "snapshot batch");
    memset(w.store + 8 * (size_t)CKPT_PITCH * nfield, 0, 64 * (size_t)CKPT_PITCH); /* zeros */
    w.row = mem_new(sizeof *w.row * 8 * nfield + 1, "snapshot batch");
    w.val = mem_new(sizeof *w.val * 8 * (nfield + 4) + 1, "snapshot batch");
    w.key = mem_new(sizeof *w.key * OCTS, "snapshot batch");
    w.split = mem_new(OCTS, "snapshot batch");
    w.flagged = mem_new(8 * OCTS, "snapshot batch");
    for (int d = 0; d < 3; d++) {
        w.centre[d] = mem_new(8 * OCTS, "snapshot batch");
        w.place[d] = mem_zero(8 * OCTS, "snapshot batch");
    }
    w.cells = source_cells(s);
    if (w.conserved)
        lay_state(&w);
    else
        for (size_t i = 0; i < 8 * nfield; i++) w.val[i] = w.store + i * CKPT_PITCH;
    if (mode == SOURCE_STORED && s->foreign && s->nhydro) {
        size_t rows = 8 * (size_t)s->nhydro;
        w.last = mem_zero(sizeof *w.last * (size_t)s->nhydro, "snapshot batch");
        w.made = mem_new(sizeof *w.made * rows * CKPT_PITCH, "snapshot batch");
        for (size_t i = 0; i < rows; i++) w.val[i] = w.made + i * CKPT_PITCH;
    }
    enum err err = OK;
    for (int l = 1; err == OK && l <= LEVEL_MAX; l++) {
        if (s->numbtot[l]) err = read_level(&w, l, piece, fn, ctx);
        level_close(&w);
    }
    walk_free(&w);
    return err;
}
