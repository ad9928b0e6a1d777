/* dom/ghost: see ghost.h. Rows are packed for each peer, array after array. */
#include "dom/ghost.h"

#include <string.h>

#include "base/mem.h"
#include "comm/share.h"
#include "oct/field_sets.h"

/* Most rows are the cells of an oct; a constant length lets the compiler inline the copy. */
void ghost_rows_get(char *to, const char *from, size_t stride, lidx n, const lidx *row)
{
    enum { CELLS = sizeof(double[8]) };
    if (stride == CELLS)
        for (lidx i = 0; i < n; i++)
            memcpy(to + CELLS * (size_t)i, from + CELLS * (size_t)row[i], CELLS);
    else
        for (lidx i = 0; i < n; i++)
            memcpy(to + stride * (size_t)i, from + stride * (size_t)row[i], stride);
}

/* The ghosts of an owner form a few runs of consecutive rows. */
void ghost_rows_put(char *to, const char *from, size_t stride, lidx n, const lidx *row)
{
    for (lidx i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && row[k] == row[k - 1] + 1;) k++;
        memcpy(to + stride * (size_t)row[i], from + stride * (size_t)i, stride * (size_t)(k - i));
    }
}

/* ---- messages ---- */

void ghost_rows_room(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                     const struct xplan *p, bool back, size_t row)
{
    const lidx *out = back ? p->rfirst : p->sfirst, *in = back ? p->sfirst : p->rfirst;
    size_t n = (size_t)p->npeer, *len = mem_new(2 * sizeof *len * n + 1, "ghost buffers");
    *g = (struct ghost_rows){.plan = p};
    for (int i = 0; i < p->npeer; i++) {
        len[i] = row * (size_t)(out[i + 1] - out[i]);
        len[n + (size_t)i] = row * (size_t)(in[i + 1] - in[i]);
    }
    comm_pack_new(&g->pack, c, use, p->npeer, p->peer, len, len + n);
    mem_free(len);
}

void ghost_rows_begin(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                      const struct xplan *p, int narr, void *const *arr, const size_t *stride)
{
    size_t row = 0;
    *g = (struct ghost_rows){.plan = NULL};
    if (!p->shared || narr == 0) return;
    for (int a = 0; a < narr; a++) row += stride[a];
    ghost_rows_room(g, c, use, p, false, row);
    for (int i = 0; i < p->npeer; i++) {
        lidx n = p->sfirst[i + 1] - p->sfirst[i];
        char *at = g->pack.out[i];
        for (int a = 0; a < narr; a++) {
            ghost_rows_get(at, arr[a], stride[a], n, p->send + p->sfirst[i]);
            at += stride[a] * (size_t)n;
        }
    }
    comm_pack_send(&g->pack);
}

void ghost_rows_end(struct ghost_rows *g, int narr, void *const *arr, const size_t *stride)
{
    const struct xplan *p = g->plan;
    if (!p) return;
    comm_pack_receive(&g->pack);
    for (int i = 0; i < p->npeer; i++) {
        lidx n = p->rfirst[i + 1] - p->rfirst[i];
        const char *at = g->pack.in[i];
        for (int a = 0; a < narr; a++) {
            ghost_rows_put(arr[a], at, stride[a], n, p->recv + p->rfirst[i]);
            at += stride[a] * (size_t)n;
        }
    }
    comm_pack_free(&g->pack);
}

void ghost_cells_begin(struct ghost_rows *g, const struct comm *c, enum comm_use use,
                       const struct xplan *p, const int cell[4], const double (*arr)[8])
{
    *g = (struct ghost_rows){.plan = NULL};
    if (!p->shared) return;
    ghost_rows_room(g, c, use, p, false, sizeof(double[4]));
    for (int i = 0; i < p->npeer; i++) {
        double(*to)[4] = (double(*)[4])g->pack.out[i];
        for (lidx j = p->sfirst[i]; j < p->sfirst[i + 1]; j++, to++)
            for (int k = 0; k < 4; k++) (*to)[k] = arr[p->send[j]][cell[k]];
    }
    comm_pack_send(&g->pack);
}

void ghost_cells_end(struct ghost_rows *g, const int cell[4], double (*arr)[8])
{
    const struct xplan *p = g->plan;
    if (!p) return;
    comm_pack_receive(&g->pack);
    for (int i = 0; i < p->npeer; i++) {
        const double(*from)[4] = (const double(*)[4])g->pack.in[i];
        for (lidx j = p->rfirst[i]; j < p->rfirst[i + 1]; j++, from++)
            for (int k = 0; k < 4; k++) arr[p->recv[j]][cell[k]] = (*from)[k];
    }
    comm_pack_free(&g->pack);
}

void ghost_fill_rows(const struct comm *c, enum comm_use use, const struct xplan *p, int narr,
                     void *const *arr, const size_t *stride)
{
    struct ghost_rows g;
    ghost_rows_begin(&g, c, use, p, narr, arr, stride);
    ghost_rows_end(&g, narr, arr, stride);
}

/* ---- fields of a level ---- */

static void field_arrays(const struct ghost_fill *g, void *arr[], size_t stride[])
{
    for (int i = 0; i < g->nfld; i++) {
        arr[i] = g->lv->fld[g->fld[i]];
        stride[i] = sizeof(double[8]);
    }
}

void ghost_fill_begin(struct ghost_fill *g, const struct comm *c, struct mesh *m, int l, int nfld,
                      const int *fld)
{
    void *arr[FIELD_ALL];
    size_t stride[FIELD_ALL];
    BUG_ON(g->lv);
    g->lv = &m->lev[l];
    g->nfld = nfld;
    memcpy(g->fld, fld, sizeof *fld * (size_t)nfld);
    field_arrays(g, arr, stride);
    ghost_rows_begin(&g->rows, c, nfld == 1 ? COMM_FINE_DP : COMM_BULK_DP, &g->lv->plan, nfld, arr,
                     stride);
}

