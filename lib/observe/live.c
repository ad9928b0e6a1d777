/* observe/live: see live.h. Rank 0 sends a request to the rank of a piece, which replies in
 * batches, each a header of fixed size and a block whose size follows from the header. */
#include "observe/live.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/gas.h"
#include "observe/observe.h"
#include "oct/transpose.h"

enum { TREE_ROW = sizeof(okey) + 1 + 8 };

struct reader {
    struct live run;
    bool on_root; /* whether live_on_root is running */
    /* buffers of a batch */
    double *store, *tile; /* [8 nvalue][CKPT_PITCH] values; [8 nvar][GAS_TILE] tile */
    const double **val;
    unsigned char *split;
    int some;   /* number of the first values that are wanted; 0: all */
    char *wide; /* [npart][CKPT_PART_BATCH] particle columns, widened to 8 bytes */
};

static enum err live_open(struct source *s)
{
    struct reader *r = s->impl;
    const struct parts *p = r->run.parts;
    TRY(source_running(s, r->run.head, r->run.comm->size));
    s->number = r->run.number;
    if (r->run.head->rest) s->formed = r->run.head->rest->formed;
    for (int c = 0; s->head.particles && c < p->columns.n; c++) {
        const struct part_column *col = part_column(&p->columns, c);
        if (!p->columns.has[c]) continue;
        if (c < COL_COUNT) s->column_at[c] = s->npart;
        TRY(source_add_field(s->path, s->part, &s->npart, col->name, col->type));
    }
    s->head.stars = s->head.particles && s->column_at[COL_BIRTH] >= 0;
    s->head.metal = s->head.particles && s->column_at[COL_METAL] >= 0;
    return OK;
}

static void live_close(struct source *s)
{
    struct reader *r = s->impl;
    FREE(r->store);
    FREE(r->tile);
    FREE(r->val);
    FREE(r->split);
    FREE(r->wide);
    FREE(s->impl);
}

/* ---- octs of this rank ---- */

/* Computes primitive variables of octs at..at+n-1 of a level, stored from index `to` of the batch.
 */
static void make_primitive(const struct source *s, const struct level *lv, lidx at, int n, int to)
{
    struct reader *r = s->impl;
    const struct ckpt_head *h = &s->head;
    double missing[2][GAS_TILE], energy[GAS_TILE]; /* missing: velocities that files do not have */
    const int nrow = h->nvar + (h->magnetic ? 6 : 0);
    for (int v = 0; v < nrow; v++) {
        const int f = field_stored(s->fields, h->nvar, v, 3);
        transpose_rows((const double(*)[8])lv->fld[f] + at, NULL, n, r->tile + 8 * v * GAS_TILE,
                       GAS_TILE);
    }
    for (int c = 0; c < 8; c++) {
        const double *u[NVAR_MAX + 6];
        double *prim[NVAR_MAX];
        for (int v = 0; v < nrow; v++) u[v] = r->tile + (8 * v + c) * GAS_TILE;
        for (int v = 0; v < h->nvar; v++) {
            const int k = gas_in_file(source_velocities(s), v);
            prim[v] = k < 0 ? missing[v - GAS_VELOCITY - h->ndim]
                            : r->store + (size_t)(8 * k + c) * CKPT_PITCH + to;
        }
        if (h->magnetic)
            gas_leave_field(n, u + h->nvar, u[GAS_ENERGY], energy), u[GAS_ENERGY] = energy;
        gas_primitive(&(struct gas_equation){h->nvar, h->gamma, h->smallr, &h->energy}, n, u, prim);
    }
}

/* Fills the values of a batch. Levels coarser than levelmin have no solved gravity: zero, as in
 * files. */
static void lay_values(const struct source *s, enum source_mode mode, const struct level *lv,
                       lidx at, int n)
{
    struct reader *r = s->impl;
    for (int i = 0; mode == SOURCE_STORED && s->nhydro && i < n; i += GAS_TILE)
        make_primitive(s, lv, at + i, n - i < GAS_TILE ? n - i : GAS_TILE, i);
    const bool stored = mode == SOURCE_STORED;
    const int nvar = stored ? s->nhydro : s->head.nvar, ndim = stored ? s->head.ndim : 3;
    const field_set rows = stored ? s->fields : s->values;
    const int gas = nvar + fields_count(rows, FILE_HYDRO, ndim);
    const int all = source_values(s, mode), end = r->some && r->some < all ? r->some : all;
    for (int v = stored ? nvar : 0; v < end; v++) {
        int f = field_stored(rows, nvar, v, ndim);
        double *column = r->store + 8 * (size_t)v * CKPT_PITCH;
        if (v < gas || lv->level >= s->head.levelmin || photons_group(f) >= 0)
            transpose_rows((const double(*)[8])lv->fld[f] + at, NULL, n, column, CKPT_PITCH);
        else
            memset(column, 0, sizeof *column * 8 * CKPT_PITCH);
    }
}

