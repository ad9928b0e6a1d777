/* fd: errors of the differences on sin x cos 2y, within 1 % of those of an independent
 * implementation; a constant state stays; the bits of a step do not depend on where the box begins,
 * how it is divided, or the number of threads, and are those of the emulated device; mirrored
 * fields advance to mirrored ones, and a large mesh of copies of a small one to copies; e^x;
 * derived values, totals and the signal speed beside plain loops. Catches: a weight of a wrong
 * sign, a diagonal taken along the wrong axes, cells of a short row computed otherwise.
 *
 * test: tier=quick timeout=120 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "check.h"
#include "fd/fd_dev.h"
#include "fd/rhs_kern.h"
#include "fd_world.h"
#include "test_device.h"

static const struct fd_par whole = {.order = 6,
                                    .flow = true,
                                    .entropy = true,
                                    .magnetic = true,
                                    .lorentz = true,
                                    .nu = 5e-3,
                                    .zeta = 1e-3,
                                    .eta = 4e-3,
                                    .chi = 3e-3,
                                    .k = 1e-3,
                                    .gamma = 5 / 3.0,
                                    .cp = 1.5,
                                    .cs0 = 1.25,
                                    .rho0 = 1.125,
                                    .mu0 = 1.25,
                                    .heat = 0.01,
                                    .bext = {0.1, 0, 0},
                                    .dx = {0.5, 0.4, 0.6}};
static struct dev *test_dev;
static const double TWO_PI = 6.283185307179586;

/* A number of [−0.15, 0.15) for each cell of a field. */
static double noise(int f, int x, int y, int z)
{
    uint64_t h = (uint64_t)f + 8 * ((uint64_t)x + 64 * ((uint64_t)y + 64 * (uint64_t)z)) + 77;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return ((double)(h >> 12) * 0x1p-52 - 0.5) * 0.3;
}

/* Noise that begins at `shift`, or, with mirror, whose x runs backwards. */
static void set_noise(struct fd_world *w, const int shift[3], bool mirror)
{
    const int *n = w->brick.own;
    for (int f = 0; f < FD_FIELDS; f++)
        for (int z = 0; z < n[2] && w->a.now[f]; z++)
            for (int y = 0; y < n[1]; y++)
                for (int x = 0; x < n[0]; x++) {
                    int from = mirror ? n[0] - 1 - x : (x + shift[0]) % n[0];
                    double v = noise(f, from, (y + shift[1]) % n[1], (z + shift[2]) % n[2]);
                    bool odd = mirror && (f == FD_UX || f == FD_AX);
                    *fd_world_cell(w, f, x, y, z) = odd ? -v : v;
                }
}