void ghost_fill_end(struct ghost_fill *g)
{
    void *arr[FIELD_ALL];
    size_t stride[FIELD_ALL];
    if (!g->lv) return;
    field_arrays(g, arr, stride);
    ghost_rows_end(&g->rows, g->nfld, arr, stride);
    for (int i = 0; i < g->nfld; i++) g->lv->valid[g->fld[i]] = true;
    g->lv = NULL;
}

void ghost_fill(const struct comm *c, struct mesh *m, int l, int nfld, const int *fld)
{
    struct ghost_fill g = {0};
    ghost_fill_begin(&g, c, m, l, nfld, fld);
    ghost_fill_end(&g);
}

void ghost_fill_set(const struct comm *c, struct mesh *m, int l, field_set set)
{
    int fld[FIELD_ALL], n = mesh_fields(m, set, fld);
    ghost_fill(c, m, l, n, fld);
}

void ghost_fill_hydro_begin(struct ghost_fill *g, const struct comm *c, struct mesh *m, int l)
{
    int fld[FIELD_ALL], n = mesh_fields(m, GAS, fld);
    ghost_fill_begin(g, c, m, l, n, fld);
}

void ghost_fill_hydro(const struct comm *c, struct mesh *m, int l)
{
    struct ghost_fill g = {0};
    ghost_fill_hydro_begin(&g, c, m, l);
    ghost_fill_end(&g);
}

void ghost_fill_flags(const struct comm *c, struct mesh *m, int l)
{
    void *flag = m->lev[l].flag;
    size_t stride = sizeof m->lev[l].flag[0];
    ghost_fill_rows(c, COMM_FINE_INT, &m->lev[l].plan, 1, &flag, &stride);
    ghosts_set(m, l, FLAG, true);
}

bool ghost_near(const struct comm *c, const struct xplan *p)
{
    bool near = true;
    for (int i = 0; i < p->npeer; i++) near &= comm_share_near(c->share, p->peer[i]);
    return near;
}

bool ghost_same(const struct comm *c, const struct mesh *m, int l, int f)
{
    const struct level *lv = &m->lev[l];
    size_t row;
    const char *now = field_array(lv, f, &row);
    if (lv->noct == 0) now = "";
    char *fresh = mem_new(row * (size_t)lv->noct + 1, "ghost check");
    memcpy(fresh, now, row * (size_t)lv->noct);
    void *arr = fresh;
    ghost_fill_rows(c, field_in(FLAG, f) ? COMM_FINE_INT : COMM_FINE_DP, &lv->plan, 1, &arr, &row);
    int64_t differs = memcmp(fresh, now, row * (size_t)lv->noct) != 0;
    mem_free(fresh);
    comm_max_i64(c, &differs, 1);
    return !differs;
}

/* ---- deposits ---- */

void ghost_add_i64(const struct comm *c, const struct xplan *p, int narr, int64_t (*const *arr)[8])
{
    if (!p->shared || narr == 0) return;
    struct ghost_rows g;
    size_t row = sizeof(int64_t[8]);
    ghost_rows_room(&g, c, COMM_REVERSE_INT, p, true, row * (size_t)narr);
    for (int i = 0; i < p->npeer; i++) {
        lidx n = p->rfirst[i + 1] - p->rfirst[i];
        for (int a = 0; a < narr; a++)
            ghost_rows_get(g.pack.out[i] + row * (size_t)n * (size_t)a, (const char *)arr[a], row,
                           n, p->recv + p->rfirst[i]);
    }
    comm_pack_send(&g.pack);
    comm_pack_receive(&g.pack);
    for (int i = 0; i < p->npeer; i++) {
        const int64_t(*in)[8] = (const int64_t(*)[8])g.pack.in[i];
        for (int a = 0; a < narr; a++)
            for (lidx j = p->sfirst[i]; j < p->sfirst[i + 1]; j++, in++)
                for (int k = 0; k < 8; k++) arr[a][p->send[j]][k] += (*in)[k];
    }
    comm_pack_free(&g.pack);
}

static lidx *subset_list(int npeer, const lidx *first, const lidx *list, const unsigned char *keep,
                         const lidx *map, lidx *out_first)
{
    lidx *out = mem_new(sizeof *out * (size_t)first[npeer] + 1, "exchange plans"), n = 0;
    for (int i = 0; i < npeer; i++) {
        out_first[i] = n;
        for (lidx j = first[i]; j < first[i + 1]; j++)
            if (keep[list[j]]) out[n++] = map[list[j]];
    }
    out_first[npeer] = n;
    return out;
}

void xplan_subset(const struct xplan *p, const unsigned char *keep, const lidx *map,
                  struct xplan *out)
{
    *out = (struct xplan){.shared = p->shared, .npeer = p->npeer};
    if (p->npeer == 0) return;
    out->peer = mem_new(sizeof *out->peer * (size_t)p->npeer, "exchange plans");
    memcpy(out->peer, p->peer, sizeof *out->peer * (size_t)p->npeer);
    out->sfirst = mem_new(sizeof *out->sfirst * (size_t)(p->npeer + 1), "exchange plans");
    out->rfirst = mem_new(sizeof *out->rfirst * (size_t)(p->npeer + 1), "exchange plans");
    out->send = subset_list(p->npeer, p->sfirst, p->send, keep, map, out->sfirst);
    out->recv = subset_list(p->npeer, p->rfirst, p->recv, keep, map, out->rfirst);
}
