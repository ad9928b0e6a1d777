/* Halos on any number of ranks: groups agree with those of all points on one rank, for any initial
 * distribution of the particles; centres agree with a search over all pairs; spheres of a
 * Navarro–Frenk–White halo agree with its mass profile, by all radii and by histograms; known
 * dispersion, spin, shape and contamination are recovered; memory is bounded; wrong inputs are
 * refused. Catches: a lost link between ranks, in particular across the periodic boundary; a
 * neighbour on another rank that does not count; a sphere that ends at the boundary of a domain;
 * units of the spin; all members of a group on one rank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "halo/halo.h"
#include "tree/tree.h"

static struct comm c;

/* ---- particles, equal on all ranks ---- */

static double wrap(double x)
{
    x -= floor(x);
    return x < 1 ? x : 0;
}

/* Clumps of many sizes, some across the boundary of the box, and a background. */
static struct halo_point *clumps(int64_t n)
{
    struct halo_point *b = mem_zero(sizeof *b * (size_t)n, "test");
    struct rng r = rng_make(5, 6, 7);
    double at[3] = {0, 0, 0}, size = 0;
    for (int64_t i = 0, left = 0; i < n; i++) {
        if (left-- <= 0) {
            left = (int64_t)(20 / (rng_uniform(&r) + 0.01));
            size = 1e-3 * cbrt((double)left);
            for (int k = 0; k < 3; k++) at[k] = rng_uniform(&r) < 0.4 ? 0 : rng_uniform(&r);
            if (i % 3 == 0) size = 0.5;
        }
        for (int k = 0; k < 3; k++) {
            b[i].x[k] = wrap(at[k] + size * (rng_uniform(&r) - 0.5));
            b[i].v[k] = rng_normal(&r);
        }
        b[i].m = 1.0 / (double)n;
        b[i].id = 1 + i * 7919 % n;
        b[i].kind = SPECIES_DM;
    }
    return b;
}

/* Particles of this rank: 0: by number, 1: by position, 2: all on the last rank. */
static struct halo_points share_of(const struct halo_point *all, int64_t n, int how)
{
    struct halo_points b = {.bad = false};
    for (int64_t i = 0; i < n; i++) {
        int rank = how == 0   ? (int)(i % c.size)
                   : how == 1 ? (int)(all[i].x[1] * c.size)
                              : c.size - 1;
        if (rank == c.rank) halo_points_add(&b, &all[i]);
    }
    return b;
}

static struct halo_par parameters(double link)
{
    struct halo_par p = {.periodic = {true, true, true},
                         .link = link,
                         .part = 0.2,
                         .min = 20,
                         .gravity = 1,
                         .members = true,
                         .mean = 1};
    for (int k = 0; k < HALO_SPHERES; k++) p.over[k] = 200;
    p.over[HALO_500C] = 500;
    return p;
}

static struct halo_list find(const struct halo_point *all, int64_t n, int how,
                             const struct halo_par *p)
{
    struct halo_points b = share_of(all, n, how);
    struct halo_list l;
    enum err err = halo_find(&c, p, &b, &l);
    CHECK(err == OK, "%s", err_message());
    return l;
}

static int64_t differing(const struct halo_list *l, const struct halo_list *q)
{
    int64_t differ = q->n != l->n;
    for (int64_t i = 0; i < l->n && !differ; i++) {
        struct halo a = l->at[i], b = q->at[i];
        a.index = b.index = a.owner = b.owner = 0;
        differ += memcmp(&a, &b, sizeof a) != 0;
    }
    return differ;
}

/* ---- groups ---- */

/* Halos of all points on one rank: halo of each group, by id of the first member. */
static int64_t reference(const struct halo_point *all, int64_t n, double link, int64_t min,
                         int64_t *number)
{
    struct tree_points p = {.n = n, .period = {1, 1, 1}};
    struct tree *t;
    double *x[3];
    int32_t *label = mem_new(sizeof *label * (size_t)n, "test");
    int64_t *size = mem_zero(sizeof *size * (size_t)n, "test"), *first = mem_new(8 * (size_t)n, "");
    int64_t halos = 0;
    for (int k = 0; k < 3; k++) {
        p.x[k] = x[k] = mem_new(sizeof(double) * (size_t)n, "test");
        for (int64_t i = 0; i < n; i++) x[k][i] = all[i].x[k];
    }
    if (tree_new(&p, TREE_BRUTE, link, &t) != OK) exit(1);
    tree_groups(t, link, label);
    tree_free(&t);
    for (int64_t i = 0; i < n; i++) first[i] = INT64_MAX, number[i] = 0;
    for (int64_t i = 0; i < n; i++) {
        size[label[i]]++;
        if (all[i].id < first[label[i]]) first[label[i]] = all[i].id;
    }
    for (int64_t i = 0; i < n; i++)
        if (size[i] >= min) number[first[i] - 1] = size[i], halos++;
    for (int k = 0; k < 3; k++) FREE(x[k]);
    FREE(label);
    FREE(size);
    FREE(first);
    return halos;
}

