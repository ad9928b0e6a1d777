/* halo/sphere: the spheres of given mean density around a centre, for bodies on any ranks.
 *
 * A sphere follows from the mass within each radius. The owner of a halo sends a request to each
 * rank whose domain the sphere may overlap. For few bodies the reply holds all radii, for many a
 * histogram; the owner then requests finer bins wherever the mean density may fall below the wanted
 * one within a bin. So no rank holds more than some thousands of bins of a halo, whatever its size.
 * Masses in bins are sums of integers, which do not depend on the distribution of bodies. Halos are
 * measured in batches; a sphere that was too small is requested again with a larger radius, in a
 * further pass if the tree does not have all other matter there. */
#include <stdlib.h>

#include "base/mem.h"
#include "halo/bins.h"

enum {
    INNER = 10,   /* minimum number of bodies within a sphere */
    EXACT = 4096, /* default of halo_par.exact */
    BINS = 4096,  /* maximum number of bins of a histogram */
    COARSE = 46,  /* key bits dropped in the first histogram: 64 bins per factor of two */
    OCTAVES = 40  /* factors of two in r² that it spans; the first bin holds smaller radii */
};
static const double GROW = 1.5, MAX = 0.5; /* growth of the radius, maximum radius in boxes */

/* Request for the bodies whose r² has a key in from..to. */
struct request {
    double x[3];
    uint64_t from, to;
    int64_t halo;
    int shift; /* key bits to drop for a bin; -1: one bin for each r², for any number of bodies */
    bool open; /* whether the first bin also holds smaller radii */
};

struct bin {
    int64_t halo; /* index of the halo; in local bins, of the request */
    int64_t n;
    uint64_t edge;      /* smallest key of the bin */
    double first, last; /* smallest and largest r² of its bodies */
    halo_mass m;
};

struct bins {
    int64_t n, room;
    struct bin *at;
};

struct sphere {
    double radius;  /* radius requested; below 0: done */
    double reach;   /* maximum radius in which the tree has all other matter */
    int64_t points; /* maximum number of bodies within */
    struct bins bins;
};

struct spheres {
    const struct halo_space *s;
    const struct halo_trees *trees;
    struct halo *halo;
    struct sphere *of;
    int64_t n;
};

static void add_bin(struct bins *b, const struct bin *bin)
{
    if (b->n == b->room) {
        b->room = b->n + b->n / 4 + 256;
        b->at = mem_grow(b->at, sizeof *b->at * (size_t)b->room, "halos: spheres");
    }
    b->at[b->n++] = *bin;
}

MEM_ORDER2(by_edge, struct bin, halo, edge)

static void join_bin(struct bin *a, const struct bin *b)
{
    a->n += b->n;
    a->m += b->m;
    a->first = fmin(a->first, b->first);
    a->last = fmax(a->last, b->last);
}

/* Sorts bins from b->at[first] on, and merges bins of equal halo and key. */
static void join_bins(struct bins *b, int64_t first)
{
    int64_t n = first;
    bool sorted = true;
    for (int64_t i = first + 1; i < b->n && sorted; i++)
        sorted = by_edge(&b->at[i - 1], &b->at[i]) <= 0;
    if (!sorted) mem_sort(b->at + first, (size_t)(b->n - first), sizeof *b->at, by_edge);
    for (int64_t i = first; i < b->n; i++)
        if (n > first && by_edge(&b->at[n - 1], &b->at[i]) == 0)
            join_bin(&b->at[n - 1], &b->at[i]);
        else
            b->at[n++] = b->at[i];
    b->n = n;
}

/* ---- bins of this rank ---- */

/* A body by the bits of its r²; its mass. */
struct mark {
    uint64_t key;
    double m;
};

struct marks {
    int64_t n, room;
    struct mark *at;
};

struct reading {
    const struct halo_space *s;
    const struct halo_set *set;
    const struct request *q;
    int64_t number;    /* index of the request */
    struct bin *table; /* [BINS] bins of the histogram */
    struct marks all;  /* bodies that have a bin each, and memory to sort them */
    struct marks spare;
    struct bins *out;
};

