/* gravdev/density_dev on several ranks: the density of the gas on four levels has the bits of one
 * rank, on the CPU and on the emulated device. Cut planes go through octs, so that an own oct has
 * children on other ranks whose finest descendants are not on this rank: their centres of mass must
 * come from their owners. Catches: a missing exchange of the centres of mass, or of the sums of
 * ghosts.
 *
 * test: tier=quick mpi=3 */
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "grav/grav.h"
#include "gravdev/grav_dev.h"
#include "test_device.h"

enum { LMIN = 3, LMAX = 6, SEEDS = 4 };
static const double QUANTUM = 0x1p-58, SMALLR = 1e-10;
static struct comm all;
static const struct comm alone = {.size = 1};
static const bool periodic[6];

/* ---- a small world ---- */

struct world {
    struct comm c;
    struct domain *d;
    struct mesh m;
};

/* Nested balls around a cut plane of three ranks. */
static bool is_split(const struct mesh *m, int l, okey key, int cell)
{
    static const double centre[3] = {1 / 3.0, 0.45, 0.55}, radius[] = {0.24, 0.17, 0.11};
    int64_t o[3];
    double r2 = 0;
    okey_coords(key, o);
    for (int d = 0; d < 3; d++) {
        double x = ((double)(2 * o[d] + (cell >> d & 1)) + 0.5) * mesh_dx(m, l) - centre[d];
        r2 += x * x;
    }
    return r2 < radius[l - LMIN] * radius[l - LMIN];
}

/* Random density, equal on all ranks; a split cell has the mean of its children. */
static void gas_fill(struct world *w)
{
    for (int l = LMAX; l >= LMIN; l--) {
        const struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++) {
            struct rng r = rng_make(l, lv->key[i], 1);
            for (int k = 0; k < 8; k++) {
                lidx j = lv->child[i][k];
                double mean = 0;
                for (int q = 0; q < 8 && j >= 0; q++) mean += lv[1].fld[FLD_U][j][q] / 8;
                lv->fld[FLD_U][i][k] = j >= 0 ? mean : 0.1 + rng_uniform(&r);
            }
        }
        ghost_fill_hydro(&w->c, &w->m, l);
    }
}

static void world_make(struct world *w, const struct comm *c, enum domain_kind kind)
{
    *w = (struct world){.c = *c, .d = domain_new(kind, c->size, LMAX, periodic)};
    mesh_init(&w->m, LMIN, LMAX, 5, true, true, 1.0, periodic);
    adapt_build(&w->m, c, w->d);
    for (int l = LMIN; l < LMAX; l++) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) lv->flag[i][k] = is_split(&w->m, l, lv->key[i], k);
        adapt_refine(&w->m, c, w->d, l, NULL, NULL);
    }
    gas_fill(w);
}

static void world_free(struct world *w)
{
    mesh_fini(&w->m);
    domain_free(w->d);
}

/* ---- densities ---- */

static void density_here(struct world *w)
{
    double(*com[LEVEL_MAX + 2])[3] = {NULL};
    grav_moments(&w->m, &w->c, LMIN + 1, com);
    for (int l = LMIN; l <= LMAX; l++) {
        struct level *lv = &w->m.lev[l];
        double dx = mesh_dx(&w->m, l), vol = dx * dx * dx;
        int64_t(*mass)[8] = mem_zero(sizeof *mass * (size_t)lv->noct + 1, "test");
        grav_deposit_gas(&w->m, l, QUANTUM, (const double(*)[3])com[l + 1], SMALLR, mass);
        ghost_add_i64(&w->c, &lv->plan, 1, &mass);
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) lv->fld[FLD_RHO][i][k] = (double)mass[i][k] * QUANTUM / vol;
        FREE(mass);
    }
    for (int l = LMIN; l <= LMAX; l++) FREE(com[l]);
}

static void density_dev(struct world *w, uint64_t seed)
{
    struct test_mirror on;
    struct ghost_dev *ghost = NULL;
    struct grav_dev *g = NULL;
    struct grav_density how = {.gas = true, .quantum = QUANTUM, .smallr = SMALLR};
    for (int l = LMIN; l <= LMAX; l++)
        memset(w->m.lev[l].fld[FLD_RHO], 0, sizeof(double[8]) * (size_t)w->m.lev[l].noct);
    CHECK(test_mirror_open(&on, NULL, seed, 0) == OK);
    if (w->c.size > 1) CHECK(ghost_dev_new(&ghost, on.dev, on.stream) == OK);
    CHECK(grav_dev_new(&g, &on.mirror, ghost, &w->c) == OK);
    CHECK(grav_dev_moments(g, &w->m, LMIN + 1) == OK);
    for (int l = LMIN; l <= LMAX; l++) CHECK(grav_dev_density(g, &w->m, l, &how) == OK);
    CHECK(mirror_home(&on.mirror, &w->m, true) == OK);
    CHECK(dev_wait(on.stream) == OK);
    grav_dev_free(&g);
    ghost_dev_free(&ghost);
    CHECK(test_mirror_close(&on) == 0);
}

/* Number of own octs whose density differs from that of the other world, which has all octs. */
static int differ(const struct world *w, const struct world *whole)
{
    int n = 0;
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *a = &w->m.lev[l], *b = &whole->m.lev[l];
        for (lidx i = 0; i < a->nown; i++)
            n += memcmp(a->fld[FLD_RHO][i], b->fld[FLD_RHO][mesh_find(b, a->key[i])], 64) != 0;
    }
    return n;
}

static void test_density(enum domain_kind kind, const struct world *whole)
{
    struct world w;
    world_make(&w, &all, kind);
    density_here(&w);
    CHECK(differ(&w, whole) == 0, "CPU, domains %d: %d octs", kind, differ(&w, whole));
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        density_dev(&w, seed);
        CHECK(differ(&w, whole) == 0, "seed %d, domains %d: %d octs", (int)seed, kind,
              differ(&w, whole));
    }
    world_free(&w);
}

int main(int argc, char **argv)
{
    struct world whole;
    comm_init(&argc, &argv, &all);
    world_make(&whole, &alone, DOMAIN_KSECTION);
    CHECK(whole.m.lev[LMAX].nown > 0);
    density_here(&whole);
    test_density(DOMAIN_KSECTION, &whole);
    test_density(DOMAIN_HILBERT, &whole);
    world_free(&whole);
    int64_t sums[2] = {passed, failed};
    comm_add_i64(&all, sums, 2);
    if (all.rank == 0) printf("%d checks, %d failed\n", (int)(sums[0] + sums[1]), (int)sums[1]);
    comm_fini();
    return sums[1] != 0;
}
