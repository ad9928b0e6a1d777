/* hydro/dev: the gas on the emulated device has the bits of the CPU in one, two and three
 * dimensions, for meshes with coarse-fine boundaries and boundaries of the box, also where both
 * meet, for rough states and for evil ones (vacuum, cold gas at high speed, negative pressure,
 * numbers of any size), for 20 seeds of its orders. The CPU's planes and the kernels share formulas
 * of one cell and nothing else. And memory that does not fit, and what steps copy.
 *
 * test: tier=quick
 * test: all tier=check */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dev/dev.h"
#include "gas_mesh.h"
#include "hydro/hydro.h"
#include "hydro/hydro_dev.h"
#include "patch/reflux.h"
#include "test_device.h"

enum { SEEDS = 20 };

/* Dimensions of all meshes, their complete level and their finest. */
static int ndim = 3, coarse = 3, finest = 5;

static const bool periodic_box[6] = {false};

static struct hydro_par base_par(void)
{
    struct hydro_par p = {.nvar = 5,
                          .gamma = 1.4,
                          .smallr = 1e-8,
                          .smallc = 1e-6,
                          .courant_factor = 0.5,
                          .riemann = RIEMANN_HLLC,
                          .slope_type = SLOPE_MINMOD,
                          .slope_theta = 1.5,
                          .interpol_type = 1};
    return p;
}

/* ---- meshes and states ---- */

static bool wanted(const double *x, int l, int levelmin)
{
    double r2 = 0;
    for (int d = 0; d < ndim; d++) r2 += (x[d] - 0.45) * (x[d] - 0.45);
    return r2 < (l == levelmin ? 0.16 : 0.03) && (l == levelmin || r2 > 0.004);
}

/* Around two corners of the box: octs that do not exist lie beside each of its six faces. */
static bool in_corners(const double *x, int l, int levelmin)
{
    double lower = 0, upper = 0, r = l == levelmin ? 0.5 : 0.27;
    for (int d = 0; d < ndim; d++) {
        lower += x[d] * x[d];
        upper += (1 - x[d]) * (1 - x[d]);
    }
    return lower < r * r || upper < r * r;
}

static void build(struct mesh *m, int top, const struct hydro_par *p, bool gravity,
                  const bool bounded[6])
{
    mesh_init(m, coarse, top, p->nvar, true, gravity, 1.0, bounded);
    mesh_set_ndim(m, ndim);
    gas_mesh_fill(m, bounded[2] ? in_corners : wanted);
    CHECK(m->lev[top].nown > 0);
}

static void rough(struct rng *r, double *q)
{
    q[0] = 0.2 + rng_uniform(r);
    for (int d = 1; d <= 3; d++) q[d] = 2 * rng_uniform(r) - 1;
    q[4] = 0.1 + rng_uniform(r);
}

static void evil(struct rng *r, double *q)
{
    rough(r, q);
    double size = pow(10, 24 * rng_uniform(r) - 12);
    switch (rng_word(r) % 32) {
    case 0: /* vacuum */
        q[0] = rng_word(r) % 2 ? 0.0 : 1e-300;
        break;
    case 1: /* cold and fast */
        q[1] *= 1e6, q[2] *= 1e6, q[4] = 1e-30;
        break;
    case 2:
        q[4] = -q[4];
        break;
    case 3:
        q[0] *= size;
        break;
    case 4:
        q[4] *= size;
        break;
    case 5:
        q[1] = q[2] = q[3] = -0.0;
        break;
    case 6:
        q[0] = -1e-9;
        break;
    default:
        break;
    }
}

/* Numbers beyond the cells of an oct repeat those of its cells. */
static void repeat(struct mesh *m, int l)
{
    for (int f = 0; f < FLD_MAX; f++)
        for (lidx i = 0; m->lev[l].fld[f] && i < m->lev[l].noct; i++)
            for (int c = m->cells; c < 8; c++)
                m->lev[l].fld[f][i][c] = m->lev[l].fld[f][i][c & (m->cells - 1)];
}

