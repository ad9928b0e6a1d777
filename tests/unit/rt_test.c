/* rt: transport of photons on meshes of one, two and three dimensions. On a mesh that adapts to
 * what moves, with fine and coarse sub-steps in any number, photons in the box and those that left
 * it are as many as there were and were emitted, to round-off; no density is negative and no flux
 * larger than cN. A step is the sum of fluxes of pairs of cells. Bits are the same on one rank and
 * several, with one thread and two, and on the emulated device. Radiation that is the same
 * everywhere stays so; a mirror image
 * of a state becomes the mirror image of its result, to the last bit; a beam along an axis stays in
 * its row of cells and moves with c, a wall sends it back. Catches: a register that one level has
 * and the other has not, faces of refined cells that let photons pass twice, boundaries that keep
 * zeros or let photons through, groups that mix, a source that counts a repeated cell.
 *
 * test: tier=check timeout=120 mpi=1,3 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/sum.h"
#include "check.h"
#include "dom/ghost.h"
#include "patch/reflux.h"
#include "rt/law.h"
#include "rt/rt.h"
#include "rt/rt_dev.h"
#include "test_device.h"

enum { LMIN = 4, LMAX = 6, GROUPS = 2, V = RT_COMPONENTS };

/* A run of the test. */
struct how {
    int ndim, threads, sub; /* sub: sub-steps of a step of a level */
    enum rt_scheme scheme;
    enum bound_type bound; /* of all faces; BOUND_PERIODIC: none */
    bool flat, emits, outflow;
    int interpol;
    uint64_t device; /* seed of the orders of the emulated device; 0: none */
};

struct world {
    const struct comm *c;
    struct domain *d;
    struct mesh m;
    struct rt rt;
    struct rt_run run;
    struct how how;
    struct test_mirror t; /* dev NULL: there is none */
    struct ghost_dev *ghosts;
    struct rt_dev *rt_dev;
};

/* ---- the emulated device ---- */

static void device_open(struct world *w)
{
    if (!w->how.device) return;
    CHECK(test_mirror_open(&w->t, &w->m, w->how.device, 0) == OK);
    CHECK(ghost_dev_new(&w->ghosts, w->t.dev, w->t.stream) == OK);
    CHECK(rt_dev_new(&w->rt_dev, &w->rt, &w->t.mirror, w->ghosts) == OK);
}

static void device_close(struct world *w)
{
    if (!w->t.dev) return;
    dev_settle(w->t.dev);
    rt_dev_free(&w->rt_dev);
    ghost_dev_free(&w->ghosts);
    CHECK(test_mirror_close(&w->t) == 0);
}

/* All is on the host, and the device has no copies. */
static void device_home(struct world *w)
{
    if (!w->t.dev) return;
    CHECK(mirror_home(&w->t.mirror, &w->m, true) == OK);
    rt_dev_ledger(w->rt_dev);
}

/* Level l is about to make its sub-steps. */
static void device_begin(struct world *w, int l)
{
    w->rt.dev = w->rt_dev;
    if (w->t.dev) CHECK(rt_dev_begin(w->rt_dev, &w->run, l) == OK);
}

static double *value(struct world *w, int l, int v, lidx i)
{
    return level_photons(&w->m.lev[l], v)[i];
}

static void fill_ghosts(struct world *w, int l)
{
    int f[RT_VALUES];
    for (int v = 0; v < w->m.nphoton; v++) f[v] = FLD_PHOTONS + v;
    ghost_fill(w->c, &w->m, l, w->m.nphoton, f);
}

/* Adapts the mesh: cells of many photons of the first group. */
static void adapt(struct world *w)
{
    device_home(w);
    for (int l = LMAX - 1; l >= LMIN; l--) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++) {
            double max = 0;
            for (int k = 0; k < 8; k++) max = fmax(max, value(w, l, 0, i)[k]);
            for (int k = 0; k < 8; k++)
                lv->flag[i][k] = k < w->m.cells && max > (l == LMIN ? 0.2 : 0.5);
        }
        ghost_fill_flags(w->c, &w->m, l);
    }
    for (int l = LMIN; l < LMAX; l++) {
        int64_t dropped = adapt_drop_ungraded(&w->m, l);
        comm_add_i64(w->c, &dropped, 1);
        ghost_fill_flags(w->c, &w->m, l);
    }
    for (int l = LMIN; l < LMAX; l++) adapt_refine(&w->m, w->c, w->d, l, NULL, NULL);
    for (int l = 1; l <= LMAX; l++) fill_ghosts(w, l);
}

