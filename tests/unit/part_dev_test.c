/* part/dev: particles on the emulated device have the bits of the CPU: deposits, kicks, drifts,
 * octs and levels of particles, sums; on a mesh with coarse–fine boundaries, for particles on faces
 * of cells and of the box, all in one cell, far from their octs, beyond boundaries, in random
 * order; for 20 seeds of execution orders; on several ranks, some without a device or with a full
 * one. Particles that stay on their rank do not leave the device. CPU and device share only the
 * formulas of a single particle.
 *
 * test: tier=quick mpi=1,2,3 */
#include <float.h>
#include <omp.h>

#include "dev/dev.h"
#include "part/part_dev.h"
#include "part_world.h"
#include "test_device.h"

enum { SEEDS = 20, MANY = 6000 };

struct setting {
    const char *what;
    int64_t n;
    double box, speed;
    bool bounded[6], is_static, more;
    double dt; /* time step; 0: 1, with which many particles leave their rank */
    /* new value of the coordinate u of particle id along d, in units of the box */
    double (*location)(int64_t id, int d, double u);
    int steps;
};

static double anywhere(int64_t id, int d, double u)
{
    return u;
}

/* On faces of cells and of the box, and one unit in the last place next to them. */
static double on_faces(int64_t id, int d, double u)
{
    double x = floor(u * 64) / 64;
    switch ((id + d) % 5) {
    case 0:
        return x;
    case 1:
        return nextafter(x, 1);
    case 2:
        return x > 0 ? nextafter(x, 0) : 0;
    case 3:
        return u < 0.5 ? 0 : nextafter(1, 0);
    default:
        return (floor(u * 64) + 0.5) / 64;
    }
}

static double in_one_cell(int64_t id, int d, double u)
{
    return (d == 0 ? 0.05 : d == 1 ? 0.5 : 0.45) + u / 128;
}

/* Around a corner of the refined region. */
static double at_an_edge(int64_t id, int d, double u)
{
    return (d == 0 ? 0.2 : d == 1 ? 0.6 : 0.55) + 0.08 * (u - 0.5);
}

/* Half of the particles around a corner: numbers of particles per rank are very different at
 * first. */
static double half_at_an_edge(int64_t id, int d, double u)
{
    return id % 2 ? u : at_an_edge(id, d, u);
}

static void fill(struct world *w, const struct setting *s)
{
    struct parts *p = &w->p;
    if (s->more) {
        part_want(p, COL_BIRTH);
        part_add(p, "short", 'h');
        part_add(p, "byte", 'b');
    }
    p->is_static = s->is_static;
    p->mass_sph = s->more ? 0.3 / (double)s->n : 0;
    for (int f = 0; f < 6; f++) p->reflect[f] = f % 2;
    const int64_t every = w->c.size, of = w->c.rank;
    int64_t i = part_append(p, (s->n - of + every - 1) / every);
    for (int64_t id = of; id < s->n; id += every, i++) {
        for (int d = 0; d < 3; d++) {
            double x = s->location(id, d, uniform(id, (uint64_t)d)) * s->box;
            p->x[d][i] = x < s->box ? x : nextafter(s->box, 0);
            p->v[d][i] = s->speed * (uniform(id, (uint64_t)(3 + d)) - 0.5);
        }
        p->m[i] = id % 101 == 5 ? 0 : (0.5 + uniform(id, 6)) / (double)s->n;
        if (id == 77) p->m[i] = 0.5;
        p->id[i] = id;
        p->levelp[i] = LMIN + (int32_t)(id % 3);
        p->family[i] = (int8_t)(id % 7 == 3 ? FAM_STAR : id % 11 == 4 ? 0 : FAM_DM);
        p->tag[i] = (int8_t)(id % 5);
        for (int k = 0; k < p->nmore; k++)
            memset((char *)p->col[p->more[k].column] + i * p->more[k].size, (int)(id % 251),
                   (size_t)p->more[k].size);
    }
    check(part_distribute(p, &w->m, &w->c, w->d) == OK, "part_distribute");
}

/* ---- device side ---- */

