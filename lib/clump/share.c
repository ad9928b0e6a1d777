/* clump/share: rows of peaks between the ranks that meet them and those that own them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "clump/priv.h"

static int label_order(const void *a, const void *b)
{
    okey x = *(const okey *)a, y = *(const okey *)b;
    return (x > y) - (x < y);
}

int label_rank(const struct finder *f, okey label)
{
    int l = 0;
    if (f->c->size == 1) return 0;
    while (l < LEVEL_MAX && label >> 3 * (l + 1)) l++;
    return domain_rank(f->d, l, (label ^ (okey)1 << 3 * l) >> 3);
}

int64_t peak_find(const struct finder *f, okey label)
{
    int64_t lo = 0, hi = f->npeak;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (f->peak[mid].label < label)
            lo = mid + 1;
        else
            hi = mid;
    }
    BUG_ON(lo == f->npeak || f->peak[lo].label != label);
    return lo;
}

int64_t share_find(const struct share *s, okey label)
{
    int64_t lo = 0, hi = s->n;
    while (lo < hi) {
        int64_t mid = (lo + hi) / 2;
        if (s->label[mid] < label)
            lo = mid + 1;
        else
            hi = mid;
    }
    BUG_ON(lo == s->n || s->label[lo] != label);
    return lo;
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
    qsort(label, (size_t)n, sizeof *label, label_order);
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || label[i] != label[i - 1]) label[kept++] = label[i];
    *s = (struct share){.n = kept, .label = label};
    s->order = mem_new(sizeof *s->order * (size_t)kept + 1, "clump exchange");
    int *rank = mem_new(sizeof *rank * (size_t)kept + 1, "clump exchange");
    for (int64_t i = 0; i < kept; i++) rank[i] = label_rank(f, label[i]);
    s->to = comm_counts_of(kept, rank, s->order);
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
            qsort(label, (size_t)n, sizeof *label, label_order);
            int64_t kept = 0;
            for (int64_t j = 0; j < n; j++)
                if (j == 0 || label[j] != label[j - 1]) label[kept++] = label[j];
            n = kept;
            room = 2 * n + 1024;
            label = mem_grow(label, sizeof *label * (size_t)room, "clump labels");
        }
        label[n++] = k;
    }
    if (!label) label = mem_new(1, "clump labels");
    share_make(s, f, n, label);
}