/* Errors of ∂_y, ∂_yy, ∂_xy of sin x cos 2y. */
static void errors(int order, int n, double error[3])
{
    struct fd_par p = whole;
    struct fd_world w;
    double dz[64], jx[64], jy[64];
    p.order = order, p.mu0 = 1;
    p.dx[0] = p.dx[1] = p.dx[2] = TWO_PI / n;
    fd_world_init(&w, &p, (const int[3]){n, n, 1});
    for (int f = 0; f < FD_FIELDS; f++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                *fd_world_cell(&w, f, x, y, 0) = f == FD_UX || f == FD_AX
                                                     ? sin(TWO_PI * x / n) * cos(2 * TWO_PI * y / n)
                                                     : 0;
    fd_world_fill_all(&w);
    for (int d = 0; d < 3; d++) error[d] = 0;
    for (int y = 0; y < n; y++) {
        const int at[3] = {0, y, 0};
        CHECK(fd_derive(&p, &w.brick, w.a.now, FD_OZ, at, n, dz));
        CHECK(fd_derive(&p, &w.brick, w.a.now, FD_JX, at, n, jx));
        CHECK(fd_derive(&p, &w.brick, w.a.now, FD_JY, at, n, jy));
        for (int x = 0; x < n; x++) {
            double a = TWO_PI * x / n, b = 2 * TWO_PI * y / n;
            error[0] = fmax(error[0], fabs(-dz[x] + 2 * sin(a) * sin(b)));
            error[1] = fmax(error[1], fabs(-jx[x] + 4 * sin(a) * cos(b)));
            error[2] = fmax(error[2], fabs(jy[x] + 2 * cos(a) * sin(b)));
        }
    }
    fd_world_fini(&w);
}

static void test_differences(void)
{
    static const double known[4][3][3] = {{{1.994e-1, 2.014e-1, 2.453e-1},
                                           {5.101e-2, 5.114e-2, 6.351e-2},
                                           {1.283e-2, 1.283e-2, 1.602e-2}},
                                          {{2.357e-2, 1.601e-2, 4.250e-2},
                                           {1.557e-3, 1.043e-3, 2.914e-3},
                                           {9.864e-5, 6.583e-5, 1.864e-4}},
                                          {{2.974e-3, 1.523e-3, 8.659e-3},
                                           {5.084e-5, 2.558e-5, 1.590e-4},
                                           {8.125e-7, 4.069e-7, 2.587e-6}},
                                          {{3.884e-4, 1.598e-4, 1.935e-3},
                                           {1.721e-6, 6.934e-7, 9.568e-6},
                                           {6.940e-9, 2.781e-9, 3.965e-8}}};
    for (int o = 0; o < 4; o++) {
        double e[3][3];
        for (int k = 0; k < 3; k++) {
            errors(2 * o + 2, 16 << k, e[k]);
            for (int d = 0; d < 3; d++)
                CHECK(fabs(e[k][d] / known[o][k][d] - 1) < 0.01, "order %d, %d cells, %d: %g",
                      2 * o + 2, 16 << k, d, e[k][d]);
        }
        for (int d = 0; d < 3; d++) {
            double order = log2(e[1][d] / e[2][d]);
            CHECK(fabs(order - (2 * o + 2)) < 0.1, "order %d: %g", 2 * o + 2, order);
        }
    }
}

/* Sets of equations: bits of flow, entropy, magnetic, lorentz, upwind. */
static struct fd_par variant(int order, int set)
{
    struct fd_par p = whole;
    p.order = order;
    p.flow = set & 1, p.entropy = set >> 1 & 1, p.magnetic = set >> 2 & 1;
    p.lorentz = set >> 3 & 1, p.upwind = set >> 4 & 1;
    return p;
}

static bool same_bits(const struct fd_world *a, const struct fd_world *b, const int shift[3])
{
    const int *n = a->brick.own;
    int64_t differ = 0;
    for (int f = 0; f < FD_FIELDS; f++)
        for (int z = 0; z < n[2] && a->a.now[f]; z++)
            for (int y = 0; y < n[1]; y++)
                for (int x = 0; x < n[0]; x++)
                    differ += *fd_world_cell(b, f, x, y, z) !=
                              *fd_world_cell(a, f, (x + shift[0]) % n[0], (y + shift[1]) % n[1],
                                             (z + shift[2]) % n[2]);
    return differ == 0;
}

/* A step in boxes whose borders are drawn at random, some of them one cell wide. */
static void step_in_boxes(struct fd_world *w, double dt, uint64_t *seed)
{
    const int *n = w->brick.own;
    for (int i = 0; i < FD_SUBSTEPS; i++) {
        int cut[3][4];
        for (int d = 0; d < 3; d++) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            int a = (int)(*seed >> 33) % (n[d] + 1), b = (int)(*seed >> 43) % (n[d] + 1);
            cut[d][0] = 0, cut[d][1] = a < b ? a : b, cut[d][2] = a < b ? b : a, cut[d][3] = n[d];
        }
        fd_world_fill_all(w);
        for (int k = 26; k >= 0; k--) {
            const int x = k % 3, y = k / 3 % 3, z = k / 9;
            const int lo[3] = {cut[0][x], cut[1][y], cut[2][z]},
                      hi[3] = {cut[0][x + 1], cut[1][y + 1], cut[2][z + 1]};
            fd_substep(&w->par, &w->brick, lo, hi, &w->a, i, dt);
        }
        fd_world_swap(w);
    }
}