static int64_t wrong; /* number of failures on this rank alone, as ranks may behave differently */

/* Device memory of a run, bytes. */
struct use {
    size_t first, last;
};

struct there {
    size_t max;    /* memory of the device; 0: no limit */
    size_t first;  /* memory in use before particles were sent */
    bool full;     /* the device ran out of memory */
    int64_t moved; /* bytes copied by part_dev_enter and part_dev_hand_down */
    struct test_mirror on;
    struct part_dev *parts;
};

static void begin_dev(struct there *t, struct world *w, uint64_t seed, size_t max)
{
    *t = (struct there){.max = max};
    bool ok = test_mirror_open(&t->on, NULL, seed, max) == OK;
    for (int l = 1; l <= w->m.levelmax; l++)
        ok &= mirror_need(&t->on.mirror, &w->m, l, FLD_FX, 3, LOCATION_DEVICE) == OK;
    ok &= part_dev_new(&t->parts, &t->on.mirror) == OK;
    t->first = dev_bytes(t->on.dev);
    wrong += !ok;
}

static void end_dev(struct there *t)
{
    wrong += dev_wait(t->on.stream) != OK;
    part_dev_free(&t->parts);
    wrong += test_mirror_close(&t->on) != 0;
}

/* ---- steps ---- */

static int64_t crossed(const struct there *t)
{
    const struct dev_count c = dev_counts(t->on.dev);
    return c.put + c.got;
}

static void digest_sum(struct world *w, const struct sum *sum)
{
    double x = sum_get(sum);
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    w->digest = mix(w->digest + bits);
}

/* Whether particles are still on the device. */
static bool is_on(const struct there *t)
{
    return t && !t->full;
}

/* Whether a call succeeded on the device. If the device is full, the CPU takes over for the
 * rest. */
static bool done(struct world *w, struct there *t, enum err err)
{
    if (err == OK) return true;
    t->full = true;
    wrong += t->max == 0 || part_dev_need(t->parts, &w->p, LOCATION_HOST) != OK;
    part_dev_wrote(t->parts);
    return false;
}

/* Deposits with varying limits of mass and level. */
static void deposit_some(struct world *w, struct there *t, int l, int turn)
{
    struct level *lv = &w->m.lev[l];
    size_t n = sizeof(int64_t[8]) * (size_t)lv->noct + 1;
    struct grid g = {mem_zero(n, "test"), mem_zero(n, "test")};
    double cut = turn % 2 ? 0 : 1e-4;
    int top = turn % 3 == 2 ? l : 0;
    if (!is_on(t) ||
        !done(w, t,
              part_dev_deposit(t->parts, &w->p, &w->m, l, QUANTUM, cut, top, g.mass, g.number)))
        part_deposit(&w->p, &w->m, l, QUANTUM, cut, top, g.mass, g.number);
    ghost_add_i64(&w->c, &lv->plan, 2, (int64_t(*[])[8]){g.mass, g.number});
    digest_grid(w, l, &g);
    grid_free(&g);
}

static void add_mass(const struct parts *p, struct sum sum[4])
{
    for (int64_t i = 0; i < p->n; i++) {
        if (p->family[i] <= 0) continue;
        sum_add(&sum[0], p->m[i]);
        for (int d = 0; d < 3; d++) sum_add(&sum[1 + d], p->m[i] * p->x[d][i]);
    }
}

/* Velocities and sums that the time step and the report need. */
static void measure(struct world *w, struct there *t, int l)
{
    double v;
    struct sum sum[4];
    for (int j = 0; j < 4; j++) sum_init(&sum[j]);
    if (!is_on(t) || !done(w, t, part_dev_vmax(t->parts, &w->p, l, &v))) v = part_vmax(&w->p, l);
    if (!is_on(t) || !done(w, t, part_dev_kinetic(t->parts, &w->p, l, &sum[0])))
        part_kinetic(&w->p, l, &sum[0]);
    sum_add(&sum[0], v * 0x1p-30);
    digest_sum(w, &sum[0]);
    if (l > w->m.levelmin) return;
    sum_init(&sum[0]);
    if (!is_on(t) || !done(w, t, part_dev_mass(t->parts, &w->p, 4, sum))) add_mass(&w->p, sum);
    for (int j = 0; j < 4; j++) digest_sum(w, &sum[j]);
}