static void advance(struct world *w, int l, double dt)
{
    const bool finer = l < LMAX && w->m.lev[l + 1].total > 0;
    const int sub = w->rt.nsubcycle;
    if (finer) {
        if (w->t.dev)
            CHECK(rt_dev_registers(w->rt_dev, &w->m, l + 1) == OK);
        else
            rt_registers(&w->rt, &w->m, l + 1);
        for (int k = 0; k < 2; k++) advance(w, l + 1, 0.5 * dt);
        w->rt.dev = w->rt_dev;
        rt_send(&w->run, l + 1);
    }
    device_begin(w, l);
    for (int k = 0; k < sub; k++) {
        rt_transport(&w->rt, &w->m, l, dt / sub, k == 0);
        rt_sources(&w->run, l, dt / sub);
        rt_confine(&w->rt, &w->m, l);
        rt_fill(&w->run, l);
        if (sub > 1 && l > LMIN) rt_settle(&w->run, l);
    }
    if (finer) {
        if (w->t.dev) CHECK(rt_dev_forget(w->rt_dev, l + 1) == OK);
        reflux_end(&w->m, l + 1, REFLUX_RT);
        rt_restrict(&w->run, l);
    }
    rt_fill(&w->run, l);
    w->rt.dev = NULL;
}

/* Position of a cell, in units of the box. */
static void place(const struct world *w, int l, lidx i, int c, double x[3])
{
    okey_cell_centre(w->m.lev[l].key[i], c, mesh_dx(&w->m, l), x);
}

static void fill(struct world *w)
{
    for (int l = 1; l <= LMAX; l++)
        for (lidx i = 0; i < 8 * w->m.lev[l].noct; i++) {
            double x[3], r2 = 0;
            place(w, l, i / 8, i % 8 % w->m.cells, x);
            for (int d = 0; d < w->m.ndim; d++) r2 += pow(x[d] - 0.1 - 0.15 * d, 2);
            for (int g = 0; g < GROUPS; g++) {
                const double N = w->how.flat ? 1 : RT_SMALL + (1 + g) * exp(-r2 * 90);
                value(w, l, V * g, i / 8)[i % 8] = N;
                for (int d = 0; d < 3; d++)
                    value(w, l, V * g + 1 + d, i / 8)[i % 8] =
                        d < w->m.ndim && !w->how.flat ? (0.3 + 0.2 * g - 0.2 * d) * w->rt.c * N : 0;
            }
        }
}

/* Results over own leaves: photons of both groups; order-independent hash of their bits. */
struct result {
    double photons[GROUPS], lowest, highest, reduced;
    int64_t octs, mesh, bits; /* mesh: hash of the octs */
};

static int64_t hash(okey key, int which, double u)
{
    uint64_t b;
    memcpy(&b, &u, sizeof b);
    b = (b ^ (uint64_t)key << 20 ^ (uint64_t)which) * 0x9e3779b97f4a7c15u;
    return (int64_t)((b ^ b >> 29) * 0xbf58476d1ce4e5b9u >> 8);
}

static void result_cell(struct world *w, int l, lidx i, int c, struct result *x, struct sum *s)
{
    for (int g = 0; g < GROUPS; g++) {
        const double N = value(w, l, V * g, i)[c];
        double F2 = 0;
        for (int d = 0; d < 3; d++) F2 += pow(value(w, l, V * g + 1 + d, i)[c], 2);
        x->reduced = fmax(x->reduced, sqrt(F2) / (w->rt.c * N));
        x->lowest = fmin(x->lowest, N), x->highest = fmax(x->highest, N);
        sum_add(&s[g], N * mesh_volume(&w->m, l));
        for (int v = V * g; v < V * g + V; v++)
            x->bits += hash(w->m.lev[l].key[i], c + 8 * v, value(w, l, v, i)[c]);
    }
}