static void test_bits(int order, int set, const int n[3])
{
    static const int none[3], shift[3] = {1, 2, 3};
    const struct fd_par p = variant(order, set);
    struct fd_world a, b;
    uint64_t seed = (uint64_t)(order + 16 * set);
    fd_world_init(&a, &p, n);
    fd_world_init(&b, &p, n);
    set_noise(&a, none, false);
    omp_set_num_threads(1);
    for (int k = 0; k < 2; k++) fd_world_step(&a, 0.01);
    omp_set_num_threads(2);
    set_noise(&b, none, false);
    for (int k = 0; k < 2; k++) fd_world_step(&b, 0.01);
    CHECK(same_bits(&a, &b, none), "order %d, set %d: threads", order, set);
    set_noise(&b, shift, false);
    for (int k = 0; k < 2; k++) fd_world_step(&b, 0.01);
    CHECK(same_bits(&a, &b, shift), "order %d, set %d: translation", order, set);
    set_noise(&b, none, false);
    for (int k = 0; k < 2; k++) step_in_boxes(&b, 0.01, &seed);
    CHECK(same_bits(&a, &b, none), "order %d, set %d: boxes", order, set);
    fd_world_fini(&a);
    fd_world_fini(&b);
}

/* A step on a device. */
static void step_on_device(struct fd_world *w, struct dev_stream *s, double dt)
{
    const size_t bytes = w->brick.size * sizeof(double);
    struct fd_arrays a = {0};
    for (int f = 0; f < FD_FIELDS; f++) {
        if (w->a.now[f]) CHECK(dev_new(test_dev, &a.now[f], bytes, "now") == OK);
        if (w->a.next[f]) CHECK(dev_new(test_dev, &a.next[f], bytes, "next") == OK);
        if (w->a.next[f]) CHECK(dev_new(test_dev, &a.change[f], bytes, "change") == OK);
    }
    for (int i = 0; i < FD_SUBSTEPS; i++) {
        fd_world_fill_all(w);
        for (int f = 0; f < FD_FIELDS; f++)
            if (a.now[f]) dev_put(s, a.now[f], w->a.now[f], bytes);
        fd_dev_substep(s, &w->par, &w->brick, (const int[3]){0}, w->brick.own, &a, i, dt);
        for (int f = 0; f < FD_FIELDS; f++)
            if (a.next[f]) dev_get(s, w->a.next[f], a.next[f], bytes);
        CHECK(dev_wait(s) == OK, "%s", err_message());
        fd_world_swap(w);
    }
    for (int f = 0; f < FD_FIELDS; f++) {
        dev_free(test_dev, a.now[f]);
        dev_free(test_dev, a.next[f]);
        dev_free(test_dev, a.change[f]);
    }
}

static void test_device_bits(int order, int set)
{
    static const int none[3], n[3] = {18, 5, 6};
    const struct fd_par p = variant(order, set);
    struct fd_world a, b;
    struct dev_stream *s = dev_stream_new(test_dev);
    fd_world_init(&a, &p, n);
    fd_world_init(&b, &p, n);
    set_noise(&a, none, false);
    set_noise(&b, none, false);
    fd_world_step(&a, 0.01);
    step_on_device(&b, s, 0.01);
    CHECK(same_bits(&a, &b, none), "order %d, set %d: device", order, set);
    fd_world_fini(&a);
    fd_world_fini(&b);
    dev_stream_free(&s);
}

static void test_mirror(int order, int set)
{
    static const int none[3], n[3] = {10, 9, 8};
    const struct fd_par p = variant(order, set);
    struct fd_world a, b;
    int64_t differ = 0;
    fd_world_init(&a, &p, n);
    fd_world_init(&b, &p, n);
    set_noise(&a, none, false);
    set_noise(&b, none, true);
    fd_world_step(&a, 0.01);
    fd_world_step(&b, 0.01);
    for (int f = 0; f < FD_FIELDS; f++)
        for (int i = 0; i < n[0] * n[1] * n[2] && a.a.now[f]; i++) {
            int x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];
            double v = *fd_world_cell(&b, f, n[0] - 1 - x, y, z);
            if (f == FD_UX || f == FD_AX) v = -v;
            differ += v != *fd_world_cell(&a, f, x, y, z);
        }
    CHECK(differ == 0, "order %d, set %d: %d cells", order, set, (int)differ);
    fd_world_fini(&a);
    fd_world_fini(&b);
}

