#include "oct/remap.h"

#include "base/mem.h"
#include "oct/fields.h"
#include "oct/find_kern.h"
#include "oct/pieces.h"
#include "oct/remap_kernel.h"

static enum err make(struct mirror *x, void *pointer, size_t bytes, const char *name)
{
    return dev_new(x->dev, pointer, bytes + 1, name);
}

/* ---- created octs ---- */

static bool has_gas(const struct remap_fields *f)
{
    return f->n > 0 && f->fld[f->n - 1] >= FLD_U;
}

/* Adds a field to be injected, not of the gas or without its interpolation. */
static void inject_add(struct remap_inject_args *a, const struct level *lv, int f)
{
    const struct field_row *r = field_row_of(f);
    const struct field_place p = field_place(f);
    const bool linear = r->prolong == PROLONG_LINEAR && r->centre == FIELD_FACE;
    a->from[a->nfld] = (const double(*)[8])lv->fld[f];
    a->other[a->nfld] = (const double(*)[8])lv->fld[linear ? FACE_OPPOSITE(f, r->first) : f];
    a->fixed[a->nfld] = (unsigned char)(linear ? p.fixed : 0);
    a->side[a->nfld++] = (unsigned char)p.side;
}

/* Fills the rows of created octs: the gas by interpolation, other fields as fields.def specifies.
 */
static void rows_fill(struct mirror *x, const struct mesh *m, int l, int32_t n,
                      const int32_t *location, const struct remap_fields *f,
                      const struct remap_gas *gas, double *row)
{
    struct remap_inject_args a = {.n = n, .width = f->n, .location = location, .row = row};
    bool special = has_gas(f) && gas;
    while (a.nfld < f->n && !(special && f->fld[a.nfld] >= FLD_U))
        inject_add(&a, &x->image->lev[l], f->fld[a.nfld]);
    if (n == 0) return;
    if (a.nfld > 0) dev_launch(x->stream, &remap_inject, dev_blocks(8 * (int64_t)n), &a);
    if (!special) return;
    mirror_send(x, m);
    gas->fill(gas->ctx, x, l, n, location, row + 8 * a.nfld, f->n);
}

enum err remap_rows(struct mirror *x, const struct mesh *m, int l, int32_t n,
                    const int32_t *location, const struct remap_fields *f,
                    const struct remap_gas *gas, double (*rows)[8])
{
    const size_t bytes = sizeof *rows * (size_t)n * (size_t)f->n;
    int32_t *location_dev = NULL;
    double *row = NULL;
    if (n == 0 || f->n == 0) return OK;
    enum err err = make(x, &location_dev, sizeof *location_dev * (size_t)n, "mesh created");
    if (err == OK) err = make(x, &row, bytes, "mesh created");
    if (err == OK) {
        dev_put(x->stream, location_dev, location, sizeof *location_dev * (size_t)n);
        rows_fill(x, m, l, n, location_dev, f, gas, row);
        dev_get(x->stream, rows, row, bytes);
        err = dev_wait(x->stream);
        BUG_ON(err != OK); /* the state is lost */
    }
    dev_free(x->dev, location_dev);
    dev_free(x->dev, row);
    return err;
}

/* ---- change of a level ---- */

static void drop(struct remap *r)
{
    struct dev_stream *s = r->x->stream;
    dev_drop(s, r->source);
    dev_drop(s, r->inverse);
    dev_drop(s, r->run);
    dev_drop(s, r->location);
    dev_drop(s, r->row);
}

static enum err make_all(struct remap *r, lidx old, lidx created, lidx rows)
{
    struct mirror *x = r->x;
    struct level *lv = &r->now;
    const size_t n = (size_t)r->noct;
    TRY(make(x, &r->source, sizeof *r->source * n, "mesh changes"));
    TRY(make(x, &r->run, sizeof *r->run * n, "mesh changes"));
    TRY(make(x, &r->inverse, sizeof *r->inverse * (size_t)old, "mesh changes"));
    TRY(make(x, &r->location, sizeof *r->location * (size_t)created, "mesh changes"));
    TRY(make(x, &r->row, sizeof(double[8]) * (size_t)rows * (size_t)r->f.n, "mesh created"));
    if (n == 0) return OK;
    okhash_size(&lv->hash, r->noct);
    TRY(make(x, &lv->key, sizeof *lv->key * n, "mesh keys"));
    TRY(make(x, &lv->child, sizeof *lv->child * n, "mesh links"));
    TRY(make(x, &lv->parent, sizeof *lv->parent * n, "mesh links"));
    TRY(make(x, &lv->nbr, sizeof *lv->nbr * n, "mesh links"));
    TRY(make(x, &lv->hash.slot, sizeof *lv->hash.slot * (lv->hash.mask + 1), "mesh hash"));
    for (int k = 0; k < r->f.n; k++)
        TRY(make(x, &lv->fld[r->f.fld[k]], sizeof **lv->fld * n, field_memory(r->f.fld[k])));
    return OK;
}

enum err remap_begin(struct remap *r, struct mirror *x, const struct mesh *m, int l, lidx noct,
                     lidx created, lidx rows, const struct remap_fields *f)
{
    *r = (struct remap){.x = x, .l = l, .f = *f, .noct = noct};
    enum err err = make_all(r, m->lev[l].noct, created, rows);
    if (err == OK) return OK;
    drop(r);
    mirror_drop_level(x, &r->now);
    r->x = NULL;
    return err;
}

