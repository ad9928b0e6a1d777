/* See faces.h. The mesh is traversed from the root; the descent stops where an oct and all its
 * neighbours belong to one rank. */
#include "faces.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TOP = 4 }; /* level of the octs that are divided among threads */

struct pairs { /* hash set of pairs of ranks: 64 bits each, 0: empty */
    int64_t n, cap;
    uint64_t *at;
};

struct walk {
    const struct domain *d;
    int level, *near;
    int64_t surface;
    struct pairs pairs;
};

static bool put(struct pairs *p, uint64_t x)
{
    uint64_t s = x * 0x9e3779b97f4a7c15u >> 20 & (uint64_t)(p->cap - 1);
    while (p->at[s] && p->at[s] != x) s = (s + 1) & (uint64_t)(p->cap - 1);
    if (p->at[s]) return false;
    p->at[s] = x;
    p->n++;
    return true;
}

static void pairs_add(struct pairs *p, int a, int b)
{
    if (2 * p->n >= p->cap) {
        struct pairs big = {.cap = p->cap ? 2 * p->cap : 1024};
        big.at = mem_zero(sizeof *big.at * (size_t)big.cap, "pairs");
        for (int64_t i = 0; i < p->cap; i++)
            if (p->at[i]) put(&big, p->at[i]);
        FREE(p->at);
        *p = big;
    }
    put(p, (uint64_t)(a + 1) << 32 | (uint64_t)b);
}

static void visit_cell(struct walk *w, okey key)
{
    int me = domain_rank(w->d, w->level, key), seen[6], n = 0;
    for (int face = 0; face < 6; face++) {
        int step[3] = {0, 0, 0};
        step[face / 2] = face % 2 ? 1 : -1;
        okey k = okey_shift(key, w->level, step[0], step[1], step[2], NULL);
        int r = domain_rank(w->d, w->level, k);
        bool again = r == me;
        for (int i = 0; i < n; i++) again |= seen[i] == r;
        if (again) continue;
        seen[n++] = r;
        pairs_add(&w->pairs, me, r);
    }
    w->surface += n;
}

static void visit(struct walk *w, int level, okey key)
{
    if (level == w->level) {
        visit_cell(w, key);
        return;
    }
    int me = domain_whole(w->d, level, key);
    if (me >= 0 && domain_near(w->d, me, level, key, w->near) == 0) return;
    for (okey c = 0; c < 8; c++) visit(w, level + 1, key << 3 | c);
}

void faces_measure(const struct domain *d, int bits, struct faces *f)
{
    int n = domain_nrank(d);
    int top = TOP < bits + 1 ? TOP : bits + 1;
    struct pairs all = {0};
    int64_t surface = 0, *count = mem_zero(sizeof *count * (size_t)n, "faces");
#pragma omp parallel
    {
        struct walk w = {.d = d, .level = bits + 1};
        w.near = mem_new(sizeof *w.near * (size_t)n, "faces");
#pragma omp for schedule(dynamic, 1)
        for (int64_t k = 0; k < (int64_t)1 << 3 * (top - 1); k++) visit(&w, top, (okey)k);
#pragma omp critical
        {
            surface += w.surface;
            for (int64_t i = 0; i < w.pairs.cap; i++)
                if (w.pairs.at[i])
                    pairs_add(&all, (int)(w.pairs.at[i] >> 32) - 1, (int)w.pairs.at[i]);
        }
        FREE(w.pairs.at);
        FREE(w.near);
    }
    for (int64_t i = 0; i < all.cap; i++)
        if (all.at[i]) count[(all.at[i] >> 32) - 1]++;
    double cells = (double)((int64_t)1 << 3 * bits);
    *f = (struct faces){.cells = cells / n, .surface = (double)surface / cells, .min = n};
    for (int r = 0; r < n; r++) {
        f->partners += (double)count[r] / n;
        if (count[r] > f->max) f->max = (int)count[r];
        if (count[r] < f->min) f->min = (int)count[r];
    }
    FREE(count);
    FREE(all.at);
}