/* Finest oct that contains particle i, by keys; returns its level. */
static int finest(const struct world *w, int64_t i, lidx *oct)
{
    const struct mesh *m = &w->m;
    for (int l = m->levelmax;; l--) {
        int64_t q[3];
        okey key;
        for (int d = 0; d < 3; d++) q[d] = (int64_t)(w->p.x[d][i] / m->boxlen * exp2(l - 1));
        if (!level_key_at(m->bounded, l, q, &key)) continue;
        *oct = mesh_find(&m->lev[l], key);
        if (*oct >= 0 || l == m->levelmin) return l;
    }
}

static void count_here(const struct world *w, int32_t *const count[LEVEL_MAX + 2])
{
    for (int64_t i = 0; i < w->p.n; i++) {
        lidx oct;
        int l = finest(w, i, &oct);
        count[l][oct]++;
    }
}

/* Counts particles in each finest oct, for the load of a rank. */
static void count_finest(struct world *w, struct there *t)
{
    int32_t *count[LEVEL_MAX + 2];
    for (int l = 0; l < LEVEL_MAX + 2; l++)
        count[l] = mem_zero(sizeof **count * (size_t)w->m.lev[l].noct + 1, "test");
    if (!is_on(t) || !done(w, t, part_dev_count(t->parts, &w->p, &w->m, count)))
        count_here(w, count);
    for (int l = 0; l < LEVEL_MAX + 2; l++) {
        for (lidx i = 0; i < w->m.lev[l].noct; i++)
            w->digest = mix(w->digest + (uint64_t)count[l][i]);
        mem_free(count[l]);
    }
}

/* Moves particles between octs, levels and ranks. */
static void step_enter(struct world *w, struct there *t, int l)
{
    const int64_t before = t ? crossed(t) : 0;
    if (!is_on(t) || !done(w, t, part_dev_enter(t->parts, &w->p, &w->m, &w->c, w->d, l)))
        part_enter(&w->p, &w->m, &w->c, w->d, l);
    if (t) t->moved += crossed(t) - before;
}

static void step_hand_down(struct world *w, struct there *t, int l)
{
    const int64_t before = t ? crossed(t) : 0;
    if (!is_on(t) || !done(w, t, part_dev_hand_down(t->parts, &w->p, &w->m, &w->c, w->d, l)))
        part_hand_down(&w->p, &w->m, &w->c, w->d, l);
    if (t) t->moved += crossed(t) - before;
}

/* A step; without t: on the CPU. */
static void step_both(struct world *w, struct there *t, int l, double dt, int turn)
{
    struct parts *p = &w->p;
    double dtnew[LEVEL_MAX], dtold[LEVEL_MAX];
    for (int k = 0; k < LEVEL_MAX; k++) {
        dtnew[k] = dt * (1 + 0.01 * k);
        dtold[k] = dt * (2 + 0.01 * k);
    }
    step_enter(w, t, l);
    if (l == LMIN) count_finest(w, t);
    deposit_some(w, t, l, turn);
    step_hand_down(w, t, l);
    if (!is_on(t) || !done(w, t, part_dev_synchro(t->parts, p, &w->m, l, dtnew, dtold)))
        part_synchro(p, &w->m, l, dtnew, dtold);
    w->digest = mix(w->digest + (uint64_t)(p->first[l + 1] - p->first[l]));
    measure(w, t, l);
    for (int k = 0; k < 2 && l < w->m.levelmax; k++) step_both(w, t, l + 1, 0.5 * dt, turn + k);
    if (!is_on(t) || !done(w, t, part_dev_move(t->parts, p, &w->m, l, dt)))
        part_move(p, &w->m, l, dt);
    if (!is_on(t) || !done(w, t, part_dev_merge(t->parts, p, &w->m, l))) part_merge(p, &w->m, l);
}

