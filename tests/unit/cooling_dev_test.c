/* cooldev: cooling on the emulated device has the bits of the CPU, for random and for pathological
 * gas (vacuum, negative pressure, hotter than the table, numbers of any size), both methods with
 * kernels, long and short steps, the scalars that cooling reads, floors, equations of state, for 20
 * seeds of its orders. Nodes of the table are sent once; memory that does not fit changes nothing.
 *
 * test: tier=check timeout=300 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "cool/cool.h"
#include "cooldev/cooldev.h"
#include "dev/dev.h"
#include "gas_mesh.h"
#include "oct/mirror.h"
#include "phys/rates_asked.h"
#include "phys/term.h"
#include "test_device.h"

enum { BASE = 3, TOP = 4, SEEDS = 20, METAL = 5, DELAYED };

extern const struct term term_cooling;

static struct params *par;
static struct hydro_par gas;
static struct cooling *rates;

static bool wanted(const double *x, int l, int levelmin)
{
    return x[0] > 0.3 && x[1] < 0.7;
}

static void build(struct mesh *m)
{
    const bool periodic[6] = {false};
    gas_mesh(m, BASE, TOP, &gas, false, periodic, wanted);
    CHECK(m->lev[TOP].nown > 0);
}

/* Units in which density 1 is a hydrogen nucleus per cm³, and T2 = 1 is 1 K. */
static struct units units(void)
{
    struct units u = units_of(1, 1, 1);
    u.hydrogen = u.temperature = 1;
    return u;
}

static double power(struct rng *r, double low, double high)
{
    return pow(10, low + (high - low) * rng_uniform(r));
}

static void state(struct rng *r, bool evil, double *u)
{
    double rho = power(r, rng_word(r) % 100 ? -5 : -9, rng_word(r) % 100 ? 0 : 5),
           T2 = power(r, 0, 8.5), v = power(r, -3, 1);
    switch (evil ? rng_word(r) % 12 : 12) {
    case 0: /* vacuum */
        rho = rng_word(r) % 2 ? 0.0 : 1e-300;
        break;
    case 1:
        T2 = -T2;
        break;
    case 2: /* above the range of the table */
        T2 = power(r, 8.9, 14);
        break;
    case 3:
        rho = power(r, -30, 30);
        break;
    case 4:
        T2 = power(r, -30, 30);
        break;
    case 5: /* cold and fast */
        T2 = 1e-20, v = 1e8;
        break;
    case 6:
        rho = -rho;
        break;
    case 7:
        rho = INFINITY;
        break;
    case 8:
        T2 = NAN;
        break;
    default:
        break;
    }
    u[0] = rho;
    for (int d = 1; d <= 3; d++) u[d] = rho * v * (2 * rng_uniform(r) - 1);
    u[4] = rho * T2 / (gas.gamma - 1) + 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / rho;
    u[METAL] = rho * power(r, -6, -1);
    u[DELAYED] = rho * (rng_word(r) % 3 ? 0 : power(r, -5, 0));
}

static void fill(struct mesh *m, bool evil)
{
    struct rng r = rng_make(18, 2, evil);
    for (int l = BASE; l <= TOP; l++)
        for (lidx i = 0; i < m->lev[l].noct; i++)
            for (int c = 0; c < 8; c++) {
                double u[NVAR_MAX];
                state(&r, evil, u);
                for (int v = 0; v < gas.nvar; v++) m->lev[l].fld[FLD_U + v][i][c] = u[v];
            }
}

/* Digest in which all NaNs are equal: their sign depends on the compiler. */
static uint64_t digest(const struct mesh *m)
{
    uint64_t h = 1469598103934665603u, b;
    for (int l = BASE; l <= TOP; l++)
        for (int v = 0; v < m->nvar; v++)
            for (lidx i = 0; i < 8 * m->lev[l].nown; i++) {
                double x = m->lev[l].fld[FLD_U + v][i / 8][i % 8];
                if (x != x) x = NAN;
                memcpy(&b, &x, sizeof b);
                h = (h ^ b) * 1099511628211u;
                h ^= h >> 31;
            }
    return h;
}

