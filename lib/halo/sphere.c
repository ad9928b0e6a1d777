/* halo/sphere: all bodies around a centre, whichever rank has them.
 *
 * A rank asks those whose domain a sphere meets for what they have in it. Spheres are asked for in
 * rounds, so that no rank receives much more in one than it holds itself; those that turn out too
 * small come again in a later round, with a larger radius. */
#include <stdlib.h>

#include "halo/halo_priv.h"

static const double GROW = 1.5, MOST = 0.5; /* radius in boxes: beyond, space meets itself */

struct request {
    double x[3], radius;
    int64_t halo;
};

struct answers {
    int64_t n, cap, halo;
    struct halo_part *part;
    const struct halo_body *body;
};

struct spheres {
    const struct halo_space *s;
    const struct halo_body *body;
    struct tree *tree;
    struct halo *halo;
    double *radius; /* of each halo; below 0: done */
    int64_t n;
};

static void add_answer(int32_t point, double far2, void *ctx)
{
    struct answers *a = ctx;
    if (a->n == a->cap) {
        a->cap = 2 * a->cap + 1024;
        a->part = mem_grow(a->part, sizeof *a->part * (size_t)a->cap, "halos: spheres");
    }
    a->part[a->n++] = (struct halo_part){a->halo, a->body[point]};
}

/* Asks the ranks near for the bodies around the halos first..end-1 that are not done; returns what
 * all ranks have, in no order. (collective) */
static struct halo_part *ask_ranks(const struct spheres *q, int64_t first, int64_t end, int64_t *n)
{
    struct answers own = {.body = q->body}, theirs = own;
    struct rank_list near = {0}, scratch = {0};
    struct request *ask = NULL;
    int *rank = NULL;
    int64_t nask = 0, cap = 0, ngot, nback;
    for (int64_t i = first; i < end; i++) {
        if (q->radius[i] < 0) continue;
        const double *x = q->halo[i].x;
        own.halo = i;
        tree_ball(q->tree, x, q->radius[i], add_answer, &own);
        halo_ranks_near(q->s, x, q->radius[i], &near, &scratch);
        for (int k = 0; k < near.n; k++, nask++) {
            if (nask == cap) {
                cap = 2 * cap + 64;
                ask = mem_grow(ask, sizeof *ask * (size_t)cap, "halos: requests");
                rank = mem_grow(rank, sizeof *rank * (size_t)cap, "halos: requests");
            }
            ask[nask] = (struct request){{x[0], x[1], x[2]}, q->radius[i], i};
            rank[nask] = near.rank[k];
        }
    }
    struct comm_counts from, back;
    struct request *got = comm_exchange_by(q->s->c, ask, nask, rank, sizeof *got, &ngot, &from);
    /* answers, in the order of the ranks that asked */
    int *target = NULL;
    int64_t answered = 0, room = 0, at = 0;
    for (int r = 0; r < from.n; r++)
        for (int64_t k = 0; k < from.count[r]; k++, at++) {
            theirs.halo = got[at].halo;
            tree_ball(q->tree, got[at].x, got[at].radius, add_answer, &theirs);
            if (theirs.n > room) {
                room = 2 * theirs.n;
                target = mem_grow(target, sizeof *target * (size_t)room, "halos: requests");
            }
            for (; answered < theirs.n; answered++) target[answered] = from.rank[r];
        }
    back = comm_counts_of(theirs.n, target, NULL);
    struct halo_part *more = comm_exchange(q->s->c, theirs.part, &back, sizeof *more, &nback, NULL);
    for (int64_t k = 0; k < nback; k++) {
        own.halo = more[k].group;
        own.body = &more[k].b;
        add_answer(0, 0, &own);
    }
    comm_counts_free(&from);
    comm_counts_free(&back);
    FREE(more);
    FREE(target);
    FREE(got);
    FREE(ask);
    FREE(rank);
    FREE(near.rank);
    FREE(scratch.rank);
    FREE(theirs.part);
    *n = own.n;
    return own.part;
}

static int by_halo(const void *a, const void *b)
{
    const struct halo_part *p = a, *q = b;
    return p->group < q->group ? -1 : p->group > q->group;
}

/* Measures the halos of a round; those whose sphere was too small get a larger one. */
static void measure_round(struct spheres *q, double gravity, int64_t first, int64_t end, int64_t n,
                          struct halo_part *part)
{
    int64_t *begin = mem_zero(sizeof *begin * (size_t)(end - first + 2), "halos: spheres");
    if (n) qsort(part, (size_t)n, sizeof *part, by_halo);
    for (int64_t k = 0; k < n; k++) begin[part[k].group - first + 1]++;
    for (int64_t i = 0; i < end - first; i++) begin[i + 1] += begin[i];
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = first; i < end; i++) {
        double radius = q->radius[i];
        int64_t from = begin[i - first], count = begin[i - first + 1] - from;
        if (radius < 0) continue;
        bool enough = halo_measure_spheres(q->s, gravity, radius, count, part + from, &q->halo[i]);
        q->radius[i] = enough || radius >= MOST ? -1 : fmin(GROW * radius, MOST);
    }
    FREE(begin);
}

/* Spheres of what may be twice the mass of the members. */
static void first_radii(struct spheres *q)
{
    double least = INFINITY;
    for (int k = 0; k < HALO_SPHERES; k++)
        if (q->s->density[k] > 0) least = fmin(least, q->s->density[k]);
    for (int64_t i = 0; i < q->n; i++)
        q->radius[i] = fmin(cbrt(2 * q->halo[i].mass / (least * (4 * M_PI / 3))), MOST);
}

enum err halo_plant(const struct halo_space *s, int64_t n, const struct halo_body *first,
                    size_t stride, struct tree **t)
{
    struct tree_points p = {.n = n};
    double *x[3];
    for (int k = 0; k < 3; k++) {
        p.x[k] = x[k] = mem_new(sizeof *x[k] * (size_t)n + 1, "halos: points");
        p.period[k] = s->periodic[k] ? 1 : 0;
    }
    for (int64_t i = 0; i < n; i++) {
        const struct halo_body *b = (const struct halo_body *)((const char *)first +
                                                               stride * (size_t)i);
        for (int k = 0; k < 3; k++) x[k][i] = b->x[k];
    }
    enum err err = tree_new(&p, TREE_RADIX, 0, t);
    for (int k = 0; k < 3; k++) FREE(x[k]); /* the tree has its own */
    return err;
}

enum err halo_spheres(const struct halo_space *s, double gravity, int64_t nbody,
                      const struct halo_body *body, int64_t n, struct halo *h)
{
    struct spheres q = {.s = s, .body = body, .halo = h, .n = n};
    TRY(err_agree(s->c, halo_plant(s, nbody, body, sizeof *body, &q.tree)));
    q.radius = mem_new(sizeof *q.radius * (size_t)n + 1, "halos: spheres");
    first_radii(&q);
    int64_t budget = nbody / 4 + 100000, more = 1;
    for (int64_t first = 0, end; more; first = end) {
        int64_t expect = 0, got;
        for (end = first; end < n && (end == first || expect < budget); end++)
            expect += q.radius[end] < 0 ? 0 : 3 * h[end].number;
        struct halo_part *part = ask_ranks(&q, first, end, &got);
        measure_round(&q, gravity, first, end, got, part);
        FREE(part);
        more = end < n;
        if (!more)
            for (int64_t i = 0; i < n; i++)
                if (q.radius[i] >= 0) more = 1, end = 0;
        comm_max_i64(s->c, &more, 1);
    }
    FREE(q.radius);
    tree_free(&q.tree);
    return OK;
}