static void fill(struct mesh *m, const struct hydro_par *p, void (*state)(struct rng *, double *))
{
    struct rng r = rng_make(18, 1, 1);
    for (int l = 1; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].noct; i++)
            for (int c = 0; c < m->cells; c++) {
                double q[NVAR_MAX], ekin = 0;
                state(&r, q);
                for (int d = m->ndim + 1; d <= 3; d++) q[d] = 0;
                for (int d = 1; d <= 3; d++) ekin += 0.5 * q[0] * q[d] * q[d];
                for (int v = 5; v < p->nvar; v++) q[v] = rng_uniform(&r);
                for (int v = 0; v < p->nvar; v++)
                    m->lev[l].fld[FLD_U + v][i][c] = v == 0   ? q[0]
                                                     : v == 4 ? q[4] / (p->gamma - 1) + ekin
                                                              : q[0] * q[v];
                for (int d = 0; m->gravity && d < 3; d++)
                    m->lev[l].fld[FLD_FX + d][i][c] = d < m->ndim ? rng_uniform(&r) - 0.5 : 0;
            }
    for (int l = 1; l <= m->levelmax; l++) repeat(m, l);
    for (int l = m->levelmax - 1; l >= 1; l--) hydro_restrict(m, l, p);
}

/* ---- runs ---- */

/* Gas of a mesh on an emulated device. */
struct there {
    struct test_mirror on;
    struct dev_stream *side;
    struct hydro_dev *gas;
};

static enum err open_dev(struct there *t, struct mesh *m, uint64_t seed, size_t max)
{
    t->gas = NULL;
    t->side = NULL;
    TRY(test_mirror_open(&t->on, m, seed, max));
    t->side = dev_stream_new(t->on.dev);
    return hydro_dev_new(&t->gas, &t->on.mirror);
}

static void close_dev(struct there *t)
{
    dev_stream_free(&t->side);
    CHECK(dev_wait(t->on.stream) == OK);
    hydro_dev_free(&t->gas);
    CHECK(test_mirror_close(&t->on) == 0);
}

/* Copies all fields to the host, which will change them. */
static void home(struct there *t, struct mesh *m)
{
    CHECK(mirror_home(&t->on.mirror, m, true) == OK);
}

static void step_here(struct mesh *m, int l, double dt, const struct hydro_par *p)
{
    bool finer = l < m->levelmax;
    if (finer) {
        reflux_begin(m, l + 1, REFLUX_GAS, hydro_nflux(p), 0);
        for (int k = 0; k < 2; k++) step_here(m, l + 1, 0.5 * dt, p);
    }
    hydro_update(m, l, dt, 0.1, p, NULL, NULL);
    if (finer) reflux_end(m, l + 1, REFLUX_GAS);
    if (finer) hydro_restrict(m, l, p);
}

/* A step on the device; some levels are copied to the host in between, at random. */
static void step_dev(struct there *t, struct mesh *m, int l, double dt, const struct hydro_par *p,
                     struct rng *r)
{
    bool finer = l < m->levelmax, host = r && rng_word(r) % 4 == 0;
    if (finer) {
        CHECK(reflux_dev_begin(t->gas, m, l + 1, p) == OK);
        for (int k = 0; k < 2; k++) step_dev(t, m, l + 1, 0.5 * dt, p, r);
    }
    if (host) {
        home(t, m);
        hydro_update(m, l, dt, 0.1, p, NULL, NULL);
    } else
        CHECK(hydro_dev_update(t->gas, m, l, dt, 0.1, p, NULL) == OK, "%s", err_message());
    if (finer) {
        CHECK(mirror_forget_reflux(&t->on.mirror, l + 1, REFLUX_GAS) == OK);
        reflux_end(m, l + 1, REFLUX_GAS);
        CHECK(hydro_dev_restrict(t->gas, m, l, p) == OK);
    }
}

struct setting {
    struct hydro_par par;
    int top;
    bool gravity, bounded[6];
    void (*state)(struct rng *, double *);
};

/* Digest in which all NaNs, which are few, are equal: their sign depends on the compiler. Momenta
 * along missing axes, which hosts do not compute, are left out: zeros of either sign. */
static uint64_t digest(const struct mesh *m)
{
    uint64_t h = 1469598103934665603u;
    int64_t all = 0, lost = 0;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (int v = 0; v < m->nvar; v++)
            for (lidx i = 0; i < m->lev[l].nown && (v <= m->ndim || v >= GAS_ENERGY); i++)
                for (int c = 0; c < 8; c++) {
                    uint64_t b;
                    double x = m->lev[l].fld[FLD_U + v][i][c];
                    if (x != x) x = NAN;
                    all++;
                    lost += x != x;
                    memcpy(&b, &x, sizeof b);
                    h = (h ^ b) * 1099511628211u;
                    h ^= h >> 31;
                }
    CHECK(lost < all / 4 || ndim < 2, "%d of %d", (int)lost, (int)all);
    return h;
}