struct members {
    int64_t halos, ids, wrong, max;
    int64_t of_halo, last; /* of_halo, last: members so far, of the last halo */
    const struct halo_list *l;
};

static enum err count_members(int64_t halo, int64_t n, const int64_t *id, void *ctx)
{
    struct members *m = ctx;
    if (m->of_halo == 0) {
        m->wrong += halo != m->halos++ || id[0] != m->l->at[halo].id;
        m->last = INT64_MIN;
    }
    m->wrong += halo != m->halos - 1 || n > c.size * m->max;
    for (int64_t i = 0; i < n; m->last = id[i++]) m->wrong += id[i] <= m->last;
    m->ids += n;
    m->of_halo += n;
    m->wrong += m->of_halo > m->l->at[halo].number;
    if (m->of_halo == m->l->at[halo].number) m->of_halo = 0;
    return OK;
}

static void test_groups(void)
{
    enum { N = 6000 };
    static const double links[] = {0.002, 0.01, 0.2, 0.8, 3};
    struct halo_point *all = clumps(N);
    int64_t *number = mem_new(sizeof *number * N, "test");
    for (int k = 0; k < 5; k++) {
        struct halo_par p = parameters(links[k]);
        struct halo_list l = find(all, N, 0, &p);
        int64_t halos = c.rank == 0 ? reference(all, N, links[k], p.min, number) : 0, wrong = 0;
        for (int64_t i = 0; i < l.n; i++) wrong += number[l.at[i].id - 1] != l.at[i].number;
        for (int64_t i = 1; i < l.n; i++) wrong += l.at[i].mass > l.at[i - 1].mass;
        CHECK(l.n == halos && wrong == 0, "link %g: %ld of %ld halos, %ld wrong", links[k],
              (long)l.n, (long)halos, (long)wrong);
        for (int64_t max = 10; max < 1000000; max *= 100) {
            struct members m = {.l = &l, .max = max};
            enum err err = halo_each_member(&c, &l, max, count_members, &m);
            CHECK(err == OK && m.wrong == 0 && m.halos == l.n && m.ids == l.grouped,
                  "link %g: members, %ld at a time: %ld wrong", links[k], (long)max, (long)m.wrong);
        }
        for (int how = 1; how < 3; how++) {
            struct halo_list q = find(all, N, how, &p);
            CHECK(differing(&l, &q) == 0, "link %g: other halos of bodies on other ranks",
                  links[k]);
            halo_list_free(&q);
        }
        halo_list_free(&l);
    }
    FREE(number);
    FREE(all);
}

/* ---- centres ---- */

/* Numbers of the members of the halo with this id, for particles numbered by id - 1. */
static int64_t members_of(const struct halo_point *all, int64_t n, double link, int64_t id,
                          int64_t *member)
{
    int64_t found = 1;
    bool *taken = mem_zero((size_t)n, "test");
    const double period[3] = {1, 1, 1};
    member[0] = id, taken[id] = true;
    for (int64_t k = 0; k < found; k++)
        for (int64_t i = 0; i < n; i++)
            if (!taken[i] && tree_far2(all[member[k]].x, all[i].x, period) <= link * link)
                taken[i] = true, member[found++] = i;
    FREE(taken);
    return found;
}

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The member with the closest 32nd neighbour, by all pairs. */
static int64_t densest(const struct halo_point *all, int64_t n, const int64_t *member)
{
    const double period[3] = {1, 1, 1};
    double *far2 = mem_new(sizeof *far2 * (size_t)n, "test"), min = INFINITY;
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < n; k++)
            far2[k] = tree_far2(all[member[i]].x, all[member[k]].x, period);
        qsort(far2, (size_t)n, sizeof *far2, compare_doubles);
        double d = far2[n < 32 ? n - 1 : 31];
        if (d < min || (d == min && all[member[i]].id < all[best].id)) min = d, best = member[i];
    }
    FREE(far2);
    return best;
}