static enum err own_octs(struct source *s, enum source_mode mode, source_octs_fn *fn, void *ctx)
{
    struct reader *r = s->impl;
    for (int l = 1; l <= r->run.mesh->levelmax; l++) {
        const struct level *lv = &r->run.mesh->lev[l];
        for (lidx at = 0; at < lv->nown; at += CKPT_BATCH) {
            int n = lv->nown - at < CKPT_BATCH ? (int)(lv->nown - at) : CKPT_BATCH;
            if (s->pick && !s->pick->octs(s->pick->ctx, l, n, lv->key + at)) continue;
            for (int i = 0; i < n; i++) {
                r->split[i] = 0;
                for (int c = 0; c < r->run.mesh->cells; c++)
                    r->split[i] |= (unsigned char)((lv->child[at + i][c] >= 0) << c);
            }
            if (mode != SOURCE_TREE) lay_values(s, mode, lv, at, n);
            struct source_octs o = {.level = l,
                                    .n = n,
                                    .key = lv->key + at,
                                    .split = r->split,
                                    .flag = (const unsigned char(*)[8])lv->flag + at,
                                    .val = mode == SOURCE_TREE ? NULL : r->val};
            TRY(fn(&o, ctx));
        }
    }
    return OK;
}

/* ---- particles of this rank ---- */

/* Widens an integer of any size to 8 bytes. */
static int64_t whole_of(char type, const void *p, int64_t i)
{
    return type == 'q'   ? ((const int64_t *)p)[i]
           : type == 'i' ? ((const int32_t *)p)[i]
           : type == 'h' ? ((const int16_t *)p)[i]
                         : ((const int8_t *)p)[i];
}

static const void *widened(const struct reader *r, int c, int64_t at, int64_t n, void *to)
{
    const struct parts *p = r->run.parts;
    char type = part_column(&p->columns, c)->type;
    double *real = to;
    int64_t *whole = to;
    if (part_type_is_real(type) && c > COL_Z) return (const double *)p->col[c] + at;
    for (int64_t i = 0; i < n && c <= COL_Z; i++)
        real[i] = mesh_wrapped(r->run.mesh, c - COL_X, p->x[c - COL_X][at + i]);
    for (int64_t i = 0; i < n && c > COL_Z; i++) whole[i] = whole_of(type, p->col[c], at + i);
    return to;
}

static enum err own_parts(struct source *s, source_parts_fn *fn, void *ctx)
{
    const struct reader *r = s->impl;
    const struct parts *p = r->run.parts;
    const void *col[CKPT_FIELDS];
    for (int64_t at = 0; at < p->n; at += CKPT_PART_BATCH) {
        int64_t n = p->n - at < CKPT_PART_BATCH ? p->n - at : CKPT_PART_BATCH;
        for (int i = 0, c = 0; c < p->columns.n; c++)
            if (p->columns.has[c])
                col[i] = widened(r, c, at, n, r->wide + (size_t)i * 8 * CKPT_PART_BATCH), i++;
        if (source_picks_parts(s, n, col)) TRY(source_hand_parts(s, n, col, fn, ctx));
    }
    return OK;
}

/* ---- pieces of other ranks, on rank 0 ---- */

/* Message from rank 0: a request; from other ranks: header of a batch, n = −1 after the last. */
struct message {
    enum live_what { WHAT_NOTHING, WHAT_OCTS, WHAT_PARTS } what;
    enum source_mode mode;
    int level;
    int64_t n;
};

static void exchange(const struct comm *c, int peer, void *out, size_t out_bytes, void *in,
                     size_t in_bytes)
{
    comm_wait(comm_post(c, 1, &peer, &out, &out_bytes, &in, &in_bytes));
}

/* Bytes of a block of octs. */
static size_t octs_bytes(const struct source *s, const struct message *m)
{
    int values = source_values(s, m->mode);
    return (size_t)m->n * (64 * (size_t)values + TREE_ROW);
}

