/* resume/values: sends cell values to the owners of their octs, in rounds of bounded size. */
#include <string.h>

#include "base/mem.h"
#include "base/pages.h"
#include "oct/fields.h"
#include "oct/transpose.h"
#include "resume/resume.h"

/* octs whose values are transposed at a time; octs of which a thread stores a value at a time */
enum { SOME = 64, MANY = 1024 };

struct stream {
    const struct resume *r;
    int nvalue, field[FIELD_ALL]; /* value of the source → field, -1: not needed */
    size_t row;                   /* bytes: key, level, values */
    int64_t placed;
    struct comm_counts to;
    char *out;
    lidx last[LEVEL_MAX + 2];
    bool ended; /* all ranks know of the error */
};

/* Index at which variable v of the checkpoint is stored: the scalar of equal name, if both sides
 * know the name; otherwise the variable of equal number, unless it is a scalar that the checkpoint
 * stores under another number. */
static int variable_of(const struct resume *r, int v)
{
    const struct gas_vars *from = r->from->head.gas, *to = r->gas;
    if (v >= GAS_SCALARS && v - GAS_SCALARS < r->nremap) return r->remap[v - GAS_SCALARS];
    if (!from || v < GAS_SCALARS || v >= from->n) return v;
    int named = gas_vars_find(to, from->name[v]);
    if (named >= 0) return named;
    return v < to->n && gas_vars_find(from, to->name[v]) >= 0 ? -1 : v;
}

static void stream_init(struct stream *t, const struct resume *r)
{
    const struct source *f = r->from;
    int nvar = f->head.hydro ? f->head.nvar : 0;
    *t = (struct stream){.r = r, .nvalue = f->nvalue};
    for (int v = 0; v < nvar; v++) {
        int to = variable_of(r, v);
        t->field[v] = to >= 0 && to < r->mesh->nvar ? field_stored(0, r->mesh->nvar, to, 3) : -1;
    }
    for (int v = nvar; v < f->nvalue; v++) {
        const int to = field_stored(f->values, nvar, v, 3);
        const bool is_state = field_row_of(to)->file != FILE_DERIVED;
        t->field[v] = is_state && mesh_has_field(r->mesh, to) ? to : -1;
    }
    t->row = 16 + sizeof(okey) + sizeof(double[8]) * (size_t)t->nvalue;
}

/* Finds the local index of an own oct: usually the one after the last index found on its level. */
static enum err own_place(struct stream *t, int l, okey key, lidx *location)
{
    const struct level *lv = &t->r->mesh->lev[l];
    lidx i = t->last[l] + 1;
    if (i >= lv->nown || lv->key[i] != key) i = mesh_find(lv, key);
    if (i < 0 || i >= lv->nown)
        FAIL(ERR_FORMAT, "%s: changed while it was read: resume again when it is complete",
             t->r->from->path);
    t->placed++;
    *location = t->last[l] = i;
    return OK;
}

static enum err place_row(struct stream *t, const char *row)
{
    okey key;
    int32_t l;
    lidx i = -1;
    memcpy(&key, row, sizeof key);
    memcpy(&l, row + sizeof key, sizeof l);
    TRY(own_place(t, l, key, &i));
    for (int v = 0; v < t->nvalue; v++)
        if (t->field[v] >= 0)
            memcpy(t->r->mesh->lev[l].fld[t->field[v]][i],
                   row + 16 + sizeof key + sizeof(double[8]) * (size_t)v, sizeof(double[8]));
    return OK;
}

/* All ranks send their packed rows; *any: some rank has further rows. (collective) */
static enum err exchange_rows(struct stream *t, enum err mine, bool more, bool *any)
{
    const struct comm *c = t->r->comm;
    t->ended = true;
    TRY(err_agree(c, mine));
    int64_t left = more, n;
    comm_max_i64(c, &left, 1);
    *any = left;
    char *in = comm_exchange(c, t->out, &t->to, t->row, &n, NULL);
    enum err err = OK;
    for (int64_t i = 0; i < n && err == OK; i++) err = place_row(t, in + t->row * (size_t)i);
    FREE(in);
    FREE(t->out);
    comm_counts_free(&t->to);
    TRY(err_agree(c, err));
    t->ended = false;
    return OK;
}

/* Copies value v of octs at..at+n-1 of a batch, n <= SOME, to [oct][cell] order. */
static void some_octs(const struct source_octs *o, int v, int at, int n, double out[SOME][8])
{
    transpose_columns(o->val + 8 * v, at, n, out, 1);
}

/* Stores value v of at most SOME octs of a batch, from `at` on, in the mesh. */
static void place_some(const struct source_octs *o, const int *rank, const lidx *to, int v, int at,
                       double (*fld)[8])
{
    double some[SOME][8];
    int n = o->n - at < SOME ? o->n - at : SOME;
    some_octs(o, v, at, n, some);
    for (int i = 0; i < n; i++)
        if (rank[at + i] < 0) memcpy(fld[to[at + i]], some[i], sizeof some[i]);
}