static void test_centres(void)
{
    enum { N = 2500 };
    static const double links[] = {0.01, 0.03, 0.2};
    struct halo_point *all = clumps(N);
    int64_t *member = mem_new(sizeof *member * N, "test"), *number = mem_new(8 * N, "test");
    for (int64_t i = 0; i < N; i++) number[all[i].id - 1] = i;
    for (int k = 0; k < 3; k++) {
        struct halo_par p = parameters(links[k]);
        struct halo_list l = find(all, N, 0, &p);
        for (int64_t i = 0; i < l.n && i < 30; i++) {
            const struct halo *h = &l.at[i];
            int64_t n = members_of(all, N, links[k], number[h->id - 1], member);
            int64_t best = densest(all, n, member);
            CHECK(n == h->number && memcmp(all[best].x, h->x, sizeof h->x) == 0,
                  "link %g, halo of %ld: centre %g %g %g, not %g %g %g", links[k], (long)n, h->x[0],
                  h->x[1], h->x[2], all[best].x[0], all[best].x[1], all[best].x[2]);
        }
        /* histograms instead of all radii */
        p.exact = 1;
        struct halo_list q = find(all, N, 1, &p);
        CHECK(differing(&l, &q) == 0, "link %g: other spheres by histograms", links[k]);
        halo_list_free(&q);
        halo_list_free(&l);
    }
    FREE(number);
    FREE(member);
    FREE(all);
}

/* Energy of a member in the potential of spheres around x, with all radii. */
static double energy_of(const struct halo_point *all, int64_t n, int64_t i, const double x[3],
                        const double v[3], double core2)
{
    const double period[3] = {1, 1, 1};
    double r2 = fmax(tree_far2(all[i].x, x, period), core2), e = 0;
    for (int64_t k = 0; k < n; k++)
        e -= all[k].m / sqrt(fmax(fmax(tree_far2(all[k].x, x, period), core2), r2));
    for (int k = 0; k < 3; k++) e += 0.5 * (all[i].v[k] - v[k]) * (all[i].v[k] - v[k]);
    return e;
}

/* A halo of PASSED particles; the first FAST of them are dense, and pass through it. */
enum { PASSED = 4000, FAST = 300 };
static struct halo_point *passed_halo(void)
{
    struct halo_point *all = mem_zero(sizeof *all * PASSED, "test");
    struct rng r = rng_make(8, 1, 5);
    for (int64_t i = 0; i < PASSED; i++) {
        double size = (i < FAST ? 0.002 : 0.04) * cbrt(rng_uniform(&r)), far = 0, u[3];
        for (int k = 0; k < 3; k++) u[k] = rng_normal(&r), far += u[k] * u[k];
        for (int k = 0; k < 3; k++) {
            all[i].x[k] = wrap(size * u[k] / sqrt(far));
            all[i].v[k] = 2 * rng_normal(&r) + (i < FAST && k == 0 ? 30 : 0);
        }
        all[i].m = 1.0 / PASSED;
        all[i].id = 1 + i;
    }
    return all;
}

/* The densest members of a halo move through it: others are most bound. */
static void test_bound(void)
{
    struct halo_point *all = passed_halo();
    struct halo_par p = parameters(0.02);
    struct halo_list l = find(all, PASSED, 0, &p);
    p.centre = HALO_BOUND;
    struct halo_list q = find(all, PASSED, 0, &p), other = find(all, PASSED, 2, &p);
    CHECK(differing(&q, &other) == 0, "another one is bound most");
    if (c.rank == 0 && l.n == 1 && q.n == 1) {
        const struct halo *h = &l.at[0];
        double min = INFINITY, got = INFINITY, core2 = 0.0007 * 0.0007;
        for (int64_t i = 0; i < PASSED; i++) {
            double e = energy_of(all, PASSED, i, h->x, h->v, core2);
            min = fmin(min, e);
            if (memcmp(all[i].x, q.at[0].x, sizeof all[i].x) == 0) got = e;
            if (memcmp(all[i].x, h->x, sizeof all[i].x) == 0) CHECK(i < FAST, "densest: %ld", i);
        }
        CHECK(got < 0.95 * min, "energy %g, the least is %g", got, min);
    } else
        CHECK(c.rank > 0, "%ld and %ld halos", (long)l.n, (long)q.n);
    halo_list_free(&l);
    halo_list_free(&q);
    halo_list_free(&other);
    FREE(all);
}

