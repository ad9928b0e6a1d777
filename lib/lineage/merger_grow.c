/* lineage/merger_grow: trees from the descendants of all nodes: numbers of progenitors, depth-first
 * and breadth-first numbers, as Consistent-Trees has them (Behroozi et al. 2013). Descendants are
 * of later outputs, so that a pass by ascending node meets all progenitors of a node before it. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "lineage/merger.h"

static const double MAJOR = 0.3; /* mass of a major merger over that of the main progenitor */

/* Progenitors of all nodes: those of node i at first[i] to first[i + 1], the main one first. */
struct kin {
    int64_t *first, *progenitor, *size; /* size: number of nodes of the tree below, and itself */
};

struct order {
    int64_t node, descendant;
    int output;
    bool main;
    double mass;
};

/* By descendant; of one descendant the main progenitor, then by descending mass. */
static int by_descendant(const void *a, const void *b)
{
    const struct order *p = a, *q = b;
    if (p->descendant != q->descendant) return p->descendant < q->descendant ? -1 : 1;
    if (p->descendant < 0 && p->output != q->output) return p->output > q->output ? -1 : 1;
    if (p->main != q->main) return p->main ? -1 : 1;
    if (p->mass != q->mass) return p->mass > q->mass ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

/* Finds the progenitors of each node, and the roots of the trees. */
static void find_kin(struct mergers *f, struct kin *k)
{
    struct order *o = mem_new(sizeof *o * (size_t)f->n + 1, "trees: order");
    for (int64_t i = 0; i < f->n; i++) {
        const struct merger_node *n = &f->node[i];
        o[i] = (struct order){i, n->descendant, n->output, n->main, n->mass};
    }
    mem_sort(o, (size_t)f->n, sizeof *o, by_descendant);
    for (f->ntree = 0; f->ntree < f->n && o[f->ntree].descendant < 0; f->ntree++) {
    }
    f->tree = mem_new(sizeof *f->tree * (size_t)f->ntree + 1, "trees");
    for (int64_t i = 0; i < f->ntree; i++) f->tree[i] = o[i].node;
    k->progenitor = mem_new(sizeof *k->progenitor * (size_t)f->n + 1, "trees: progenitors");
    k->first = mem_zero(sizeof *k->first * (size_t)(f->n + 2), "trees: progenitors");
    for (int64_t i = f->ntree; i < f->n; i++) {
        k->progenitor[i - f->ntree] = o[i].node;
        k->first[o[i].descendant + 1]++;
    }
    for (int64_t i = 0; i < f->n; i++) k->first[i + 1] += k->first[i];
    FREE(o);
}

static void measure(struct mergers *f, struct kin *k)
{
    k->size = mem_new(sizeof *k->size * (size_t)f->n + 1, "trees: order");
    for (int64_t i = 0; i < f->n; i++) {
        struct merger_node *n = &f->node[i];
        const int64_t *p = k->progenitor + k->first[i];
        const struct merger_output *o = &f->output[n->output];
        n->progenitors = k->first[i + 1] - k->first[i];
        n->peak = n->mass, n->major = NAN;
        k->size[i] = 1;
        for (int64_t j = 0; j < n->progenitors; j++) k->size[i] += k->size[p[j]];
        if (n->progenitors == 0) continue;
        const struct merger_node *main = &f->node[p[0]];
        n->peak = fmax(n->mass, main->peak);
        n->major = main->major;
        if (n->progenitors > 1 && f->node[p[1]].mass > MAJOR * main->mass)
            n->major = o->box.cosmo ? o->box.aexp : o->t;
    }
}

/* Numbers the nodes from the descendants to the progenitors. */
static void number_depth(struct mergers *f, const struct kin *k)
{
    f->by_depth = mem_new(sizeof *f->by_depth * (size_t)f->n + 1, "trees: order");
    int64_t next = 0;
    for (int64_t t = 0; t < f->ntree; t++) {
        struct merger_node *root = &f->node[f->tree[t]];
        root->depth = next, root->root = f->tree[t], root->next = -1;
        next += k->size[f->tree[t]];
    }
    for (int64_t i = f->n - 1; i >= 0; i--) {
        struct merger_node *n = &f->node[i];
        const int64_t *p = k->progenitor + k->first[i];
        int64_t at = n->depth + 1;
        f->by_depth[n->depth] = i;
        n->last = n->depth + k->size[i] - 1;
        for (int64_t j = 0; j < n->progenitors; j++) {
            struct merger_node *q = &f->node[p[j]];
            q->root = n->root, q->depth = at;
            at += k->size[p[j]];
            q->next = j + 1 < n->progenitors ? at : -1;
        }
    }
    for (int64_t i = 0; i < f->n; i++) {
        struct merger_node *n = &f->node[i];
        n->leaf = n->progenitors ? f->node[k->progenitor[k->first[i]]].leaf : n->depth;
    }
}

static void number_breadth(struct mergers *f, const struct kin *k)
{
    int64_t *queue = mem_new(sizeof *queue * (size_t)f->n + 1, "trees: order"), end = 0;
    for (int64_t t = 0; t < f->ntree; t++) {
        int64_t at = end;
        for (queue[end++] = f->tree[t]; at < end; at++) {
            const int64_t i = queue[at];
            f->node[i].breadth = at;
            for (int64_t j = k->first[i]; j < k->first[i + 1]; j++) queue[end++] = k->progenitor[j];
        }
    }
    FREE(queue);
}

void merger_grow(struct mergers *f)
{
    struct kin k = {0};
    find_kin(f, &k);
    measure(f, &k);
    number_depth(f, &k);
    number_breadth(f, &k);
    FREE(k.first);
    FREE(k.progenitor);
    FREE(k.size);
}
