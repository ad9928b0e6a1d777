/* grav/dev: density, potential and force on the emulated device have the bits of the CPU, for
 * meshes of one to three dimensions with coarse-fine boundaries, holes, and boundaries of the box,
 * with sources of any size, in safe mode, after solves with more cycles, for 20 seeds of execution
 * orders, by launches for each level, by one block for all, and by stages of one launch or, on a
 * device that has none, by launches in their place. The CPU code and the kernels share
 * only the formulas of a single cell. Also tests lack of memory, and the copies and waits of a
 * solve.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dev/dev.h"
#include "gas_mesh.h"
#include "grav/deposit_kern.h"
#include "grav/grav.h"
#include "gravdev/grav_dev.h"
#include "test_device.h"

enum { SEEDS = 20, NEVER = 99 };

/* A ball with a hole, next to a boundary of the box. */
static bool wanted(const double *x, int l, int levelmin)
{
    double r2 = 0;
    for (int d = 0; d < gas_mesh_ndim; d++) r2 += (x[d] - 0.2) * (x[d] - 0.2);
    return r2 < (l == levelmin ? 0.16 : 0.05) && (l == levelmin || r2 > 0.004);
}

struct setting {
    int base, top, passes;
    bool bounded[6], wild, safe;
    bool promised; /* more cycles than needed, as after earlier solves */
    int shared_octs;
    double tfrac;
};

static const struct comm alone = {.size = 1};
static double rho_tot; /* mean density of the base level */

static struct grav_source source(double tfrac)
{
    return (struct grav_source){.fourpi = 2.5,
                                .rho_tot = rho_tot,
                                .tfrac = tfrac,
                                .far = {0.7, {0.3, 0.55, 0.4}},
                                .far_old = {0.6, {0.35, 0.5, 0.45}}};
}

/* Cells that repeat others have their values. */
static void repeat(const struct mesh *m, double row[8])
{
    for (int c = m->cells; c < 8; c++) row[c] = row[c & (m->cells - 1)];
}

static void build(struct mesh *m, const struct setting *s)
{
    struct hydro_par p = {.nvar = 5};
    struct rng r = rng_make(18, 2, 1);
    rho_tot = 0;
    gas_mesh(m, s->base, s->top, &p, true, s->bounded, wanted);
    CHECK(m->lev[s->top].nown > 0);
    for (int l = 1; l <= s->top; l++) {
        m->lev[l].total = m->lev[l].nown;
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            for (int c = 0; c < m->cells; c++) {
                for (int d = 0; d < 3; d++)
                    m->lev[l].fld[FLD_FX + d][i][c] = d < m->ndim ? rng_uniform(&r) - 0.5 : 0;
                double size = s->wild ? pow(10, 24 * rng_uniform(&r) - 12) : 1;
                double rho = m->lev[l].fld[FLD_RHO][i][c] = size * rng_uniform(&r);
                if (l == s->base && !s->bounded[0]) rho_tot += rho / (m->cells * m->lev[l].nown);
            }
            for (int f = FLD_RHO; f <= FLD_FZ; f++) repeat(m, m->lev[l].fld[f][i]);
        }
    }
}

/* Digest in which all NaNs are equal: their sign depends on the compiler. */
static void digest_add(uint64_t *h, const void *at, size_t n)
{
    const double *x = at;
    for (size_t i = 0; i < n; i++) {
        uint64_t b;
        double y = x[i] != x[i] ? NAN : x[i];
        memcpy(&b, &y, sizeof b);
        *h = (*h ^ b) * 1099511628211u;
        *h ^= *h >> 31;
    }
}

static uint64_t digest(const struct mesh *m)
{
    uint64_t h = 1469598103934665603u;
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (int f = FLD_PHI; f <= FLD_FZ; f++)
            digest_add(&h, m->lev[l].fld[f], 8 * (size_t)m->lev[l].nown);
    return h;
}

/* ---- runs ---- */

struct device {
    struct test_mirror on;
    struct grav_dev *grav;
};