static struct result result_of(struct world *w)
{
    device_home(w);
    struct result x = {.lowest = HUGE_VAL};
    struct sum s[GROUPS];
    for (int g = 0; g < GROUPS; g++) sum_init(&s[g]);
    for (int l = LMIN; l <= LMAX; l++) {
        x.octs += l > LMIN ? w->m.lev[l].nown : 0;
        for (lidx i = 0; i < w->m.lev[l].nown; i++) {
            x.mesh += hash(w->m.lev[l].key[i], l, 0);
            for (int c = 0; c < w->m.cells; c++)
                if (w->m.lev[l].child[i][c] < 0) result_cell(w, l, i, c, &x, s);
        }
    }
    comm_sums(w->c, s, GROUPS);
    comm_add_i64(w->c, &x.octs, 1);
    comm_add_i64(w->c, &x.bits, 1);
    comm_add_i64(w->c, &x.mesh, 1);
    for (int g = 0; g < GROUPS; g++) x.photons[g] = sum_get(&s[g]);
    return x;
}

/* Photons that came into the box, by the ledger of all ranks. */
static double ledger_of(struct world *w, int g)
{
    struct rt_ledger *a = &w->rt.ledger;
    struct sum s[3] = {a->emitted[g], a->raised[g], a->left[g]};
    comm_sums(w->c, s, 3);
    return sum_get(&s[0]) + sum_get(&s[1]) - sum_get(&s[2]);
}

static void world_open(struct world *w, const struct comm *c, struct how how)
{
    const bool b = how.bound != BOUND_PERIODIC, bounded[6] = {b, b, b, b, b, b};
    *w = (struct world){.c = c, .how = how};
    omp_set_num_threads(how.threads);
    mesh_init(&w->m, LMIN, LMAX, 5, true, 0, 1.0, bounded);
    mesh_set_ndim(&w->m, how.ndim);
    mesh_set_photons(&w->m, GROUPS);
    w->rt = (struct rt){.ngroups = GROUPS,
                        .scheme = how.scheme,
                        .nsubcycle = how.sub,
                        .advect = true,
                        .outflow = how.outflow,
                        .interpol = how.interpol,
                        .courant = 0.8,
                        .c = 3.0,
                        .c_cgs = 3.0};
    for (int f = 0; f < 6; f++) w->rt.bound[f] = how.bound;
    for (int g = 0; g < GROUPS; g++) {
        sum_init(&w->rt.ledger.emitted[g]), sum_init(&w->rt.ledger.left[g]);
        sum_init(&w->rt.ledger.raised[g]), sum_init(&w->rt.ledger.absorbed[g]);
    }
    w->run = (struct rt_run){.rt = &w->rt, .mesh = &w->m, .comm = c, .aexp = 1};
    w->run.units.length = w->run.units.time = 1;
    w->d = domain_new(DOMAIN_KSECTION, c->size, LMAX, bounded);
    adapt_build(&w->m, c, w->d);
    device_open(w);
}

static void world_close(struct world *w)
{
    device_close(w);
    rt_transport_free(&w->rt);
    mesh_fini(&w->m);
    domain_free(w->d);
}

static void add_sources(struct world *w)
{
    struct rt_place *p = w->rt.source;
    *p++ = (struct rt_place){RT_POINT, 0, {0.3, 0.41, 0.52}, .n = 5};
    *p++ = (struct rt_place){RT_SQUARE, 1, {0.2, 0.2, 0.2}, {0.1, 0.2, 0.1}, 10, 2, {0, 0.5, 0}};
    *p++ = (struct rt_place){RT_SHELL, 1, {0.6, 0.5, 0.5}, {0.1, 0.12, 0}, .n = 1};
    /* across the periodic faces of the box from what is refined */
    *p++ = (struct rt_place){RT_SQUARE, 1, {0.97, 0.1, 0.2}, {0.1, 0.4, 0.4}, 10, 2, {1, 0, 0}};
    w->rt.nsource = (int)(p - w->rt.source);
}

