/* Laws of lib/part on random clouds of particles. With mpirun -n 2, 3, 5 every rank also runs the
 * whole problem alone, as reference, and compares bits. Comments on checks name the faults that
 * they catch. Last line: N passed, N failed. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "part/motion.h"
#include "part_world.h"

/* ---- checks ---- */

static void test_levelmin_mass(enum domain_kind kind)
{
    struct world w;
    world_mesh(&w, all, kind, LMIN, LMAX, 2.5, periodic_box);
    world_particles(&w, NPART, 1);
    struct grid g = deposit(&w, LMIN, 0, 0);
    int64_t sum[2];
    grid_sums(&w, LMIN, &g, sum);
    long double mass = 0;
    for (int64_t id = 0; id < NPART; id++) mass += (0.5 + uniform(id, 6)) / NPART;
    check(fabsl((long double)sum[0] * QUANTUM - mass) < 1e-15L * mass,
          "mass on levelmin is the total mass"); /* lost ghost rows */
    check(llabs(sum[1] - ((int64_t)NPART << 32)) < 8 * NPART,
          "number on levelmin is the number of particles");
    grid_free(&g);
    world_free(&w);
}

/* Brute force: whether every cell of the cloud exists on level l (on the mesh of one rank). */
static bool cloud_exists(const struct mesh *m, int l, const double x[3])
{
    int64_t n = (int64_t)1 << l;
    for (int c = 0; c < m->cells; c++) {
        uint64_t q[3] = {0};
        for (int d = 0; d < m->ndim; d++)
            q[d] = (uint64_t)(((int64_t)floor(x[d] / mesh_dx(m, l) - 0.5) + (c >> d & 1)) &
                              (n - 1)) >>
                   1;
        if (mesh_find(&m->lev[l], okey_make(q[0], q[1], q[2])) < 0) return false;
    }
    return true;
}

/* Kicks with a field that encodes the level, and with a linear field, which CIC interpolates
 * exactly on any level. */
static void test_force(double box)
{
    struct world w, whole;
    world_mesh(&w, all, DOMAIN_KSECTION, LMIN, LMAX, box, periodic_box);
    world_mesh(&whole, alone, DOMAIN_KSECTION, LMIN, LMAX, box, periodic_box);
    world_particles(&w, NPART, 0);
    double dt[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) dt[k] = 2;
    int64_t wrong = 0, deep[2] = {0};
    double worst = 0;
    for (int l = LMIN; l <= LMAX; l++) {
        part_enter(&w.p, &w.m, &w.c, w.d, l);
        part_hand_down(&w.p, &w.m, &w.c, w.d, l);
        for (int64_t i = w.p.first[l]; i < w.p.first[l + 1]; i++)
            w.p.v[0][i] = w.p.v[1][i] = w.p.v[2][i] = 0;
        set_field(&w.m, field_level);
        part_synchro(&w.p, &w.m, l, dt, dt);
        for (int64_t i = w.p.first[l]; i < w.p.first[l + 1]; i++) {
            double x[3] = {w.p.x[0][i], w.p.x[1][i], w.p.x[2][i]};
            bool fine = cloud_exists(&whole.m, l, x);
            wrong += fabs(w.p.v[dims - 1][i] - (fine ? l : l - 1)) > 1e-14;
            for (int d = dims; d < 3; d++) wrong += w.p.v[d][i] != 0;
            deep[0] += l == LMAX;
            deep[1] += !fine;
            w.p.v[0][i] = w.p.v[1][i] = w.p.v[2][i] = 0;
        }
        set_field(&w.m, field_linear);
        part_synchro(&w.p, &w.m, l, dt, dt);
        for (int64_t i = w.p.first[l]; i < w.p.first[l + 1]; i++) {
            double x[3] = {w.p.x[0][i], w.p.x[1][i], w.p.x[2][i]}, f[3];
            bool inside = true;
            for (int d = 0; d < dims; d++) inside &= fabs(x[d] / box - 0.5) < 0.4;
            field_linear(&w.m, l, x, f);
            for (int d = 0; d < dims && inside; d++)
                worst = fmax(worst, fabs(w.p.v[d][i] - f[d]) / (1 + 10 * box));
        }
    }
    comm_add_i64(&all, deep, 2);
    /* wrong level, wrong bit of `there` */
    check(wrong == 0, "force from level l exactly where the cloud is on it");
    check(deep[0] > 1000 && deep[1] > (dims > 1 ? 1000 : 100),
          "the test has particles on the finest level and at edges");
    check(worst < 2e-15, "a linear field is interpolated exactly"); /* a swapped weight or cell */
    world_free(&w);
    world_free(&whole);
}