static bool device_open(struct device *d, uint64_t seed, size_t max)
{
    d->grav = NULL;
    return test_mirror_open(&d->on, NULL, seed, max) == OK &&
           grav_dev_new(&d->grav, &d->on.mirror, NULL, &alone) == OK;
}

static void device_close(struct device *d)
{
    CHECK(dev_wait(d->on.stream) == OK);
    grav_dev_free(&d->grav);
    CHECK(test_mirror_close(&d->on) == 0);
}

static struct grav_report solve(struct device *d, struct mesh *m, int l, double tfrac,
                                struct grav_par *p)
{
    struct grav_report rep;
    bool done;
    struct grav_source from = source(tfrac);
    if (!d) return grav_solve(m, &alone, l, &from, p);
    CHECK(!grav_dev_lacks(m, l, 1, p));
    CHECK(grav_dev_solve(d->grav, m, l, &from, p, &rep, &done) == OK);
    CHECK(done);
    return rep;
}

static void force(struct device *d, struct mesh *m, int l, double tfrac, const struct grav_par *p)
{
    struct grav_source from = source(tfrac);
    if (d)
        CHECK(grav_dev_force(d->grav, m, l, &from) == OK);
    else
        grav_force(m, &alone, l, &from, p);
}

static void keep_phi(struct device *d, struct mesh *m, int l)
{
    if (d)
        CHECK(grav_dev_copy_phi(d->grav, m, l) == OK);
    else
        memcpy(m->lev[l].fld[FLD_PHI_OLD], m->lev[l].fld[FLD_PHI],
               sizeof(double[8]) * (size_t)m->lev[l].nown);
}

/* Removes some octs of the top level. */
static void shrink(struct device *d, struct mesh *m)
{
    struct level *lv = &m->lev[m->levelmax];
    lidx n = 0;
    okey *key = mem_new(sizeof *key * (size_t)lv->nown + 1, "test");
    for (lidx i = 0; i < lv->nown; i++)
        if ((lv->key[i] >> 3) % 5 != 1) key[n++] = lv->key[i];
    if (d) CHECK(mirror_home(&d->on.mirror, m, true) == OK);
    CHECK(n > 0 && (n < lv->nown || lv->level == m->levelmin));
    if (lv->level > m->levelmin) {
        mesh_replace(m, lv->level, n, key, 0, NULL, NULL);
        mesh_link(m, lv->level);
        lv->total = n;
    }
    mem_free(key);
}

/* Solves all levels twice: the second time with another mesh, and boundary values between two
 * times. */
static uint64_t run(const struct setting *s, const uint64_t *seed)
{
    struct mesh m;
    struct device d;
    struct grav_par p = {.epsilon = 1e-5,
                         .cg_levelmin = NEVER,
                         .fft_levelmin = NEVER,
                         .mg_shared_octs = s->shared_octs};
    uint64_t h = 0;
    build(&m, s);
    for (int l = 1; l <= s->top; l++) p.safe[l] = s->safe;
    if (seed) CHECK(device_open(&d, *seed, 0));
    for (int pass = 0; pass < s->passes; pass++) {
        if (pass > 0) shrink(seed ? &d : NULL, &m);
        for (int l = s->base; l <= s->top; l++) {
            for (int n = 0; n < GRAV_CYCLES && s->promised; n++) p.past_error[l][n] = 1;
            keep_phi(seed ? &d : NULL, &m, l);
            struct grav_report rep = solve(seed ? &d : NULL, &m, l,
                                           l > s->base ? s->tfrac * pass : 0, &p);
            CHECK(rep.cycles > 0 && (rep.converged || s->wild));
            h = 31 * h + (uint64_t)rep.cycles;
            digest_add(&h, &rep.error, 1);
        }
        for (int l = s->base; l <= s->top; l++)
            force(seed ? &d : NULL, &m, l, l > s->base ? s->tfrac * pass : 0, &p);
    }
    if (seed) CHECK(mirror_home(&d.on.mirror, &m, false) == OK);
    h ^= digest(&m);
    if (seed) device_close(&d);
    grav_fini(&p);
    mesh_fini(&m);
    return h;
}

