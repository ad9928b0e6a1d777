/* pk: laws of the estimator. Catches, among others: a window that is not divided out, aliases of
 * shot noise that are forgotten, an item missing on its second rank, and a cube whose mass is not
 * spread evenly.
 *
 * test: mpi=1,2,3,5 */
#include <complex.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "pk/pk.h"
#include "pk/pk_priv.h"
#include "pk/table.h"
#include "pk/window.h"

static struct comm comm;
static const struct comm alone = {.size = 1};

static double uniform(uint64_t i)
{
    return (double)(rng_mix(i + 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
}

/* Items of a reproducible set: all, or this rank's share. */
static struct pk_item *items(int64_t all, double size, int nmesh, const struct comm *c, int64_t *n)
{
    struct pk_item *it = mem_new(sizeof *it * (size_t)all + 1, "test");
    *n = 0;
    for (int64_t i = c->rank; i < all; i += c->size) {
        uint64_t k = 5 * (uint64_t)i;
        it[*n] = (struct pk_item){.x = {uniform(k), uniform(k + 1), uniform(k + 2)},
                                  .size = size * uniform(k + 3),
                                  .m = (0.5 + uniform(k + 4)) / (double)all,
                                  .mesh = (int)(i % nmesh)};
        (*n)++;
    }
    return it;
}

/* total: announced mass. */
static void spectra_of(const struct comm *c, struct pk_par par, double total, int64_t all,
                       double size, int nmesh, int npair, const struct pk_pair *pair, int nbin,
                       const double *edge, int axis, struct pk_bin *out)
{
    int64_t n;
    struct pk *p = pk_new(c, &par, nmesh, total);
    struct pk_item *it = items(all, size, nmesh, c, &n);
    pk_add(p, n, it);
    pk_spectra(p, npair, pair, nbin, edge, axis, out);
    FREE(it);
    pk_free(&p);
}

static void spectra(const struct comm *c, struct pk_par par, int64_t all, double size, int nmesh,
                    int npair, const struct pk_pair *pair, int nbin, const double *edge, int axis,
                    struct pk_bin *out)
{
    spectra_of(c, par, 1, all, size, nmesh, npair, pair, nbin, edge, axis, out);
}

/* Random points: V/N_eff in every bin below Nyquist, for every window, with and without
 * interlacing. */
static void test_shot(void)
{
    enum { NBIN = 3, N = 32, POINTS = 3000 };
    double edge[NBIN + 1] = {0.5, 6, 11, 16};
    for (int order = 1; order <= 4; order++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            double mean[NBIN] = {0}, shot = 0;
            enum { SETS = 4 };
            for (int s = 0; s < SETS; s++) {
                struct pk_par par = {
                    .n = N, .order = (enum pk_window)order, .interlace = interlaced, .fold = 1 + s};
                struct pk_bin bin[NBIN];
                spectra(&comm, par, POINTS, 0, 1, 1, &(struct pk_pair){.a = 1, .b = 1}, NBIN, edge,
                        -1, bin);
                for (int b = 0; b < NBIN; b++) mean[b] += bin[b].p[0] / SETS;
                shot = bin[0].shot;
            }
            /* bins of 8000 and 17000 modes, four independent sets: 1.6 and 1.1 % */
            for (int b = 1; b < NBIN; b++)
                CHECK(fabs(mean[b] / shot - 1) < 0.05, "order %d interlaced %d bin %d: %g", order,
                      interlaced, b, mean[b] / shot);
        }
}

/* Compares mode by mode with sums over points. A fine window on a mesh much finer than the modes
 * has negligible aliases. With a large total, the weights of points are small, and a faster
 * summation is used. */
static void test_direct(double total)
{
    enum { N = 64, POINTS = 200, TOP = 4 };
    int64_t n;
    struct pk_item *it = items(POINTS, 0, 1, &alone, &n);
    double sum[TOP] = {0}, pole[TOP][2] = {0}, mass = 0, shot = 0, edge[TOP + 1];
    int modes[TOP] = {0};
    for (int i = 0; i < n; i++) mass += it[i].m, shot += it[i].m * it[i].m;
    for (int b = 0; b <= TOP; b++) edge[b] = b + 0.5;
    for (int x = -TOP; x <= TOP; x++)
        for (int y = -TOP; y <= TOP; y++)
            for (int z = -TOP; z <= TOP; z++) {
                double k = sqrt(x * x + y * y + z * z);
                double complex d = 0;
                int b = (int)floor(k + 0.5) - 1;
                if (b < 0 || b >= TOP) continue;
                for (int i = 0; i < n; i++)
                    d += it[i].m *
                         cexp(-2 * M_PI * I * (x * it[i].x[0] + y * it[i].x[1] + z * it[i].x[2]));
                double power = cabs(d) * cabs(d) / (mass * mass), mu2 = z * z / (k * k);
                sum[b] += power;
                power -= shot / (mass * mass);
                pole[b][0] += power * 5 * (3 * mu2 - 1) / 2;
                pole[b][1] += power * 9 * (35 * mu2 * mu2 - 30 * mu2 + 3) / 8;
                modes[b]++;
            }
    FREE(it);
    struct pk_bin bin[TOP];
    struct pk_par par = {.n = N, .order = PK_PCS, .interlace = true, .fold = 1};
    spectra_of(&comm, par, total, POINTS, 0, 1, 1, &(struct pk_pair){.a = 1, .b = 1}, TOP, edge, 2,
               bin);
    for (int b = 0; b < TOP; b++) {
        CHECK(bin[b].modes == modes[b], "bin %d: %ld modes of %d", b, (long)bin[b].modes, modes[b]);
        CHECK(fabs(bin[b].p[0] / (sum[b] / modes[b]) - 1) < 2e-7, "bin %d: %.12g of %.12g", b,
              bin[b].p[0], sum[b] / modes[b]);
        for (int k = 0; k < 2; k++)
            CHECK(fabs(bin[b].p[1 + k] - pole[b][k] / modes[b]) < 1e-6 * bin[b].p[0],
                  "bin %d multipole %d: %.12g of %.12g", b, 2 + 2 * k, bin[b].p[1 + k],
                  pole[b][k] / modes[b]);
    }
}

/* Every mode counts once, also in the planes x = 0 and x = n/2, which are their own mirror
 * images. */
static void test_modes(void)
{
    enum { N = 16, TOP = N / 2 };
    double edge[TOP + 1];
    int modes[TOP] = {0};
    pk_fundamental_bins(N, edge);
    for (int x = 1 - TOP; x <= TOP; x++)
        for (int y = 1 - TOP; y <= TOP; y++)
            for (int z = 1 - TOP; z <= TOP; z++)
                for (int b = 0, s = x * x + y * y + z * z; b < TOP; b++)
                    modes[b] += sqrt(s) >= edge[b] && sqrt(s) < edge[b + 1];
    struct pk_bin bin[TOP];
    struct pk_par par = {.n = N, .order = PK_CIC, .fold = 1};
    spectra(&comm, par, 100, 0, 1, 1, &(struct pk_pair){.a = 1, .b = 1}, TOP, edge, -1, bin);
    for (int b = 0; b < TOP; b++)
        CHECK(bin[b].modes == modes[b], "bin %d: %ld modes of %d", b, (long)bin[b].modes, modes[b]);
}

/* Spectra are identical for any ranks and any order of batches; meshes are additive: P_all = Σ_ab
 * M_a M_b P_ab / M². */
static void test_bits_and_sum(void)
{
    enum { NBIN = 8, ALL = 2000 };
    double edge[NBIN + 1];
    static const struct pk_pair pair[4] = {
        {.a = 3, .b = 3}, {.a = 1, .b = 1}, {.a = 2, .b = 2}, {.a = 1, .b = 2}};
    for (int b = 0; b <= NBIN; b++) edge[b] = b + 0.5;
    for (int n = 16; n <= 27; n += 11) {
        struct pk_par par = {.n = n, .order = PK_TSC, .interlace = n == 27, .fold = 1};
        struct pk_bin many[4 * NBIN], one[4 * NBIN];
        spectra(&comm, par, ALL, 0.3, 2, 4, pair, NBIN, edge, 2, many);
        spectra(&alone, par, ALL, 0.3, 2, 4, pair, NBIN, edge, 2, one);
        CHECK(memcmp(many, one, sizeof many) == 0, "n = %d", n);
        int64_t nitem;
        struct pk_item *it = items(ALL, 0.3, 2, &alone, &nitem);
        double m[2] = {0};
        for (int i = 0; i < ALL; i++) m[it[i].mesh] += it[i].m;
        FREE(it);
        double t = (m[0] + m[1]) * (m[0] + m[1]);
        for (int b = 0; b < NBIN; b++) {
            double sum = m[0] * m[0] * one[NBIN + b].p[1] + m[1] * m[1] * one[2 * NBIN + b].p[1] +
                         2 * m[0] * m[1] * one[3 * NBIN + b].p[1];
            CHECK(fabs(one[b].p[1] - sum / t) < 1e-12 * one[b].p[0], "n = %d bin %d: %g", n, b,
                  one[b].p[1] - sum / t);
        }
    }
}

/* Points sorted by tiles, on several threads, give the bits of points added a few at a time. The
 * size of the mesh is not a multiple of that of tiles. */
static void test_batches(void)
{
    enum { NBIN = 8, ALL = 2000 };
    static const struct pk_pair pair[3] = {{.a = 1, .b = 1}, {.a = 2, .b = 2}, {.a = 1, .b = 2}};
    double edge[NBIN + 1];
    for (int b = 0; b <= NBIN; b++) edge[b] = 2 * b + 0.5;
    int64_t n, max;
    struct pk_item *it = items(ALL, 0, 2, &comm, &n);
    max = n;
    comm_max_i64(&comm, &max, 1);
    for (int order = 1; order <= 4; order++) {
        struct pk_par par = {.n = 37, .order = (enum pk_window)order, .fold = 1};
        struct pk_bin bin[2][3 * NBIN];
        par.interlace = order % 2 == 0;
        for (int few = 0; few < 2; few++) {
            struct pk *p = pk_new(&comm, &par, 2, 1 << 16);
            omp_set_num_threads(few ? 1 : 2);
            int64_t batch = few ? 100 : max;
            for (int64_t i = 0; i < max; i += batch) {
                int64_t at = i < n ? i : n;
                pk_add(p, n - at < batch ? n - at : batch, it + at);
            }
            pk_spectra(p, 3, pair, NBIN, edge, 2, bin[few]);
            pk_free(&p);
        }
        CHECK(memcmp(bin[0], bin[1], sizeof bin[0]) == 0, "order %d", order);
    }
    omp_set_num_threads(1);
    FREE(it);
}

/* A set and a subset: P_{all,1} = (M_1 P_11 + M_2 P_12) / M, including shot noise, which is that of
 * the common points. */
static void test_overlap(void)
{
    enum { NBIN = 3, ALL = 300 };
    static const struct pk_pair pair[3] = {{.a = 3, .b = 1}, {.a = 1, .b = 1}, {.a = 1, .b = 2}};
    double edge[NBIN + 1] = {0.5, 2.5, 5.5, 8.5}, m[2] = {0}, m2 = 0;
    struct pk_par par = {.n = 32, .order = PK_CIC, .interlace = true, .fold = 1};
    struct pk_bin bin[3 * NBIN];
    int64_t n;
    struct pk_item *it = items(ALL, 0, 2, &alone, &n);
    for (int i = 0; i < n; i++) m[it[i].mesh] += it[i].m, m2 += it[i].mesh ? 0 : it[i].m * it[i].m;
    FREE(it);
    spectra(&comm, par, ALL, 0, 2, 3, pair, NBIN, edge, -1, bin);
    for (int b = 0; b < NBIN; b++) {
        const struct pk_bin *all = &bin[b], *own = &bin[NBIN + b], *cross = &bin[2 * NBIN + b];
        double sum = (m[0] * own->p[0] + m[1] * cross->p[0]) / (m[0] + m[1]);
        CHECK(fabs(all->p[0] - sum) < 1e-12 * own->p[0], "bin %d: %g of %g", b, all->p[0], sum);
        CHECK(fabs(all->shot / (m2 / m[0] / (m[0] + m[1])) - 1) < 1e-12, "bin %d: %g", b,
              all->shot);
        CHECK(cross->shot == 0, "bin %d: %g", b, cross->shot);
    }
}

/* One cube has the spectrum of its shape, and many adjacent cubes have that of the cube that they
 * fill. */
static void test_cubes(void)
{
    enum { NBIN = 3, N = 32 };
    double edge[NBIN + 1] = {0.5, 1.5, 2.5, 3.5};
    struct pk_par par = {.n = N, .order = PK_CIC, .fold = 1};
    struct pk_item whole = {.x = {0.3, 0.97, 0.51}, .size = 0.21, .m = 1}, part[27];
    for (int i = 0; i < 27; i++) {
        int at[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        part[i] = whole;
        part[i].size = whole.size / 3;
        part[i].m = 1.0 / 27;
        for (int d = 0; d < 3; d++) part[i].x[d] += at[d] * part[i].size;
    }
    struct pk_bin bin[2][NBIN];
    for (int i = 0; i < 2; i++) {
        struct pk *p = pk_new(&comm, &par, 1, 1);
        pk_add(p, comm.rank ? 0 : i ? 27 : 1, i ? part : &whole);
        pk_spectra(p, 1, &(struct pk_pair){.a = 1, .b = 1}, NBIN, edge, -1, bin[i]);
        pk_free(&p);
    }
    double exact = 0;
    int modes = 0;
    for (int x = -1; x <= 1; x++)
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++) {
                int k[3] = {x, y, z};
                double w = 1;
                if (x * x + y * y + z * z == 0 || x * x + y * y + z * z > 2) continue;
                for (int d = 0; d < 3; d++)
                    w *= k[d] ? sin(M_PI * k[d] * whole.size) / (M_PI * k[d] * whole.size) : 1;
                exact += w * w;
                modes++;
            }
    CHECK(fabs(bin[0][0].p[0] / (exact / modes) - 1) < 1e-3, "%g of %g", bin[0][0].p[0],
          exact / modes);
    CHECK(bin[0][0].modes == modes, "%ld modes of %d", (long)bin[0][0].modes, modes);
    for (int b = 0; b < NBIN; b++)
        CHECK(fabs(bin[1][b].p[0] / bin[0][b].p[0] - 1) < 1e-12 && bin[0][b].shot == 0,
              "bin %d: %g", b, bin[1][b].p[0]);
}

/* Cells of an octree, from one to an eighth of a mesh cell wide, in groups of eight that touch. */
static struct pk_item cell_of(int64_t i, int n, int shift)
{
    const uint64_t oct = (uint64_t)i / 8;
    const double size = ldexp(1, -(int)(oct % 4)) / n;
    struct pk_item it = {.size = size, .m = 0.5 + uniform((uint64_t)i)};
    for (int d = 0; d < 3; d++) {
        const double at = floor(uniform(3 * oct + (uint64_t)d) / (2 * size)) * 2 * size;
        const double x = at + (0.5 + (double)(i >> d & 1)) * size + (double)shift / n;
        it.x[d] = x - floor(x);
    }
    return it;
}

/* The spectrum of cubes no larger than a cell of the mesh is the same if all move by whole cells of
 * the mesh, and has the same bits if they come in an order in which few share the weights and the
 * block of the one before, and whether or not they are added by whole rows and in runs. */
static void test_small_cubes(int order, bool interlaced)
{
    enum { NBIN = 4, N = 16, ALL = 4096 };
    double edge[NBIN + 1] = {0.5, 2, 4, 6, 8};
    struct pk_par par = {
        .n = N, .order = (enum pk_window)order, .interlace = interlaced, .fold = 1};
    struct pk_bin bin[4][NBIN];
    struct pk_item *it = mem_new(sizeof *it * 2 * ALL, "test"), *mixed = it + ALL;
    for (int s = 0; s < 4; s++) {
        int64_t n = 0;
        struct pk *p = pk_new(&comm, &par, 1, ALL);
        p->rows = s < 3;
        for (int64_t i = comm.rank; i < ALL; i += comm.size) it[n++] = cell_of(i, N, s ? 5 : 0);
        /* in another order no neighbour follows another; the stride is a prime number */
        for (int64_t i = 0; i < n; i++) mixed[i] = it[s == 2 ? i * 1237 % n : i];
        pk_add(p, n, mixed);
        pk_spectra(p, 1, &(struct pk_pair){.a = 1, .b = 1}, NBIN, edge, -1, bin[s]);
        pk_free(&p);
    }
    for (int b = 0; b < NBIN; b++) {
        CHECK(fabs(bin[1][b].p[0] / bin[0][b].p[0] - 1) < 1e-9, "order %d bin %d: %g of %g", order,
              b, bin[1][b].p[0], bin[0][b].p[0]);
        for (int s = 2; s < 4; s++)
            CHECK(bin[s][b].p[0] == bin[1][b].p[0], "order %d bin %d: %a, not %a", order, b,
                  bin[s][b].p[0], bin[1][b].p[0]);
    }
    FREE(it);
}

/* Folded modes are modes of the whole box. */
static void test_fold(void)
{
    enum { ALL = 500 };
    double edge[2] = {1.5, 2.5}, folded_edge[2] = {0.75, 1.25};
    struct pk_bin whole, folded;
    struct pk_par par = {.n = 96, .order = PK_PCS, .interlace = true, .fold = 1};
    spectra(&comm, par, ALL, 0, 1, 1, &(struct pk_pair){.a = 1, .b = 1}, 1, edge, -1, &whole);
    par.fold = 2;
    spectra(&comm, par, ALL, 0, 1, 1, &(struct pk_pair){.a = 1, .b = 1}, 1, folded_edge, -1,
            &folded);
    CHECK(folded.modes == 6 && fabs(folded.k - 2) < 1e-14, "%ld modes, k %g", (long)folded.modes,
          folded.k);
    CHECK(whole.modes > 6 && fabs(whole.shot - folded.shot) < 1e-18, "%g", whole.shot);
    CHECK(fabs(log(folded.p[0] / whole.p[0])) < 3, "%g %g", folded.p[0], whole.p[0]);
}

/* A cube in a folded box has the even modes of its shape, such as (2, 0, 0). */
static void test_folded_cube(void)
{
    struct pk_par par = {.n = 64, .order = PK_CIC, .interlace = true, .fold = 2};
    struct pk_item cube = {.x = {0.3, 0.97, 0.51}, .size = 0.21, .m = 1};
    struct pk_bin bin;
    double edge[2] = {0.75, 1.25}, w = sin(M_PI * 2 * cube.size) / (M_PI * 2 * cube.size);
    struct pk *p = pk_new(&comm, &par, 1, 1);
    pk_add(p, comm.rank ? 0 : 1, &cube);
    pk_spectra(p, 1, &(struct pk_pair){.a = 1, .b = 1}, 1, edge, -1, &bin);
    pk_free(&p);
    CHECK(fabs(bin.p[0] / (w * w) - 1) < 1e-3 && bin.modes == 6 && fabs(bin.k - 2) < 1e-14,
          "%g of %g", bin.p[0], w * w);
}

/* Splines are a partition of unity, and a difference is the integral of the weights. */
static void test_splines(void)
{
    for (int order = 1; order <= 4; order++)
        for (double t = 0; t < 2; t += 0.0371) {
            window4 w[WINDOW_REACH], begin;
            double sum = 0, worst = 0, h = 1e-4;
            int lane = (int)(t * 100) % 4, first;
            window4 at = {0.1, 0.6, 1.1, 1.6};
            at[lane] = t;
            window_point(order, &at, w, &begin);
            first = (int)begin[lane];
            for (int i = 0; i < order; i++) {
                double s = t - (first + i + 0.5);
                sum += w[i][lane];
                worst = fmax(
                    worst, fabs((window_step(order, s + h) - window_step(order, s - h)) / (2 * h) -
                                w[i][lane]));
            }
            CHECK(fabs(sum - 1) < 1e-14, "order %d: %g", order, sum);
            if (order > 1) CHECK(worst < 2 * h, "order %d at %g: %g", order, t, worst);
        }
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &comm);
    test_splines();
    test_direct(1);
    test_direct(1 << 16);
    test_modes();
    test_shot();
    test_bits_and_sum();
    test_batches();
    test_cubes();
    for (int order = 1; order <= 4; order++)
        for (int interlaced = 0; interlaced < 2; interlaced++) test_small_cubes(order, interlaced);
    test_fold();
    test_folded_cube();
    test_overlap();
    int64_t bad = failed;
    comm_add_i64(&comm, &bad, 1);
    if (comm.rank == 0) printf("%d passed, %ld failed\n", passed, (long)bad);
    comm_fini();
    return bad != 0;
}
