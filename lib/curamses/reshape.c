/* curamses/reshape: an HDF5 checkpoint from the temporary files.
 *
 * A target is a range of Morton order; sorted one after the other, the targets give the global
 * order of the file. Each rank fills ranges of whole blocks: its first block is the first one that
 * begins in its targets, and its last block is completed from the next targets. So nothing is
 * exchanged between ranks, and the file is the same for any number of them. */
#ifdef PTAH_HDF5
#include <string.h>

#include "base/mem.h"
#include "curamses/out.h"
#include "curamses/write.h"

enum { OCTS = HDF5_OCTS, PARTS = HDF5_PARTS };

struct merge {
    struct rewrite *w;
    struct hdf5_out *out;
    int first; /* range of own targets: first..last-1 */
    int last;
    int64_t begin, end; /* row range of this rank in a level or the particles */
    int64_t at;         /* next row to be written, after the pending ones */
    int64_t round, nround;
    int64_t n; /* pending rows of an incomplete window */
    /* State of octs. */
    int level;
    struct oct_ref *ref;
    order_key *key;
    unsigned char (*mask)[2];
    double (*row)[8], (*column)[8];
    uint64_t (*word)[8]; /* last bits of values stored by another code, by variable; else NULL */
    /* State of particles. */
    char *part[COL_MAX];
};

static enum err write_level(struct merge *g, int l);
static enum err write_parts(struct merge *g);

static enum err write_all(struct merge *g)
{
    struct hdf5_out *out = g->out;
    TRY(err_agree(g->w->c, g->w->c->rank == 0 ? hdf5_out_texts(out) : OK));
    TRY(hdf5_out_create(out));
    for (int l = 1; l <= g->w->nlevel; l++)
        if (out->o.total[l]) TRY(write_level(g, l));
    if (g->w->head.particles) TRY(write_parts(g));
    return hdf5_close(&out->f);
}

enum err hdf5_rewrite(struct rewrite *w)
{
    struct merge *g = mem_zero(sizeof *g, "reshape");
    struct hdf5_out *out = g->out = mem_zero(sizeof *out, "reshape");
    g->w = w;
    g->first = (int)((int64_t)w->ntarget * w->c->rank / w->c->size);
    g->last = (int)((int64_t)w->ntarget * (w->c->rank + 1) / w->c->size);
    out->o = w->o;
    out->o.c = w->c, out->o.m = &w->box;
    for (int t = 0; t < w->ntarget && w->head.particles; t++)
        out->npart += spill_count(&w->spill, part_list(w, t));
    for (int l = 1; l <= w->nlevel; l++)
        for (int v = 0; v < w->asis.nvar; v++) out->last[l][v] = (unsigned char)w->last[l][v];
    hdf5_out_plan(out);
    enum err err = write_all(g);
    hdf5_fini(&out->f);
    FREE(out->scratch);
    FREE(out);
    FREE(g);
    return err;
}

/* ---- division among the ranks ---- */

static int64_t rows_of(const struct merge *g, int level, int target)
{
    return level ? g->w->own[oct_list(g->w, target, level)]
                 : spill_count(&g->w->spill, part_list(g->w, target));
}

/* Computes the rows of this rank: from its first whole block to the first row of the next rank;
 * level 0: particles. Returns the number of the first row of the first own target. */
static int64_t share_rows(struct merge *g, int level, int64_t block)
{
    int64_t first = 0, last = 0, total = 0;
    for (int t = 0; t < g->w->ntarget; t++) {
        int64_t n = rows_of(g, level, t);
        if (t < g->first) first += n;
        if (t < g->last) last += n;
        total += n;
    }
    g->begin = (first + block - 1) / block * block;
    g->end = (last + block - 1) / block * block;
    if (g->last == g->w->ntarget || g->end > total) g->end = total;
    if (g->begin > g->end) g->begin = g->end;
    g->at = g->begin, g->n = g->round = 0;
    g->nround = (g->end - g->begin + block - 1) / block;
    comm_max_i64(g->w->c, &g->nround, 1);
    return first;
}

/* ---- octs ---- */

