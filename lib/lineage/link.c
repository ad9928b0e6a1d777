/* lineage/link: main progenitors and descendants by mutual best matches.
 *
 * The merit of progenitor A for descendant B is n/a², where n of A's tracers are now in B and a =
 * |1 − m_>/m_<| compares the two masses (Ivkovic & Teyssier 2022); it is at least the uncertainty
 * of the two masses, if they have one. Every descendant points at its
 * best candidate. In each round every progenitor without a link takes the first of its candidates,
 * in order of merit, that points at it; then each descendant without a link moves on to its next
 * candidate. A progenitor that ends without a link has merged into its best candidate. */
#include "lineage/link.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* A progenitor and a possible descendant. */
struct pair {
    int64_t a, b; /* rows of the earlier and the later groups */
    double merit;
    double mass; /* of the other group, with its id: ties */
    int64_t id;
};

struct pairs {
    int64_t n;
    struct pair *of_a, *of_b;   /* [n] by progenitor, by descendant, each by merit */
    int64_t *first_a, *first_b; /* [groups + 1] */
};

static double merit(int64_t n, double a, double b, double noise)
{
    double ratio = fmax(fabs(1 - fmax(a, b) / fmin(a, b)), fmax(noise, 1e-100));
    return (double)n / (ratio * ratio);
}

