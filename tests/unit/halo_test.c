/* Halos on any number of ranks: groups against those of all points on one rank, wherever the bodies
 * are at first; spheres of a Navarro-Frenk-White halo against its mass profile; dispersion, spin,
 * shape and contamination of bodies for which they are known; wrong inputs. Catches: a link between
 * ranks that is lost, in particular across the periodic border; a member that is sent twice; a
 * sphere that ends at the border of a domain; units of the spin. */
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

/* ---- bodies, the same on all ranks ---- */

static double wrap(double x)
{
    x -= floor(x);
    return x < 1 ? x : 0;
}

/* Clumps of many sizes, some across the border of the box, and a background. */
static struct halo_body *clumps(int64_t n)
{
    struct halo_body *b = mem_zero(sizeof *b * (size_t)n, "test");
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
        b[i].kind = HALO_DM;
    }
    return b;
}

/* This rank's share: 0: by number, 1: by place, 2: all on the last rank. */
static struct halo_body *share_of(const struct halo_body *all, int64_t n, int how, int64_t *own)
{
    struct halo_body *b = mem_new(sizeof *b * (size_t)n + 1, "test");
    *own = 0;
    for (int64_t i = 0; i < n; i++) {
        int rank = how == 0   ? (int)(i % c.size)
                   : how == 1 ? (int)(all[i].x[1] * c.size)
                              : c.size - 1;
        if (rank == c.rank) b[(*own)++] = all[i];
    }
    return b;
}

static struct halo_par parameters(double link)
{
    struct halo_par p = {.periodic = {true, true, true},
                         .link = link,
                         .part = 0.2,
                         .least = 20,
                         .gravity = 1,
                         .members = true,
                         .mean = 1};
    for (int k = 0; k < HALO_SPHERES; k++) p.over[k] = 200;
    p.over[HALO_500C] = 500;
    return p;
}

static struct halo_list find(const struct halo_body *all, int64_t n, int how,
                             const struct halo_par *p)
{
    int64_t own;
    struct halo_body *b = share_of(all, n, how, &own);
    struct halo_list l;
    enum err err = halo_find(&c, p, own, &b, &l);
    CHECK(err == OK, "%s", err_message());
    return l;
}

/* ---- groups ---- */

/* Those of all points on one rank: halo of each group, by id of the least member. */
static int64_t reference(const struct halo_body *all, int64_t n, double link, int64_t least,
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
        if (size[i] >= least) number[first[i] - 1] = size[i], halos++;
    for (int k = 0; k < 3; k++) FREE(x[k]);
    FREE(label);
    FREE(size);
    FREE(first);
    return halos;
}

struct members {
    int64_t halos, ids, wrong;
    const struct halo_list *l;
};

static enum err count_members(int64_t halo, int64_t n, const int64_t *id, void *ctx)
{
    struct members *m = ctx;
    m->wrong += halo != m->halos++ || n != m->l->at[halo].number || id[0] != m->l->at[halo].id;
    for (int64_t i = 1; i < n; i++) m->wrong += id[i] <= id[i - 1];
    m->ids += n;
    return OK;
}

