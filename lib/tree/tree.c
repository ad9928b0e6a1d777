/* tree: see tree.h. Code common to all methods: checks, order of lists, labels, choice of
 * method. */
#include "tree/tree.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tree/tree_priv.h"

/* Maximum number of points for which all pairs are fastest; maximum number of distance tests per
 * point for which the grid is fastest. */
enum { BRUTE_MAX = 64, GRID_MAX = 100 };

static const char *const NAME[TREE_METHODS] = {"auto", "brute force", "radix tree", "hash grid"};

const char *tree_method_name(enum tree_method m)
{
    return NAME[m];
}

enum tree_method tree_method_of(const struct tree *t)
{
    return t->method;
}

/* ---- building ---- */

static bool is_good(const struct tree_points *p, int64_t i)
{
    bool good = !p->h || (p->h[i] >= 0 && isfinite(p->h[i]));
    for (int k = 0; k < 3; k++)
        good &= p->period[k] > 0 ? p->x[k][i] >= 0 && p->x[k][i] < p->period[k]
                                 : isfinite(p->x[k][i]) != 0;
    return good;
}

/* Bounding box of the points. */
static struct tree_box box_around(const struct tree_points *p)
{
    struct tree_box b;
    for (int k = 0; k < 3; k++) {
        const double *x = p->x[k];
        double lo = INFINITY, hi = -INFINITY;
#pragma omp parallel for simd reduction(min : lo) reduction(max : hi)
        for (int64_t i = 0; i < p->n; i++) {
            lo = x[i] < lo ? x[i] : lo;
            hi = x[i] > hi ? x[i] : hi;
        }
        b.lo[k] = lo, b.hi[k] = hi;
    }
    return b;
}

/* Checks the points, and fills t->around. */
static enum err check_points(struct tree *t)
{
    const struct tree_points *p = &t->p;
    int64_t bad = INT64_MAX;
    if (p->n >= INT32_MAX)
        FAIL(ERR_LIMIT,
             "%ld points are more than a tree of one rank can hold, 2147483646: use more ranks",
             (long)p->n);
#pragma omp parallel for reduction(min : bad)
    for (int64_t i = 0; i < p->n; i++)
        if (!is_good(p, i) && i < bad) bad = i;
    t->around = box_around(p);
    if (bad == INT64_MAX) return OK;
    double x[3] = {p->x[0][bad], p->x[1][bad], p->x[2][bad]};
    if (!p->h)
        FAIL(ERR_PARAM, "point %ld, at %g %g %g, is not a finite position in the box", (long)bad,
             x[0], x[1], x[2]);
    FAIL(ERR_PARAM,
         "point %ld, at %g %g %g with radius %g, is not a finite position in the box with a finite "
         "radius",
         (long)bad, x[0], x[1], x[2], p->h[bad]);
}

static struct tree_space space_of(const struct tree *t)
{
    struct tree_space s = {.slack = 0};
    double max = 0;
    for (int k = 0; k < 3; k++) {
        double period = t->p.period[k];
        s.period[k] = period > 0 ? period : INFINITY;
        s.half[k] = s.period[k] / 2;
        max = fmax(max, period);
        if (t->p.n) max = fmax(max, fmax(fabs(t->around.lo[k]), fabs(t->around.hi[k])));
    }
    s.slack = 2e-15 * max;
    return s;
}

static enum err begin_tree(const struct tree_points *p, double reach, struct tree **out)
{
    struct tree *t = mem_zero(sizeof *t, "tree");
    t->p = *p;
    t->reach = reach;
    *out = NULL;
    enum err err = OK;
    if (!(reach >= 0))
        err = err_set(ERR_PARAM, "the radius of a search must be 0 or more, not %g", reach);
    if (err == OK) err = check_points(t);
    if (err != OK) {
        FREE(t);
        return err;
    }
    t->space = space_of(t);
    *out = t;
    return OK;
}

enum err tree_new(const struct tree_points *p, enum tree_method method, double reach,
                  struct tree **out)
{
    TRY(begin_tree(p, reach, out));
    struct tree *t = *out;
    for (int64_t i = 0; p->h && i < p->n; i++) t->reach = fmax(t->reach, p->h[i]);
    if (method == TREE_AUTO) {
        if (p->n <= BRUTE_MAX)
            method = TREE_BRUTE;
        else
            method = grid_build(t, GRID_MAX) ? TREE_GRID : TREE_RADIX;
    } else if (method == TREE_GRID)
        grid_build(t, INFINITY);
    t->method = method;
    if (method == TREE_RADIX) radix_build(t);
    return OK;
}

enum err tree_take(const struct tree_points *p, double *const x[3], int32_t **order,
                   struct tree **out)
{
    *order = NULL;
    BUG_ON(p->h != NULL);
    TRY(begin_tree(p, INFINITY, out));
    struct tree *t = *out;
    t->method = TREE_RADIX;
    t->lent = true;
    for (int k = 0; k < 3; k++) t->x[k] = x[k];
    radix_build(t);
    *order = t->order;
    t->order = NULL;
    return OK;
}