static void test_constant(int order)
{
    struct fd_par p = variant(order, 31);
    struct fd_world w;
    int64_t differ = 0;
    p.heat = 0;
    fd_world_init(&w, &p, (const int[3]){7, 6, 5});
    for (int f = 0; f < FD_FIELDS; f++)
        for (int i = 0; i < 210; i++)
            *fd_world_cell(&w, f, i % 7, i / 7 % 6, i / 42) = f % 4 ? 0.1 * (f + 1) : 0;
    w.par.bext[1] = p.bext[1] = 0;
    for (int f = FD_UX; f <= FD_UZ; f++) /* u along B: no electric field */
        for (int i = 0; f != FD_UX && i < 210; i++)
            *fd_world_cell(&w, f, i % 7, i / 7 % 6, i / 42) = 0;
    fd_world_step(&w, 0.01);
    for (int f = 0; f < FD_FIELDS; f++)
        for (int i = 0; i < 210; i++) {
            double is = f == FD_UY || f == FD_UZ ? 0 : f % 4 ? 0.1 * (f + 1) : 0;
            differ += fabs(*fd_world_cell(&w, f, i % 7, i / 7 % 6, i / 42) - is) > 1e-17;
        }
    CHECK(differ == 0, "order %d: %d values", order, (int)differ);
    fd_world_fini(&w);
}

static void test_exp(void)
{
    double worst = 0;
    for (int i = 0; i < 300000; i++) {
        double range = i % 3 == 0 ? 0.3 : i % 3 == 1 ? 20 : 1416;
        double x = range * (noise(1, i % 64, i / 64 % 64, i / 4096) / 0.3);
        long double is = expl((long double)x);
        double one = fabs(nextafter((double)is, HUGE_VAL) - (double)is);
        worst = fmax(worst, (double)fabsl(((long double)vec_first(fd_exp(vec_of(x))) - is) / one));
    }
    CHECK(worst < 0.7, "%g units in the last place", worst);
    CHECK(isnan(vec_first(fd_exp(vec_of(NAN)))));
    CHECK(vec_first(fd_exp(vec_of(0))) == 1);
}

static double fast(const struct fd_world *w, int x, int y, int z)
{
    double u2 = 0, b2 = 0, b[1], rho = exp(*fd_world_cell(w, FD_LNRHO, x, y, z));
    const struct fd_par *p = &w->par;
    for (int d = 0; d < 3; d++) u2 += pow(*fd_world_cell(w, FD_UX + d, x, y, z), 2);
    fd_derive(p, &w->brick, w->a.now, FD_FIELD, (const int[3]){x, y, z}, 1, b);
    b2 = b[0] * b[0];
    double c2 = p->cs0 * p->cs0 *
                exp(p->gamma / p->cp * *fd_world_cell(w, FD_S, x, y, z) +
                    (p->gamma - 1) * log(rho / p->rho0));
    return sqrt(u2) + sqrt(c2 + b2 / (p->mu0 * rho));
}

