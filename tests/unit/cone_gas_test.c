/* The gas of light cones on a mesh that is refined and coarsened in each step: every place of the
 * cone is in exactly one cell of one slice, counted on the finest cells of all replicas, and each
 * cell has the redshift at which light passes it. The volume of the slices is that of the ball that
 * they fill.
 *
 * Examples of faults caught: centres of leaf cells that decide about their slice, so that a cell
 * and its children appear, or neither; a redshift that is that of the cell of levelmin. Last line:
 * N passed, N failed. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "cone/cone.h"
#include "cone/rows.h"
#include "gas_mesh.h"

enum { LMIN = 3, LMAX = 5, STEPS = 16, BOXES = 3, SIDE = 2 * BOXES + 1, FINE = 1 << LMAX };

static const double A_FIRST = 0.5, A_LAST = 1.02, BOXLEN = 700;
static int now; /* step, by which the mesh differs */

static bool refine_wild(const double *x, int l, int levelmin)
{
    const double side = ldexp(1, l);
    uint64_t key = (uint64_t)(l - levelmin);
    for (int d = 0; d < 3; d++) key = key << 8 | (uint64_t)(x[d] * side);
    struct rng r = rng_make(key, (uint64_t)now, 0);
    return rng_uniform(&r) < 0.4;
}

/* Number of the finest cell at a place in boxes from the box that holds the observer. */
static size_t cell_of(const double at[3])
{
    size_t k = 0;
    for (int d = 0; d < 3; d++)
        k = k * SIDE * FINE + (size_t)((int64_t)floor(at[d] * FINE) + BOXES * FINE);
    return k;
}

/* Counts the finest cells of a row. */
static void cover(unsigned char *seen, const double at[3], double size)
{
    const int n = (int)(size * FINE + 0.5);
    for (int k = 0; k < n * n * n; k++) {
        const int step[3] = {k / n / n, k / n % n, k % n};
        double x[3];
        for (int d = 0; d < 3; d++) x[d] = at[d] - 0.5 * size + (step[d] + 0.5) / FINE;
        seen[cell_of(x)]++;
    }
}

struct sums {
    int64_t rows;
    double volume, worst; /* worst: difference from the exact distance at the redshift, boxes */
};

static void count_step(struct ckpt_head *h, const struct params *p, const struct mesh *m,
                       unsigned char *seen, struct sums *sum)
{
    struct cone_view v[CONE_VIEWS];
    struct cone_shell shell;
    struct cone_rows r;
    if (!cone_shell_of(h, p, &shell)) return;
    const int n = cone_views(&p->lightcone, shell.box_mpc, v);
    CHECK(n == 1);
    const struct cosmo_par cosmos = cone_cosmology(h, false);
    const struct cone_slice s = {.head = h, .view = &v[0], .shell = &shell, .mesh = m};
    cone_rows_gas(&s, &r);
    for (int64_t i = 0; i < r.n; i++) {
        double q[3], at[3] = {0}, size = cone_value(&r, i, ROW_SIZE);
        for (int d = 0; d < 3; d++) q[d] = cone_value(&r, i, ROW_POSITION + d);
        for (int d = 0; d < 3; d++)
            for (int e = 0; e < 3; e++) at[d] += v->axis[e][d] * q[e];
        const double far = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
        const double a = 1 / (1 + cone_value(&r, i, ROW_REDSHIFT));
        sum->worst = fmax(sum->worst, fabs(far - 2997.92458 / BOXLEN * cosmo_distance(&cosmos, a)));
        for (int d = 0; d < 3; d++) at[d] += v->observer[d];
        cover(seen, at, size);
        sum->volume += size * size * size;
    }
    sum->rows += r.n;
    cone_rows_free(&r);
}

static void time_at(struct ckpt_head *h, int k)
{
    const double by = (A_LAST - A_FIRST) / STEPS;
    const struct cosmo_par cosmos = cone_cosmology(h, false);
    h->nstep_coarse = k;
    h->aexp_old = A_FIRST + (k - 1) * by, h->aexp = A_FIRST + k * by;
    h->dtold[LMIN] = 0;
    for (int i = 0; i < 100; i++) /* the midpoint rule */
        h->dtold[LMIN] += by / 100 / cosmo_dadtau(&cosmos, h->aexp_old + (i + 0.5) * by / 100);
}

