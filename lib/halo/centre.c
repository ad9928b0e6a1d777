/* halo/centre: the densest member of each halo: the member with the nearest 32nd neighbour among
 * members, counting itself as the first.
 *
 * Each rank searches among its own members: all pairs of a small halo, else by the tree. The
 * smallest distance that any rank finds is an upper bound; only members within this distance of
 * another rank's domain may be denser than they appear, and send requests to that rank. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "halo/members.h"

enum {
    NEIGHBOURS = 32,
    FEW = 512, /* maximum number of members for all pairs; a multiple of 8 */
    LARGE = 4096,
    TURN = 2048
};

/* ---- choices ---- */

bool halo_chosen(const struct halo_choice *a, const struct halo_choice *b)
{
    if (a->value != b->value) return a->value < b->value;
    if (a->id != b->id) return a->id < b->id;
    for (int k = 0; k < 3; k++)
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k];
    return false;
}

struct halo_choice halo_choice_of(const struct halo_groups *g, int64_t part, int32_t i,
                                  double value)
{
    const struct halo_set *d = g->dark;
    return (struct halo_choice){
        g->parts[part].index, value, d->id[i], {d->x[0][i], d->x[1][i], d->x[2][i]}};
}

struct telling {
    const char *value;
    size_t bytes;
};

static void answer_centres(void *ctx, int64_t n, const void *item, void *answer)
{
    const struct telling *t = ctx;
    const int64_t *index = item;
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)answer + t->bytes * (size_t)i, t->value + t->bytes * (size_t)index[i],
               t->bytes);
}

void *halo_send_parts(const struct halo_space *s, const struct halo_groups *g, const void *of_halo,
                      size_t bytes)
{
    struct telling t = {of_halo, bytes};
    struct halo_question q = {sizeof(int64_t), bytes, answer_centres, &t};
    int64_t *index = mem_new(sizeof *index * (size_t)g->nparts + 1, "halos: parts");
    int *rank = mem_new(sizeof *rank * (size_t)g->nparts + 1, "halos: parts");
    for (int64_t k = 0; k < g->nparts; k++) {
        index[k] = g->parts[k].index;
        rank[k] = g->parts[k].owner;
    }
    void *all = halo_ask(s->c, &q, g->nparts, index, rank);
    FREE(index);
    FREE(rank);
    return all;
}

/* Chooses the best of the candidates of a halo's parts; values: one for each halo of this rank, or
 * NULL. */
static void choose(const struct halo_space *s, const struct halo_groups *g,
                   const struct halo_choice *best, struct halo *h, double *value)
{
    int64_t ngot;
    int *rank = mem_new(sizeof *rank * (size_t)g->nparts + 1, "halos: centres");
    for (int64_t k = 0; k < g->nparts; k++) rank[k] = g->parts[k].owner;
    struct halo_choice *got = comm_exchange_by(s->c, best, g->nparts, rank, sizeof *got, &ngot,
                                               NULL);
    struct halo_choice *first = mem_new(sizeof *first * (size_t)g->n + 1, "halos: centres");
    for (int64_t k = 0; k < g->n; k++) first[k] = (struct halo_choice){k, INFINITY, INT64_MAX, {0}};
    for (int64_t i = 0; i < ngot; i++)
        if (halo_chosen(&got[i], &first[got[i].index])) first[got[i].index] = got[i];
    for (int64_t k = 0; k < g->n; k++) {
        memcpy(h[k].x, first[k].x, sizeof h[k].x);
        if (value) value[k] = first[k].value;
    }
    FREE(first);
    FREE(got);
    FREE(rank);
}

/* ---- the densest of this rank ---- */

struct members {
    const struct halo_groups *g;
    int32_t part;
};

static bool is_member(int32_t point, const void *ctx)
{
    const struct members *m = ctx;
    return m->g->part[point] == m->part && m->g->dark->m[point] >= 0;
}

static int neighbours_of(const struct halo_part *p)
{
    return p->all < NEIGHBOURS ? (int)p->all : NEIGHBOURS;
}

/* Finds the nearest members of a part to x, within the square root of `max`. */
static int near_members(const struct halo_groups *g, int64_t part, const double x[3], double max,
                        double far2[NEIGHBOURS])
{
    struct members m = {g, (int32_t)part};
    struct tree_nearest q = {neighbours_of(&g->parts[part]), max, is_member, &m};
    return tree_nearest(g->tree, x, &q, far2);
}

/* Computes the density of a member; abandons it once it cannot be the densest. */
static void try_member(const struct halo_groups *g, int64_t part, int64_t k,
                       struct halo_choice *best)
{
    const int32_t i = g->member[k];
    const struct halo_set *d = g->dark;
    double far2[NEIGHBOURS], x[3] = {d->x[0][i], d->x[1][i], d->x[2][i]};
    if (near_members(g, part, x, best->value, far2) < neighbours_of(&g->parts[part])) return;
    struct halo_choice c = halo_choice_of(g, part, i, far2[0]);
    if (halo_chosen(&c, best)) *best = c;
}