struct sending {
    const struct source *s;
    enum source_mode mode;
};

static void send_batch(const struct source *s, const struct message *m, void *block, size_t bytes)
{
    const struct comm *c = ((const struct reader *)s->impl)->run.comm;
    struct message head = *m;
    exchange(c, 0, &head, sizeof head, NULL, 0);
    if (bytes) exchange(c, 0, block, bytes, NULL, 0);
}

static enum err send_octs(const struct source_octs *o, void *ctx)
{
    const struct sending *k = ctx;
    struct message m = {WHAT_OCTS, k->mode, o->level, o->n};
    size_t bytes = octs_bytes(k->s, &m), n = (size_t)o->n,
           rows = (bytes / n - TREE_ROW) / sizeof(double);
    char *block = mem_new(bytes, "snapshot batch"), *at = block;
    memcpy(at, o->key, sizeof *o->key * n), at += sizeof *o->key * n;
    for (size_t v = 0; v < rows; v++)
        memcpy(at, o->val[v], sizeof(double) * n), at += sizeof(double) * n;
    memcpy(at, o->flag, 8 * n), at += 8 * n;
    memcpy(at, o->split, n);
    send_batch(k->s, &m, block, bytes);
    FREE(block);
    return OK;
}

static enum err send_parts(const struct source_parts *p, void *ctx)
{
    const struct sending *k = ctx;
    struct message m = {.what = WHAT_PARTS, .n = p->n};
    size_t row = 8 * (size_t)p->n, bytes = row * (size_t)k->s->npart;
    char *block = mem_new(bytes, "snapshot batch");
    for (int i = 0; i < k->s->npart; i++)
        memcpy(block + row * (size_t)i, p->col[k->s->part_at[i]], row);
    send_batch(k->s, &m, block, bytes);
    FREE(block);
    return OK;
}

/* Serves requests of rank 0 until it sends WHAT_NOTHING. */
static void serve(struct source *s)
{
    const struct comm *c = ((const struct reader *)s->impl)->run.comm;
    for (;;) {
        struct message m;
        exchange(c, 0, NULL, 0, &m, sizeof m);
        if (m.what == WHAT_NOTHING) return;
        struct sending k = {s, m.mode};
        enum err err = m.what == WHAT_OCTS ? own_octs(s, m.mode, send_octs, &k)
                                           : own_parts(s, send_parts, &k);
        BUG_ON(err != OK); /* reading the mesh cannot fail */
        send_batch(s, &(struct message){.n = -1}, NULL, 0);
    }
}

static enum err take_octs(struct source *s, const struct message *m, const char *block,
                          source_octs_fn *fn, void *ctx)
{
    struct reader *r = s->impl;
    size_t n = (size_t)m->n, rows = (octs_bytes(s, m) / n - TREE_ROW) / sizeof(double);
    const double **val = mem_new(sizeof *val * rows + 1, "snapshot batch");
    const char *at = block + sizeof(okey) * n;
    for (size_t v = 0; v < rows; v++, at += sizeof(double) * n) val[v] = (const double *)at;
    memcpy(r->split, at + 8 * n, n);
    struct source_octs o = {.level = m->level,
                            .n = (int)n,
                            .key = (const okey *)block,
                            .split = r->split,
                            .flag = (const unsigned char(*)[8])at,
                            .val = rows ? val : NULL};
    enum err err = OK;
    if (!s->pick || s->pick->octs(s->pick->ctx, o.level, o.n, o.key)) err = fn(&o, ctx);
    FREE(val);
    return err;
}

static enum err take_parts(struct source *s, const struct message *m, const char *block,
                           source_parts_fn *fn, void *ctx)
{
    const void *col[CKPT_FIELDS];
    for (int i = 0; i < s->npart; i++) col[i] = block + 8 * (size_t)(i * m->n);
    return source_picks_parts(s, m->n, col) ? source_hand_parts(s, m->n, col, fn, ctx) : OK;
}

/* Requests a piece and processes its batches. After an error the remaining batches are received but
 * ignored. */