static void test_same_bits(const struct setting *s, int seeds, const char *what)
{
    uint64_t cpu = run(s, NULL), wrong = 0;
    for (uint64_t seed = 0; seed <= (uint64_t)seeds; seed++) wrong += run(s, &seed) != cpu;
    CHECK(wrong == 0, "%s: %d of %d seeds", what, (int)wrong, seeds + 1);
}

static void test_solve(void)
{
    const int base = gas_mesh_ndim < 2 ? 5 : 3;
    struct setting s = {
        .base = base, .top = base + 2, .passes = 2, .tfrac = 0.25, .shared_octs = 64};
    test_same_bits(&s, gas_mesh_ndim < 3 ? 3 : SEEDS, "levels");
    test_apart = true;
    test_same_bits(&s, 3, "levels without stages");
    test_apart = false;
    s.shared_octs = 0;
    test_same_bits(&s, 3, "a launch for each level");
    s.shared_octs = 1 << 20;
    test_same_bits(&s, 3, "one block where it can");
    s.safe = true;
    test_same_bits(&s, 1, "safe mode");
    s.safe = false;
    s.promised = true;
    test_same_bits(&s, 2, "an end that no past solve has promised");
    s.wild = true;
    test_same_bits(&s, 1, "sources of any size");
    for (int f = 0; f < 6; f++) s.bounded[f] = true;
    test_same_bits(&s, 2, "isolated");
    s.bounded[2] = s.bounded[3] = s.wild = false;
    s.shared_octs = 8;
    test_same_bits(&s, 2, "boundaries in two directions");
    s = (struct setting){.base = 1, .top = 1, .passes = 1};
    test_same_bits(&s, 1, "coarsest level");
    s = (struct setting){.base = 4, .top = 4, .passes = 1, .shared_octs = 1024};
    test_same_bits(&s, 1, "uniform");
}

/* ---- deposit and sums ---- */

/* Gas of random density, some of it below smallr. */
static void fill_gas(struct mesh *m)
{
    struct rng r = rng_make(18, 3, 1);
    for (int l = m->levelmax; l >= 1; l--)
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            for (int c = 0; c < m->cells; c++) {
                const struct level *lv = &m->lev[l];
                lidx j = lv->child[i][c];
                double rho = rng_word(&r) % 9 ? pow(10, 6 * rng_uniform(&r) - 3) : 0;
                if (j >= 0) rho = 0;
                for (int k = 0; j >= 0 && k < 8; k++) rho += 0.125 * lv[1].fld[FLD_U][j][k];
                lv->fld[FLD_U][i][c] = rho;
            }
            repeat(m, m->lev[l].fld[FLD_U][i]);
        }
}

static const double QUANTUM = 0x1p-60, SMALLR = 1e-2, UNIT = 0.7, M_REFINE = 2.0;

/* Density on the host, as in sim/density. */
static void density_here(struct mesh *m, int l, double (*com[])[3])
{
    struct level *lv = &m->lev[l];
    double vol = mesh_volume(m, l);
    const double(*fine)[3] = l < m->levelmax ? (const double(*)[3])com[l + 1] : NULL;
    int64_t(*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct, "test");
    grav_deposit_gas(m, l, QUANTUM, fine, SMALLR, mass);
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            int64_t all = mass[i][c & (m->cells - 1)];
            lv->fld[FLD_RHO][i][c] = (double)all * QUANTUM / vol;
            lv->dense[i][c] = (double)all * QUANTUM / vol / UNIT >= M_REFINE;
        }
    mem_free(mass);
}