/* Positions of the members of a small halo, padded to eights by positions at infinity. */
struct few {
    int n;
    double x[3][FEW], period[3];
};

static void take_few(const struct halo_space *s, const struct halo_groups *g,
                     const struct halo_part *p, struct few *f)
{
    f->n = ((int)p->n + 7) / 8 * 8;
    for (int k = 0; k < 3; k++) {
        f->period[k] = s->periodic[k] ? 1 : INFINITY;
        for (int i = 0; i < f->n; i++)
            f->x[k][i] = i < p->n ? g->dark->x[k][g->member[p->first + i]] : -INFINITY;
    }
}

/* Squared distances of all members from member i. */
static void distances(const struct few *f, int i, double far2[FEW])
{
    const double *x = f->x[0], *y = f->x[1], *z = f->x[2];
    const double at[3] = {x[i], y[i], z[i]};
    for (int j = 0; j < f->n; j++) {
        const double a = tree_apart(x[j], at[0], f->period[0]),
                     b = tree_apart(y[j], at[1], f->period[1]),
                     c = tree_apart(z[j], at[2], f->period[2]);
        far2[j] = a * a + b * b + c * c;
    }
}

/* The want-th smallest of n numbers, which at least `want` of them do not exceed. */
static double smallest(const double *far2, int n, double max, int want)
{
    double least[NEIGHBOURS]; /* ascending */
    int found = 0;
    for (int j = 0; j < n; j++) {
        if (far2[j] > max || (found == want && far2[j] >= least[want - 1])) continue;
        int at = found < want ? found++ : want - 1;
        for (; at > 0 && least[at - 1] > far2[j]; at--) least[at] = least[at - 1];
        least[at] = far2[j];
    }
    return least[want - 1];
}

static struct halo_choice densest_of_few(const struct halo_space *s, const struct halo_groups *g,
                                         int64_t part)
{
    const struct halo_part *p = &g->parts[part];
    struct halo_choice best = {p->index, INFINITY, INT64_MAX, {0}};
    const int want = neighbours_of(p), n = (int)p->n;
    struct few f;
    double far2[FEW];
    take_few(s, g, p, &f);
    for (int i = 0; i < n; i++) {
        const double max = fmin(best.value, DBL_MAX);
        int within = 0;
        distances(&f, i, far2);
        for (int j = 0; j < f.n; j++) within += far2[j] <= max;
        if (within < want) continue;
        struct halo_choice m = halo_choice_of(g, part, g->member[p->first + i],
                                              smallest(far2, n, max, want));
        if (halo_chosen(&m, &best)) best = m;
    }
    return best;
}

static struct halo_choice densest_of(const struct halo_groups *g, int64_t part)
{
    const struct halo_part *p = &g->parts[part];
    struct halo_choice best = {p->index, INFINITY, INT64_MAX, {0}};
#pragma omp parallel if (p->n > LARGE)
    {
        struct halo_choice own = best;
#pragma omp for schedule(dynamic, 256)
        for (int64_t k = p->first; k < p->first + p->n; k++) {
            double bound;
#pragma omp atomic read
            bound = best.value;
            if (bound < own.value) own = (struct halo_choice){p->index, bound, INT64_MAX, {0}};
            const int64_t was = own.id;
            try_member(g, part, k, &own);
            if (own.id == was) continue;
#pragma omp critical(densest)
            if (halo_chosen(&own, &best)) {
                best.id = own.id;
                memcpy(best.x, own.x, sizeof best.x);
#pragma omp atomic write
                best.value = own.value;
            }
        }
    }
    return best;
}

static void find_densest(const struct halo_space *s, const struct halo_groups *g,
                         struct halo_choice *best)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t k = 0; k < g->nparts; k++)
        if (g->parts[k].n <= FEW)
            best[k] = densest_of_few(s, g, k);
        else if (g->parts[k].n <= LARGE)
            best[k] = densest_of(g, k);
    for (int64_t k = 0; k < g->nparts; k++)
        if (g->parts[k].n > LARGE) best[k] = densest_of(g, k);
}

/* ---- members near other ranks ---- */

struct request {
    double x[3], max;
    int64_t index;
    int owner;
};

struct found {
    double far2[NEIGHBOURS];
    int64_t n;
};

struct asking {
    const struct halo_groups *g;
    int64_t n, room;
    struct request *item;
    int *rank;
    struct {
        int64_t part;
        int32_t member;
    } * by; /* part and member of each request */
};

/* Position in the list of members. */
struct cursor {
    int64_t part, member;
    struct rank_list near, scratch;
};

MEM_ORDER2(by_part, struct halo_part, owner, index)

static void reply_members(void *ctx, int64_t n, const void *item, void *answer)
{
    const struct halo_groups *g = ctx;
    const struct request *q = item;
    struct found *a = answer;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
        struct halo_part key = {.owner = q[i].owner, .index = q[i].index};
        const struct halo_part *p = mem_find(&key, g->parts, (size_t)g->nparts, sizeof *g->parts,
                                             by_part);
        a[i].n = p ? near_members(g, p - g->parts, q[i].x, q[i].max, a[i].far2) : 0;
    }
}

