/* sparse/rows: see rows.h. */
#include "sparse/rows.h"

#include <string.h>

#include "base/mem.h"
#include "oct/field_sets.h"
#include "sparse/rows_kernel.h"

MEM_ORDER_OF(oct_order, lidx)

void rows_tidy(struct rows *r)
{
    int64_t n = 0;
    mem_sort(r->oct, (size_t)r->n, sizeof *r->oct, oct_order);
    for (int64_t i = 0; i < r->n; i++)
        if (i == 0 || r->oct[i] != r->oct[i - 1]) r->oct[n++] = r->oct[i];
    r->n = n;
}

void rows_without(struct rows *r, const struct rows *other)
{
    int64_t n = 0, k = 0;
    for (int64_t i = 0; i < r->n; i++) {
        while (k < other->n && other->oct[k] < r->oct[i]) k++;
        if (k == other->n || other->oct[k] != r->oct[i]) r->oct[n++] = r->oct[i];
    }
    r->n = n;
}

/* ---- rows ---- */

/* The fields of a set whose newest copy is at `location` at least, alone: nowhere else. */
static int fields_at(const struct mirror *x, const struct mesh *m, int l, field_set set, bool alone,
                     int fld[FIELD_ALL])
{
    int all[FIELD_ALL], n = 0;
    const int of = x ? mesh_fields(m, set, all) : 0;
    for (int k = 0; k < of; k++) {
        const int at = x->location[l][all[k]];
        if (alone ? at == LOCATION_DEVICE : at & LOCATION_DEVICE) fld[n++] = all[k];
    }
    return n;
}

/* Room that grows less often than what it is for. */
static enum err room_need(struct mirror *x, struct dev_room *r, size_t bytes)
{
    return r->p && r->bytes >= bytes
               ? OK
               : dev_room_need(x->stream, r, bytes + bytes / 4, "sparse rows");
}

/* Packed rows of fields: on the device, with the list of octs behind them, and on the host. */
struct packed {
    struct rows_move_args args;
    double *host;
    size_t bytes;
};

/* False: the device has no memory for them. */
static bool packed_begin(struct mirror *x, int l, const struct rows *r, int nfield, const int *fld,
                         struct packed *k)
{
    const size_t octs = sizeof *r->oct * (size_t)r->n;
    k->bytes = sizeof(double[8]) * (size_t)nfield * (size_t)r->n;
    if (room_need(x, &x->rows, k->bytes + octs) != OK) return false;
    k->args = (struct rows_move_args){.n = r->n, .pack = x->rows.p, .nfield = nfield};
    for (int f = 0; f < nfield; f++) k->args.fld[f] = x->image->lev[l].fld[fld[f]];
    lidx *list = mem_new(octs, "sparse rows"),
         *there = (lidx *)(void *)((char *)x->rows.p + k->bytes);
    memcpy(list, r->oct, octs);
    dev_put(x->stream, there, list, octs);
    dev_drop_host(x->stream, list);
    k->args.oct = there;
    k->host = mem_new(k->bytes, "sparse rows");
    return true;
}

static int64_t blocks_of(const struct packed *k)
{
    return dev_blocks(8 * k->args.n * k->args.nfield);
}

static double *row_of(struct mesh *m, int l, int f, lidx i)
{
    return m->lev[l].fld[f][i];
}

static enum err fields_home(struct mirror *x, struct mesh *m, int l, int n, const int *fld,
                            const struct rows *r)
{
    struct packed k;
    if (n == 0) return OK;
    if (!packed_begin(x, l, r, n, fld, &k)) {
        for (int64_t i = 0; i < r->n; i++)
            for (int f = 0; f < n; f++)
                dev_get(x->stream, row_of(m, l, fld[f], r->oct[i]),
                        x->image->lev[l].fld[fld[f]][r->oct[i]], sizeof(double[8]));
        return dev_wait(x->stream);
    }
    dev_launch(x->stream, &rows_pack, blocks_of(&k), &k.args);
    dev_get(x->stream, k.host, k.args.pack, k.bytes);
    enum err err = dev_wait(x->stream);
    for (int64_t i = 0; i < r->n; i++)
        for (int f = 0; f < n; f++)
            memcpy(row_of(m, l, fld[f], r->oct[i]), k.host + 8 * (i * n + f), sizeof(double[8]));
    FREE(k.host);
    return err;
}