/* A coarse step; without seed: on the CPU. */
static uint64_t run(const struct setting *s, const uint64_t *seed)
{
    struct mesh m;
    struct there t;
    build(&m, s->top, &s->par, s->gravity, s->bounded);
    fill(&m, &s->par, s->state);
    double dt = s->state == evil ? 1e-5 : 0.2 * hydro_courant(&m, coarse, &s->par, NULL);
    if (seed) CHECK(open_dev(&t, &m, *seed, 0) == OK);
    if (seed) {
        struct rng r = rng_make(*seed, 18, 1);
        step_dev(&t, &m, coarse, dt, &s->par, *seed % 3 ? &r : NULL);
        home(&t, &m);
        close_dev(&t);
    } else
        step_here(&m, coarse, dt, &s->par);
    uint64_t digest_now = digest(&m);
    mesh_fini(&m);
    return digest_now;
}

static void test_same_bits(const struct setting *s, int seeds, const char *what)
{
    uint64_t cpu = run(s, NULL), wrong = 0;
    for (uint64_t seed = 0; seed <= (uint64_t)seeds; seed++) wrong += run(s, &seed) != cpu;
    CHECK(wrong == 0, "%s: %d of %d seeds", what, (int)wrong, seeds + 1);
}

/* The last face has an imposed state; faces of axes that are missing have no condition. */
static void impose(struct hydro_par *p)
{
    const int last = 2 * ndim - 1;
    for (int f = last; f < 6; f++) p->bound[f] = BOUND_PERIODIC;
    p->bound[last] = BOUND_IMPOSED;
    for (int f = 0; f < 6; f++) p->bound_state[f][0] = p->bound_state[f][4] = 1.0;
}

static void test_update(bool all)
{
    struct setting s = {.par = base_par(), .top = finest, .state = rough};
    test_same_bits(&s, SEEDS, "levels");
    s.top = coarse;
    test_same_bits(&s, 2, "uniform");
    s.top = finest;
    s.state = evil;
    test_same_bits(&s, 3, "evil");
    s.gravity = true;
    s.par.nvar = 7;
    s.par.pressure_fix = true;
    s.par.beta_fix = 0.5;
    for (int f = 0; f < 6; f++) s.bounded[f] = f != 2 && f != 3;
    s.par.bound[0] = BOUND_OUTFLOW;
    s.par.bound[1] = s.par.bound[4] = BOUND_REFLECT;
    impose(&s.par);
    test_same_bits(&s, 2, "all, evil");
    s.state = rough;
    const enum slope slopes[] = {SLOPE_NONE,     SLOPE_MINMOD,  SLOPE_MONCEN,
                                 SLOPE_POSITIVE, SLOPE_VANLEER, SLOPE_THETA};
    for (int r = 0; r < RIEMANN_COUNT; r++)
        for (int k = 0; k < 6; k++) {
            s.par.riemann = (enum riemann)r;
            s.par.slope_type = slopes[k];
            s.par.interpol_type = k % 5;
            s.par.interpol_var = (r + k) % 3;
            s.par.pressure_fix = (r + k) % 2;
            if (hydro_dev_lacks(&s.par) || (!all && r % 3 != k % 3)) continue;
            test_same_bits(&s, 1, "solvers and slopes");
        }
    s.par.riemann = RIEMANN_EXACT;
    CHECK(hydro_dev_lacks(&s.par));
}

/* Every kind of boundary, and refined octs that touch all of them. */
static void test_walls(bool all)
{
    struct setting s = {.par = base_par(),
                        .top = finest,
                        .gravity = true,
                        .bounded = {true, true, true, true, true, true},
                        .state = rough};
    s.par.nvar = 6;
    s.par.no_inflow = true;
    s.par.bound[0] = s.par.bound[2] = s.par.bound[4] = BOUND_REFLECT;
    s.par.bound[1] = s.par.bound[3] = BOUND_OUTFLOW;
    impose(&s.par);
    for (int k = 0; k < 15; k++) {
        s.par.interpol_type = k % 5;
        s.par.interpol_var = k % 3;
        s.par.pressure_fix = k % 2;
        s.par.beta_fix = 0.5;
        if (all || k < 3) test_same_bits(&s, all, "refined beside walls");
        enum bound_type first = s.par.bound[0];
        const int last = ndim < 2 ? 1 : 3;
        for (int f = 0; f < last; f++) s.par.bound[f] = s.par.bound[f + 1];
        s.par.bound[last] = first;
    }
}