static void add_request(struct asking *a, int64_t part, int32_t member, double max, int rank)
{
    const struct halo_part *p = &a->g->parts[part];
    if (a->n == a->room) {
        a->room = 2 * a->room + 256;
        a->item = mem_grow(a->item, sizeof *a->item * (size_t)a->room, "halos: centres");
        a->rank = mem_grow(a->rank, sizeof *a->rank * (size_t)a->room, "halos: centres");
        a->by = mem_grow(a->by, sizeof *a->by * (size_t)a->room, "halos: centres");
    }
    struct request *q = &a->item[a->n];
    *q = (struct request){.max = max, .index = p->index, .owner = p->owner};
    for (int k = 0; k < 3; k++) q->x[k] = a->g->dark->x[k][member];
    a->by[a->n].part = part;
    a->by[a->n].member = member;
    a->rank[a->n++] = rank;
}

MEM_ORDER_OF(compare_doubles, double)

/* Combines the replies to requests first..end-1, about one member, with the neighbours on this
 * rank. */
static void weigh_member(const struct asking *a, int64_t first, int64_t end,
                         const struct found *got, struct halo_choice *best)
{
    const int64_t part = a->by[first].part;
    const struct request *q = &a->item[first];
    const int want = neighbours_of(&a->g->parts[part]);
    double *far2 = mem_new(sizeof *far2 * NEIGHBOURS * (size_t)(end - first + 1), "halos: centres");
    int64_t n = near_members(a->g, part, q->x, q->max, far2);
    for (int64_t k = first; k < end; k++)
        for (int64_t i = 0; i < got[k].n; i++) far2[n++] = got[k].far2[i];
    if (n >= want) {
        mem_sort(far2, (size_t)n, sizeof *far2, compare_doubles);
        struct halo_choice c = halo_choice_of(a->g, part, a->by[first].member, far2[want - 1]);
        if (halo_chosen(&c, &best[part])) best[part] = c;
    }
    FREE(far2);
}

/* Lists the next members that are near other ranks, about TURN requests, which bounds the number of
 * replies in memory. Returns whether there are more. */
static bool list_near(const struct halo_space *s, const double *bound, struct cursor *at,
                      struct asking *a)
{
    const struct halo_groups *g = a->g;
    for (a->n = 0; at->part < g->nparts; at->part++, at->member = 0) {
        const struct halo_part *p = &g->parts[at->part];
        double radius = fmin(sqrt(bound[at->part]), 0.9) * (1 + 1e-12);
        if (!halo_is_shared(p)) continue;
        for (; at->member < p->n; at->member++) {
            const int32_t m = g->member[p->first + at->member];
            const double x[3] = {g->dark->x[0][m], g->dark->x[1][m], g->dark->x[2][m]};
            if (a->n >= TURN) return true;
            halo_ranks_near(s, x, radius, &at->near, &at->scratch);
            for (int r = 0; r < at->near.n; r++)
                add_request(a, at->part, m, bound[at->part], at->near.rank[r]);
        }
    }
    return false;
}

static void ask_near(const struct halo_space *s, const struct halo_groups *g, const double *bound,
                     struct halo_choice *best)
{
    struct asking a = {.g = g};
    struct cursor at = {.part = 0};
    struct halo_question q = {sizeof *a.item, sizeof(struct found), reply_members, (void *)g};
    for (int64_t more = 1; more;) {
        more = list_near(s, bound, &at, &a);
        struct found *got = halo_ask(s->c, &q, a.n, a.item, a.rank);
        for (int64_t i = 0, end; i < a.n; i = end) {
            for (end = i + 1;
                 end < a.n && a.by[end].part == a.by[i].part && a.by[end].member == a.by[i].member;
                 end++)
                ;
            weigh_member(&a, i, end, got, best);
        }
        FREE(got);
        comm_max_i64(s->c, &more, 1);
    }
    FREE(a.item);
    FREE(a.rank);
    FREE(a.by);
    FREE(at.near.rank);
    FREE(at.scratch.rank);
}

void halo_find_centres(const struct halo_space *s, const struct halo_groups *g, struct halo *h,
                       enum halo_centre centre, struct halo_tracers *t)
{
    struct halo_choice *best = mem_new(sizeof *best * (size_t)g->nparts + 1, "halos: centres");
    double *core2 = mem_new(sizeof *core2 * (size_t)g->n + 1, "halos: centres");
    find_densest(s, g, best);
    choose(s, g, best, h, core2);
    double *bound = halo_send_parts(s, g, core2, sizeof *core2);
    ask_near(s, g, bound, best);
    FREE(bound);
    choose(s, g, best, h, core2);
    if (t->want) halo_find_tracers(s, g, h, core2, t);
    if (centre == HALO_BOUND) {
        halo_each_well(s, g, h, core2, halo_find_bound, best);
        choose(s, g, best, h, NULL);
    }
    FREE(core2);
    FREE(best);
}