static struct term_run run_of(struct mesh *m, int l, double dt)
{
    return (struct term_run){.par = par,
                             .hydro = &gas,
                             .mesh = m,
                             .stage = TERM_LEVEL,
                             .level = l,
                             .dt = dt,
                             .aexp = 1,
                             .cooling = rates,
                             .units = units()};
}

static uint64_t here(bool evil, double dt)
{
    struct mesh m;
    bool changed;
    build(&m);
    fill(&m, evil);
    uint64_t before = digest(&m);
    for (int l = TOP; l >= BASE; l--) {
        struct term_run r = run_of(&m, l, dt);
        CHECK(term_cooling.apply(&r, &changed) == OK);
    }
    uint64_t h = digest(&m);
    CHECK(h != before);
    mesh_fini(&m);
    return h;
}

struct there {
    struct test_mirror on;
    struct cooldev *cooling;
};

static enum err open_dev(struct there *t, struct mesh *m, uint64_t seed, size_t max)
{
    t->cooling = NULL;
    TRY(test_mirror_open(&t->on, m, seed, max));
    t->cooling = cooldev_new(&t->on.mirror);
    return OK;
}

static void close_dev(struct there *t)
{
    CHECK(dev_wait(t->on.stream) == OK);
    cooldev_free(&t->cooling);
    CHECK(test_mirror_close(&t->on) == 0);
}

/* Sends another table first, whose parts must not be used for this one. */
static void other_table_first(struct there *t, struct mesh *m, bool evil)
{
    cool_set(rates, 0.5);
    struct term_run r = run_of(m, TOP, 0);
    CHECK(term_cooling.device->apply(&r, t->cooling) == OK);
    CHECK(mirror_home(&t->on.mirror, m, true) == OK);
    fill(m, evil);
    cool_set(rates, 1);
}

static uint64_t there(bool evil, double dt, uint64_t seed)
{
    struct mesh m;
    struct there t;
    build(&m);
    fill(&m, evil);
    CHECK(open_dev(&t, &m, seed, 0) == OK);
    /* the table of the CPU is overwritten */
    if (seed == 0) cool_set(rates, 0.5), cool_set(rates, 1);
    if (seed == 1) other_table_first(&t, &m, evil);
    for (int l = TOP; l >= BASE; l--) {
        struct term_run r = run_of(&m, l, dt);
        CHECK(term_cooling.device->apply(&r, t.cooling) == OK, "%s", err_message());
    }
    CHECK(mirror_home(&t.on.mirror, &m, true) == OK);
    uint64_t h = digest(&m);
    close_dev(&t);
    mesh_fini(&m);
    return h;
}

static void same_bits(double dt, int seeds, const char *what)
{
    CHECK(!term_cooling.device->lacks(par), "%s", what);
    for (int evil = 0; evil < 2; evil++) {
        uint64_t cpu = here(evil, dt);
        int wrong = 0;
        for (int seed = 0; seed < seeds; seed++) wrong += there(evil, dt, (uint64_t)seed) != cpu;
        CHECK(wrong == 0, "%s%s: %d of %d seeds", what, evil ? ", evil" : "", wrong, seeds);
    }
}

static void method_is(const char *name)
{
    snprintf(par->physics.cooling_method, sizeof par->physics.cooling_method, "%s", name);
    struct cool_par asked = rates_asked(par, NULL);
    cool_free(rates);
    CHECK(cool_new(&asked, &rates) == OK);
    cool_set(rates, 1);
}

static void gas_is(bool metal, bool delayed)
{
    gas = (struct hydro_par){.nvar = 7, .gamma = 5 / 3.0, .smallr = 1e-10};
    gas_vars_init(&gas.vars);
    gas.vars.n = 7;
    gas.vars.at[SCALAR_METAL] = metal ? METAL : -1;
    gas.vars.at[SCALAR_DELAYED] = delayed ? DELAYED : -1;
}