/* Whether octs at..at+n-1 of a batch are in a row in the mesh. */
static bool in_a_row(const int *rank, const lidx *to, int at, int n)
{
    bool all = rank[at] < 0;
    for (int i = at + 1; i < at + n; i++) all &= rank[i] < 0 && to[i] == to[i - 1] + 1;
    return all;
}

/* Stores value v of at most MANY octs of a batch, from `at` on. The pages of the field, if they
 * are new, are taken from the system just before: they are then still in the caches. */
static void place_many(const struct stream *t, const struct source_octs *o, const int *rank,
                       const lidx *to, int v, int at)
{
    const int n = o->n - at < MANY ? o->n - at : MANY;
    double(*fld)[8] = t->r->mesh->lev[o->level].fld[t->field[v]];
    if (in_a_row(rank, to, at, n)) {
        pages_touch(fld[to[at]], sizeof *fld * (size_t)n);
        transpose_columns(o->val + 8 * v, at, n, fld + to[at], 1);
        return;
    }
    for (int i = at; i < at + n; i += SOME) place_some(o, rank, to, v, i, fld);
}

/* Stores the octs of a batch that this rank owns directly, without packing. */
static enum err place_own(struct stream *t, const struct source_octs *o, const int *rank)
{
    lidx *to = mem_new(sizeof *to * (size_t)o->n + 1, "restart");
    enum err err = OK;
    for (int i = 0; i < o->n && err == OK; i++)
        if (rank[i] < 0) err = own_place(t, o->level, o->key[i], &to[i]);
    int n = err == OK ? o->n : 0;
#pragma omp parallel for collapse(2) schedule(static)
    for (int v = 0; v < t->nvalue; v++)
        for (int at = 0; at < n; at += MANY)
            if (t->field[v] >= 0) place_many(t, o, rank, to, v, at);
    mem_free(to);
    return err;
}

/* Packs rows for other ranks. */
static void pack_rows(struct stream *t, const struct source_octs *o, const int *rank)
{
    int64_t *order = mem_new(sizeof *order * (size_t)o->n + 1, "restart"), total;
    int *location = mem_new(sizeof *location * (size_t)o->n + 1, "restart");
    t->to = comm_counts_of(o->n, rank, order);
    total = comm_counts_total(&t->to);
    t->out = mem_new(t->row * (size_t)total + 1, "restart");
    for (int64_t k = 0; k < total; k++) location[order[k]] = (int)k;
    for (int v = 0; v < t->nvalue && total; v++)
        for (int at = 0; at < o->n; at += SOME) {
            double some[SOME][8];
            some_octs(o, v, at, o->n - at < SOME ? o->n - at : SOME, some);
            for (int i = at; i < o->n && i < at + SOME; i++) {
                if (rank[i] < 0) continue;
                char *row = t->out + t->row * (size_t)location[i];
                if (v == 0) memset(row, 0, sizeof o->key[i] + 16);
                memcpy(row, &o->key[i], sizeof o->key[i]);
                memcpy(row + sizeof o->key[i], &o->level, sizeof o->level);
                memcpy(row + 16 + sizeof o->key[i] + sizeof some[0] * (size_t)v, some[i - at],
                       sizeof some[0]);
            }
        }
    FREE(location);
    FREE(order);
}

static enum err send_values(const struct source_octs *o, void *ctx)
{
    struct stream *t = ctx;
    const struct resume *r = t->r;
    bool any;
    if (o->level > r->mesh->levelmax) return OK;
    int *rank = mem_new(sizeof *rank * (size_t)o->n + 1, "restart");
    for (int i = 0; i < o->n; i++) {
        rank[i] = r->comm->size > 1 ? domain_rank(r->dom, o->level, o->key[i]) : 0;
        if (rank[i] == r->comm->rank) rank[i] = -1;
    }
    enum err err = place_own(t, o, rank);
    if (r->comm->size > 1) pack_rows(t, o, rank);
    FREE(rank);
    return r->comm->size > 1 ? exchange_rows(t, err, true, &any) : err;
}

static enum err read_values(struct stream *t)
{
    const struct resume *r = t->r;
    int first, last;
    enum err err = OK;
    resume_pieces(r, &first, &last);
    for (int i = first; i < last && err == OK; i++)
        err = source_octs(r->from, i, SOURCE_STATE, send_values, t);
    if (t->ended) return err;
    for (bool any = true; any;) TRY(exchange_rows(t, err, false, &any));
    if (t->placed != mesh_own_octs(r->mesh))
        err = err_set(ERR_FORMAT, "%s: changed while it was read: resume again when it is complete",
                      r->from->path);
    return err_agree(r->comm, err);
}

void resume_filled(const struct resume *r, bool filled[FIELD_ALL])
{
    struct stream t;
    memset(filled, 0, sizeof *filled * FIELD_ALL);
    if (r->from->nvalue == 0) return;
    stream_init(&t, r);
    for (int v = 0; v < t.nvalue; v++)
        if (t.field[v] >= 0) filled[t.field[v]] = true;
}

enum err resume_values(const struct resume *r)
{
    struct stream t;
    if (r->from->nvalue == 0) return OK;
    r->from->tree_known = true;
    stream_init(&t, r);
    enum err err = read_values(&t);
    FREE(t.out);
    comm_counts_free(&t.to);
    return err;
}