/* Whether a run begins at oct i. */
static bool run_begins(const lidx *source, lidx i)
{
    return i == 0 || (source[i] < 0) != (source[i - 1] < 0) ||
           source[i] != source[i - 1] + (source[i] < 0 ? -1 : 1);
}

/* Number of runs that begin in a piece, which are also written to `run` if it is not NULL. */
static int64_t piece_runs(lidx noct, const lidx *source, lidx piece, struct remap_run *run)
{
    const lidx end = piece_end(noct, piece);
    int64_t n = 0;
    for (lidx i = piece * PIECE; i < end; i++) {
        if (!run_begins(source, i)) continue;
        if (run) run[n] = (struct remap_run){i, source[i]};
        n++;
    }
    return n;
}

/* Runs of consecutive sources; *n: their number. */
static struct remap_run *runs_of(lidx noct, const lidx *source, lidx *n)
{
    const lidx pieces = pieces_of(noct);
    int64_t *first = mem_new(sizeof *first * (size_t)pieces + 1, "mesh scratch");
#pragma omp parallel for schedule(static) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) first[p] = piece_runs(noct, source, p, NULL);
    *n = (lidx)pieces_sum(pieces, first);
    struct remap_run *run = mem_new(sizeof *run * (size_t)*n + 1, "mesh scratch");
#pragma omp parallel for schedule(static) if (pieces >= PIECES_FROM)
    for (lidx p = 0; p < pieces; p++) piece_runs(noct, source, p, run + first[p]);
    mem_free(first);
    return run;
}

static void launch(const struct remap *r, const struct dev_kernel *k, int64_t n, const void *args)
{
    dev_launch(r->x->stream, k, dev_blocks(n), args);
}

/* Updates the links of level l, children of level l-1, parents of level l+1. */
static void links_make(struct remap *r, const struct mesh *m)
{
    struct dev_stream *s = r->x->stream;
    struct level *now = &r->now, *old = &r->x->image->lev[r->l], *up = old - 1, *fine = old + 1;
    const lidx n = r->noct;
    launch(r, &remap_keys, n,
           &(struct remap_keys_args){
               .noct = n,
               .source = r->source,
               .location = r->location,
               .old_key = old->key,
               .up_key = up->key,
               .old_parent = old->parent,
               .old_child = (const lidx(*)[8])old->child,
               .key = now->key,
               .parent = now->parent,
               .child = now->child,
               .now = r->inverse,
           });
    dev_fill(s, up->child, 0xff, sizeof *up->child * (size_t)m->lev[r->l - 1].noct);
    launch(r, &remap_child, n,
           &(struct remap_child_args){n, m->cells, now->key, now->parent, up->child});
    launch(r, &remap_nbr, n,
           &(struct remap_nbr_args){n, m->ndim, now->key, now->parent, (const lidx(*)[6])up->nbr,
                                    (const lidx(*)[8])up->child, now->nbr});
    if (fine->parent)
        launch(r, &remap_parent, m->lev[r->l + 1].noct,
               &(struct remap_parent_args){m->lev[r->l + 1].noct, r->inverse, fine->parent});
    if (n == 0) return;
    dev_fill(s, now->hash.slot, 0xff, sizeof *now->hash.slot * (now->hash.mask + 1));
    launch(r, &remap_hash, n, &(struct remap_hash_args){n, now->key, now->hash});
}

static void fields_make(struct remap *r, const struct mesh *m, const struct remap_change *c,
                        const struct remap_gas *gas)
{
    struct remap_fields_args a = {
        .noct = r->noct, .nrow = c->rows, .nfld = r->f.n, .source = r->source, .row = r->row};
    const struct level *old = &r->x->image->lev[r->l];
    const size_t row = sizeof(double[8]) * (size_t)r->f.n;
    if (a.nfld == 0) return;
    rows_fill(r->x, m, r->l - 1, c->here, r->location, &r->f, gas, r->row);
    if (c->rows > c->here)
        dev_put(r->x->stream, r->row + row / sizeof(double) * (size_t)c->here, c->come,
                row * (size_t)(c->rows - c->here));
    for (int k = 0; k < a.nfld; k++) {
        a.old[k] = (const double(*)[8])old->fld[r->f.fld[k]];
        a.now[k] = r->now.fld[r->f.fld[k]];
    }
    launch(r, &remap_fields, 8 * (int64_t)r->noct, &a);
}

void remap_end(struct remap *r, const struct mesh *m, const struct remap_change *c,
               const struct remap_gas *gas)
{
    struct mirror *x = r->x;
    lidx nrun;
    struct remap_run *run = runs_of(r->noct, c->source, &nrun);
    if (nrun > 0) dev_put(x->stream, r->run, run, sizeof *run * (size_t)nrun);
    if (c->created > 0)
        dev_put(x->stream, r->location, c->location, sizeof *c->location * (size_t)c->created);
    launch(r, &remap_source, r->noct,
           &(struct remap_source_args){r->noct, nrun, r->run, r->source});
    fields_make(r, m, c, gas); /* must precede the change of the links that interpolation uses */
    links_make(r, m);
    dev_drop_host(x->stream, run);
    dev_drop_host(x->stream, c->location);
    dev_drop_host(x->stream, c->come);
    drop(r);
    mirror_become(x, m, r->l, &r->now);
    r->x = NULL;
}
