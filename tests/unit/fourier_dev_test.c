/* grav/fourier on the emulated device: the potential of a complete level has the bits of the CPU,
 * for levels of 2 to 64 cells a side, with each Green function and a response that changes, sources
 * of any size, for 20 seeds of execution orders; no array of the size of a level is copied except
 * by the test itself. A lack of memory leaves the host's copy unchanged. The host transforms
 * several lines in a vector and transposes between them, the kernels do neither. Catches: a phase
 * that reads values written by a neighbour, a table that is not renewed, lines that share numbers.
 *
 * test: tier=quick */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "gas_mesh.h"
#include "grav/grav.h"
#include "gravdev/grav_dev.h"
#include "test_device.h"

enum { SEEDS = 20, NEVER = 99, SOLVES = 2 };

static const struct comm alone = {.size = 1};

struct setting {
    int level;
    enum green green;
    bool wild, response;
};

struct device {
    struct test_mirror at;
    struct grav_dev *grav;
};

static enum err device_open(struct device *d, uint64_t seed, size_t max)
{
    *d = (struct device){0};
    TRY(test_mirror_open(&d->at, NULL, seed, max));
    return grav_dev_new(&d->grav, &d->at.mirror, NULL, &alone);
}

static void device_close(struct device *d)
{
    CHECK(dev_wait(d->at.stream) == OK);
    grav_dev_free(&d->grav);
    CHECK(test_mirror_close(&d->at) == 0);
}

static bool nowhere(const double *x, int l, int levelmin)
{
    return false;
}

/* Returns the mean of the source. */
static double build(struct mesh *m, const struct setting *s, int solve)
{
    struct level *lv = &m->lev[s->level];
    struct rng r = rng_make(18, (uint64_t)s->level, (uint64_t)solve);
    double mean = 0;
    for (lidx i = 0; i < lv->nown; i++)
        for (int c = 0; c < 8; c++) {
            double size = s->wild ? pow(10, 24 * rng_uniform(&r) - 12) : 1;
            lv->fld[FLD_RHO][i][c] = size * rng_uniform(&r);
            mean += lv->fld[FLD_RHO][i][c] / (8.0 * lv->nown);
        }
    return mean;
}

static double response(const void *ctx, double wave)
{
    return *(const double *)ctx / (1 + wave * wave);
}

static uint64_t digest(const struct level *lv, uint64_t h)
{
    for (lidx i = 0; i < 8 * lv->nown; i++) {
        uint64_t b;
        memcpy(&b, &lv->fld[FLD_PHI][i / 8][i % 8], sizeof b);
        h = (h ^ b) * 1099511628211u;
        h ^= h >> 31;
    }
    return h;
}

static struct grav_par par_of(const struct setting *s, const double *strength)
{
    return (struct grav_par){.epsilon = 1e-5,
                             .cg_levelmin = NEVER,
                             .fft_levelmin = 1,
                             .fft_fixed = true,
                             .green = s->green,
                             .response = s->response ? response : NULL,
                             .response_ctx = strength};
}

/* seed NULL: run on the CPU. */
static uint64_t run(const struct setting *s, const uint64_t *seed)
{
    struct hydro_par gas = {.nvar = 5};
    struct mesh m;
    struct device d;
    struct grav_report rep;
    double strength = 0.3;
    struct grav_par p = par_of(s, &strength);
    const int l = s->level;
    uint64_t h = 1469598103934665603u;
    gas_mesh(&m, l, l, &gas, true, (bool[6]){false}, nowhere);
    m.lev[l].total = m.lev[l].nown;
    if (seed) CHECK(device_open(&d, *seed, 0) == OK);
    for (int i = 0; i < SOLVES; i++, strength *= 2) {
        bool done = true;
        if (seed) CHECK(mirror_home(&d.at.mirror, &m, true) == OK);
        double mean = build(&m, s, i);
        struct grav_source from = {.fourpi = 2.5, .rho_tot = mean};
        if (!seed) grav_solve(&m, &alone, l, &from, &p);
        if (seed) {
            CHECK(!grav_dev_lacks(&m, l, 1, &p));
            CHECK(mirror_need(&d.at.mirror, &m, l, FLD_RHO, 1, LOCATION_DEVICE) == OK);
            struct dev_count before = dev_counts(d.at.dev);
            CHECK(grav_dev_solve(d.grav, &m, l, &from, &p, &rep, &done) == OK);
            CHECK(done);
            struct dev_count after = dev_counts(d.at.dev);
            CHECK(after.got == before.got && after.launches - before.launches == 5);
            if (i > 0 && !s->response) CHECK(after.put == before.put);
            CHECK(mirror_need(&d.at.mirror, &m, l, FLD_PHI, 1, LOCATION_HOST) == OK);
        }
        h = digest(&m.lev[l], h);
    }
    if (seed) device_close(&d);
    grav_fini(&p);
    mesh_fini(&m);
    return h;
}