MEM_ORDER_OF(by_value, double)
MEM_ORDER2(by_energy, struct halo_tracer, energy, id)

/* The tracers of the only halo on rank 0, the most bound first. */
static struct halo_tracer *tracers_of(const struct halo_list *l, int64_t *n)
{
    struct halo_tracer *t = comm_exchange_root(&c, l->tracer, l->ntracers, sizeof *t, n);
    mem_sort(t, (size_t)*n, sizeof *t, by_energy);
    return t;
}

/* Tracers are the members of least energy, by sums over pairs up to the width of the bins of the
 * profile; equal for any distribution; fewer of them are the first of more. */
static void test_tracers(void)
{
    enum { MANY = 200, FEW = 7 };
    struct halo_point *all = passed_halo();
    struct halo_par p = parameters(0.02);
    int64_t n, nother, nfew, within = 0;
    p.tracers = MANY;
    struct halo_list l = find(all, PASSED, 0, &p), other = find(all, PASSED, 2, &p);
    p.tracers = FEW;
    struct halo_list few = find(all, PASSED, 1, &p);
    struct halo_tracer *t = tracers_of(&l, &n), *u = tracers_of(&other, &nother),
                       *v = tracers_of(&few, &nfew);
    if (c.rank == 0 && l.n == 1) {
        double *energy = mem_new(sizeof *energy * PASSED, "test"), core2 = 0.0007 * 0.0007;
        CHECK(n == MANY && nother == MANY && nfew == FEW, "%ld, %ld and %ld tracers", (long)n,
              (long)nother, (long)nfew);
        CHECK(memcmp(t, u, sizeof *t * (size_t)n) == 0, "tracers depend on the ranks");
        CHECK(memcmp(t, v, sizeof *t * (size_t)nfew) == 0, "others with fewer tracers");
        for (int64_t i = 0; i < PASSED; i++)
            energy[i] = energy_of(all, PASSED, i, l.at[0].x, l.at[0].v, core2);
        double *sorted = mem_new(sizeof *sorted * PASSED, "test");
        memcpy(sorted, energy, sizeof *sorted * PASSED);
        mem_sort(sorted, PASSED, sizeof *sorted, by_value);
        for (int64_t i = 0; i < n; i++) within += energy[t[i].id - 1] <= sorted[2 * MANY];
        CHECK(within == n, "%ld tracers are not among the most bound", (long)(n - within));
        FREE(sorted);
        FREE(energy);
    } else
        CHECK(c.rank > 0, "%ld halos", (long)l.n);
    FREE(t);
    FREE(u);
    FREE(v);
    halo_list_free(&l);
    halo_list_free(&other);
    halo_list_free(&few);
    FREE(all);
}

/* ---- a halo with known properties ---- */

static double nfw(double x)
{
    return log(1 + x) - x / (1 + x);
}

static double bisect(double target, double low, double high)
{
    for (int i = 0; i < 80; i++) {
        double x = 0.5 * (low + high);
        *(nfw(x) < target ? &low : &high) = x;
    }
    return 0.5 * (low + high);
}

/* Radius x = r/rs within which the mean density is that of rho_s × over. */
static double radius_of(double over)
{
    double low = 1e-3, high = 1e3;
    for (int i = 0; i < 80; i++) {
        double x = sqrt(low * high);
        *(3 * nfw(x) / (x * x * x) > over ? &low : &high) = x;
    }
    return low;
}

enum { NFW = 60000, STARS = 3000, CELLS = 2000 };
static const double RS = 0.004, EDGE = 30, SIGMA = 3, OMEGA = 500, CENTRE[3] = {0.999, 0.5, 0.001};

/* Dark matter with an NFW profile out to 30 scale radii, with dispersion and solid rotation around
 * z; every tenth particle is heavy, as of a second halo at the same position; stars and gas inside
 * rs. */