enum err rows_home(struct mirror *x, struct mesh *m, int l, field_set set, const struct rows *r)
{
    int fld[FIELD_ALL];
    const int n = r->n > 0 ? fields_at(x, m, l, set, true, fld) : 0;
    return fields_home(x, m, l, n, fld, r);
}

enum err rows_home_gas(struct mirror *x, struct mesh *m, int l, int var, const struct rows *r)
{
    const int f = FLD_U + var;
    const bool there = x && r->n > 0 && x->location[l][f] == LOCATION_DEVICE;
    return fields_home(x, m, l, there ? 1 : 0, &f, r);
}

/* With checks, rows of hosts that are not the newest are filled with NaNs. */
static void rows_spoil(struct mirror *x, struct mesh *m, int l, const struct rows *r, int n,
                       const int *fld)
{
    for (int64_t i = 0; x->spoils && i < r->n; i++)
        for (int f = 0; f < n; f++)
            if (x->location[l][fld[f]] == LOCATION_DEVICE)
                memset(row_of(m, l, fld[f], r->oct[i]), 0xff, sizeof(double[8]));
}

enum err rows_send(struct mirror *x, struct mesh *m, int l, field_set set, const struct rows *r)
{
    struct packed k;
    int fld[FIELD_ALL];
    const int n = r->n > 0 ? fields_at(x, m, l, set, false, fld) : 0;
    if (n == 0) return OK;
    if (!packed_begin(x, l, r, n, fld, &k)) {
        for (int64_t i = 0; i < r->n; i++)
            for (int f = 0; f < n; f++)
                dev_put(x->stream, x->image->lev[l].fld[fld[f]][r->oct[i]],
                        row_of(m, l, fld[f], r->oct[i]), sizeof(double[8]));
        TRY(dev_wait(x->stream));
    } else {
        for (int64_t i = 0; i < r->n; i++)
            for (int f = 0; f < n; f++)
                memcpy(k.host + 8 * (i * n + f), row_of(m, l, fld[f], r->oct[i]),
                       sizeof(double[8]));
        dev_put(x->stream, k.args.pack, k.host, k.bytes);
        dev_launch(x->stream, &rows_unpack, blocks_of(&k), &k.args);
        dev_drop_host(x->stream, k.host);
    }
    rows_spoil(x, m, l, r, n, fld);
    return OK;
}

static enum err add_one(struct mirror *x, const int64_t *from, int64_t *to)
{
    int64_t sum[8];
    dev_get(x->stream, sum, to, sizeof sum);
    TRY(dev_wait(x->stream));
    for (int c = 0; c < 8; c++) sum[c] += from[c];
    dev_put(x->stream, to, sum, sizeof sum);
    return dev_wait(x->stream);
}

enum err rows_add(struct mirror *x, const struct rows *r, int64_t (*from)[8], int64_t (*to)[8])
{
    const size_t bytes = sizeof *from * (size_t)r->n, octs = sizeof *r->oct * (size_t)r->n;
    if (r->n == 0) return OK;
    if (room_need(x, &x->rows, bytes + octs) != OK) {
        for (int64_t i = 0; i < r->n; i++) TRY(add_one(x, from[r->oct[i]], to[r->oct[i]]));
        return OK;
    }
    char *packed = mem_new(bytes + octs, "sparse rows"), *there = x->rows.p;
    for (int64_t i = 0; i < r->n; i++)
        memcpy(packed + sizeof *from * (size_t)i, from[r->oct[i]], sizeof *from);
    memcpy(packed + bytes, r->oct, octs);
    dev_put(x->stream, there, packed, bytes + octs);
    dev_drop_host(x->stream, packed);
    dev_launch(x->stream, &rows_add_octs, dev_blocks(8 * r->n),
               &(struct rows_add_args){r->n, (lidx *)(void *)(there + bytes),
                                       (int64_t *)(void *)there, to});
    return OK;
}

/* ---- finding octs ---- */

/* Copies the list that a kernel has made. Most are short and come with their number. */
static enum err list_get(struct mirror *x, struct rows *out)
{
    enum { SHORT = 31 };
    int32_t *list = x->found.p, first[1 + SHORT];
    const size_t room = x->found.bytes / sizeof *list, n = room < 1 + SHORT ? room : 1 + SHORT;
    dev_get(x->stream, first, list, sizeof *first * n);
    TRY(dev_wait(x->stream));
    out->n = first[0];
    out->oct = mem_new(sizeof *out->oct * (size_t)out->n + 1, "sparse rows");
    const int64_t few = out->n < SHORT ? out->n : SHORT;
    memcpy(out->oct, first + 1, sizeof *out->oct * (size_t)few);
    if (out->n > few) {
        dev_get(x->stream, out->oct + few, list + 1 + few,
                sizeof *out->oct * (size_t)(out->n - few));
        TRY(dev_wait(x->stream));
    }
    rows_tidy(out);
    return OK;
}