/* dteff of the first half kick: the new step of the particle's level, or the old one if the
 * particle was on a coarser level. */
static void test_dteff(void)
{
    struct world w;
    world_mesh(&w, all, DOMAIN_KSECTION, LMIN, LMIN, 1, periodic_box);
    world_particles(&w, 1000, 0);
    set_field(&w.m, field_one);
    double dtnew[LEVEL_MAX], dtold[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) {
        dtnew[k] = 2 * k;
        dtold[k] = 100 * k;
    }
    for (int64_t i = 0; i < w.p.n; i++) w.p.levelp[i] = LMIN - 1 + (int)(w.p.id[i] % 3);
    part_synchro(&w.p, &w.m, LMIN, dtnew, dtold);
    int64_t bad = 0;
    for (int64_t i = 0; i < w.p.n; i++) {
        int k = LMIN - 1 + (int)(w.p.id[i] % 3);
        bad += fabs(w.p.v[2][i] - (k < LMIN ? 50 : 1) * k) > 1e-12 || w.p.levelp[i] != LMIN;
    }
    check(bad == 0, "synchro takes the particle's own time step");
    world_free(&w);
}

/* Several ranks and threads, or another order of particles, give identical results after full steps
 * with sub-steps. */
static void test_same_bits(enum domain_kind kind, double box)
{
    struct world w, ref;
    world_mesh(&w, all, kind, LMIN, LMAX, box, periodic_box);
    world_mesh(&ref, alone, DOMAIN_KSECTION, LMIN, LMAX, box, periodic_box);
    world_particles(&w, NPART, 12 * box);
    world_particles(&ref, NPART, 12 * box);
    ref.p.block_depth = kind == DOMAIN_HILBERT ? 0 : 1; /* one patch per oct, or per 2³ octs */
    set_field(&w.m, field_noise);
    set_field(&ref.m, field_noise);
    int threads = omp_get_max_threads();
    for (int s = 0; s < STEPS; s++) {
        /* spinning threads starve other ranks */
        omp_set_num_threads(all.size == 1 ? 4 : all.size == 2 ? 2 : 1);
        step(&w, LMIN, 0.5 / 64);
        omp_set_num_threads(1);
        step(&ref, LMIN, 0.5 / 64);
    }
    omp_set_num_threads(threads);
    int64_t digest = (int64_t)w.digest;
    comm_add_i64(&all, &digest, 1);
    check(digest == (int64_t)ref.digest, "deposits are the same bits on several ranks and threads");
    check(same_particles(&w, &ref, NPART),
          "particles are the same bits on several ranks and threads, none is lost");
    check(w.misplaced == 0 && ref.misplaced == 0,
          "every particle is on the finest level that has its place, in its oct");
    check(ref.escaped > 100, "the test has particles that left their level");
    check(ref.wrong_cells == 0, "deposits on all levels agree with brute force");
    check(llabs(w.total - ((int64_t)NPART << 32)) < 8 * NPART,
          "moving particles are all found on levelmin");
    double v = part_vmax(&ref.p, LMIN), top = 0;
    for (int64_t i = 0; i < ref.p.n; i++)
        for (int d = 0; d < 3; d++) top = fmax(top, fabs(ref.p.v[d][i]));
    check(v == top, "part_vmax is the largest component");
    struct sum a, b;
    sum_init(&a);
    sum_init(&b);
    part_kinetic(&w.p, LMIN, &a);
    part_kinetic(&ref.p, LMIN, &b);
    comm_sum(&all, &a);
    check(sum_get(&a) == sum_get(&b) && sum_get(&a) > 0, "kinetic energy is the same bits");
    /* Fails if the last, incomplete batch of energies is left out. */
    double dt[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) dt[k] = 0.5;
    struct part_motion motion = {.counted = true};
    part_enter(&ref.p, &ref.m, &ref.c, ref.d, LMIN);
    part_hand_down(&ref.p, &ref.m, &ref.c, ref.d, LMIN);
    part_kick(&ref.p, &ref.m, LMIN, dt, dt, &motion);
    sum_init(&b);
    part_kinetic(&ref.p, LMIN, &b);
    check(motion.level == LMIN && motion.fastest == part_vmax(&ref.p, LMIN) &&
              sum_get(&motion.energy) == sum_get(&b),
          "a kick measures the motion");
    world_free(&w);
    world_free(&ref);
}