static struct halo_point *known_halo(void)
{
    struct halo_point *b = mem_zero(sizeof *b * (NFW + STARS + CELLS), "test");
    struct rng r = rng_make(9, 9, 9);
    for (int64_t i = 0; i < NFW + STARS + CELLS; i++) {
        double f = ((double)i + 0.5) / NFW, u[3], s = 0;
        double rad = RS * (i < NFW ? bisect(f * nfw(EDGE), 0, EDGE) : rng_uniform(&r));
        for (int k = 0; k < 3; k++) {
            u[k] = rng_normal(&r);
            s += u[k] * u[k];
        }
        for (int k = 0; k < 3; k++) {
            u[k] *= rad / sqrt(s);
            b[i].x[k] = wrap(CENTRE[k] + u[k]);
            b[i].v[k] = 7 + SIGMA * rng_normal(&r);
        }
        b[i].v[0] -= OMEGA * u[1], b[i].v[1] += OMEGA * u[0];
        b[i].kind = i < NFW ? SPECIES_DM : i < NFW + STARS ? SPECIES_STAR : SPECIES_GAS;
        b[i].m = i < NFW ? 1.0 / NFW : 1e-9;
        b[i].id = i < NFW + STARS ? i + 1 : 0;
    }
    return b;
}

static void test_spheres(void)
{
    struct halo_point *all = known_halo();
    struct halo_par p = parameters(0.003);
    const double scale = 1 / (4 * M_PI * RS * RS * RS * nfw(EDGE));           /* density rho_s */
    static const double over[HALO_SPHERES] = {0.0077, 0.0023, 0.0039, 0.019}; /* c = 8 */
    for (int k = 0; k < HALO_SPHERES; k++) p.over[k] = over[k] * scale;
    struct halo_list l = find(all, NFW + STARS + CELLS, 0, &p);
    FREE(all);
    if (c.rank == 0) CHECK(l.n >= 1 && l.at[0].number > NFW / 2, "%ld halos", (long)l.n);
    if (c.rank == 0 && l.n >= 1) {
        const struct halo *h = &l.at[0];
        for (int k = 0; k < HALO_SPHERES; k++) {
            double x = radius_of(over[k]), m = nfw(x) / nfw(EDGE);
            CHECK(fabs(h->m[k] / m - 1) < 0.01 && fabs(h->r[k] / (x * RS) - 1) < 0.01,
                  "%s: mass %g instead of %g, radius %g instead of %g", HALO_SPHERE_NAME[k],
                  h->m[k], m, h->r[k], x * RS);
        }
        double x = radius_of(over[HALO_VIR]), second = 0, count = 0;
        for (int i = 0; i < NFW; i++) {
            double y = bisect((i + 0.5) / NFW * nfw(EDGE), 0, EDGE);
            if (y <= x) second += y * y * RS * RS, count++;
        }
        /* rotation adds ω² (x² + y²) to 3 σ² */
        double turn = OMEGA * 2.0 / 3 * second / count;
        double sigma = sqrt(SIGMA * SIGMA + OMEGA * turn / 3);
        double spin = turn / sqrt(2 * h->m[HALO_VIR] * h->r[HALO_VIR]);
        CHECK(fabs(h->sigma / sigma - 1) < 0.02, "dispersion %g, not %g", h->sigma, sigma);
        CHECK(fabs(h->spin / spin - 1) < 0.03, "spin %g, not %g", h->spin, spin);
        CHECK(h->b_a > 0.96 && h->b_a <= 1 && h->c_a > 0.95 && h->c_a <= h->b_a, "axes %g %g",
              h->b_a, h->c_a);
        CHECK(fabs(h->stars / 3e-6 - 1) < 1e-9 && fabs(h->gas / 2e-6 - 1) < 1e-9,
              "stars %g, gas %g", h->stars, h->gas);
        CHECK(h->heavy == 0 && h->heavy_mass == 0, "%ld heavy ones", (long)h->heavy);
        double far2 = tree_far2(h->x, CENTRE, (double[3]){1, 1, 1});
        CHECK(far2 < 0.04 * RS * RS, "the centre is %g away", sqrt(far2));
    }
    halo_list_free(&l);
}

static void test_heavy(void)
{
    enum { N = 400 };
    struct halo_point *all = mem_zero(sizeof *all * N, "test");
    struct rng r = rng_make(1, 1, 4);
    for (int64_t i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++) all[i].x[k] = 0.5 + 0.01 * (rng_uniform(&r) - 0.5);
        all[i].m = i % 8 ? 0.001 : 0.008;
        all[i].id = i;
    }
    struct halo_par p = parameters(0.01);
    for (int k = 0; k < HALO_SPHERES; k++) p.over[k] = NAN;
    p.over[HALO_200M] = 200;
    struct halo_list l = find(all, N, 0, &p);
    if (c.rank == 0)
        CHECK(l.n == 1 && l.at[0].heavy == N / 8 && fabs(l.at[0].heavy_mass - 8.0 / 15) < 1e-12 &&
                  isnan(l.at[0].r[HALO_VIR]) && l.lightest == 0.001,
              "%ld halos", (long)l.n);
    halo_list_free(&l);
    FREE(all);
}