/* Sorts marks by their keys, least significant byte first, without bytes that all share. */
static void sort_marks(struct marks *a, struct marks *b)
{
    enum { SHORT = 32 };
    uint64_t differ = 0;
    for (int64_t i = 1; i < a->n; i++) differ |= a->at[i].key ^ a->at[0].key;
    if (a->n <= SHORT) {
        for (int64_t i = 1, k; i < a->n; i++) {
            const struct mark m = a->at[i];
            for (k = i; k > 0 && a->at[k - 1].key > m.key; k--) a->at[k] = a->at[k - 1];
            a->at[k] = m;
        }
        return;
    }
    if (b->room < a->n) {
        b->room = a->room;
        b->at = mem_grow(b->at, sizeof *b->at * (size_t)b->room, "halos: spheres");
    }
    for (int shift = 0; shift < 64; shift += 8) {
        int64_t start[257] = {0};
        if (!(differ >> shift & 255)) continue;
        for (int64_t i = 0; i < a->n; i++) start[1 + (a->at[i].key >> shift & 255)]++;
        for (int k = 0; k < 256; k++) start[k + 1] += start[k];
        for (int64_t i = 0; i < a->n; i++) b->at[start[a->at[i].key >> shift & 255]++] = a->at[i];
        b->n = a->n;
        const struct marks c = *a;
        *a = *b, *b = c;
    }
}

static void read_body(int32_t i, double r2, void *ctx)
{
    struct reading *r = ctx;
    const struct request *q = r->q;
    uint64_t key = halo_key(r2);
    if (r->set->m[i] < 0 || key > q->to || (key < q->from && !q->open)) return;
    if (q->shift < 0) {
        MEM_ROOM(r->all.at, r->all.n, r->all.room, 1024, "halos: spheres");
        r->all.at[r->all.n++] = (struct mark){key, r->set->m[i]};
        return;
    }
    struct bin b = {r->number, 1, key, r2, r2, halo_mass_of(r->s, r->set->m[i])};
    key = key > q->from ? key : q->from;
    struct bin *to = &r->table[(key >> q->shift) - (q->from >> q->shift)];
    if (to->n) {
        join_bin(to, &b);
        return;
    }
    *to = b;
    key = key >> q->shift << q->shift;
    to->edge = key > q->from ? key : q->from;
}

static void read_request(const struct halo_trees *t, struct reading *r)
{
    const struct request *q = r->q;
    const double radius = sqrt(halo_unkey(q->to)) * (1 + 1e-12);
    const int64_t bins = q->shift < 0 ? 0
                                      : (int64_t)((q->to >> q->shift) - (q->from >> q->shift)) + 1;
    for (int64_t k = 0; k < bins; k++) r->table[k].n = 0;
    for (int k = 0; k < 2; k++) {
        r->set = t->set[k];
        tree_ball(t->tree[k], q->x, radius, read_body, r);
    }
    for (int64_t k = 0; k < bins; k++)
        if (r->table[k].n) add_bin(r->out, &r->table[k]);
    sort_marks(&r->all, &r->spare);
    for (int64_t i = 0; i < r->all.n; i++) {
        const struct mark a = r->all.at[i];
        struct bin b = {
            r->number, 1, a.key, halo_unkey(a.key), halo_unkey(a.key), halo_mass_of(r->s, a.m)};
        while (i + 1 < r->all.n && r->all.at[i + 1].key == a.key) {
            b.n++;
            b.m += halo_mass_of(r->s, r->all.at[++i].m);
        }
        add_bin(r->out, &b);
    }
    r->all.n = 0;
}

/* Bins of this rank's bodies for all requests, in any order. */
static struct bins read_requests(const struct spheres *q, int64_t n, const struct request *item)
{
    struct bins all = {0};
#pragma omp parallel
    {
        struct bins own = {0};
        struct reading r = {.s = q->s, .out = &own};
        r.table = mem_new(sizeof *r.table * BINS, "halos: spheres");
#pragma omp for schedule(dynamic, 4)
        for (int64_t i = 0; i < n; i++) {
            r.q = &item[i];
            r.number = i;
            read_request(q->trees, &r);
        }
#pragma omp critical(spheres)
        for (int64_t i = 0; i < own.n; i++) add_bin(&all, &own.at[i]);
        FREE(r.table);
        FREE(r.all.at);
        FREE(r.spare.at);
        FREE(own.at);
    }
    return all;
}

/* ---- requests to other ranks ---- */

struct requests {
    int64_t n, room;
    struct request *at;
};

static void add_request(struct requests *r, const struct request *q)
{
    MEM_ROOM(r->at, r->n, r->room, 64, "halos: requests");
    r->at[r->n++] = *q;
}