static void test_bits(void)
{
    struct param_physics *p = &par->physics;
    gas_is(true, true);
    same_bits(1e13, SEEDS, "original");
    same_bits(1e10, 2, "short");
    same_bits(1e16, 2, "long");
    gas_is(false, false);
    p->t2_star = 100;
    p->n_star = 0.1;
    p->g_star = 2;
    same_bits(1e13, 2, "floor in proportion to density");
    p->g_star = 5. / 3;
    same_bits(1e13, 2, "floor by another power of density");
    p->self_shielding = true;
    same_bits(1e13, 2, "self_shielding");
    p->self_shielding = false;
    gas_is(true, false);
    p->t2_star = 0;
    method_is("implicit");
    same_bits(1e13, 3, "implicit");
    method_is("original");
    p->isothermal = true;
    p->t2_star = 100;
    same_bits(1e13, 2, "isothermal");
    p->isothermal = false;
    p->t2_star = 0;
}

/* ---- several terms ---- */

/* Parameters of a term that sets all gas to its own temperature floor. */
static struct cooling_law warm_law(const struct term_run *r)
{
    struct temperature_floor f = {.form = FLOOR_CONSTANT, .T2 = 3e4};
    return (struct cooling_law){.floor = f,
                                .smallr = gas.smallr,
                                .hydrogen = 1,
                                .per_T2 = 1 / (gas.gamma - 1),
                                .dt = r->dt,
                                .decay = 1,
                                .max = 1e50,
                                .metal = -1,
                                .delayed = -1};
}

static bool warms(const struct params *p)
{
    return true;
}

static enum err warm_here(const struct term_run *r, bool *changed)
{
    struct cooling_law law = warm_law(r);
    struct level *lv = &r->mesh->lev[r->level];
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++)
            if (lv->child[i][c] < 0) {
                double nH = cooling_density(&law, lv, i, c);
                cooling_set(&law, lv, i, c, vec_first(cooling_floor(&law.floor, vec_of(nH))));
            }
    *changed = true;
    return OK;
}

static int contexts; /* number of open contexts of WARM */

static void *warm_open(struct mirror *x)
{
    contexts++;
    return cooldev_new(x);
}

static void warm_close(void *context)
{
    struct cooldev *d = context;
    contexts--;
    cooldev_free(&d);
}

static enum err warm_dev(const struct term_run *r, void *context)
{
    struct cooling_law law = warm_law(r);
    return cooldev_apply(context, r->mesh, r->level, &law, NULL, COOL_ORIGINAL);
}

static const struct term_device WARM_DEVICE = {NULL, warm_open, warm_close, warm_dev};
static const struct term WARM = {.name = "warm",
                                 .stages = TERM_LEVEL,
                                 .wanted = warms,
                                 .reads = SET_GAS,
                                 .writes = SET_GAS,
                                 .apply = warm_here,
                                 .device = &WARM_DEVICE},
                         PLAIN = {.name = "plain",
                                  .stages = TERM_LEVEL,
                                  .wanted = warms,
                                  .reads = SET_GAS,
                                  .writes = SET_GAS,
                                  .apply = warm_here};

static uint64_t list_here(const struct term_list *list)
{
    struct mesh m;
    build(&m);
    fill(&m, false);
    for (int l = TOP; l >= BASE; l--) {
        struct term_run r = run_of(&m, l, 1e13);
        CHECK(terms_run(list, 0, &r, NULL) == OK);
    }
    uint64_t h = digest(&m);
    mesh_fini(&m);
    return h;
}

/* max: bytes of device memory. Terms that do not fit run on the CPU, as in a run; *after: whether a
 * term failed after another one had run. */