/* Counts the slices of an open or full cone, with a mesh that differs in each step. */
static void walk(const struct params *p, unsigned char *seen, struct sums *sum)
{
    struct ckpt_head h = {.levelmin = LMIN,
                          .omega_m = 0.3,
                          .omega_l = 0.7,
                          .h0 = 70,
                          .aexp_ini = A_FIRST,
                          .smallr = 1e-10,
                          .gamma = 1.4,
                          .boxlen_ini = BOXLEN};
    const struct hydro_par gas = {.nvar = 5};
    const bool bounded[6] = {false};
    for (int k = 1; k <= STEPS; k++) {
        struct mesh m;
        now = k;
        gas_mesh(&m, LMIN, LMAX, &gas, false, bounded, refine_wild);
        time_at(&h, k);
        count_step(&h, p, &m, seen, sum);
        mesh_fini(&m);
    }
}

static struct params *rules(const char *rule, double angle)
{
    struct params *p = mem_zero(sizeof *p, "parameters");
    p->run.lightcone = true;
    snprintf(p->lightcone.cone_rule, sizeof p->lightcone.cone_rule, "%s", rule);
    p->lightcone.zmax_cone = 10;
    p->lightcone.thetay_cone = p->lightcone.thetaz_cone = angle;
    return p;
}

/* Places that the slices hold: those in the ball whose cells of levelmin have their centres in it,
 * by their number in the cells of all replicas. */
static bool in_ball(size_t k, double far)
{
    double r2 = 0;
    for (int d = 0; d < 3; d++, k /= SIDE * FINE) {
        const double edge = ldexp(1, -LMIN), x = (double)(k % (SIDE * FINE)) / FINE - BOXES;
        const double r = (floor(x / edge + 1e-9) + 0.5) * edge - 0.5;
        r2 += r * r;
    }
    return r2 <= far * far;
}

static void test_sky(const char *rule, double tolerance)
{
    const size_t all = (size_t)SIDE * FINE * SIDE * FINE * SIDE * FINE;
    unsigned char *seen = mem_zero(all, "flow");
    struct params *p = rules(rule, 90);
    struct sums sum = {0};
    walk(p, seen, &sum);
    const struct ckpt_head h = {.omega_m = 0.3, .omega_l = 0.7, .h0 = 70, .boxlen_ini = BOXLEN};
    const struct cosmo_par cosmos = cone_cosmology(&h, false);
    const bool exact = strcmp(rule, "crossing") == 0; /* RAMSES's begin with the second step */
    const double a = A_FIRST + (exact ? 0 : (A_LAST - A_FIRST) / STEPS),
                 far = 2997.92458 / BOXLEN * cosmo_distance(&cosmos, a);
    int64_t wrong = 0;
    for (size_t k = 0; k < all; k++) wrong += seen[k] != in_ball(k, far);
    CHECK(sum.rows > 10000 && wrong == 0, "%s: %ld rows, %ld places wrong", rule, (long)sum.rows,
          (long)wrong);
    const double ball = 4 * M_PI / 3 * far * far * far;
    CHECK(fabs(sum.volume / ball - 1) < 2e-3, "%s: %g of %g", rule, sum.volume, ball);
    CHECK(sum.worst < tolerance, "%s: %g", rule, sum.worst);
    mem_free(p);
    mem_free(seen);
}

/* An open cone has the volume of its pyramid, up to its last distance, and no place twice. */
static void test_open(void)
{
    const size_t all = (size_t)SIDE * FINE * SIDE * FINE * SIDE * FINE;
    unsigned char *seen = mem_zero(all, "flow");
    struct params *p = rules("crossing", 20);
    struct sums sum = {0};
    walk(p, seen, &sum);
    const struct ckpt_head h = {.omega_m = 0.3, .omega_l = 0.7, .h0 = 70, .boxlen_ini = BOXLEN};
    const struct cosmo_par cosmos = cone_cosmology(&h, false);
    const double far = 2997.92458 / BOXLEN * cosmo_distance(&cosmos, A_FIRST),
                 t = tan(20 * M_PI / 180), solid = 4 * asin(t * t / (1 + t * t));
    const double want = solid * far * far * far / 3;
    int64_t twice = 0;
    for (size_t k = 0; k < all; k++) twice += seen[k] > 1;
    CHECK(twice == 0, "%ld", (long)twice);
    CHECK(fabs(sum.volume / want - 1) < 0.01, "%g of %g", sum.volume, want);
    mem_free(p);
    mem_free(seen);
}

int main(void)
{
    /* beyond the ends of a step the redshift is by two derivatives */
    test_sky("crossing", 2e-5);
    test_sky("ramses", 4e-3); /* its redshift is linear in the distance */
    test_open();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