/* Sends requests to other ranks, and adds their replies to the bins of this rank. (collective) */
static void ask_others(const struct spheres *q, const struct requests *r, struct bins *all)
{
    struct rank_list near = {0}, scratch = {0};
    struct requests ask = {0};
    struct comm_counts from;
    int *rank = NULL;
    int64_t ngot, nback;
    for (int64_t i = 0; i < r->n; i++) {
        const struct request *a = &r->at[i];
        halo_ranks_near(q->s, a->x, sqrt(halo_unkey(a->to)) * (1 + 1e-9), &near, &scratch);
        rank = mem_grow(rank, sizeof *rank * (size_t)(ask.n + near.n + 1), "halos: requests");
        for (int k = 0; k < near.n; k++) {
            rank[ask.n] = near.rank[k];
            add_request(&ask, a);
        }
    }
    struct request *got = comm_exchange_by(q->s->c, ask.at, ask.n, rank, sizeof *got, &ngot, &from);
    struct bins reply = read_requests(q, ngot, got);
    int *source = mem_new(sizeof *source * (size_t)ngot + 1, "halos: requests");
    for (int64_t k = 0, i = 0; k < from.n; i += from.count[k++])
        for (int64_t m = 0; m < from.count[k]; m++) source[i + m] = from.rank[k];
    rank = mem_grow(rank, sizeof *rank * (size_t)reply.n + 1, "halos: requests");
    for (int64_t i = 0; i < reply.n; i++) {
        rank[i] = source[reply.at[i].halo];
        reply.at[i].halo = got[reply.at[i].halo].halo;
    }
    struct bin *back = comm_exchange_by(q->s->c, reply.at, reply.n, rank, sizeof *back, &nback,
                                        NULL);
    for (int64_t i = 0; i < nback; i++) add_bin(all, &back[i]);
    comm_counts_free(&from);
    FREE(back);
    FREE(source);
    FREE(reply.at);
    FREE(got);
    FREE(ask.at);
    FREE(rank);
    FREE(near.rank);
    FREE(scratch.rank);
}

/* ---- spheres from bins ---- */

static double volume_of(double r2)
{
    return 4 * M_PI / 3 * r2 * sqrt(r2);
}

enum verdict { FOUND, TOO_SMALL, REFINE };

/* Finds the radius at which the mean density falls below `density`, outwards from the INNER-th
 * body; *m: the mass within. NAN: the density at that body is already lower. TOO_SMALL: it falls
 * below only outside of the requested radius. REFINE: it may fall below within bin *which. */
static enum verdict find_sphere(const struct spheres *q, const struct sphere *a, double density,
                                double *m, double *r, int64_t *which)
{
    int64_t n = 0;
    halo_mass mass = 0;
    *m = *r = NAN;
    for (int64_t i = 0; i < a->bins.n; i++) {
        const struct bin *b = &a->bins.at[i];
        const bool last = i + 1 == a->bins.n;
        *which = i;
        if (b->first < b->last && n + b->n > INNER &&
            halo_mass_get(q->s, mass) < density * volume_of(b->last))
            return REFINE;
        n += b->n;
        mass += b->m;
        if (n < INNER && !last) continue;
        const double inside = halo_mass_get(q->s, mass);
        const double next = last ? a->radius * a->radius : b[1].first;
        if (inside >= density * volume_of(next)) continue;
        *r = cbrt(inside / (density * (4 * M_PI / 3)));
        *m = inside;
        if (*r * *r < b->last) *m = *r = NAN; /* mean density below the limit throughout */
        return FOUND;
    }
    return a->bins.n ? TOO_SMALL : FOUND;
}

static void ask_first(const struct spheres *q, int64_t halo, struct requests *out)
{
    const struct sphere *a = &q->of[halo];
    struct request r = {.halo = halo, .to = halo_key(a->radius * a->radius), .shift = -1};
    for (int k = 0; k < 3; k++) r.x[k] = q->halo[halo].x[k];
    if (a->points > q->s->exact) {
        r.shift = COARSE;
        r.open = true;
        r.from = halo_key(ldexp(a->radius * a->radius, -OCTAVES));
    }
    add_request(out, &r);
}

/* Requests finer bins for a bin, and removes it. */
static void ask_again(const struct spheres *q, int64_t halo, int64_t which, struct requests *out)
{
    struct bin *b = &q->of[halo].bins.at[which];
    struct request r = {.halo = halo, .from = halo_key(b->first), .to = halo_key(b->last)};
    for (int k = 0; k < 3; k++) r.x[k] = q->halo[halo].x[k];
    if (b->n <= q->s->exact) r.shift = -1;
    while (r.shift >= 0 && (r.to >> r.shift) - (r.from >> r.shift) >= BINS) r.shift++;
    add_request(out, &r);
    b->n = 0;
}