/* Splits gas values stored by another code into conserved variables and last bits. */
static void split_rows(struct merge *g)
{
    const struct asis *a = &g->w->asis;
    double u[CKPT_FIELDS][8];
    for (int64_t i = 0; i < g->n && a->nvar; i++) {
        double(*row)[8] = g->row + (size_t)i * (size_t)a->nvar;
        asis_oct(a, (const double(*)[8])row, u, g->word + (size_t)i * (size_t)a->nvar);
        memcpy(row, u, sizeof *u * (size_t)a->nvar);
    }
}

static const void *last_bits(struct merge *g, int v)
{
    for (int64_t i = 0; i < g->n; i++)
        memcpy(g->column[i], g->word[i * g->w->asis.nvar + v], sizeof *g->column);
    return g->column;
}

static const void *oct_column(void *ctx, int v)
{
    struct merge *g = ctx;
    const struct rewrite *w = g->w;
    int gas = out_hydro(&w->o), section = v < gas ? OCT_GAS : OCT_GRAV,
        nv = section == OCT_GAS ? gas : w->s->nvalue - gas, k = section == OCT_GAS ? v : v - gas;
    if (v >= w->s->nvalue) return last_bits(g, v - w->s->nvalue);
    /* on coarse levels the columns of gravity are left out */
    const bool begins = k == 0 || v == gas + out_gravity(&w->o);
    enum err err = begins ? rewrite_fetch(w, section, g->ref, (int)g->n, g->row) : OK;
    if (k == 0 && section == OCT_GAS && err == OK) split_rows(g);
    if (g->out->f.err == OK) g->out->f.err = err;
    if (g->out->f.err == OK)
        for (int64_t i = 0; i < g->n; i++)
            memcpy(g->column[i], g->row[i * nv + k], sizeof *g->column);
    return g->column;
}

/* Writes the pending octs of g; collective, so called without octs while other ranks have some. */
static void put_octs(struct merge *g)
{
    struct hdf5_octs o = {g->at, g->n, g->key, (const unsigned char(*)[2])g->mask};
    hdf5_out_octs(g->out, g->level, &o, oct_column, g);
    g->at += g->n;
    g->n = 0;
    g->round++;
}

static void take_octs(struct merge *g, const struct oct_item *x, int64_t n, int64_t number)
{
    for (int64_t i = 0; i < n && number + i < g->end; i++) {
        if (number + i < g->begin) continue;
        g->ref[g->n] = x[i].ref;
        g->key[g->n] = x[i].key;
        g->mask[g->n][0] = x[i].split, g->mask[g->n][1] = x[i].flag;
        if (++g->n == OCTS) put_octs(g);
    }
}

static enum err gather_octs(struct merge *g)
{
    int64_t number = share_rows(g, g->level, OCTS);
    for (int t = g->first; t < g->w->ntarget && number < g->end && g->out->f.err == OK; t++) {
        struct oct_item *x = NULL;
        int64_t n = rows_of(g, g->level, t);
        if (n == 0 || number + n <= g->begin) {
            number += n;
            continue;
        }
        enum err err = rewrite_load(g->w, t, g->level, &x, &n);
        if (err == OK) take_octs(g, x, n, number);
        FREE(x);
        TRY(err);
        number += n;
    }
    return OK;
}

static enum err write_level(struct merge *g, int l)
{
    size_t nv = (size_t)(g->w->s->nvalue > 1 ? g->w->s->nvalue : 1);
    g->level = l;
    g->ref = mem_new(sizeof *g->ref * OCTS, "reshape batch");
    g->key = mem_new(sizeof *g->key * OCTS, "reshape batch");
    g->mask = mem_new(sizeof *g->mask * OCTS, "reshape batch");
    g->row = mem_new(sizeof *g->row * nv * OCTS, "reshape batch");
    g->column = mem_new(sizeof *g->column * OCTS, "reshape batch");
    g->word = mem_new(sizeof *g->word * (size_t)g->w->asis.nvar * OCTS + 1, "reshape batch");
    enum err err = gather_octs(g);
    if (g->out->f.err == OK) g->out->f.err = err;
    if (g->out->f.err != OK) g->n = 0;
    while (g->round < g->nround) put_octs(g);
    FREE(g->ref);
    FREE(g->key);
    FREE(g->mask);
    FREE(g->row);
    FREE(g->column);
    FREE(g->word);
    return err_agree(g->w->c, g->out->f.err);
}