static int by_merit(const struct pair *x, const struct pair *y)
{
    if (x->merit != y->merit) return x->merit > y->merit ? -1 : 1;
    if (x->mass != y->mass) return x->mass > y->mass ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int order_a(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : by_merit(x, y);
}

static int order_b(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->b != y->b ? (x->b > y->b) - (x->b < y->b) : by_merit(x, y);
}

MEM_ORDER_OF(order_number, int64_t)

static double noise_of(const struct lineage_groups *g, int64_t k)
{
    return g->noise ? g->noise[k] : 0;
}

/* Appends the descendants of progenitor a. to: scratch for the groups of its tracers. */
static void find_pairs(struct pairs *p, int64_t a, const struct lineage_groups *earlier,
                       const struct lineage_place *at, const struct lineage_groups *later,
                       int64_t *to)
{
    int64_t n = 0;
    for (int64_t i = earlier->first[a]; i < earlier->first[a + 1]; i++)
        if (at[i].group >= 0) to[n++] = at[i].group;
    mem_sort(to, (size_t)n, sizeof *to, order_number);
    for (int64_t i = 0, j; i < n; i = j) {
        int64_t b = to[i];
        double noise = hypot(noise_of(earlier, a), noise_of(later, b));
        for (j = i; j < n && to[j] == b; j++) continue;
        p->of_a[p->n++] = (struct pair){
            .a = a,
            .b = b,
            .merit = merit(j - i, earlier->mass[a], later->mass[b], noise),
            .mass = later->mass[b],
            .id = later->id[b]};
    }
}

static void pairs_make(struct pairs *p, const struct lineage_groups *earlier,
                       const struct lineage_place *at, const struct lineage_groups *later)
{
    size_t room = (size_t)lineage_tracers(earlier) + 1;
    int64_t *to = mem_new(sizeof *to * room, "lineage");
    p->n = 0;
    p->of_a = mem_new(sizeof *p->of_a * room, "lineage");
    p->first_a = mem_zero(sizeof *p->first_a * (size_t)(earlier->n + 1), "lineage");
    p->first_b = mem_zero(sizeof *p->first_b * (size_t)(later->n + 1), "lineage");
    for (int64_t a = 0; a < earlier->n; a++) find_pairs(p, a, earlier, at, later, to);
    p->of_b = mem_new(sizeof *p->of_b * (size_t)p->n + 1, "lineage");
    for (int64_t i = 0; i < p->n; i++) {
        struct pair k = p->of_a[i];
        p->first_a[k.a + 1]++;
        p->first_b[k.b + 1]++;
        k.mass = earlier->mass[k.a], k.id = earlier->id[k.a];
        p->of_b[i] = k;
    }
    for (int64_t a = 0; a < earlier->n; a++) p->first_a[a + 1] += p->first_a[a];
    for (int64_t b = 0; b < later->n; b++) p->first_b[b + 1] += p->first_b[b];
    mem_sort(p->of_a, (size_t)p->n, sizeof *p->of_a, order_a);
    mem_sort(p->of_b, (size_t)p->n, sizeof *p->of_b, order_b);
    FREE(to);
}

static void pairs_free(struct pairs *p)
{
    FREE(p->of_a);
    FREE(p->of_b);
    FREE(p->first_a);
    FREE(p->first_b);
}

/* Progenitor at which descendant b points; −1: it has no further candidate. */
static int64_t pointed(const struct pairs *p, const int64_t *now, int64_t b)
{
    return now[b] < p->first_b[b + 1] ? p->of_b[now[b]].a : -1;
}

/* Links every free progenitor to the best candidate that points at it. */
static void match(const struct pairs *p, const int64_t *now, struct lineage_links *k)
{
    for (int64_t a = 0; a < k->n_earlier; a++) {
        if (!k->merged[a]) continue;
        for (int64_t i = p->first_a[a]; i < p->first_a[a + 1]; i++) {
            int64_t b = p->of_a[i].b;
            if (pointed(p, now, b) != a) continue;
            k->descendant[a] = b;
            k->progenitor[b] = a;
            k->merged[a] = false;
            break;
        }
    }
}

/* Moves every free descendant to its next candidate. Returns whether there is any. */
static bool advance(const struct pairs *p, int64_t *now, const struct lineage_links *k)
{
    bool any = false;
    for (int64_t b = 0; b < k->n_later; b++) {
        if (k->progenitor[b] >= 0 || now[b] == p->first_b[b + 1]) continue;
        now[b]++;
        any = true;
    }
    return any;
}

/* Gives descendants without a progenitor the past one whose galaxy is bound most tightly. Past
 * progenitors are in the order of their galaxies, so that the smaller id wins a tie. */
static void jump(const struct lineage_past *past, const struct lineage_place *at,
                 struct lineage_links *k)
{
    for (int64_t i = 0; i < past->n; i++) {
        int64_t b = at[i].group;
        if (b < 0 || k->progenitor[b] >= 0) continue;
        if (k->jumped[b] < 0 || at[i].energy < at[k->jumped[b]].energy) k->jumped[b] = i;
    }
}

void lineage_link(const struct lineage_groups *earlier, const struct lineage_place *at,
                  const struct lineage_groups *later, const struct lineage_past *past,
                  const struct lineage_place *past_at, struct lineage_links *out)
{
    struct pairs p;
    size_t n = (size_t)later->n, m = (size_t)earlier->n;
    pairs_make(&p, earlier, at, later);
    *out = (struct lineage_links){
        .n_later = later->n,
        .n_earlier = earlier->n,
        .progenitor = mem_new(sizeof(int64_t) * n + 1, "lineage"),
        .jumped = mem_new(sizeof(int64_t) * n + 1, "lineage"),
        .descendant = mem_new(sizeof(int64_t) * m + 1, "lineage"),
        .merged = mem_new(sizeof(bool) * m + 1, "lineage"),
    };
    for (int64_t b = 0; b < later->n; b++) out->progenitor[b] = out->jumped[b] = -1;
    for (int64_t a = 0; a < earlier->n; a++) {
        bool any = p.first_a[a + 1] > p.first_a[a];
        out->descendant[a] = any ? p.of_a[p.first_a[a]].b : -1;
        out->merged[a] = true;
    }
    int64_t *now = mem_new(sizeof *now * n + 1, "lineage");
    memcpy(now, p.first_b, sizeof *now * n);
    do match(&p, now, out);
    while (advance(&p, now, out));
    jump(past, past_at, out);
    FREE(now);
    pairs_free(&p);
}

void lineage_links_free(struct lineage_links *k)
{
    FREE(k->progenitor);
    FREE(k->jumped);
    FREE(k->descendant);
    FREE(k->merged);
}