/* Drift without force, compared with one line of arithmetic per particle. */
static void test_streaming(enum domain_kind kind)
{
    struct world w;
    double box = 3, dt = 1.0 / 64;
    world_mesh(&w, all, kind, LMIN, LMIN, box, periodic_box);
    world_particles(&w, 5000, 8 * box);
    set_field(&w.m, field_zero);
    struct parts *p = &w.p;
    double *x = mem_new(sizeof(double[3]) * 5000, "test");
    for (int64_t id = 0; id < 5000; id++)
        for (int d = 0; d < 3; d++) {
            double u = uniform(id, (uint64_t)d), narrow = d == 0 ? 0.05 : d == 1 ? 0.5 : 0.45;
            if (id % 2) u = narrow + 0.3 * (u - 0.5);
            double y = (u - floor(u)) * box, v = 8 * box * (uniform(id, (uint64_t)(3 + d)) - 0.5);
            if (d >= dims) y = v = 0;
            for (int s = 0; s < 100; s++) {
                y += v * dt;
                y = y < 0 ? y + box : y >= box ? y - box : y;
            }
            x[3 * id + d] = y;
        }
    for (int s = 0; s < 100; s++) {
        part_enter(p, &w.m, &w.c, w.d, LMIN);
        part_hand_down(p, &w.m, &w.c, w.d, LMIN);
        part_move(p, &w.m, LMIN, dt);
    }
    part_enter(p, &w.m, &w.c, w.d, LMIN);
    int64_t n = p->n, wrong = 0, sorted = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t q[3], o[3];
        okey_coords(w.m.lev[LMIN].key[p->host[i]], o);
        for (int d = 0; d < 3; d++) {
            q[d] = (int64_t)mesh_cells(&w.m, LMIN - 1, p->x[d][i]);
            wrong += p->x[d][i] != x[3 * p->id[i] + d] || q[d] != o[d];
        }
        wrong += p->host[i] >= w.m.lev[LMIN].nown;
        sorted += i > 0 && p->host[i] < p->host[i - 1];
    }
    comm_add_i64(&all, &n, 1);
    check(n == 5000, "100 steps of free streaming lose nothing");
    check(wrong == 0, "free streaming ends where it should, in the right octs");
    check(sorted * 16 <= p->n, "particles stay nearly sorted");
    FREE(x);
    world_free(&w);
}

/* Two particles attract each other through deposit, an odd kernel on the grid and the gather:
 * momentum is conserved. */
static void test_momentum(void)
{
    struct world w;
    world_mesh(&w, alone, DOMAIN_KSECTION, 3, 3, 1, periodic_box);
    world_particles(&w, 2, 0);
    struct grid g = deposit(&w, 3, 0, 0);
    const struct level *lv = &w.m.lev[3];
    for (lidx i = 0; i < lv->noct; i++)
        for (int k = 0; k < w.m.cells; k++) {
            double x[3], y[3], f[3] = {0};
            cell_centre(&w.m, 3, lv->key[i], k, x);
            for (lidx j = 0; j < lv->noct; j++)
                for (int n = 0; n < w.m.cells; n++) {
                    cell_centre(&w.m, 3, lv->key[j], n, y);
                    for (int d = 0; d < 3; d++)
                        f[d] += sin(2 * M_PI * (y[d] - x[d])) * (double)g.mass[j][n] * QUANTUM;
                }
            for (int d = 0; d < 3; d++)
                for (int c = k; c < 8; c += w.m.cells) lv->fld[FLD_FX + d][i][c] = f[d];
        }
    part_hand_down(&w.p, &w.m, &w.c, w.d, 3);
    part_move(&w.p, &w.m, 3, 2);
    double net = 0, one = 0;
    for (int d = 0; d < 3; d++) {
        net = fmax(net, fabs(w.p.m[0] * w.p.v[d][0] + w.p.m[1] * w.p.v[d][1]));
        one = fmax(one, fabs(w.p.m[0] * w.p.v[d][0]));
    }
    check(one > 0.01 && net < 1e-14 * one,
          "gather is the transpose of deposit: momentum is conserved");
    grid_free(&g);
    world_free(&w);
}