static struct result run(const struct comm *c, struct how how)
{
    struct world w;
    world_open(&w, c, how);
    for (int k = 0; k < 2; k++) fill(&w), adapt(&w);
    fill(&w);
    for (int l = LMAX - 1; l >= LMIN; l--) photons_restrict(&w.m, l), fill_ghosts(&w, l);
    if (how.emits) add_sources(&w);
    const struct result before = result_of(&w);
    struct result after = before;
    for (int k = 0; k < 6 / how.sub; k++) {
        advance(&w, LMIN, rt_limit(&w.rt, &w.m, LMIN));
        after = result_of(&w);
        for (int g = 0; g < GROUPS; g++) {
            const double now = after.photons[g], was = before.photons[g] + ledger_of(&w, g);
            CHECK(fabs(now - was) < 1e-14 * fmax(now, before.photons[g]), "%d-D, group %d: %g",
                  how.ndim, g, now / was - 1);
        }
        CHECK(after.lowest > 0 && after.reduced < 1 + 1e-14, "%g %g", after.lowest, after.reduced);
        CHECK(how.flat ? after.highest - after.lowest < 1e-14 : after.bits != before.bits);
        if (!how.flat) adapt(&w);
    }
    CHECK(how.flat || how.emits || result_of(&w).mesh != before.mesh, "the mesh adapts, %d-D, %d",
          how.ndim, how.sub);
    world_close(&w);
    return after;
}

/* The emulated device takes seconds a run: on several ranks it has two of them, one with registers
 * that are sent once, one with those of sub-steps. Ranks then lack octs of the finest level. */
static bool on_device(const struct comm *all, struct how how)
{
    const bool glf = how.scheme == RT_GLF;
    return all->size > 1 ? glf && how.ndim == (how.sub == 1 ? 2 : 1)
                         : how.ndim < 3 || (how.sub > 1 && !glf);
}

static void test_runs(const struct comm *all, const struct comm *alone, struct how how)
{
    struct result one = {0};
    how.threads = 1;
    if (all->rank == 0) one = run(alone, how);
    comm_add_i64(all, &one.bits, 1);
    comm_add_i64(all, &one.octs, 1);
    CHECK(one.octs > (how.ndim == 3 ? 60 : how.ndim == 2 ? 15 : 2), "%d octs", (int)one.octs);
    CHECK(run(all, how).bits == one.bits, "%d ranks", all->size);
    how.threads = 2;
    if (all->size == 1) CHECK(run(alone, how).bits == one.bits, "two threads");
    if (!on_device(all, how)) return;
    how.device = 1 + (uint64_t)all->rank;
    CHECK(run(all, how).bits == one.bits, "%d devices, %d-D", all->size, how.ndim);
}

/* Photons of cell x, y, z of a mesh of one level. */
static double *cell(struct world *w, int v, int x, int y, int z)
{
    const okey k = okey_make((uint64_t)x / 2, (uint64_t)y / 2, (uint64_t)z / 2);
    const lidx i = mesh_find(&w->m.lev[LMIN], k);
    return &value(w, LMIN, v, i)[(x & 1) + 2 * (y & 1) + 4 * (z & 1)];
}

/* A random state of a mesh of one level, or its mirror image along an axis. */
static void fill_random(struct world *w, int mirror)
{
    const int n = 1 << LMIN;
    uint64_t seed = 5;
    for (int k = 0; k < n * n * n; k++) {
        int x[3] = {k % n, k / n % n, k / n / n};
        if (mirror >= 0) x[mirror] = n - 1 - x[mirror];
        for (int v = 0; v < V * GROUPS; v++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const double u = (double)(seed >> 11) * 0x1p-53, sign = v % V - 1 == mirror ? -1 : 1;
            *cell(w, v, x[0], x[1], x[2]) = v % V ? sign * (u - 0.5) * 1.7 : 1 + u;
        }
    }
    rt_confine(&w->rt, &w->m, LMIN);
}