static void test_values(void)
{
    static const int none[3], n[3] = {11, 5, 6};
    const struct fd_par p = variant(6, 15);
    struct fd_world w;
    struct fd_totals one, two;
    double max = 0, speed, value[11], sum[FD_SUMS] = {0}, most = 0;
    fd_world_init(&w, &p, n);
    set_noise(&w, none, false);
    fd_world_fill_all(&w);
    omp_set_num_threads(1);
    fd_totals(&p, &w.brick, w.a.now, &one);
    speed = fd_signal_speed(&p, &w.brick, w.a.now);
    omp_set_num_threads(2);
    fd_totals(&p, &w.brick, w.a.now, &two);
    CHECK(speed == fd_signal_speed(&p, &w.brick, w.a.now));
    static const enum fd_derived is[] = {FD_SPEED,
                                         FD_FIELD,
                                         FD_CURRENT,
                                         FD_RHO,
                                         FD_KINETIC_HELICITY,
                                         FD_MAGNETIC_HELICITY,
                                         FD_VORTICITY,
                                         FD_CURRENT_HELICITY};
    static const enum fd_sum to[] = {FD_SUM_U2, FD_SUM_B2, FD_SUM_J2, FD_SUM_RHO,
                                     FD_SUM_OU, FD_SUM_AB, FD_SUM_O2, FD_SUM_JB};
    for (int i = 0; i < n[1] * n[2]; i++)
        for (int k = 0; k < 8; k++) {
            const bool square = k < 3 || k == 6;
            CHECK(fd_derive(&p, &w.brick, w.a.now, is[k], (const int[3]){0, i % n[1], i / n[1]},
                            n[0], value));
            for (int x = 0; x < n[0]; x++) {
                sum[to[k]] += square ? value[x] * value[x] : value[x];
                if (k == 0) most = fmax(most, value[x]);
                if (k == 0) max = fmax(max, fast(&w, x, i % n[1], i / n[1]));
            }
        }
    for (int k = 0; k < 8; k++)
        CHECK(fabs(sum_get(&one.sum[to[k]]) - sum[to[k]]) < 1e-11 * (1 + fabs(sum[to[k]])),
              "sum %d: %g %g", k, sum_get(&one.sum[to[k]]), sum[to[k]]);
    for (int k = 0; k < FD_SUMS; k++)
        CHECK(sum_get(&one.sum[k]) == sum_get(&two.sum[k]) && sum_get(&one.sum[k]) != 0, "%d", k);
    CHECK(fabs(one.umax - most) < 1e-15 && one.umax == two.umax);
    CHECK(one.rhomin < 1 && one.rhomax > 1 && one.bmax > 0);
    CHECK(fabs(speed / max - 1) < 1e-14, "%g %g", speed, max);
    *fd_world_cell(&w, FD_UY, 10, 4, 5) = NAN;
    CHECK(isnan(fd_signal_speed(&p, &w.brick, w.a.now)));
    fd_world_fini(&w);
}

/* A mesh whose arrays are larger than caches, and which repeats a small one, advances as the small
 * one does. */
static void test_large(void)
{
    static const int n[3] = {21, 8, 6}, many[3] = {63, 56, 36}, shift[3];
    struct fd_world a, b;
    int64_t differ = 0;
    fd_world_init(&a, &whole, n);
    fd_world_init(&b, &whole, many);
    set_noise(&a, shift, false);
    for (int turn = 0; turn < 2; turn++) {
        for (int f = 0; f < FD_FIELDS; f++)
            for (int i = 0; i < many[0] * many[1] * many[2]; i++) {
                const int x = i % many[0], y = i / many[0] % many[1], z = i / many[0] / many[1];
                double *large = fd_world_cell(&b, f, x, y, z),
                       *small = fd_world_cell(&a, f, x % n[0], y % n[1], z % n[2]);
                if (turn == 0) *large = *small;
                differ += *large != *small;
            }
        if (turn == 0) fd_world_step(&a, 0.01), fd_world_step(&b, 0.01);
    }
    CHECK(differ == 0, "%d numbers", (int)differ);
    fd_world_fini(&a);
    fd_world_fini(&b);
}

/* Next values in halos beyond axes that are not cut are those of the cells, elsewhere untouched; in
 * arrays that are stored past the caches, whose rows begin cache lines, if x is a multiple of 8. */