/* ---- gas ---- */

enum { OCTS = 3000 };
struct gas {
    int level;
    okey key;
    unsigned leaf;
    double m[8];
};

/* Octs of all sizes around particles, twenty times heavier than the dark matter, so that spheres
 * grow beyond their first regions. */
static struct gas *octs(const struct halo_point *all, int64_t n)
{
    struct gas *g = mem_zero(sizeof *g * OCTS, "test");
    struct rng r = rng_make(3, 1, 9);
    for (int i = 0; i < OCTS; i++) {
        const double spread = i % 2 ? 0.02 : 0.003;
        uint64_t at[3];
        g[i].level = 4 + i % 7;
        for (int k = 0; k < 3; k++)
            at[k] = (uint64_t)(wrap(all[i * n / OCTS].x[k] + spread * rng_normal(&r)) *
                               (double)(1 << (g[i].level - 1)));
        g[i].key = okey_make(at[0], at[1], at[2]);
        g[i].leaf = (unsigned)(256 * rng_uniform(&r));
        for (int k = 0; k < 8; k++) g[i].m[k] = 40.0 / (8 * OCTS) * rng_uniform(&r);
    }
    return g;
}

static struct halo_point cell_of(const struct gas *g, int cell)
{
    struct halo_point b = {.m = g->m[cell], .kind = SPECIES_GAS};
    int64_t at[3];
    okey_coords(g->key, at);
    for (int k = 0; k < 3; k++)
        b.x[k] = ((double)(2 * at[k] + (cell >> k & 1)) + 0.5) * ldexp(1, -g->level);
    return b;
}

/* Mass of all matter within a radius, of the halos that have one. */
static void check_masses(const struct halo_list *l, const struct halo_point *all, int64_t n,
                         const struct gas *g)
{
    const double period[3] = {1, 1, 1};
    int64_t found = 0;
    for (int64_t i = 0; i < l->n; i++)
        for (int k = 0; k < HALO_SPHERES; k++) {
            const double r2 = l->at[i].r[k] * l->at[i].r[k];
            double m = 0;
            if (!(r2 > 0)) continue;
            for (int64_t j = 0; j < n; j++)
                m += tree_far2(all[j].x, l->at[i].x, period) <= r2 ? all[j].m : 0;
            for (int64_t j = 0; j < 8 * OCTS; j++) {
                const struct halo_point b = cell_of(&g[j / 8], j % 8);
                if (!(g[j / 8].leaf >> j % 8 & 1)) continue;
                m += tree_far2(b.x, l->at[i].x, period) <= r2 ? b.m : 0;
            }
            CHECK(fabs(l->at[i].m[k] / m - 1) < 1e-12, "halo %ld: %g, not %g, within %g", (long)i,
                  l->at[i].m[k], m, l->at[i].r[k]);
            found++;
        }
    CHECK(found > 20, "%ld spheres", (long)found);
}

/* Cells of octs are bodies; spheres have all matter, however far they grow. Catches spheres that
 * end at the regions of which the gas was sorted. */
static void test_gas(void)
{
    enum { N = 20000 };
    struct halo_point *all = clumps(N);
    struct gas *g = octs(all, N);
    struct halo_par p = parameters(0.004);
    struct halo_list l[2];
    p.mean = 0;
    p.members = false;
    for (int how = 0; how < 2; how++) {
        struct halo_points b = share_of(all, N, how);
        for (int i = 0; i < OCTS; i++) {
            if (i % c.size != c.rank) continue;
            if (how == 0) halo_points_add_oct(&b, g[i].level, g[i].key, g[i].leaf, g[i].m);
            for (int k = 0; k < 8 && how == 1; k++) {
                const struct halo_point q = cell_of(&g[i], k);
                if (g[i].leaf >> k & 1) halo_points_add(&b, &q);
            }
        }
        CHECK(halo_find(&c, &p, &b, &l[how]) == OK, "%s", err_message());
    }
    CHECK(differing(&l[0], &l[1]) == 0 && l[0].points[SPECIES_GAS] == l[1].points[SPECIES_GAS],
          "cells of octs and bodies differ");
    if (c.rank == 0) check_masses(&l[0], all, N, g);
    for (int how = 0; how < 2; how++) halo_list_free(&l[how]);
    FREE(g);
    FREE(all);
}