/* Prepares a list of octs of the level; false: the field is on the host, or comes there, since the
 * device has no memory. */
static enum err list_begin(struct mirror *x, struct mesh *m, int l, int f, struct rows_out *out,
                           bool *there)
{
    *there = false;
    if (!x || x->location[l][f] != LOCATION_DEVICE) return OK;
    const size_t bytes = sizeof(int32_t) * (size_t)(1 + m->lev[l].noct);
    if (room_need(x, &x->found, bytes) != OK || mirror_links(x, m, l) != OK)
        return mirror_need(x, m, l, f, 1, LOCATION_HOST);
    *out = (struct rows_out){x->found.p, (lidx *)x->found.p + 1};
    dev_fill(x->stream, out->n, 0, sizeof *out->n);
    *there = true;
    return OK;
}

static bool is_above(const struct rows_above_args *a, lidx i)
{
    bool any = false;
    for (int c = 0; c < 8; c++) any |= a->value[i][c] > a->min && !(a->leaf && a->child[i][c] >= 0);
    return any;
}

static void list_here(const struct rows_above_args *a, struct rows *out)
{
    uint8_t *is = mem_new((size_t)a->n + 1, "sparse rows");
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (lidx i = 0; i < a->n; i++) n += is[i] = is_above(a, i);
    *out = (struct rows){0, mem_new(sizeof *out->oct * (size_t)n + 1, "sparse rows")};
    for (lidx i = 0; n > 0 && i < a->n; i++)
        if (is[i]) out->oct[out->n++] = i;
    FREE(is);
}

enum err rows_above(struct mirror *x, struct mesh *m, int l, int var, double min, bool leaf,
                    bool ghosts, struct rows *out)
{
    bool there;
    const int f = FLD_U + var;
    struct rows_above_args a = {
        .n = ghosts ? m->lev[l].noct : m->lev[l].nown, .min = min, .leaf = leaf};
    *out = (struct rows){0, NULL};
    if (a.n == 0) return OK;
    TRY(list_begin(x, m, l, f, &a.out, &there));
    a.value = (const double(*)[8])(there ? x->image : m)->lev[l].fld[f];
    a.child = (const lidx(*)[8])(there ? x->image : m)->lev[l].child;
    if (!there)
        list_here(&a, out);
    else
        dev_launch(x->stream, &rows_above_octs, dev_blocks(a.n), &a);
    return there ? list_get(x, out) : OK;
}

enum err rows_births(struct mirror *x, struct mesh *m, int l, const struct births_law *law,
                     struct rows *out)
{
    bool there;
    const int density = FLD_U + GAS_DENSITY;
    struct births_find_args a = {.nown = m->lev[l].nown, .law = *law};
    *out = (struct rows){0, NULL};
    if (a.nown == 0) return OK;
    TRY(list_begin(x, m, l, density, &a.out, &there));
    if (!there) return rows_above(NULL, m, l, GAS_DENSITY, law->min, false, false, out);
    const struct level *im = &x->image->lev[l];
    a.density = (const double(*)[8])im->fld[density];
    a.child = (const lidx(*)[8])im->child;
    a.key = im->key;
    dev_launch(x->stream, &births_find, dev_blocks(a.nown), &a);
    return list_get(x, out);
}

enum err rows_small(struct mirror *x, struct mesh *m, int l, const struct small_law *law,
                    unsigned char *bits)
{
    const lidx nown = m->lev[l].nown;
    if (nown == 0) return OK;
    TRY(mirror_need_set(x, m, l, GAS, LOCATION_DEVICE));
    mirror_send(x, m);
    TRY(room_need(x, &x->found, (size_t)nown));
    unsigned char *found = mem_new((size_t)nown, "flag scratch");
    dev_launch(x->stream, &small_flag, dev_blocks(nown),
               &(struct small_flag_args){x->mesh_dev, l, nown, *law, x->found.p});
    dev_get(x->stream, found, x->found.p, (size_t)nown);
    enum err err = dev_wait(x->stream);
    for (lidx i = 0; i < nown && err == OK; i++) bits[i] |= found[i];
    FREE(found);
    return err;
}