static uint64_t list_dev(const struct term_list *list, size_t max, bool *after)
{
    struct mesh m;
    struct test_mirror on;
    const char *lacks;
    build(&m);
    fill(&m, false);
    bool opened = test_mirror_open(&on, &m, 3, max) == OK;
    struct terms_dev *d = opened ? terms_dev_new(list, par, &on.mirror, &lacks) : NULL;
    for (int l = TOP; l >= BASE; l--) {
        struct term_run r = run_of(&m, l, 1e13);
        int next = 0;
        bool done = true;
        for (; d && next < list->n && done; next += done)
            if (terms_dev_run(d, &r, next, &done) != OK) break;
        if (next == list->n) continue;
        *after |= next > 0;
        if (opened) CHECK(mirror_home(&on.mirror, &m, true) == OK);
        CHECK(terms_run(list, next, &r, NULL) == OK);
    }
    if (opened) CHECK(mirror_home(&on.mirror, &m, true) == OK && dev_wait(on.stream) == OK);
    uint64_t h = digest(&m);
    terms_dev_free(&d);
    CHECK(test_mirror_close(&on) == 0 && contexts == 0);
    mesh_fini(&m);
    return h;
}

/* Two terms on the device, in both orders, have the bits of the CPU; also if memory fails before
 * the second. A third term without kernels is reported. */
static void test_two(void)
{
    const struct term *const order[2][2] = {{&WARM, &term_cooling}, {&term_cooling, &WARM}};
    const struct term *const three[] = {&WARM, &PLAIN, &term_cooling};
    const char *lacks;
    bool after = false;
    uint64_t h[2];
    for (int k = 0; k < 2; k++) {
        const struct term_list list = {order[k], 2};
        h[k] = list_here(&list);
        CHECK(list_dev(&list, 0, &after) == h[k] && !after, "order %d", k);
    }
    CHECK(h[0] != h[1]);
    for (size_t max = 100000; max < 10000000; max = max * 5 / 4)
        CHECK(list_dev(&(struct term_list){order[0], 2}, max, &after) == h[0], "%zu bytes", max);
    CHECK(after);
    struct mesh m;
    struct test_mirror on;
    build(&m);
    CHECK(test_mirror_open(&on, &m, 3, 0) == OK);
    struct terms_dev *d = terms_dev_new(&(struct term_list){three, 3}, par, &on.mirror, &lacks);
    CHECK(d && strcmp(lacks, "plain") == 0);
    terms_dev_free(&d);
    CHECK(test_mirror_close(&on) == 0 && contexts == 0);
    mesh_fini(&m);
}

static void test_lacks(void)
{
    struct param_physics *p = &par->physics;
    snprintf(p->cooling_method, sizeof p->cooling_method, "exact");
    CHECK(term_cooling.device->lacks(par));
    snprintf(p->cooling_method, sizeof p->cooling_method, "original");
    CHECK(!term_cooling.device->lacks(par));
}

/* The gas, and nodes of the table, are copied once; later steps copy a few numbers, and the nodes
 * beside those that cells have left. */
static void test_copies(void)
{
    struct mesh m;
    struct there t;
    build(&m);
    fill(&m, false);
    CHECK(open_dev(&t, &m, 1, 0) == OK);
    struct term_run r = run_of(&m, TOP, 1e10);
    CHECK(term_cooling.device->apply(&r, t.cooling) == OK);
    struct dev_count first = dev_counts(t.on.dev);
    CHECK(term_cooling.device->apply(&r, t.cooling) == OK);
    struct dev_count now = dev_counts(t.on.dev);
    CHECK(now.put - first.put < 10000 && now.got - first.got < 10000, "%lld to it, %lld back",
          (long long)(now.put - first.put), (long long)(now.got - first.got));
    CHECK(mirror_home(&t.on.mirror, &m, true) == OK);
    close_dev(&t);
    mesh_fini(&m);
}