/* ---- hostile ---- */

/* So many particles that testing all pairs would take minutes: at one position, or one halo that
 * fills the box, of which each rank keeps its part. At most 100 bytes for each particle of a rank,
 * and for each copy from another rank. */
static void test_memory(bool index)
{
    enum { SIDE = 44, N = SIDE * SIDE * SIDE };
    struct halo_par p = parameters(index ? 0.001 : 1.1 / SIDE);
    struct halo_points b = {.bad = false};
    struct halo_list l;
    size_t before = mem_now();
    for (int64_t i = c.rank; i < N; i += c.size) {
        struct halo_point q = {.x = {0.25, 0.25, 0.25}, .m = 1.0 / N, .id = i};
        int64_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3 && !index; k++) q.x[k] = ((double)at[k] + 0.5) / SIDE;
        halo_points_add(&b, &q);
    }
    p.members = false;
    CHECK(halo_find(&c, &p, &b, &l) == OK, "%s", err_message());
    if (c.rank == 0)
        CHECK(l.n == 1 && l.at[0].number == N && (!index || l.at[0].x[0] == 0.25), "%ld halos",
              (long)l.n);
    if (c.rank == 0 && index)
        CHECK(fabs(l.at[0].m[0] / l.at[0].mass - 1) < 1e-14, "%g in the sphere", l.at[0].m[0]);
    halo_list_free(&l);
    /* a layer of copies on each side */
    double side = cbrt((double)N / c.size), copies = c.size > 1 ? 8 * side * side : 0;
    double points = index ? N : N / c.size * 1.1 + copies;
    double each = (double)(mem_peak() - before - (2 << 20)) / points;
    CHECK(each < 100, "%g bytes a body, %s", each, index ? "in one place" : "in the whole box");
    CHECK(mem_now() == before, "%zu bytes are left", mem_now() - before);
}

static void test_hostile(void)
{
    struct halo_point *all = clumps(1000);
    struct halo_par p = parameters(0);
    struct halo_list l = find(all, 0, 0, &p);
    CHECK(l.n == 0 && l.grouped == 0, "halos of nothing");
    halo_list_free(&l);
    static const double bad[] = {NAN, INFINITY, 1, -0.1};
    for (int k = 0; k < 4; k++) {
        all[500].x[2] = bad[k];
        struct halo_points b = share_of(all, 1000, 0);
        enum err err = halo_find(&c, &p, &b, &l);
        CHECK(err != OK && strstr(err_message(), "particle") && !b.dark.m && !l.at, "%g", bad[k]);
        halo_list_free(&l);
    }
    all[500].x[2] = 0.1, all[500].v[0] = NAN;
    struct halo_points b = share_of(all, 1000, 0);
    CHECK(halo_find(&c, &p, &b, &l) != OK, "a velocity of NaN");
    FREE(all);
}

static void test_densities(void)
{
    double d[HALO_SPHERES];
    halo_densities(1, 0, 0, 0.3, d);
    CHECK(fabs(d[HALO_VIR] - 18 * M_PI * M_PI) < 1e-9 && fabs(d[HALO_200C] - 200) < 1e-9,
          "Einstein-de Sitter: %g %g", d[HALO_VIR], d[HALO_200C]);
    halo_densities(0.3, 0.7, 0, 1, d); /* Δ_c = 101 */
    CHECK(fabs(d[HALO_VIR] * 0.3 - 101.1) < 0.1 && fabs(d[HALO_500C] * 0.3 - 500) < 1e-9 &&
              d[HALO_200M] == 200,
          "ΛCDM: %g", d[HALO_VIR] * 0.3);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &c);
    test_memory(false); /* must be first: the peak counts all tests */
    test_memory(true);
    test_densities();
    test_groups();
    test_gas();
    test_centres();
    test_bound();
    test_tracers();
    test_spheres();
    test_heavy();
    test_hostile();
    int64_t all[2] = {passed, failed};
    comm_add_i64(&c, all, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)all[0], (long)all[1]);
    comm_fini();
    return all[1] > 0;
}