/* ---- particles ---- */

static const void *waiting_column(void *ctx, int c)
{
    return ((struct merge *)ctx)->part[c];
}

static void put_parts(struct merge *g)
{
    hdf5_out_parts(g->out, g->at, g->n, waiting_column, g);
    g->at += g->n;
    g->n = 0;
    g->round++;
}

/* Reads all particles of a target, column by column. */
static enum err load_columns(const struct merge *g, int target, char *const *column)
{
    const struct spill *s = &g->w->spill;
    int list = part_list(g->w, target);
    int64_t at = 0;
    for (int64_t k = s->first[list]; k < s->first[list + 1]; at += s->chunk[k++].n)
        for (int c = 0; c < g->w->s->columns.n; c++)
            TRY(spill_get(s, k, c, 0, s->chunk[k].n,
                          column[c] + (size_t)at * s->kind[ROW_PART].width[c]));
    return OK;
}

static struct order_ranked *sort_parts(const struct merge *g, char *const *column, int64_t n)
{
    size_t bytes = sizeof(struct order_ranked) * (size_t)n + 1;
    struct order_ranked *a = mem_new(bytes, "reshape particles"),
                        *b = mem_new(bytes, "reshape particles");
    const double *x[3] = {(const double *)column[COL_X], (const double *)column[COL_Y],
                          (const double *)column[COL_Z]};
    const int64_t *id = (const int64_t *)column[COL_ID];
    const int8_t *family = (const int8_t *)column[COL_FAMILY];
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        order_rank(&g->w->box, (double[3]){x[0][i], x[1][i], x[2][i]}, family[i], id[i], i, &a[i]);
    struct order_ranked *sorted = order_sort(a, b, n);
    if (sorted == a)
        FREE(b);
    else
        FREE(a);
    return sorted;
}

static void take_parts(struct merge *g, char *const *column, const struct order_ranked *r,
                       int64_t n, int64_t number)
{
    const size_t *width = g->w->spill.kind[ROW_PART].width;
    int64_t i = number < g->begin ? g->begin - number : 0,
            end = g->end - number < n ? g->end - number : n;
    while (i < end) {
        int64_t some = end - i < PARTS - g->n ? end - i : PARTS - g->n;
        for (int c = 0; c < g->w->s->columns.n; c++) {
            size_t size = width[c];
            char *to = g->part[c] + size * (size_t)g->n;
            for (int64_t k = 0; k < some; k++)
                memcpy(to + size * (size_t)k, column[c] + size * (size_t)r[i + k].i, size);
        }
        i += some;
        g->n += some;
        if (g->n == PARTS) put_parts(g);
    }
}

static enum err gather_target(struct merge *g, int target, int64_t n, int64_t number)
{
    char *column[COL_MAX];
    for (int c = 0; c < g->w->s->columns.n; c++)
        column[c] = mem_new(g->w->spill.kind[ROW_PART].width[c] * (size_t)n + 1,
                            "reshape particles");
    enum err err = load_columns(g, target, column);
    if (err == OK) {
        struct order_ranked *r = sort_parts(g, column, n);
        take_parts(g, column, r, n, number);
        FREE(r);
    }
    for (int c = 0; c < g->w->s->columns.n; c++) FREE(column[c]);
    return err;
}

static enum err gather_parts(struct merge *g)
{
    int64_t number = share_rows(g, 0, PARTS);
    for (int t = g->first; t < g->w->ntarget && number < g->end && g->out->f.err == OK; t++) {
        int64_t n = rows_of(g, 0, t);
        if (n && number + n > g->begin) TRY(gather_target(g, t, n, number));
        number += n;
    }
    return OK;
}

static enum err write_parts(struct merge *g)
{
    for (int c = 0; c < g->w->s->columns.n; c++)
        g->part[c] = mem_new(g->w->spill.kind[ROW_PART].width[c] * PARTS + 1, "reshape particles");
    enum err err = gather_parts(g);
    if (g->out->f.err == OK) g->out->f.err = err;
    if (g->out->f.err != OK) g->n = 0;
    while (g->round < g->nround) put_parts(g);
    for (int c = 0; c < g->w->s->columns.n; c++) FREE(g->part[c]);
    return err_agree(g->w->c, g->out->f.err);
}
#endif