/* Evaluates the bins of a halo, and requests more where needed. */
static void weigh(struct spheres *q, int64_t halo, struct requests *out)
{
    struct sphere *a = &q->of[halo];
    struct halo *h = &q->halo[halo];
    int64_t which[HALO_SPHERES], asked = 0;
    bool small = false;
    for (int k = 0; k < HALO_SPHERES; k++) {
        if (!(q->s->density[k] > 0)) continue;
        enum verdict v = find_sphere(q, a, q->s->density[k], &h->m[k], &h->r[k], &which[asked]);
        small |= v == TOO_SMALL;
        bool new = v == REFINE;
        for (int64_t i = 0; i < asked && new; i++) new = which[i] != which[asked];
        asked += new;
    }
    for (int64_t i = 0; i < asked; i++) ask_again(q, halo, which[i], out);
    if (asked) {
        int64_t n = 0;
        for (int64_t i = 0; i < a->bins.n; i++)
            if (a->bins.at[i].n) a->bins.at[n++] = a->bins.at[i];
        a->bins.n = n;
        return;
    }
    a->points = 0;
    for (int64_t i = 0; i < a->bins.n; i++) a->points += a->bins.at[i].n;
    FREE(a->bins.at);
    a->bins = (struct bins){0};
    const bool again = small && a->radius < MAX;
    a->radius = again ? fmin(GROW * a->radius, MAX) : -1;
    if (again && a->radius <= a->reach) ask_first(q, halo, out);
}

/* Measures those of halos first..end-1 that are not done, until no request is left. (collective) */
static void measure_turn(struct spheres *q, int64_t first, int64_t end)
{
    struct requests r = {0};
    int64_t more;
    for (int64_t i = first; i < end; i++)
        if (q->of[i].radius >= 0) ask_first(q, i, &r);
    for (more = r.n, comm_max_i64(q->s->c, &more, 1); more;) {
        struct bins all = read_requests(q, r.n, r.at);
        for (int64_t i = 0; i < all.n; i++) all.at[i].halo = r.at[all.at[i].halo].halo;
        if (q->s->domain) ask_others(q, &r, &all);
        for (int64_t i = 0; i < all.n; i++) add_bin(&q->of[all.at[i].halo].bins, &all.at[i]);
        FREE(all.at);
        struct requests done = r;
        r = (struct requests){0};
        int64_t last = -1;
        for (int64_t i = 0; i < done.n; i++) { /* requests of a halo are adjacent */
            if (done.at[i].halo == last) continue;
            last = done.at[i].halo;
            join_bins(&q->of[last].bins, 0);
            weigh(q, last, &r);
        }
        FREE(done.at);
        more = r.n;
        comm_max_i64(q->s->c, &more, 1);
    }
    FREE(r.at);
}

/* Sets the initial radii: spheres for about twice the mass of the members. */
static void begin(struct spheres *q)
{
    double min = INFINITY;
    for (int k = 0; k < HALO_SPHERES; k++)
        if (q->s->density[k] > 0) min = fmin(min, q->s->density[k]);
    for (int64_t i = 0; i < q->n; i++) {
        struct halo *h = &q->halo[i];
        for (int k = 0; k < HALO_SPHERES; k++) h->m[k] = h->r[k] = NAN;
        q->of[i] = (struct sphere){.points = 3 * h->number};
        q->of[i].radius = fmin(cbrt(2 * h->mass / (min * (4 * M_PI / 3))), MAX);
    }
}

/* Measures all halos that are not done. (collective) */
static void measure_all(struct spheres *q)
{
    const int64_t budget = (q->trees->set[0]->n + q->trees->set[1]->n) / 64 + 4 * EXACT;
    int64_t more = 1;
    for (int64_t first = 0, end; more; first = end) {
        int64_t expect = 0;
        for (end = first; end < q->n && (end == first || expect < budget); end++)
            if (q->of[end].radius >= 0)
                expect += q->of[end].points < EXACT ? q->of[end].points : EXACT;
        measure_turn(q, first, end);
        more = end < q->n;
        comm_max_i64(q->s->c, &more, 1);
    }
}

/* Marks the regions of the halos that are not done, in which their spheres may grow once. Returns
 * the number of these halos. */
static int64_t mark_regions(struct spheres *q, struct halo_nearby *near)
{
    int64_t left = 0;
    for (int64_t i = 0; i < q->n; i++) {
        struct sphere *a = &q->of[i];
        if (a->radius < 0) continue;
        a->reach = fmin(GROW * a->radius, MAX);
        halo_nearby_mark(near, q->s, q->halo[i].x, a->reach);
        left++;
    }
    comm_max_i64(q->s->c, &left, 1);
    return left;
}

enum err halo_measure_spheres(const struct halo_space *s, struct halo_nearby *near,
                              struct halo_trees *t, int64_t n, struct halo *h)
{
    struct spheres q = {.s = s, .trees = t, .halo = h, .n = n};
    enum err err = OK;
    q.of = mem_new(sizeof *q.of * (size_t)n + 1, "halos: spheres");
    begin(&q);
    while (err == OK && mark_regions(&q, near) > 0) {
        err = halo_nearby_plant(near, s, t);
        if (err == OK) measure_all(&q);
    }
    FREE(q.of);
    return err;
}
