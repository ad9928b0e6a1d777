/* clump/share: exchange of peak data between the owners of peaks and other ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"

MEM_ORDER_OF(label_order, okey)

int label_rank(const struct finder *f, okey label)
{
    int l = 0;
    if (f->c->size == 1) return 0;
    while (l < LEVEL_MAX && label >> 3 * (l + 1)) l++;
    return domain_rank(f->d, l, (label ^ (okey)1 << 3 * l) >> 3);
}

/* Row of a label among n ascending labels `stride` bytes apart; −1 if absent. */
static inline int64_t seek(const okey *first, size_t stride, int64_t n, okey label)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        okey at = *(const okey *)((const char *)first + stride * (size_t)mid);
        if (at == label) return mid;
        if (at < label)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

static int64_t peak_find(const struct finder *f, okey label)
{
    int64_t at = seek(&f->peak->label, sizeof *f->peak, f->npeak, label);
    BUG_ON(at < 0);
    return at;
}

int64_t share_seek(const struct share *s, okey label)
{
    return seek(s->label, sizeof *s->label, s->n, label);
}

int64_t share_find(const struct share *s, okey label)
{
    int64_t at = share_seek(s, label);
    BUG_ON(at < 0);
    return at;
}

/* Sorts labels and removes duplicates; returns the number of remaining labels. */
static int64_t labels_tidy(int64_t n, okey *label)
{
    int64_t retained = 0;
    mem_sort(label, (size_t)n, sizeof *label, label_order);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || label[i] != label[i - 1]) label[retained++] = label[i];
    return retained;
}

/* Packs rows by rank. */
static void *pack(const struct share *s, size_t bytes, const void *rows)
{
    char *out = mem_new(bytes * (size_t)s->n + 1, "clump exchange");
    for (int64_t i = 0; i < s->n; i++)
        memcpy(out + bytes * (size_t)i, (const char *)rows + bytes * (size_t)s->order[i], bytes);
    return out;
}

void share_make(struct share *s, const struct finder *f, int64_t n, okey *label)
{
    int64_t retained = labels_tidy(n, label);
    *s = (struct share){.n = retained, .label = label};
    s->order = mem_new(sizeof *s->order * (size_t)retained + 1, "clump exchange");
    int *rank = mem_new(sizeof *rank * (size_t)retained + 1, "clump exchange");
    for (int64_t i = 0; i < retained; i++) rank[i] = label_rank(f, label[i]);
    s->to = comm_counts_of(retained, rank, s->order);
    FREE(rank);
    okey *out = pack(s, sizeof *out, label);
    okey *in = comm_exchange(f->c, out, &s->to, sizeof *out, &s->nin, &s->from);
    s->at = mem_new(sizeof *s->at * (size_t)s->nin + 1, "clump exchange");
    for (int64_t k = 0; k < s->nin; k++) s->at[k] = peak_find(f, in[k]);
    FREE(in);
    FREE(out);
}

void share_free(struct share *s)
{
    FREE(s->label);
    FREE(s->order);
    FREE(s->at);
    comm_counts_free(&s->to);
    comm_counts_free(&s->from);
}

void share_fetch(const struct share *s, const struct finder *f, size_t bytes, const void *own,
                 void *rows)
{
    char *out = mem_new(bytes * (size_t)s->nin + 1, "clump exchange");
    for (int64_t k = 0; k < s->nin; k++)
        memcpy(out + bytes * (size_t)k, (const char *)own + bytes * (size_t)s->at[k], bytes);
    int64_t n;
    char *in = comm_exchange(f->c, out, &s->from, bytes, &n, NULL);
    BUG_ON(n != s->n);
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)rows + bytes * (size_t)s->order[i], in + bytes * (size_t)i, bytes);
    FREE(in);
    FREE(out);
}

void *share_give(const struct share *s, const struct finder *f, size_t bytes, const void *rows)
{
    int64_t n;
    void *out = pack(s, bytes, rows);
    void *in = comm_exchange(f->c, out, &s->to, bytes, &n, NULL);
    BUG_ON(n != s->nin);
    FREE(out);
    return in;
}

void share_cells(struct share *s, const struct finder *f)
{
    int64_t n = 0, room = 0;
    okey *label = NULL, last = 0;
    for (int64_t i = 0; i < f->ncell; i++) {
        struct spot at = f->cell[i].at;
        okey k = f->label[at.level][at.oct][at.cell];
        if (k == last) continue;
        last = k;
        if (n == room) {
            n = labels_tidy(n, label);
            room = 2 * n + 1024;
            label = mem_grow(label, sizeof *label * (size_t)room, "clump labels");
        }
        label[n++] = k;
    }
    if (!label) label = mem_new(1, "clump labels");
    share_make(s, f, n, label);
}