static enum err ask(struct source *s, int piece, struct message want, source_octs_fn *octs,
                    source_parts_fn *parts, void *ctx)
{
    const struct comm *c = ((const struct reader *)s->impl)->run.comm;
    enum err err = OK;
    exchange(c, piece, &want, sizeof want, NULL, 0);
    for (;;) {
        struct message m;
        exchange(c, piece, NULL, 0, &m, sizeof m);
        if (m.n < 0) return err;
        size_t bytes = m.what == WHAT_OCTS ? octs_bytes(s, &m) : 8 * (size_t)(s->npart * m.n);
        char *block = mem_new(bytes, "snapshot batch");
        exchange(c, piece, NULL, 0, block, bytes);
        if (err == OK)
            err = m.what == WHAT_OCTS ? take_octs(s, &m, block, octs, ctx)
                                      : take_parts(s, &m, block, parts, ctx);
        FREE(block);
    }
}

static enum err live_octs(struct source *s, int piece, enum source_mode mode, source_octs_fn *fn,
                          void *ctx)
{
    const struct reader *r = s->impl;
    if (piece == r->run.comm->rank) return own_octs(s, mode, fn, ctx);
    BUG_ON(!r->on_root);
    return ask(s, piece, (struct message){.what = WHAT_OCTS, .mode = mode}, fn, NULL, ctx);
}

static enum err live_parts(struct source *s, int piece, source_parts_fn *fn, void *ctx)
{
    const struct reader *r = s->impl;
    if (piece == r->run.comm->rank) return own_parts(s, fn, ctx);
    BUG_ON(!r->on_root);
    return ask(s, piece, (struct message){.what = WHAT_PARTS}, NULL, fn, ctx);
}

enum err live_on_root(struct source *s, enum err (*fn)(struct source *s, void *ctx), void *ctx)
{
    struct reader *r = s->impl;
    const struct comm *c = r->run.comm;
    enum err err = OK;
    memset(&s->counts, 0, sizeof s->counts);
    r->on_root = true;
    if (c->rank == 0) {
        err = fn(s, ctx);
        for (int i = 1; i < c->size; i++)
            exchange(c, i, &(struct message){.what = WHAT_NOTHING}, sizeof(struct message), NULL,
                     0);
    } else {
        serve(s);
    }
    r->on_root = false;
    return err_agree(c, err);
}

static const struct source_kind KIND = {.name = "running mesh",
                                        .open = live_open,
                                        .close = live_close,
                                        .octs = live_octs,
                                        .parts = live_parts,
                                        .state = source_running_state};

enum err source_live(const struct live *l, struct source **out)
{
    struct reader *r = mem_zero(sizeof *r, "snapshot");
    r->run = *l;
    enum err err = err_agree(l->comm, source_open_with(&KIND, l->name, r, out));
    if (err != OK) source_close(out);
    TRY(err);
    struct source *s = *out;
    size_t rows = 8 * (size_t)(s->nfield + 2 + 2); /* a state has all components of vectors */
    r->store = mem_new(sizeof *r->store * rows * CKPT_PITCH + 1, "snapshot batch");
    r->tile = mem_new(sizeof *r->tile * rows * GAS_TILE + 1, "snapshot batch");
    r->val = mem_new(sizeof *r->val * rows + 1, "snapshot batch");
    r->split = mem_new(CKPT_BATCH, "snapshot batch");
    r->wide = mem_new(8 * (size_t)s->npart * CKPT_PART_BATCH + 1, "snapshot batch");
    for (size_t i = 0; i < rows; i++) r->val[i] = r->store + i * CKPT_PITCH;
    if (l->head->rest) s->sinks = &l->head->rest->sinks, s->stellar = &l->head->rest->stellar;
    for (int k = 1; k <= l->mesh->levelmax; k++) s->numbtot[k] = l->mesh->lev[k].nown;
    comm_add_i64(l->comm, s->numbtot, LEVEL_MAX + 2);
    return OK;
}

/* ---- for observers ---- */

void live_some(struct source *s, int n)
{
    struct reader *r = s->impl;
    r->some = n;
}

enum err observe_source(const struct observation *o, struct source **out)
{
    char name[64];
    if (o->when == OBSERVE_STEP)
        snprintf(name, sizeof name, "coarse step %ld", (long)o->head->nstep_coarse);
    else
        snprintf(name, sizeof name, "output_%05d", o->number);
    TRY(source_live(&(struct live){o->head, o->mesh, o->parts, o->comm, name, o->number}, out));
    enum err err = err_agree(o->comm, source_state(*out, 0, 0));
    if (err != OK) source_close(out);
    return err;
}