static void totals_here(const struct mesh *m, int l, const struct hydro_par *p, double x[6])
{
    struct sum s[6];
    for (int k = 0; k < 6; k++) sum_init(&s[k]);
    hydro_courant(m, l, p, &(struct hydro_sums){&s[0], &s[1], &s[2], &s[3]});
    for (int k = 0; k < 6; k++) x[k] = sum_get(&s[k]);
}

static void totals_dev(struct there *t, struct mesh *m, int l, const struct hydro_par *p,
                       double x[6])
{
    struct sum s[6];
    CHECK(hydro_dev_totals_begin(t->gas, m, l, p, t->side) == OK);
    CHECK(hydro_dev_totals(t->gas, m, l, p, &s[0], &s[1], &s[2], &s[3]) == OK);
    for (int k = 0; k < 6; k++) x[k] = sum_get(&s[k]);
}

/* Kick, time step, restriction, totals. */
/* The cells with steep gradients are those of the CPU; neither none nor all. */
static void compare_steep(struct there *t, struct mesh *a, struct mesh *b, int l,
                          const struct hydro_par *p, bool wild)
{
    lidx n = a->lev[l].nown;
    int wrong = 0, steep = 0;
    unsigned char(*ok)[8] = mem_zero(sizeof *ok * (size_t)n, "test");
    unsigned char *bits = mem_new((size_t)n, "test");
    hydro_flag(a, l, p, ok);
    CHECK(hydro_dev_steep(t->gas, b, l, p, bits) == OK);
    for (lidx i = 0; i < 8 * n; i++) {
        wrong += (ok[i / 8][i % 8] != 0) != (bits[i / 8] >> i % 8 & 1);
        steep += ok[i / 8][i % 8] != 0;
    }
    CHECK(wrong == 0, "level %d: %d cells of %d", l, wrong, (int)(8 * n));
    const bool smooth = ndim < 2 && l == coarse;
    CHECK(wild || ((steep > 0 || smooth) && steep < 8 * n), "level %d: %d cells of %d", l, steep,
          (int)(8 * n));
    mem_free(bits);
    mem_free(ok);
}

static void test_steep(uint64_t seed, bool wild)
{
    struct mesh a, b;
    struct hydro_par p = base_par();
    struct there t;
    bool bounded[6];
    for (int f = 0; f < 6; f++) bounded[f] = (seed >> 1 & 1) && f != 2 && f != 3;
    p.bound[0] = BOUND_OUTFLOW;
    p.bound[1] = p.bound[4] = BOUND_REFLECT;
    impose(&p);
    p.err_grad_d = seed % 4 == 1 ? -1.0 : 1.1;
    p.err_grad_p = seed % 4 == 2 ? -1.0 : 1.2;
    p.err_grad_u = seed % 4 == 3 ? -1.0 : 0.9;
    p.floor_d = p.floor_p = p.floor_u = 1e-3;
    build(&a, finest, &p, false, bounded);
    build(&b, finest, &p, false, bounded);
    fill(&a, &p, wild ? evil : rough);
    fill(&b, &p, wild ? evil : rough);
    CHECK(open_dev(&t, &b, seed, 0) == OK);
    for (int l = coarse; l <= finest; l++) compare_steep(&t, &a, &b, l, &p, wild);
    close_dev(&t);
    mesh_fini(&a);
    mesh_fini(&b);
}

static void test_cells(uint64_t seed, bool gravity, bool wild)
{
    struct mesh a, b;
    struct hydro_par p = base_par();
    struct there t;
    double dt = 0;
    build(&a, finest, &p, gravity, periodic_box);
    build(&b, finest, &p, gravity, periodic_box);
    p.interpol_var = seed % 3;
    fill(&a, &p, wild ? evil : rough);
    fill(&b, &p, wild ? evil : rough);
    CHECK(open_dev(&t, &b, seed, 0) == OK);
    if (seed % 2) t.on.mirror.spoils = NULL; /* spoiling waits for the stream */
    for (int l = coarse; l <= finest; l++) {
        hydro_kick(&a, l, false, 0.3, &p);
        CHECK(hydro_dev_kick(t.gas, &b, l, false, 0.3, &p) == OK);
        /* in a separate stream, after the kick */
        if (seed % 2) CHECK(hydro_dev_courant_begin(t.gas, &b, l, &p, t.side) == OK);
        CHECK(hydro_dev_courant(t.gas, &b, l, &p, &dt) == OK);
        CHECK(dt == hydro_courant(&a, l, &p, NULL) && dt > 0, "level %d", l);
    }
    for (int l = finest; l >= coarse; l--) {
        double x[6], y[6];
        if (l < finest) hydro_restrict(&a, l, &p);
        if (l < finest) CHECK(hydro_dev_restrict(t.gas, &b, l, &p) == OK);
        totals_here(&a, l, &p, x);
        totals_dev(&t, &b, l, &p, y);
        for (int k = 0; k < 6; k++)
            CHECK(x[k] == y[k] || (isnan(x[k]) && isnan(y[k])), "level %d, sum %d", l, k);
        CHECK(wild || (isfinite(x[0]) && isfinite(x[1]) && x[0] > 0));
    }
    home(&t, &b);
    CHECK(digest(&a) == digest(&b));
    close_dev(&t);
    mesh_fini(&a);
    mesh_fini(&b);
}