static double energy_here(const struct mesh *m, int l, struct sum *sum)
{
    const struct level *lv = &m->lev[l];
    double top = 0;
    for (lidx i = 0; i < lv->nown; i++) {
        double e = 0;
        for (int c = 0; c < 8; c++) {
            for (int d = 0; d < 3 && lv->child[i][c] < 0; d++)
                e += -0.3 * (lv->fld[FLD_FX + d][i][c] * lv->fld[FLD_FX + d][i][c]);
            top = fmax(top, fabs(lv->fld[FLD_RHO][i][c]));
        }
        sum_add(sum, e);
    }
    return top;
}

/* Total mass on the host, as in sim/density. */
static void mass_here(const struct mesh *m, struct sum sum[4])
{
    for (int l = m->levelmin; l <= m->levelmax; l++)
        for (lidx i = 0; i < m->lev[l].nown; i++) {
            double part[4];
            deposit_leaves(m, l, i, SMALLR, part);
            for (int j = 0; j < 4; j++) sum_add(&sum[j], part[j]);
        }
}

static uint64_t density(const struct setting *s, const uint64_t *seed)
{
    struct mesh m;
    struct device d;
    struct grav_density how = {.gas = true,
                               .dense = true,
                               .quantum = QUANTUM,
                               .smallr = SMALLR,
                               .m_refine = M_REFINE,
                               .unit = UNIT};
    double(*com[LEVEL_MAX + 2])[3] = {NULL}, top = 0;
    uint64_t h = 0;
    build(&m, s);
    fill_gas(&m);
    if (seed) CHECK(device_open(&d, *seed, 0));
    if (seed)
        CHECK(grav_dev_moments(d.grav, &m, s->base) == OK);
    else
        grav_moments(&m, &alone, s->base, com);
    struct sum mass[4];
    for (int j = 0; j < 4; j++) sum_init(&mass[j]);
    if (seed)
        CHECK(grav_dev_gas_mass(d.grav, &m, SMALLR, mass) == OK);
    else
        mass_here(&m, mass);
    for (int j = 0; j < 4; j++) {
        double total = sum_get(&mass[j]);
        CHECK(total > 0);
        digest_add(&h, &total, 1);
    }
    for (int l = s->base; l <= s->top; l++) {
        struct sum sum;
        sum_init(&sum);
        if (seed)
            CHECK(grav_dev_density(d.grav, &m, l, &how) == OK &&
                  grav_dev_dense(d.grav, &m, l, m.lev[l].dense) == OK);
        else
            density_here(&m, l, com);
        if (seed)
            CHECK(grav_dev_energy_begin(d.grav, &m, l, -0.3, true) == OK &&
                  grav_dev_energy_end(d.grav, &m, l, &top, &sum) == OK);
        else
            top = energy_here(&m, l, &sum);
        double energy = sum_get(&sum);
        digest_add(&h, &energy, 1);
        digest_add(&h, &top, 1);
        digest_add(&h, m.lev[l].dense, (size_t)m.lev[l].nown);
        FREE(com[l]);
    }
    if (seed) CHECK(mirror_home(&d.on.mirror, &m, false) == OK);
    for (int l = s->base; l <= s->top; l++)
        digest_add(&h, m.lev[l].fld[FLD_RHO], 8 * (size_t)m.lev[l].nown);
    if (seed) device_close(&d);
    mesh_fini(&m);
    return h;
}

static void test_density(void)
{
    const int base = gas_mesh_ndim < 2 ? 5 : 3;
    struct setting s = {.base = base, .top = base + 2};
    for (int bounded = 0; bounded < 2; bounded++) {
        uint64_t cpu = density(&s, NULL), wrong = 0;
        for (uint64_t seed = 0; seed <= SEEDS; seed++) wrong += density(&s, &seed) != cpu;
        CHECK(wrong == 0, "%d of %d seeds", (int)wrong, SEEDS + 1);
        for (int f = 0; f < 6; f++) s.bounded[f] = f > 1;
    }
}