static void test_bounded(int block_depth)
{
    struct world w;
    const bool bounded[6] = {true, true, false, false, false, false};
    world_mesh(&w, all, DOMAIN_KSECTION, LMIN, LMIN, 1, bounded);
    w.p.reflect[1] = true;
    w.p.block_depth = block_depth;
    world_particles(&w, 1000, 0);
    set_field(&w.m, field_one);
    double dt[LEVEL_MAX] = {0}, h = mesh_dx(&w.m, LMIN);
    for (int k = 0; k < LEVEL_MAX; k++) dt[k] = 2;
    part_hand_down(&w.p, &w.m, &w.c, w.d, LMIN);
    part_synchro(&w.p, &w.m, LMIN, dt, dt);
    double worst = 0;
    for (int64_t i = 0; i < w.p.n; i++) {
        double beyond = fmax(0, 0.5 - (1 - w.p.x[0][i]) / h);
        worst = fmax(worst, fabs(w.p.v[0][i] - (1 - 2 * beyond)));
        for (int d = 1; d < 3; d++) worst = fmax(worst, fabs(w.p.v[d][i] - (d < dims)));
    }
    check(worst < 1e-14, "force next to boundaries: copied, or mirrored");
    int64_t lost = 0, n;
    for (int64_t i = 0; i < w.p.n; i++) {
        w.p.x[0][i] += w.p.id[i] % 4 == 0 ? 1 : 0; /* out through the boundary */
        /* out through the periodic face, and back */
        w.p.x[1][i] -= dims > 1 && w.p.id[i] % 4 == 1 ? 1 : 0;
    }
    /* back into the box, where the position rounds to the far face */
    for (int64_t i = 0; i < w.p.n; i++)
        if (dims > 1 && w.p.id[i] % 4 == 2) w.p.x[dims - 1][i] = -1e-30;
    part_enter(&w.p, &w.m, &w.c, w.d, LMIN);
    bool inside = true;
    for (int64_t i = 0; i < w.p.n; i++)
        for (int d = 0; d < 3; d++) inside &= w.p.x[d][i] >= 0 && w.p.x[d][i] < 1;
    check(inside, "part_enter wraps into [0, boxlen)");
    lost = w.p.lost, n = w.p.n;
    comm_add_i64(&all, &lost, 1);
    comm_add_i64(&all, &n, 1);
    for (int64_t i = 0; i < w.p.n; i++) n += w.p.id[i] % 4 == 0;
    check(lost == 250 && n == 750,
          "particles beyond a boundary are removed and counted, no others");
    if (w.p.n > 0) w.p.x[0][0] = -0.5;
    check(part_distribute(&w.p, &w.m, &w.c, w.d) == ERR_PARAM,
          "a particle beyond a boundary at the start is an error");
    lost = w.p.lost, n = w.p.n > 0;
    check(part_take(&w.p, &w.m, &w.c, w.d) == OK && w.p.lost == lost + n,
          "those of a checkpoint are removed and counted");
    if (w.p.n > 0) w.p.x[0][0] = -0.5, w.p.x[1][0] = 2.5;
    check(dims == 1 || part_take(&w.p, &w.m, &w.c, w.d) == ERR_PARAM,
          "one too far away on a periodic axis is an error");
    world_free(&w);
}