static void test_mirror(const struct comm *alone, enum rt_scheme scheme)
{
    for (int axis = 0; axis < 3; axis++) {
        const struct how how = {.ndim = 3,
                                .threads = 1,
                                .sub = 1,
                                .scheme = scheme,
                                .bound = axis ? BOUND_REFLECT : BOUND_PERIODIC};
        struct world w, image;
        int differ = 0;
        world_open(&w, alone, how), world_open(&image, alone, how);
        fill_random(&w, -1), fill_random(&image, axis);
        for (int k = 0; k < 3; k++)
            advance(&w, LMIN, rt_limit(&w.rt, &w.m, LMIN)),
                advance(&image, LMIN, rt_limit(&w.rt, &w.m, LMIN));
        for (int k = 0, n = 1 << LMIN; k < n * n * n; k++) {
            int x[3] = {k % n, k / n % n, k / n / n}, y[3] = {x[0], x[1], x[2]};
            y[axis] = n - 1 - y[axis];
            for (int v = 0; v < V * GROUPS; v++) {
                const double a = *cell(&w, v, x[0], x[1], x[2]),
                             b = *cell(&image, v, y[0], y[1], y[2]);
                differ += a != (v % V - 1 == axis ? -b : b);
            }
        }
        CHECK(differ == 0, "axis %d: %d numbers differ", axis, differ);
        world_close(&w), world_close(&image);
    }
}

/* The gain of a cell through its two faces along axis d, by the fluxes of pairs of states. */
static void gain(struct world *w, int g, const int x[3], int d, double out[V])
{
    const int n = 1 << LMIN;
    double u[3][V], F[2][V];
    for (int k = 0; k < 3; k++) {
        int y[3] = {x[0], x[1], x[2]};
        y[d] = (y[d] + k - 1 + n) % n;
        for (int v = 0; v < V; v++) u[k][v] = *cell(w, V * g + v, y[0], y[1], y[2]);
    }
    for (int k = 0; k < 2; k++) rt_law_flux(&w->rt, d, (const double *[]){u[k], u[k + 1]}, V, F[k]);
    for (int v = 0; v < V; v++) out[v] += F[0][v] - F[1][v];
}

/* A step is the sum of the fluxes of pairs of cells. */
static void test_pairs(const struct comm *alone, enum rt_scheme scheme, bool by_table)
{
    struct world w, next;
    const int n = 1 << LMIN;
    const struct how how = {.ndim = 3, .threads = 1, .sub = 1, .scheme = scheme};
    world_open(&w, alone, how), world_open(&next, alone, how);
    w.rt.by_table = next.rt.by_table = by_table;
    fill_random(&w, -1), fill_random(&next, -1);
    const double dt = rt_longest(&w.rt, &w.m, LMIN);
    rt_transport(&next.rt, &next.m, LMIN, dt, true);
    w.rt.waves = next.rt.waves;
    double worst = 0;
    for (int k = 0; k < n * n * n; k++) {
        const int x[3] = {k % n, k / n % n, k / n / n};
        for (int g = 0; g < GROUPS; g++) {
            double more[V] = {0};
            for (int d = 0; d < 3; d++) gain(&w, g, x, d, more);
            for (int v = V * g; v < V * g + V; v++) {
                const double u = *cell(&w, v, x[0], x[1], x[2]) +
                                 dt / mesh_dx(&w.m, LMIN) * more[v - V * g];
                worst = fmax(worst, fabs(u - *cell(&next, v, x[0], x[1], x[2])));
            }
        }
    }
    CHECK(worst < 1e-14 * w.rt.c, "solver %d: %g", scheme, worst);
    w.rt.waves = NULL;
    world_close(&w), world_close(&next);
}

/* A beam along an axis in one row of cells, amid a faint one: with HLL nothing reaches the rows
 * beside it, it moves with the speed of light, and comes back from a wall. */
