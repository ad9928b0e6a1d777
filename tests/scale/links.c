/* See links.h. */
#include "links.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Octs by owner: rank r has oct[first[r]] … oct[first[r + 1] - 1], in the order of the field. */
struct owned {
    int64_t *first, *oct;
};

static void owned_make(const struct box *f, int nrank, const int32_t *owner, struct owned *o)
{
    o->first = mem_zero(sizeof *o->first * (size_t)(nrank + 2), "links");
    o->oct = mem_new(sizeof *o->oct * (size_t)f->n + 1, "links");
    for (int64_t i = 0; i < f->n; i++) o->first[owner[i] + 2]++;
    for (int r = 0; r < nrank; r++) o->first[r + 2] += o->first[r + 1];
    for (int64_t i = 0; i < f->n; i++) o->oct[o->first[owner[i] + 1]++] = i;
}

/* Leaf cells of each oct. Levels and keys ascend, so children are found by a merge. */
static int8_t *leaf_cells(const struct box *f)
{
    int8_t *leaf = mem_new((size_t)f->n + 1, "links");
    int64_t parent = 0;
    for (int64_t i = 0; i < f->n; i++) leaf[i] = 8;
    for (int64_t i = 0; i < f->n; i++) {
        if (f->level[i] == 1) continue;
        while (f->level[parent] < f->level[i] - 1 || f->key[parent] < f->key[i] >> 3) parent++;
        leaf[parent]--;
    }
    return leaf;
}

void links_ramses_cost(struct box *f)
{
    int8_t *leaf = leaf_cells(f);
    for (int64_t i = 0; i < f->n; i++)
        f->cost[i] = f->steps[f->level[i]] * leaf[i] * (80 + (f->part ? f->part[i] : 0)) + 1e-9;
    FREE(leaf);
}

void links_work_cost(struct box *f)
{
    for (int64_t i = 0; i < f->n; i++)
        f->cost[i] = f->level[i] < f->levelmin ? 1e-9 : f->steps[f->level[i]];
}

struct own {
    int64_t octs, leaves;
    double parts;
};

static void print_level(int rank, int level, const struct own *own, int n, const int *to,
                        int64_t *octs)
{
    printf("%d\t%d\t%d\t%" PRId64 "\t%" PRId64 "\t%.0f\n", rank, level, rank, own->octs,
           own->leaves, own->parts);
    for (int j = 0; j < n; j++) {
        printf("%d\t%d\t%d\t%" PRId64 "\t0\t0\n", rank, level, to[j], octs[to[j]]);
        octs[to[j]] = 0;
    }
}

void links_print(const struct box *f, const struct domain *d, const int32_t *owner)
{
    struct owned o;
    int nrank = domain_nrank(d), *near = mem_new(sizeof *near * 2 * (size_t)nrank, "links");
    int *to = near + nrank;
    int64_t *octs = mem_zero(sizeof *octs * (size_t)nrank, "links");
    int8_t *leaf = leaf_cells(f);
    owned_make(f, nrank, owner, &o);
    printf("rank\tlevel\tto\tocts\tleaves\tparts\n");
    for (int r = 0; r < nrank; r++) {
        struct own own = {0};
        int nto = 0;
        for (int64_t i = o.first[r]; i < o.first[r + 1]; i++) {
            int64_t k = o.oct[i];
            int level = f->level[k], n = domain_near(d, r, level, f->key[k], near);
            own.octs++, own.leaves += leaf[k], own.parts += f->part ? f->part[k] : 0;
            for (int j = 0; j < n; j++)
                if (!octs[near[j]]++) to[nto++] = near[j];
            if (i + 1 < o.first[r + 1] && f->level[o.oct[i + 1]] == level) continue;
            print_level(r, level, &own, nto, to, octs);
            own = (struct own){0}, nto = 0;
        }
    }
    FREE(leaf);
    FREE(octs);
    FREE(near);
    FREE(o.first);
    FREE(o.oct);
}
