/* swarm/select: which particles of a shell are within reach of the peer's boxes.
 *
 * The peer's boxes, of which successive ones are near each other, are the leaves of a tree with
 * eight children a node. Each own box searches it for the leaves that are near, and only these are
 * compared with the particles of the own box. Either step compares one box with eight boxes, or
 * particles, at a time, in vectors. */
#include "base/mem.h"
#include "swarm/shell.h"

enum { WIDE = 8, LEVELS = 1 + SHELL_DEPTH / 3 };

struct wide {
    double lo[3][WIDE], hi[3][WIDE], reach[WIDE];
};

static void wide_set(struct wide *b, int j, const struct near_box *box)
{
    for (int a = 0; a < 3; a++) {
        b->lo[a][j] = box->lo[a];
        b->hi[a][j] = box->hi[a];
    }
    b->reach[j] = box->reach;
}

/* Sets near[j] to 1 where box j is near the other, and leaves the rest. */
static void wide_test(const struct wide *b, const struct near_box *other, const double period[3],
                      double near[WIDE])
{
    const struct near_box c = *other;
    const double p[3] = {period[0], period[1], period[2]};
    for (int j = 0; j < WIDE; j++) {
        double reach = b->reach[j] > c.reach ? b->reach[j] : c.reach, sum = 0;
        for (int a = 0; a < 3; a++) {
            double gap = swarm_gap(b->lo[a][j] - c.hi[a], c.lo[a] - b->hi[a][j], p[a]);
            sum += gap * gap;
        }
        near[j] = sum <= reach * reach ? 1 : near[j];
    }
}

/* ---- tree ---- */

/* Child j of node k is node 8 k + 1 + j, and leaf 8 k + 1 + j − nodes from `nodes` on. */
struct search {
    int64_t nodes, n;
    int64_t *leaf;     /* leaf[n]: result of a search */
    struct wide *node; /* [nodes] boxes of the children */
};

/* The box around all children of a node. */
static struct near_box node_box(const struct wide *b)
{
    struct near_box all = swarm_empty();
    for (int j = 0; j < WIDE; j++) {
        struct near_box one = {.lo = {b->lo[0][j], b->lo[1][j], b->lo[2][j]},
                               .hi = {b->hi[0][j], b->hi[1][j], b->hi[2][j]},
                               .reach = b->reach[j]};
        swarm_join(&all, &one);
    }
    return all;
}

static struct search search_new(const struct shell *p)
{
    struct search t = {.nodes = 1};
    BUG_ON(p->ntheirs > 1 << SHELL_DEPTH);
    for (int64_t leaves = WIDE; leaves < p->ntheirs; leaves *= WIDE) t.nodes += leaves;
    t.node = mem_new(sizeof *t.node * (size_t)t.nodes, "swarm ghosts");
    t.leaf = mem_new(sizeof *t.leaf * (size_t)p->ntheirs + 1, "swarm ghosts");
    for (int64_t k = t.nodes - 1; k >= 0; k--)
        for (int j = 0; j < WIDE; j++) {
            int64_t child = WIDE * k + 1 + j, leaf = child - t.nodes;
            struct near_box box = leaf < 0            ? node_box(&t.node[child])
                                  : leaf < p->ntheirs ? p->theirs[leaf]
                                                      : swarm_empty();
            wide_set(&t.node[k], j, &box);
        }
    return t;
}

static void search_free(struct search *t)
{
    FREE(t->node);
    FREE(t->leaf);
}

/* Lists the leaves that are near a box. */
static void search_leaves(struct search *t, const struct near_box *b, const double period[3])
{
    int64_t stack[LEVELS * WIDE] = {0};
    t->n = 0;
    for (int top = 1; top > 0;) {
        int64_t k = stack[--top];
        double near[WIDE] = {0};
        wide_test(&t->node[k], b, period, near);
        for (int j = 0; j < WIDE; j++) {
            int64_t child = WIDE * k + 1 + j;
            if (near[j] == 0) continue;
            if (child < t->nodes)
                stack[top++] = child;
            else
                t->leaf[t->n++] = child - t->nodes;
        }
    }
}

/* ---- particles ---- */

/* Keeps, of n rows, those that are near a box of the list. */
static void keep_near(const struct shells *w, struct shell *p, const struct search *t,
                      const int64_t *row, int n)
{
    struct wide b = {0};
    double near[WIDE] = {0}, found = 0;
    for (int j = 0; j < n; j++) {
        for (int a = 0; a < 3; a++) b.lo[a][j] = b.hi[a][j] = w->s->x[a][row[j]];
        b.reach[j] = shell_reach(w, row[j]);
    }
    for (int64_t k = 0; k < t->n && found < n; k++) {
        wide_test(&b, &p->theirs[t->leaf[k]], w->s->frame.period, near);
        found = 0;
        for (int j = 0; j < n; j++) found += near[j];
    }
    for (int j = 0; j < n; j++)
        if (near[j] > 0) p->row[p->n++] = row[j];
}

void shell_select(const struct shells *w, struct shell *p)
{
    struct search t = search_new(p);
    p->n = 0;
    for (int64_t g = 0, k = 0; g < p->nbox; k = p->end[g++]) {
        search_leaves(&t, &p->box[g], w->s->frame.period);
        for (; t.n > 0 && k < p->end[g]; k += WIDE)
            keep_near(w, p, &t, p->row + k, (int)(p->end[g] - k < WIDE ? p->end[g] - k : WIDE));
    }
    search_free(&t);
}