static void test_beam(const struct comm *alone, int axis)
{
    struct world w;
    const int n = 1 << LMIN;
    double all = 0, beside = 0, mean = 0, flux = 0;
    world_open(
        &w, alone,
        (struct how){.ndim = 3, .threads = 1, .sub = 1, .scheme = RT_HLL, .bound = BOUND_REFLECT});
    for (int v = 0; v < V * GROUPS; v++)
        for (lidx i = 0; i < 8 * w.m.lev[LMIN].noct; i++)
            value(&w, LMIN, v, i / 8)[i % 8] = v % V == 0          ? RT_SMALL
                                               : v % V - 1 == axis ? w.rt.c * RT_SMALL
                                                                   : 0;
    int x[3] = {5, 5, 5};
    for (x[axis] = 2; x[axis] < 4; x[axis]++) {
        *cell(&w, 0, x[0], x[1], x[2]) = 1;
        *cell(&w, 1 + axis, x[0], x[1], x[2]) = w.rt.c;
    }
    const double dt = rt_longest(&w.rt, &w.m, LMIN), c = w.rt.c, dx = mesh_dx(&w.m, LMIN);
    for (int turn = 0; turn < 2; turn++) {
        const int steps = turn ? 60 : 10;
        for (int k = 0; k < steps; k++) advance(&w, LMIN, dt);
        all = beside = mean = flux = 0;
        for (int k = 0; k < n * n * n; k++) {
            const int y[3] = {k % n, k / n % n, k / n / n};
            const double N = *cell(&w, 0, y[0], y[1], y[2]);
            bool on = true;
            for (int d = 0; d < 3; d++) on &= d == axis || y[d] == 5;
            all += N, mean += N * (y[axis] + 0.5), beside += on ? 0 : N;
            flux += *cell(&w, 1 + axis, y[0], y[1], y[2]);
        }
        CHECK(fabs(all - 2) < 1e-13 && beside < (turn ? 2 : 1e-6), "%g, %g beside", all, beside);
        CHECK(turn || fabs(mean / all - (3 + 10 * c * dt / dx)) < 1e-5, "at %g", mean / all);
        CHECK(turn ? flux < 0 : fabs(flux - 2 * c) < 1e-6, "flux %g", flux);
    }
    world_close(&w);
}

/* Photons within a boundary that are as imposed beyond it stay so. */
static void test_imposed(const struct comm *alone)
{
    struct world w;
    world_open(&w, alone, (struct how){2, 1, 1, RT_GLF, BOUND_IMPOSED, .flat = true});
    fill(&w);
    for (int f = 0; f < 6; f++)
        for (int g = 0; g < GROUPS; g++) w.rt.bound_state[f][V * g] = 1;
    for (int k = 0; k < 4; k++) advance(&w, LMIN, rt_longest(&w.rt, &w.m, LMIN));
    struct result x = result_of(&w);
    CHECK(fabs(x.lowest - 1) < 1e-14 && fabs(x.highest - 1) < 1e-14, "%g", x.lowest);
    w.rt.bound_state[0][0] = 2;
    advance(&w, LMIN, rt_longest(&w.rt, &w.m, LMIN));
    x = result_of(&w);
    CHECK(x.photons[0] > 1 && fabs(x.photons[1] - 1) < 1e-14, "the first group comes in");
    CHECK(fabs(x.photons[0] - 1 - ledger_of(&w, 0)) < 1e-14);
    world_close(&w);
}

/* Tests that need no ranks. */
static void test_alone(const struct comm *alone)
{
    for (int ndim = 1; ndim <= 3; ndim++)
        for (int sub = 1; sub <= 3; sub += 2) {
            run(alone, (struct how){ndim, .sub = sub, .threads = 1, .flat = true});
            run(alone, (struct how){ndim, .sub = sub, .threads = 1, .bound = BOUND_OUTFLOW,
                                    .emits = true, .interpol = 1});
            run(alone, (struct how){ndim, .sub = sub, .threads = 1, .emits = true, .outflow = true,
                                    .scheme = RT_HLL});
        }
    for (int axis = 0; axis < 3; axis++) test_beam(alone, axis);
    test_mirror(alone, RT_GLF), test_mirror(alone, RT_HLL);
    test_pairs(alone, RT_GLF, false), test_pairs(alone, RT_HLL, false);
    test_pairs(alone, RT_HLL, true);
    test_imposed(alone);
}

int main(int argc, char **argv)
{
    struct comm all;
    const struct comm alone = {.size = 1};
    comm_init(&argc, &argv, &all);
    for (int ndim = 1; ndim <= 3; ndim++)
        for (int sub = 1; sub <= 3; sub += 2) {
            test_runs(&all, &alone, (struct how){ndim, .sub = sub, .interpol = 1});
            test_runs(&all, &alone,
                      (struct how){ndim, .sub = sub, .scheme = RT_HLL, .bound = BOUND_REFLECT,
                                   .emits = true, .interpol = ndim - 1});
        }
    if (all.size == 1) test_alone(&alone);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    if (all.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed != 0;
}
