/* Ranges of keys. A rank sums the forces on the particles of a range of keys, whose bounds are
 * quantiles of samples, moved to where a group begins: so no group is divided among ranks, and of
 * other cells at most LEVELS for each bound. */
#include <string.h>

#include "base/mem.h"
#include "multipole/multipole_priv.h"

enum { SAMPLES = 64 /* of a rank */ };

void *multipole_gather(const struct comm *c, const void *row, int64_t n, size_t bytes,
                       int64_t *total)
{
    *total = n;
    comm_add_i64(c, total, 1);
    char *rows = mem_new(bytes * (size_t)*total + 1, "cells of gravity");
    if (n > 0) memcpy(rows, row, bytes * (size_t)n);
    comm_union(c, n, *total, bytes, rows, 0, NULL);
    return rows;
}

MEM_ORDER_OF(by_number, mkey)

/* Keys that divide all particles into nearly equal parts: cut[0..size]. */
static void cut_samples(const struct comm *c, const struct body *b, int64_t n, mkey *cut)
{
    int64_t all = n, total, count = 0;
    comm_add_i64(c, &all, 1);
    int64_t stride = all / ((int64_t)SAMPLES * c->size) + 1;
    mkey *mine = mem_new(sizeof *mine * (size_t)(n / stride + 1), "particles of gravity");
    for (int64_t i = stride / 2; i < n; i += stride) mine[count++] = b[i].key;
    mkey *sample = multipole_gather(c, mine, count, sizeof *sample, &total);
    mem_sort(sample, (size_t)total, sizeof *sample, by_number);
    cut[0] = 0;
    for (int r = 1; r < c->size; r++)
        cut[r] = total > 0 ? sample[total * r / c->size] : key_span(0) - 1;
    cut[c->size] = key_span(0);
    mem_free(mine);
    mem_free(sample);
}

/* Moves each bound to the beginning of the largest cell around it that may be a group. */
static void align_cuts(const struct comm *c, int64_t most, const struct body *b, int64_t n,
                       mkey *cut)
{
    const int bounds = c->size - 1, levels = LEVELS + 1;
    int64_t *count = mem_zero(sizeof *count * (size_t)(bounds * levels) + 1, "bounds of gravity");
    for (int r = 1; r <= bounds; r++)
        for (int l = 0; l < levels; l++) {
            mkey begin = cut[r] & ~(key_span(l) - 1);
            count[(r - 1) * levels + l] = multipole_find(b, 0, n, begin + key_span(l)) -
                                          multipole_find(b, 0, n, begin);
        }
    comm_add_i64(c, count, bounds * levels);
    for (int r = 1; r <= bounds; r++) {
        int l = 0;
        while (l < LEVELS && count[(r - 1) * levels + l] > most) l++;
        cut[r] &= ~(key_span(l) - 1);
    }
    mem_free(count);
}

void forest_deal(const struct comm *c, struct forest *f, struct body **b, int64_t *n,
                 struct comm_counts *from)
{
    mkey *cut = mem_new(sizeof *cut * (size_t)(c->size + 1), "bounds of gravity");
    int *rank = mem_new(sizeof *rank * (size_t)*n + 1, "particles of gravity"), to = 0;
    cut_samples(c, *b, *n, cut);
    align_cuts(c, (int64_t)GROUP_LEAVES * f->par->leaf, *b, *n, cut);
    for (int64_t i = 0; i < *n; i++) {
        while ((*b)[i].key >= cut[to + 1]) to++;
        rank[i] = to;
    }
    struct body *got = comm_exchange_by(c, *b, *n, rank, sizeof **b, n, from);
    for (int64_t i = 0; i < *n; i++) got[i].row = i;
    if (from->n > 1) multipole_sort(*n, got); /* those of one rank are in order */
    f->low = cut[c->rank];
    f->end = cut[c->rank + 1];
    mem_free(*b);
    mem_free(rank);
    mem_free(cut);
    *b = got;
}