/* mass_cut, cic_levelmax and stars (docs/method/part.md). */
static void test_selection(void)
{
    struct world w;
    world_mesh(&w, all, DOMAIN_KSECTION, LMIN, LMIN, 1, periodic_box);
    world_particles(&w, 1000, 0);
    double cut = 1e-3;
    int64_t light = 0, stars = 0, sum[2];
    for (int64_t id = 0; id < 1000; id++) {
        bool star = id % 7 == 3;
        stars += star;
        light += star || (0.5 + uniform(id, 6)) / 1000 < cut;
    }
    struct grid g = deposit(&w, LMIN, cut, 0);
    grid_sums(&w, LMIN, &g, sum);
    check(llabs(sum[1] - (light << 32)) < 8000 && fabs((double)sum[0] * QUANTUM - 1) < 0.1,
          "mass_cut: heavy DM does not count");
    grid_free(&g);
    g = deposit(&w, LMIN, 0, LMIN);
    grid_sums(&w, LMIN, &g, sum);
    check(llabs(sum[1] - (stars << 32)) < 8000 && fabs((double)sum[0] * QUANTUM - 1) < 0.1,
          "at cic_levelmax DM does not count but weighs");
    grid_free(&g);
    g = deposit(&w, LMIN, 0, LMIN - 1);
    grid_sums(&w, LMIN, &g, sum);
    check(fabs((double)sum[0] * QUANTUM - (double)stars / 1000) < 0.02,
          "above cic_levelmax DM does not weigh");
    grid_free(&g);
    for (int64_t i = 0; i < w.p.n; i++)
        if (w.p.id[i] % 7 == 3) w.p.family[i] = (int8_t)(-(w.p.id[i] % 5));
    g = deposit(&w, LMIN, 0, LMIN - 1);
    grid_sums(&w, LMIN, &g, sum);
    check(sum[0] == 0 && sum[1] == 0, "tracers neither weigh nor count");
    struct sum ekin;
    sum_init(&ekin);
    for (int64_t i = 0; i < w.p.n; i++) w.p.v[0][i] = w.p.family[i] > 0 ? 1 : 1000;
    part_kinetic(&w.p, LMIN, &ekin);
    check(sum_get(&ekin) < 1, "tracers have no kinetic energy");
    grid_free(&g);
    for (int64_t i = 0; i < w.p.n; i++)
        if (w.p.id[i] % 7 == 3) w.p.family[i] = FAM_STAR;
    g = deposit(&w, LMIN, 0, LMIN - 1);
    grid_sums(&w, LMIN, &g, sum);
    grid_free(&g);
    w.p.mass_sph = 0.5;
    g = deposit(&w, LMIN, 0, LMIN);
    int64_t old = sum[0];
    grid_sums(&w, LMIN, &g, sum);
    check(fabs((double)sum[1] * 0x1p-32 - 2 * (double)old * QUANTUM) < 1e-6,
          "stars count as m / mass_sph");
    grid_free(&g);
    world_free(&w);
}

/* Several threads, some particles with mass that are not counted: one thread passes on both mass
 * and number to another. */
static void test_threads(void)
{
    struct world w;
    int64_t differ = 0;
    int threads = omp_get_max_threads();
    world_mesh(&w, alone, DOMAIN_KSECTION, LMIN, LMIN, 1, periodic_box);
    world_particles(&w, NPART, 0);
    omp_set_num_threads(4);
    struct grid many = deposit(&w, LMIN, 1.0 / NPART, 0);
    omp_set_num_threads(1);
    struct grid one = deposit(&w, LMIN, 1.0 / NPART, 0);
    omp_set_num_threads(threads);
    for (lidx i = 0; i < w.m.lev[LMIN].noct; i++)
        for (int k = 0; k < 8; k++)
            differ += many.mass[i][k] != one.mass[i][k] || many.number[i][k] != one.number[i][k];
    check(differ == 0, "deposits of heavy particles by four threads are those by one");
    grid_free(&many);
    grid_free(&one);
    world_free(&w);
}

/* Ids beyond 2^32 reach the rank that owns their position. */
static void test_wide_ids(void)
{
    enum { N = 3000 };
    static const int64_t shift = ((int64_t)1 << 32) - N / 2;
    struct world w;
    int64_t wrong = 0, n;
    world_mesh(&w, all, DOMAIN_HILBERT, LMIN, LMIN, 1, periodic_box);
    world_particles(&w, N, 0);
    for (int64_t i = 0; i < w.p.n; i++) {
        w.p.id[i] += shift;
        w.p.x[0][i] = uniform(w.p.id[i], 99);
    }
    check(part_distribute(&w.p, &w.m, &w.c, w.d) == OK, "part_distribute with wide ids");
    for (int64_t i = 0; i < w.p.n; i++)
        wrong += w.p.x[0][i] != uniform(w.p.id[i], 99) ||
                 w.p.m[i] != (0.5 + uniform(w.p.id[i] - shift, 6)) / N;
    n = w.p.n;
    comm_add_i64(&all, &n, 1);
    check(wrong == 0 && n == N, "ids beyond 2^32 survive migration");
    world_free(&w);
}