void tree_free(struct tree **t)
{
    if (!*t) return;
    if ((*t)->method == TREE_RADIX) radix_free(*t);
    if ((*t)->method == TREE_GRID) grid_free(*t);
    for (int k = 0; k < 3 && !(*t)->lent; k++) FREE((*t)->x[k]);
    FREE((*t)->h);
    FREE((*t)->order);
    FREE(*t);
}

/* ---- lists ---- */

MEM_ORDER_OF(by_number, int32_t)

static void run_search(const struct tree_search *s)
{
    switch (s->t->method) {
    case TREE_BRUTE:
        brute_lists(s);
        return;
    case TREE_RADIX:
        radix_lists(s);
        return;
    case TREE_GRID:
        grid_lists(s);
        return;
    case TREE_AUTO:
    case TREE_METHODS:
        break;
    }
    BUG_ON(true);
}

enum err tree_neighbours(const struct tree *t, double radius, struct tree_lists *out)
{
    int64_t n = t->p.n;
    BUG_ON(radius > t->reach);
    *out = (struct tree_lists){.first = mem_zero(sizeof *out->first * (size_t)(n + 2), "lists")};
    /* counts are stored one element up, so that filling turns them into the ends of lists */
    struct tree_search s = {.t = t, .radius = radius, .count = out->first + 1};
    run_search(&s);
    int64_t total = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = out->first[i + 1];
        out->first[i + 1] = total;
        total += count;
    }
    s.at = out->at = mem_new(sizeof *out->at * (size_t)total + 1, "lists");
    run_search(&s);
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < n; i++)
        mem_sort(out->at + out->first[i], (size_t)(out->first[i + 1] - out->first[i]),
                 sizeof *out->at, by_number);
    return OK;
}

void tree_lists_free(struct tree_lists *l)
{
    FREE(l->first);
    FREE(l->at);
}

/* ---- balls ---- */

void tree_ball(const struct tree *t, const double x[3], double radius, tree_visit *visit, void *ctx)
{
    BUG_ON(radius > t->reach && t->method == TREE_GRID);
    if (t->p.n == 0) return;
    if (t->method == TREE_RADIX)
        radix_near(t, x, radius, visit, ctx);
    else if (t->method == TREE_GRID)
        grid_near(t, x, radius, visit, ctx);
    else
        brute_near(t, x, radius, visit, ctx);
}

/* Adds a squared distance to a max-heap of the k smallest so far. */
void tree_heap_put(struct tree_heap *h, double far2)
{
    int i = 0;
    if (h->n < h->k) {
        for (i = h->n++; i > 0 && h->at[(i - 1) / 2] < far2; i = (i - 1) / 2)
            h->at[i] = h->at[(i - 1) / 2];
        h->at[i] = far2;
        return;
    }
    if (!(far2 < h->at[0])) return;
    for (int c; (c = 2 * i + 1) < h->n; i = c) {
        if (c + 1 < h->n && h->at[c + 1] > h->at[c]) c++;
        if (!(h->at[c] > far2)) break;
        h->at[i] = h->at[c];
    }
    h->at[i] = far2;
}

int tree_nearest(const struct tree *t, const double x[3], const struct tree_nearest *q,
                 double *far2)
{
    struct tree_heap h = {.k = q->k, .at = far2};
    BUG_ON(q->k < 1);
    if (t->p.n == 0) return 0;
    if (t->method == TREE_RADIX)
        radix_nearest(t, x, q, &h);
    else
        for (int64_t i = 0; i < t->p.n; i++) tree_heap_offer(t, x, q, i, &h);
    return h.n;
}

/* ---- groups ---- */

void tree_groups(const struct tree *t, double link, int32_t *label)
{
    int32_t n = (int32_t)t->p.n;
    int32_t *up = t->order ? mem_new(sizeof *up * (size_t)n + 1, "tree: groups") : label;
    BUG_ON(link > t->reach);
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < n; i++) up[i] = i;
    if (n == 0)
        ;
    else if (t->method == TREE_RADIX)
        radix_groups(t, link, up);
    else if (t->method == TREE_GRID)
        grid_groups(t, link, up);
    else
        brute_groups(t, link, up);
    for (int32_t i = 0; i < n; i++) up[i] = up[up[i]]; /* up[i] <= i, so its root is known */
    if (!t->order) return;
    /* smallest point number of each group, by smallest sorted position */
    int32_t *min = mem_new(sizeof *min * (size_t)n + 1, "tree: groups");
    for (int32_t i = 0; i < n; i++) min[i] = INT32_MAX;
    for (int32_t i = 0; i < n; i++)
        if (t->order[i] < min[up[i]]) min[up[i]] = t->order[i];
    for (int32_t i = 0; i < n; i++) label[t->order[i]] = min[up[i]];
    FREE(min);
    FREE(up);
}