/* Bytes of the particles, except for small messages. */
static int64_t bytes_of(const struct parts *p)
{
    return p->n * (int64_t)part_bytes(&p->columns);
}

/* A run; without a seed: on the CPU. max: bytes of device memory (0: no limit). Returns the memory
 * in use at the beginning and at the end. */
static struct use run(struct world *w, const struct setting *s, const uint64_t *seed, size_t max)
{
    struct there t;
    world_mesh(w, all, DOMAIN_KSECTION, LMIN, LMAX, s->box, s->bounded);
    fill(w, s);
    set_field(&w->m, field_noise);
    if (seed) begin_dev(&t, w, *seed, max);
    for (int k = 0; k < s->steps; k++) {
        if (seed && k == 1) t.moved = 0; /* the particles are on the device by now */
        step_both(w, seed ? &t : NULL, LMIN, s->dt > 0 ? s->dt : 1, k);
    }
    if (!seed) return (struct use){0, 0};
    const struct use use = {t.first, dev_bytes(t.on.dev)};
    if (s->dt > 0) wrong += t.moved > bytes_of(&w->p) / 10 + 1024;
    wrong += part_dev_need(t.parts, &w->p, LOCATION_HOST) != OK;
    end_dev(&t);
    return use;
}

/* Number of particles whose optional columns belong to another particle. */
static int64_t mixed_up(const struct parts *p)
{
    int64_t bad = 0;
    for (int k = 0; k < p->nmore; k++)
        for (int64_t i = 0; i < p->n; i++)
            for (int b = 0; b < p->more[k].size; b++)
                bad += ((unsigned char *)p->col[p->more[k].column])[i * p->more[k].size + b] !=
                       p->id[i] % 251;
    return bad;
}

/* Whether both worlds have the same particles. Some may have left the box. */
static bool same_left(const struct world *a, const struct world *b, int64_t n)
{
    int64_t *at = mem_new(sizeof *at * (size_t)n, "test"), bad = a->p.n != b->p.n;
    for (int64_t i = 0; i < n; i++) at[i] = -1;
    for (int64_t i = 0; i < b->p.n; i++) at[b->p.id[i]] = i;
    for (int64_t i = 0; i < a->p.n; i++) {
        int64_t j = at[a->p.id[i]];
        if (j < 0) {
            bad++;
            continue;
        }
        at[a->p.id[i]] = -1;
        for (int d = 0; d < 3; d++)
            bad += memcmp(&a->p.x[d][i], &b->p.x[d][j], sizeof(double)) != 0 ||
                   memcmp(&a->p.v[d][i], &b->p.v[d][j], sizeof(double)) != 0;
        bad += a->p.m[i] != b->p.m[j] || a->p.levelp[i] != b->p.levelp[j] ||
               a->p.tag[i] != b->p.tag[j] || a->p.family[i] != b->p.family[j] ||
               a->p.host[i] != b->p.host[j];
    }
    FREE(at);
    return bad == 0;
}

static bool same(const struct world *dev, const struct world *cpu, int64_t n)
{
    return dev->digest == cpu->digest && dev->p.lost == cpu->p.lost && dev->p.n == cpu->p.n &&
           mixed_up(&dev->p) == 0 && same_left(dev, cpu, n);
}

static void test_same(const struct setting *s, int seeds)
{
    struct world cpu, dev;
    wrong = 0;
    run(&cpu, s, NULL, 0);
    for (uint64_t seed = 0; seed < (uint64_t)seeds; seed++) {
        run(&dev, s, &seed, 0);
        wrong += !same(&dev, &cpu, s->n);
        world_free(&dev);
    }
    if (wrong) printf("%s: %d wrong in %d seeds\n", s->what, (int)wrong, seeds);
    check(wrong == 0, s->what);
    world_free(&cpu);
}

/* Messages from the CPU and from a device are identical. */
static void test_mixed(const struct setting *s)
{
    struct world cpu, dev;
    const uint64_t seed = 3;
    run(&cpu, s, NULL, 0);
    for (int r = 0; r < all.size; r += 2) {
        wrong = 0;
        run(&dev, s, r == all.rank ? &seed : NULL, 0);
        wrong += !same(&dev, &cpu, s->n);
        check(wrong == 0, "one rank has a device");
        world_free(&dev);
    }
    world_free(&cpu);
}