static void test_same_bits(const struct setting *s, int seeds, const char *what)
{
    uint64_t cpu = run(s, NULL), wrong = 0;
    for (uint64_t seed = 0; seed <= (uint64_t)seeds; seed++) wrong += run(s, &seed) != cpu;
    CHECK(wrong == 0, "%s, level %d: %d of %d seeds", what, s->level, (int)wrong, seeds + 1);
}

static void test_limits(void)
{
    struct setting s = {.level = 4};
    struct hydro_par gas = {.nvar = 5};
    struct mesh m;
    struct device d;
    struct grav_report rep;
    struct grav_par p = par_of(&s, NULL);
    int failed_ones = 0, worked = 0;
    gas_mesh(&m, 4, 4, &gas, true, (bool[6]){false}, nowhere);
    m.lev[4].total = m.lev[4].nown;
    double mean = build(&m, &s, 0), was = m.lev[4].fld[FLD_RHO][7][3];
    const struct grav_source from = {.fourpi = 2.5, .rho_tot = mean};
    for (size_t max = 1 << 14; max <= 1 << 20; max += max / 4) {
        bool done = false;
        enum err e = device_open(&d, 0, max);
        if (e == OK) e = grav_dev_solve(d.grav, &m, 4, &from, &p, &rep, &done);
        failed_ones += e != OK;
        worked += e == OK;
        CHECK(e == OK || e == ERR_LIMIT);
        CHECK(m.lev[4].fld[FLD_RHO][7][3] == was);
        device_close(&d);
    }
    CHECK(failed_ones > 0 && worked > 0, "%d, %d", failed_ones, worked);
    mesh_fini(&m);
}

static void test_lacks(void)
{
    struct setting s = {.level = 3};
    struct hydro_par gas = {.nvar = 5};
    struct mesh m;
    struct grav_par p = par_of(&s, NULL);
    gas_mesh(&m, 3, 3, &gas, true, (bool[6]){false}, nowhere);
    m.lev[3].total = m.lev[3].nown;
    CHECK(!grav_dev_lacks(&m, 3, 1, &p));
    CHECK(grav_dev_lacks(&m, 3, 2, &p));
    p.fft_fixed = false;
    CHECK(grav_dev_lacks(&m, 3, 1, &p));
    mesh_fini(&m);
}

int main(void)
{
    test_same_bits(&(struct setting){.level = 4}, SEEDS, "discrete");
    test_same_bits(&(struct setting){.level = 5, .wild = true}, 4, "sources of any size");
    test_same_bits(&(struct setting){.level = 6}, 2, "two blocks of a kind and more");
    for (int l = 1; l <= 5; l++) {
        test_same_bits(&(struct setting){.level = l}, 2, "discrete");
        test_same_bits(&(struct setting){.level = l, .green = GREEN_SPECTRAL}, 1, "spectral");
        test_same_bits(&(struct setting){.level = l, .green = GREEN_PARTICLES}, 1, "particles");
        test_same_bits(&(struct setting){.level = l, .response = true}, 1, "response");
    }
    test_limits();
    test_lacks();
    printf("fourier_dev_test: %d passed, %d failed\n", passed, failed);
    return failed != 0;
}