/* At the next expansion factor, the nodes read before travel as what has changed. */
static void test_changes(void)
{
    static const double A[] = {0.2, 0.201, 0.202};
    struct mesh m;
    struct there t;
    int64_t put[3];
    build(&m);
    fill(&m, false);
    CHECK(open_dev(&t, &m, 1, 0) == OK);
    for (int k = 0; k < 3; k++) {
        struct term_run r = run_of(&m, TOP, 0);
        cool_set(rates, A[k]);
        const int64_t before = dev_counts(t.on.dev).put;
        CHECK(term_cooling.device->apply(&r, t.cooling) == OK);
        put[k] = dev_counts(t.on.dev).put - before;
    }
    const int64_t gas_bytes = (int64_t)(sizeof(double[8]) * (size_t)(m.nvar * m.lev[TOP].nown));
    CHECK(put[2] < (put[0] - gas_bytes) * 7 / 10, "%lld, %lld, %lld bytes", (long long)put[0],
          (long long)put[1], (long long)put[2]);
    cool_set(rates, 1);
    CHECK(mirror_home(&t.on.mirror, &m, true) == OK);
    close_dev(&t);
    mesh_fini(&m);
}

static int64_t rounds(const struct there *t)
{
    int64_t n = 0;
    const struct dev_launches *k;
    for (int i = 0; (k = dev_launches(t->on.dev, i)); i++)
        if (strcmp(k->kernel, "gas_cool") == 0) n += k->launches;
    return n;
}

/* All that cells read goes ahead of them to the next expansion factor, even if it was sent again as
 * the neighbour of something else: then one launch cools the same gas. */
static void test_reads(void)
{
    struct mesh m;
    struct there t;
    build(&m);
    fill(&m, false);
    CHECK(open_dev(&t, &m, 1, 0) == OK);
    struct term_run r = run_of(&m, TOP, 1e13);
    CHECK(term_cooling.device->apply(&r, t.cooling) == OK);
    const int64_t first = rounds(&t);
    CHECK(mirror_home(&t.on.mirror, &m, true) == OK);
    fill(&m, false);
    cool_set(rates, 1 - 1e-9);
    CHECK(term_cooling.device->apply(&r, t.cooling) == OK);
    CHECK(first > 3 && rounds(&t) - first == 1, "%lld, then %lld", (long long)first,
          (long long)(rounds(&t) - first));
    CHECK(mirror_home(&t.on.mirror, &m, true) == OK);
    cool_set(rates, 1);
    close_dev(&t);
    mesh_fini(&m);
}

/* If memory does not suffice, the gas is unchanged. */
static void test_limits(void)
{
    struct mesh m;
    int fits = 0, fails = 0;
    build(&m);
    fill(&m, false);
    uint64_t before = digest(&m);
    for (size_t max = 100000; !fits && max < 100000000; max = max * 5 / 4) {
        struct there t;
        if (open_dev(&t, &m, 0, max) == OK) {
            struct term_run r = run_of(&m, TOP, 1e13);
            fits = term_cooling.device->apply(&r, t.cooling) == OK;
            CHECK(mirror_home(&t.on.mirror, &m, true) == OK);
            fails += !fits;
            CHECK(fits || digest(&m) == before, "%zu bytes", max);
        }
        close_dev(&t);
    }
    CHECK(fits && fails && digest(&m) != before);
    mesh_fini(&m);
}

int main(void)
{
    par = mem_zero(sizeof *par, "test");
    par->run.hydro = true;
    snprintf(par->cooling.barotropic_eos_form, sizeof par->cooling.barotropic_eos_form, "legacy");
    par->physics.cooling = true;
    par->physics.z_ave = 0.3;
    par->physics.z_reion = 8.5;
    par->physics.t2max = 1e50;
    par->physics.t_diss = 1e-6;
    par->physics.haardt_madau = true;
    gas_is(true, true);
    method_is("original");
    test_bits();
    test_two();
    test_lacks();
    test_copies();
    test_changes();
    test_reads();
    test_limits();
    cool_free(rates);
    mem_free(par);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    printf("%d checks, %d failed\n", passed + failed, failed);
    return failed != 0;
}