/* If memory does not suffice, arrays of the host are unchanged. */
static void test_limits(void)
{
    struct mesh m;
    struct setting s = {.base = 3, .top = 5};
    struct grav_par p = {.epsilon = 1e-5, .cg_levelmin = NEVER, .fft_levelmin = NEVER};
    struct grav_report rep;
    int fits = 0, not = 0;
    bool done;
    build(&m, &s);
    struct grav_source from = source(0);
    for (size_t max = 30000; !fits && max < 100000000; max = max * 5 / 4) {
        struct device d;
        if (device_open(&d, 0, max))
            fits = grav_dev_solve(d.grav, &m, s.base + 1, &from, &p, &rep, &done) == OK;
        not += !fits;
        device_close(&d);
    }
    CHECK(fits && (not > 3 || strcmp(test_device(), "host") != 0), "%d", not );
    mesh_fini(&m);
}

/* Number of launches of mg_cycles in a solve of two levels of several blocks. */
static int64_t staged(bool apart)
{
    struct mesh m;
    struct device d;
    struct setting s = {.base = 4, .top = 4};
    struct grav_par p = {
        .epsilon = 1e-5, .cg_levelmin = NEVER, .fft_levelmin = NEVER, .mg_shared_octs = 64};
    struct grav_source from = source(0);
    struct grav_report rep;
    int64_t n = 0;
    bool done;
    build(&m, &s);
    test_apart = apart;
    CHECK(device_open(&d, 1, 0));
    test_apart = false;
    CHECK(grav_dev_solve(d.grav, &m, 4, &from, &p, &rep, &done) == OK);
    for (int i = 0; dev_launches(d.on.dev, i); i++)
        if (strcmp(dev_launches(d.on.dev, i)->kernel, "mg_cycles") == 0)
            n += dev_launches(d.on.dev, i)->launches;
    device_close(&d);
    mesh_fini(&m);
    return n;
}

/* Cycles are stages of one launch if all blocks run at the same time, and launches if not. */
static void test_apart_or_not(void)
{
    CHECK(staged(false) > 0 || strcmp(test_device(), "host") != 0);
    CHECK(staged(true) == 0 || strcmp(test_device(), "host") != 0);
}

/* The second solve of a mesh copies its source and digits of norms, and waits only for norms that
 * may end the cycles. */
static void test_copies(void)
{
    struct mesh m;
    struct device d;
    struct setting s = {.base = 4, .top = 4};
    struct grav_par p = {.epsilon = 1e-5, .cg_levelmin = NEVER, .fft_levelmin = NEVER};
    struct grav_report rep = {0};
    int64_t put = 0, got = 0, waits = 0, rho;
    bool done;
    build(&m, &s);
    struct grav_source from = source(0);
    rho = (int64_t)sizeof(double[8]) * m.lev[4].nown;
    CHECK(device_open(&d, 1, 0));
    for (int k = 0; k < 2; k++) {
        mirror_wrote(&d.on.mirror, 4, FLD_RHO, 1, LOCATION_HOST);
        struct dev_count before = dev_counts(d.on.dev);
        CHECK(grav_dev_solve(d.grav, &m, 4, &from, &p, &rep, &done) == OK);
        CHECK(grav_dev_force(d.grav, &m, 4, &from) == OK);
        put = dev_counts(d.on.dev).put - before.put;
        got = dev_counts(d.on.dev).got - before.got;
        waits = dev_counts(d.on.dev).waits - before.waits;
    }
    CHECK(put == rho, "%lld bytes", (long long)(put - rho));
    CHECK(got > 0 && got < (1 + rep.cycles) * (int64_t)sizeof(struct sum) / 8, "%lld bytes",
          (long long)got);
    CHECK(rep.cycles > 2 && waits == 1, "%lld waits", (long long)waits);
    device_close(&d);
    mesh_fini(&m);
}

int main(void)
{
    for (gas_mesh_ndim = 1; gas_mesh_ndim <= 3; gas_mesh_ndim++) {
        test_solve();
        test_density();
    }
    gas_mesh_ndim = 3;
    test_limits();
    test_copies();
    test_apart_or_not();
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    printf("%d checks, %d failed\n", passed + failed, failed);
    return failed != 0;
}