/* Removes one particle, then the first, some, and the last: the others keep their columns. */
static void test_removed(void)
{
    enum { N = 500 };
    struct world w;
    int64_t wrong = 0, left;
    world_mesh(&w, all, DOMAIN_HILBERT, LMIN, LMIN, 1, periodic_box);
    world_particles(&w, N, 0);
    left = w.p.n;
    for (int round = 0; round < 2; round++) {
        int64_t at[5], n = 0, gone[5];
        for (int64_t i = 0; i < w.p.n; i++)
            if (round == 0 ? i == 3 : i % 7 == 0 && n < 4) at[n++] = i;
        if (round == 1 && w.p.n > 40) at[n++] = w.p.n - 1;
        for (int64_t k = 0; k < n; k++) gone[k] = w.p.id[at[k]];
        part_remove(&w.p, &w.m, LMIN, n, at);
        left -= n;
        wrong += w.p.n != left || w.p.first[LMIN + 1] != left;
        for (int64_t i = 0; i < w.p.n; i++) {
            wrong += w.p.m[i] != (0.5 + uniform(w.p.id[i], 6)) / N;
            for (int64_t k = 0; k < n; k++) wrong += w.p.id[i] == gone[k];
        }
    }
    check(wrong == 0, "removed particles are gone, and no others");
    world_free(&w);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report_speed(int lmin, int64_t n)
{
    struct world w;
    world_mesh(&w, all, DOMAIN_KSECTION, lmin, lmin, 1, periodic_box);
    world_particles(&w, n, 0.4 / (1 << lmin));
    set_field(&w.m, field_zero);
    double dt[LEVEL_MAX] = {0}, t[5] = {0};
    struct level *lv = &w.m.lev[lmin];
    struct grid g = {mem_zero(64 * (size_t)lv->noct, "t"), mem_zero(64 * (size_t)lv->noct, "t")};
    for (int s = 0; s < 5; s++) {
        t[0] -= cpu_seconds();
        part_enter(&w.p, &w.m, &w.c, w.d, lmin);
        t[0] += cpu_seconds(), t[1] -= cpu_seconds();
        part_deposit(&w.p, &w.m, lmin, QUANTUM, 0, 0, g.mass, g.number);
        t[1] += cpu_seconds(), t[2] -= cpu_seconds();
        part_hand_down(&w.p, &w.m, &w.c, w.d, lmin);
        t[2] += cpu_seconds(), t[3] -= cpu_seconds();
        part_synchro(&w.p, &w.m, lmin, dt, dt);
        t[3] += cpu_seconds(), t[4] -= cpu_seconds();
        part_move(&w.p, &w.m, lmin, 0.25);
        t[4] += cpu_seconds();
    }
    double f = 1e9 / 5 / (double)w.p.n;
    if (all.rank == 0)
        printf("level %d, %lld particles, %d threads: enter %.1f deposit %.1f hand_down %.1f "
               "synchro %.1f move %.1f "
               "cpu ns a particle\n",
               lmin, (long long)n, omp_get_max_threads(), t[0] * f, t[1] * f, t[2] * f, t[3] * f,
               t[4] * f);
    grid_free(&g);
    world_free(&w);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    for (dims = 1; dims <= 3; dims++) {
        for (int kind = DOMAIN_KSECTION; kind <= DOMAIN_HILBERT; kind++) {
            test_levelmin_mass(kind);
            test_same_bits(kind, kind == DOMAIN_HILBERT ? 1 : 7.3);
            test_streaming(kind);
        }
        test_force(1);
        test_force(0.7);
        test_momentum();
        for (int depth = 0; depth <= 2; depth++) test_bounded(depth);
    }
    dims = 3;
    test_dteff();
    test_selection();
    test_wide_ids();
    test_removed();
    test_threads();
    if (argc > 2) report_speed((int)strtol(argv[1], NULL, 10), strtoll(argv[2], NULL, 10));
    if (all.rank == 0) printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_fini();
    return failed != 0;
}
