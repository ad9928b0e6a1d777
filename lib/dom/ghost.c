/* dom/ghost: see ghost.h. One message a peer and call; rows are packed array after array. */
#include "dom/ghost.h"

#include <string.h>

#include "base/mem.h"

struct buffers {
    char *block;
    void **ptr; /* [2 npeer]: send, recv */
    size_t *len;
};

static void buffers_make(struct buffers *b, const struct xplan *p, const lidx *sfirst,
                         const lidx *rfirst, size_t row)
{
    size_t total = 0;
    b->ptr = mem_new(sizeof *b->ptr * (size_t)(2 * p->npeer), "ghost buffers");
    b->len = mem_new(sizeof *b->len * (size_t)(2 * p->npeer), "ghost buffers");
    for (int i = 0; i < p->npeer; i++) {
        b->len[i] = row * (size_t)(sfirst[i + 1] - sfirst[i]);
        b->len[p->npeer + i] = row * (size_t)(rfirst[i + 1] - rfirst[i]);
    }
    for (int i = 0; i < 2 * p->npeer; i++) total += b->len[i];
    b->block = mem_new(total + 1, "ghost buffers");
    char *at = b->block;
    for (int i = 0; i < 2 * p->npeer; i++) {
        b->ptr[i] = at;
        at += b->len[i];
    }
}

static void buffers_free(struct buffers *b)
{
    FREE(b->block);
    FREE(b->ptr);
    FREE(b->len);
}

static void rows_get(char *to, const char *from, size_t stride, lidx n, const lidx *row)
{
    for (lidx i = 0; i < n; i++)
        memcpy(to + stride * (size_t)i, from + stride * (size_t)row[i], stride);
}

static void rows_put(char *to, const char *from, size_t stride, lidx n, const lidx *row)
{
    for (lidx i = 0; i < n; i++)
        memcpy(to + stride * (size_t)row[i], from + stride * (size_t)i, stride);
}

void ghost_fill_rows(const struct comm *c, const struct xplan *p, int narr, void *const *arr,
                     const size_t *stride)
{
    if (p->npeer == 0 || narr == 0) return;
    size_t row = 0;
    for (int a = 0; a < narr; a++) row += stride[a];
    struct buffers b;
    buffers_make(&b, p, p->sfirst, p->rfirst, row);
    for (int i = 0; i < p->npeer; i++) {
        lidx n = p->sfirst[i + 1] - p->sfirst[i];
        char *at = b.ptr[i];
        for (int a = 0; a < narr; a++) {
            rows_get(at, arr[a], stride[a], n, p->send + p->sfirst[i]);
            at += stride[a] * (size_t)n;
        }
    }
    comm_wait(comm_post(c, p->npeer, p->peer, b.ptr, b.len, b.ptr + p->npeer, b.len + p->npeer));
    for (int i = 0; i < p->npeer; i++) {
        lidx n = p->rfirst[i + 1] - p->rfirst[i];
        const char *at = b.ptr[p->npeer + i];
        for (int a = 0; a < narr; a++) {
            rows_put(arr[a], at, stride[a], n, p->recv + p->rfirst[i]);
            at += stride[a] * (size_t)n;
        }
    }
    buffers_free(&b);
}

void ghost_fill(const struct comm *c, struct mesh *m, int l, int nfld, const int *fld)
{
    void *arr[FLD_MAX];
    size_t stride[FLD_MAX];
    for (int i = 0; i < nfld; i++) {
        arr[i] = m->lev[l].fld[fld[i]];
        stride[i] = sizeof(double[8]);
    }
    ghost_fill_rows(c, &m->lev[l].plan, nfld, arr, stride);
}

void ghost_fill_hydro(const struct comm *c, struct mesh *m, int l)
{
    int fld[NVAR_MAX];
    for (int i = 0; i < m->nvar; i++) fld[i] = FLD_U + i;
    ghost_fill(c, m, l, m->nvar, fld);
}

void ghost_add_i64(const struct comm *c, const struct xplan *p, int64_t (*a)[8])
{
    if (p->npeer == 0) return;
    struct buffers b;
    buffers_make(&b, p, p->rfirst, p->sfirst, sizeof a[0]);
    for (int i = 0; i < p->npeer; i++)
        rows_get(b.ptr[i], (const char *)a, sizeof a[0], p->rfirst[i + 1] - p->rfirst[i],
                 p->recv + p->rfirst[i]);
    comm_wait(comm_post(c, p->npeer, p->peer, b.ptr, b.len, b.ptr + p->npeer, b.len + p->npeer));
    for (int i = 0; i < p->npeer; i++) {
        const int64_t(*in)[8] = b.ptr[p->npeer + i];
        for (lidx j = p->sfirst[i]; j < p->sfirst[i + 1]; j++)
            for (int k = 0; k < 8; k++) a[p->send[j]][k] += in[j - p->sfirst[i]][k];
    }
    buffers_free(&b);
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
    out->npeer = p->npeer;
    if (p->npeer == 0) {
        *out = (struct xplan){0};
        return;
    }
    out->peer = mem_new(sizeof *out->peer * (size_t)p->npeer, "exchange plans");
    memcpy(out->peer, p->peer, sizeof *out->peer * (size_t)p->npeer);
    out->sfirst = mem_new(sizeof *out->sfirst * (size_t)(p->npeer + 1), "exchange plans");
    out->rfirst = mem_new(sizeof *out->rfirst * (size_t)(p->npeer + 1), "exchange plans");
    out->send = subset_list(p->npeer, p->sfirst, p->send, keep, map, out->sfirst);
    out->recv = subset_list(p->npeer, p->rfirst, p->recv, keep, map, out->rfirst);
}