/* Wherever device memory ends, the CPU continues from there. */
static void test_full(const struct setting *s)
{
    enum { TURNS = 5 };
    struct world cpu, dev;
    const uint64_t seed = 2;
    wrong = 0;
    run(&cpu, s, NULL, 0);
    const struct use use = run(&dev, s, &seed, 0);
    world_free(&dev);
    for (size_t k = 0; k < TURNS; k++) {
        run(&dev, s, &seed, use.first + (use.last - use.first) * k / TURNS);
        wrong += !same(&dev, &cpu, s->n);
        world_free(&dev);
    }
    check(wrong == 0, "full devices");
    world_free(&cpu);
}

/* Around the common corner of eight octs. */
static double at_a_corner(int64_t id, int d, double u)
{
    return 0.5 + (u - 0.5) / 32;
}

/* Many particles in few cells, in random order: threads of all blocks add to the same cells
 * concurrently. */
static void test_race(void)
{
    enum { N = 30000, TURNS = 8 };
    const struct setting s = {.n = N, .box = 1, .location = at_a_corner};
    const int threads = omp_get_max_threads();
    struct world w;
    struct there t;
    world_mesh(&w, alone, DOMAIN_KSECTION, LMIN, LMAX, s.box, s.bounded);
    fill(&w, &s);
    for (int64_t i = 0; i < N; i++) {
        int64_t j = (int64_t)(mix((uint64_t)i) % N);
        lidx host = w.p.host[i];
        w.p.host[i] = w.p.host[j];
        w.p.host[j] = host;
        for (int d = 0; d < 3; d++) {
            double x = w.p.x[d][i];
            w.p.x[d][i] = w.p.x[d][j];
            w.p.x[d][j] = x;
        }
    }
    wrong = 0;
    begin_dev(&t, &w, 1, 0);
    omp_set_num_threads(4); /* blocks of a launch run concurrently, on any machine */
    w.digest = 0;
    deposit_some(&w, NULL, LMIN, 1);
    uint64_t cpu = w.digest;
    for (int k = 0; k < TURNS; k++) {
        w.digest = 0;
        deposit_some(&w, &t, LMIN, 1);
        wrong += w.digest != cpu;
    }
    omp_set_num_threads(threads);
    end_dev(&t);
    world_free(&w);
    check(wrong == 0, "threads add to the same cells");
}

static void test_all(void)
{
    struct setting s = {.n = MANY, .box = 1, .speed = 0.02, .location = anywhere, .steps = 2};
    s.what = "anywhere";
    test_same(&s, all.size > 1 ? 4 : SEEDS);
    s.what = "few leave their rank";
    s.dt = 0.02;
    test_same(&s, 2);
    s.dt = 0;
    s.what = "in one cell";
    s.location = in_one_cell;
    test_same(&s, 6);
    s.what = "a box of another size, further columns";
    s.box = 1.7;
    s.more = true;
    s.location = at_an_edge;
    test_same(&s, 4);
    s.what = "on faces";
    s.location = on_faces;
    test_same(&s, 4);
    s.what = "fast";
    s.location = anywhere;
    s.speed = 0.4;
    test_same(&s, 3);
    if (all.size > 1) test_mixed(&s);
    s.location = half_at_an_edge;
    test_full(&s);
    s.what = "boundaries";
    s.speed = 0.1;
    s.location = on_faces;
    s.bounded[0] = s.bounded[1] = s.bounded[4] = s.bounded[5] = true;
    test_same(&s, 3);
    s.what = "static";
    s.is_static = true;
    test_same(&s, 2);
}

int main(int argc, char **argv)
{
    comm_init(&argc, &argv, &all);
    omp_set_num_threads(1);
    test_all();
    test_race();
    check(mem_now() == 0, "no memory is left");
    printf("%lld passed, %lld failed\n", (long long)passed, (long long)failed);
    comm_fini();
    return failed != 0;
}