static void test_groups(void)
{
    enum { N = 6000 };
    static const double links[] = {0.002, 0.01, 0.2, 0.8, 3};
    struct halo_body *all = clumps(N);
    int64_t *number = mem_new(sizeof *number * N, "test");
    for (int k = 0; k < 5; k++) {
        struct halo_par p = parameters(links[k]);
        struct halo_list l = find(all, N, 0, &p);
        int64_t halos = c.rank == 0 ? reference(all, N, links[k], p.least, number) : 0, wrong = 0;
        for (int64_t i = 0; i < l.n; i++) wrong += number[l.at[i].id - 1] != l.at[i].number;
        for (int64_t i = 1; i < l.n; i++) wrong += l.at[i].mass > l.at[i - 1].mass;
        CHECK(l.n == halos && wrong == 0, "link %g: %ld of %ld halos, %ld wrong", links[k],
              (long)l.n, (long)halos, (long)wrong);
        struct members m = {.l = &l};
        enum err err = halo_each_member(&c, &l, count_members, &m);
        CHECK(err == OK && m.wrong == 0 && m.halos == l.n && m.ids == l.grouped, "members");
        for (int how = 1; how < 3; how++) {
            struct halo_list q = find(all, N, how, &p);
            int64_t differ = q.n != l.n;
            for (int64_t i = 0; i < l.n && !differ; i++) {
                struct halo a = l.at[i], b = q.at[i];
                a.first = b.first = a.owner = b.owner = 0;
                differ += memcmp(&a, &b, sizeof a) != 0;
            }
            CHECK(differ == 0, "link %g: other halos of bodies on other ranks", links[k]);
            halo_list_free(&q);
        }
        halo_list_free(&l);
    }
    FREE(number);
    FREE(all);
}

/* ---- a halo that is known ---- */

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

/* Dark matter of an NFW profile out to 30 scale radii, with dispersion and solid rotation around z;
 * each tenth body a heavy one, as of a second halo in the same place; stars and gas inside rs. */
static struct halo_body *known_halo(void)
{
    struct halo_body *b = mem_zero(sizeof *b * (NFW + STARS + CELLS), "test");
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
        b[i].kind = i < NFW ? HALO_DM : i < NFW + STARS ? HALO_STAR : HALO_GAS;
        b[i].m = i < NFW ? 1.0 / NFW : 1e-9;
        b[i].id = i < NFW + STARS ? i + 1 : 0;
    }
    return b;
}

static void test_spheres(void)
{
    struct halo_body *all = known_halo();
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
    struct halo_body *all = mem_zero(sizeof *all * N, "test");
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

/* ---- hostile ---- */

/* So many that looking at all pairs would take minutes. */
static void test_one_place(void)
{
    enum { N = 300000 };
    struct halo_par p = parameters(0);
    struct halo_body *all = mem_zero(sizeof *all * N, "test");
    for (int64_t i = 0; i < N; i++)
        all[i] = (struct halo_body){.x = {0.25, 0.25, 0.25}, .m = 1.0 / N, .id = i};
    struct halo_list l = find(all, N, 2, &p);
    if (c.rank == 0)
        CHECK(l.n == 1 && l.at[0].number == N && l.at[0].x[0] == 0.25 &&
                  l.at[0].m[0] == l.at[0].mass,
              "%ld halos, %g in the sphere", (long)l.n, l.n ? l.at[0].m[0] : 0);
    halo_list_free(&l);
    FREE(all);
}

static void test_hostile(void)
{
    struct halo_body *all = clumps(1000);
    struct halo_par p = parameters(0);
    struct halo_list l = find(all, 0, 0, &p);
    CHECK(l.n == 0 && l.grouped == 0, "halos of nothing");
    halo_list_free(&l);
    test_one_place();
    static const double bad[] = {NAN, INFINITY, 1, -0.1};
    for (int k = 0; k < 4; k++) {
        int64_t own;
        all[500].x[2] = bad[k];
        struct halo_body *b = share_of(all, 1000, 0, &own);
        enum err err = halo_find(&c, &p, own, &b, &l);
        CHECK(err != OK && strstr(err_message(), "particle") && !b && !l.at, "%g", bad[k]);
        halo_list_free(&l);
    }
    all[500].x[2] = 0.1, all[500].v[0] = NAN;
    int64_t own;
    struct halo_body *b = share_of(all, 1000, 0, &own);
    CHECK(halo_find(&c, &p, own, &b, &l) != OK, "a velocity of NaN");
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
    test_densities();
    test_groups();
    test_spheres();
    test_heavy();
    test_hostile();
    int64_t all[2] = {passed, failed};
    comm_add_i64(&c, all, 2);
    if (c.rank == 0) printf("%ld passed, %ld failed\n", (long)all[0], (long)all[1]);
    comm_fini();
    return all[1] > 0;
}