/* If memory does not suffice, the gas is unchanged. */
static void test_limits(void)
{
    struct mesh m;
    struct hydro_par p = base_par();
    int fits = 0;
    build(&m, finest, &p, false, periodic_box);
    fill(&m, &p, rough);
    uint64_t before = digest(&m);
    for (size_t max = 100000; !fits && max < 100000000; max = max * 5 / 4) {
        struct there t;
        if (open_dev(&t, &m, 0, max) == OK) {
            fits = hydro_dev_update(t.gas, &m, finest, 1e-3, 0, &p, NULL) == OK;
            home(&t, &m);
            CHECK(fits || digest(&m) == before, "%zu bytes", max);
        }
        close_dev(&t);
    }
    CHECK(fits && digest(&m) != before);
    mesh_fini(&m);
}

/* The gas is copied once: steps without host code copy nothing. */
static void test_copies(void)
{
    struct mesh m;
    struct hydro_par p = base_par();
    struct there t;
    build(&m, coarse, &p, false, periodic_box);
    fill(&m, &p, rough);
    CHECK(open_dev(&t, &m, 1, 0) == OK);
    int64_t gas = (int64_t)sizeof(double[8]) * 5 * m.lev[coarse].nown;
    CHECK(hydro_dev_update(t.gas, &m, coarse, 1e-3, 0, &p, NULL) == OK);
    struct dev_count first = dev_counts(t.on.dev);
    CHECK(first.got < 100 && first.put > gas, "%lld bytes back", (long long)first.got);
    for (int k = 0; k < 2; k++) CHECK(hydro_dev_update(t.gas, &m, coarse, 1e-3, 0, &p, NULL) == OK);
    struct dev_count now = dev_counts(t.on.dev);
    CHECK(now.got == first.got && now.put == first.put);
    home(&t, &m);
    CHECK(dev_counts(t.on.dev).got == now.got + gas);
    close_dev(&t);
    mesh_fini(&m);
}

/* The mesh on the device is the image at the time it was sent, even if the image changes later. */
static void test_sent(void)
{
    struct mesh m, now;
    struct hydro_par p = base_par();
    struct there t;
    build(&m, coarse, &p, true, periodic_box);
    fill(&m, &p, rough);
    CHECK(open_dev(&t, &m, 1, 0) == OK);
    struct mirror *x = &t.on.mirror;
    CHECK(mirror_links(x, &m, coarse) == OK);
    mirror_send(x, &m);
    CHECK(mirror_room(x, &m, coarse, FLD_FX, 1) == OK);
    dev_get(t.on.stream, &now, x->mesh_dev, sizeof now);
    CHECK(dev_wait(t.on.stream) == OK);
    CHECK(now.lev[coarse].key == x->image->lev[coarse].key);
    CHECK(!now.lev[coarse].fld[FLD_FX] && x->image->lev[coarse].fld[FLD_FX]);
    close_dev(&t);
    mesh_fini(&m);
}

int main(int argc, char **argv)
{
    const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    test_sent();
    for (ndim = 1; ndim <= 3; ndim++) {
        coarse = ndim < 2 ? 5 : 3;
        finest = coarse + 2;
        test_update(all);
        test_walls(all);
        for (uint64_t seed = 0; seed < SEEDS; seed++) test_cells(seed, seed % 2, seed % 4 > 1);
        for (uint64_t seed = 0; seed < SEEDS; seed++) test_steep(seed, seed > 15);
    }
    ndim = 3;
    test_limits();
    test_copies();
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    printf("%d checks, %d failed\n", passed + failed, failed);
    return failed != 0;
}