static void test_wraps(const int n[3], int cut)
{
    struct fd_world w = {.par = whole, .brick = {.halo = 3, .p = {1, 1, 1}, .stride = {1}}};
    struct brick *b = &w.brick;
    int64_t wrong = 0;
    for (int d = 0; d < 3; d++) b->n[d] = b->own[d] = n[d];
    if (cut >= 0) b->p[cut] = 2;
    b->stride[1] = (n[0] + 13) / 8 * 8;
    b->stride[2] = b->stride[1] * (n[1] + 6);
    b->start = 8 + 3 * (b->stride[1] + b->stride[2]);
    b->size = (size_t)(b->stride[2] * (n[2] + 7));
    fd_arrays_new(&w.par, b, &w.a);
    set_noise(&w, (const int[3]){0}, false);
    fd_world_fill_all(&w);
    for (int f = 0; f < FD_FIELDS; f++) fd_world_nan(b, w.a.next[f]);
    const int half[3] = {n[0], n[1] / 2, n[2]}, rest[3] = {0, n[1] / 2, 0};
    fd_substep(&w.par, b, (const int[3]){0}, half, &w.a, 0, 1e-3);
    fd_substep(&w.par, b, rest, n, &w.a, 0, 1e-3);
    for (int f = 0; f < FD_FIELDS; f++)
        for (int z = -3; z < n[2] + 3; z++)
            for (int y = -3; y < n[1] + 3; y++)
                for (int x = -3; x < n[0] + 3; x++) {
                    const int at[3] = {x, y, z};
                    const double is = w.a.next[f][fd_world_at(b, x, y, z)],
                                 cell = w.a.next[f][fd_world_at(b, fd_world_wrap(x, n[0]),
                                                                fd_world_wrap(y, n[1]),
                                                                fd_world_wrap(z, n[2]))];
                    const bool other = cut >= 0 && (at[cut] < 0 || at[cut] >= n[cut]);
                    wrong += other ? is == is : is != cell;
                }
    CHECK(wrong == 0, "%d × %d × %d, cut %d: %ld numbers in halos", n[0], n[1], n[2], cut,
          (long)wrong);
    fd_world_fini(&w);
}

/* Equations that lack a part have no such values. */
static void test_lack(void)
{
    const struct fd_par flow = variant(2, 1), frozen = variant(2, 4);
    double value;
    struct fd_world w;
    fd_world_init(&w, &flow, (const int[3]){4, 4, 4});
    CHECK(!fd_derive(&flow, &w.brick, w.a.now, FD_BX, (const int[3]){0}, 1, &value));
    CHECK(!fd_derive(&flow, &w.brick, w.a.now, FD_TEMPERATURE, (const int[3]){0}, 1, &value));
    CHECK(fd_has(&frozen, FD_UX) && !fd_advances(&frozen, FD_UX) && fd_advances(&frozen, FD_AX));
    CHECK(!fd_has(&flow, FD_S) && !fd_has(&flow, FD_AX) && fd_advances(&flow, FD_LNRHO));
    CHECK(fd_diffusivity(&frozen) == whole.eta && fd_diffusivity(&flow) > whole.nu);
    fd_world_fini(&w);
}

int main(void)
{
    static const int wide[3] = {21, 9, 10}, narrow[3] = {3, 5, 4}, flat[3] = {9, 1, 6};
    char why[DEV_WHY];
    test_dev = dev_open(&(struct dev_how){.kind = test_device(), .seed = 5}, why);
    CHECK(test_dev, "%s", why);
    if (!test_dev) return 1;
    test_exp();
    test_differences();
    test_values();
    test_lack();
    test_large();
    for (int cut = -1; cut < 3; cut++) {
        test_wraps((const int[3]){40, 40, 40}, cut);
        test_wraps((const int[3]){43, 40, 40}, cut);
        test_wraps((const int[3]){5, 9, 4}, cut);
    }
    for (int order = 2; order <= 8; order += 2) {
        test_constant(order);
        for (int set = 0; set < 32; set++) {
            test_mirror(order, set);
            test_device_bits(order, set);
            test_bits(order, set, set % 3 == 0 ? wide : set % 3 == 1 ? narrow : flat);
        }
        test_bits(order, 31, wide);
        test_bits(order, 31, narrow);
    }
    dev_close(&test_dev);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
