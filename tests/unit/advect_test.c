/* patch: a second system of conservation laws, linear advection (tests/toy/advect.c), beside the
 * fields of the gas: two fields in the middle of the list, registers of their own. On a mesh that
 * adapts to what moves, sums over leaves stay what they were to round-off; bits are the same on
 * one rank and several, with one thread and two, on the CPU and on the emulated device, in a
 * periodic box and in one with walls that refined octs touch; a constant stays one; the fields of
 * the gas stay as they are; the Courant step is that of the wind. Catches: an engine that takes its
 * fields for those of the gas, registers of another system, a flux that one side of a face has and
 * the other has not, octs that do not exist beside a wall and take values from beyond it.
 *
 * test: tier=quick mpi=1,3 */
#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "adapt/adapt.h"
#include "advect.h"
#include "base/mem.h"
#include "base/sum.h"
#include "check.h"
#include "dom/ghost.h"
#include "patch/courant.h"
#include "patch/patch.h"
#include "patch/patch_dev.h"
#include "patch/reflux.h"
#include "test_device.h"

enum { LMIN = 4, LMAX = 6, NVAR = 8, STEPS = 4, FIELD = ADVECT_FIELD };

struct world {
    const struct comm *c;
    struct domain *d;
    struct mesh m;
    struct law law;
    double centre; /* of what moves */
    bool on_device;
    struct test_mirror on;
    struct patch_dev dev;
};

static void home(struct world *w)
{
    if (w->on_device) CHECK(mirror_home(&w->on.mirror, &w->m, true) == OK);
}

static void fill_ghosts(struct world *w, int l)
{
    ghost_fill(w->c, &w->m, l, w->law.nfield, w->law.field);
}

/* Adapts the mesh: octs with large first quantity, and the two next to them. */
static void adapt(struct world *w)
{
    for (int l = LMAX - 1; l >= LMIN; l--) {
        struct level *lv = &w->m.lev[l];
        for (lidx i = 0; i < lv->nown; i++) {
            double max = 0;
            for (int k = 0; k < 8; k++) max = fmax(max, lv->fld[FIELD][i][k]);
            for (int k = 0; k < 8; k++) lv->flag[i][k] = max > (l == LMIN ? 1.02 : 1.5);
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

static void reflux_exchange(struct world *w, int l)
{
    struct level *lv = &w->m.lev[l];
    struct reflux *r = &lv->reflux[w->law.system];
    size_t row = reflux_row_bytes(w->law.nflux, 0);
    char *all = mem_new(row * (size_t)lv->noct + 1, "test");
    for (lidx i = 0; i < lv->noct; i++) reflux_export(r, i, all + row * (size_t)i);
    ghost_fill_rows(w->c, COMM_BULK_FLUX, &lv->plan, 1, (void *[]){all}, &row);
    for (lidx i = lv->nown; i < lv->noct; i++) reflux_import(r, i, all + row * (size_t)i);
    mem_free(all);
}

static void restrict_level(struct world *w, int l)
{
    struct level *lv = &w->m.lev[l];
    for (lidx i = 0; i < 8 * lv->nown; i++) {
        lidx o = lv->child[i / 8][i % 8];
        for (int v = 0; o >= 0 && v < ADVECTED; v++) {
            double sum = 0;
            for (int k = 0; k < 8; k++) sum += lv[1].fld[FIELD + v][o][k];
            lv->fld[FIELD + v][i / 8][i % 8] = sum / 8;
        }
    }
}

static void update(struct world *w, int l, double dt)
{
    struct patch_args args;
    const struct patch_kernels k = {.step = &advect_step, .args = &args, .planes = ADVECTED};
    if (w->on_device)
        CHECK(patch_dev_update(&w->dev, &w->m, l, dt, &w->law, &k) == OK, "%s", err_message());
    else
        patch_update(&w->m, l, dt, &w->law, &(struct patch_how){.depth = -1});
}

static void advance(struct world *w, int l, double dt)
{
    bool finer = l < LMAX;
    if (finer) {
        if (w->on_device)
            CHECK(patch_dev_reflux_begin(&w->dev, &w->m, l + 1, &w->law) == OK);
        else
            reflux_begin(&w->m, l + 1, w->law.system, w->law.nflux, 0);
        for (int k = 0; k < 2; k++) advance(w, l + 1, 0.5 * dt);
        if (!w->on_device) reflux_exchange(w, l + 1);
    }
    update(w, l, dt);
    if (finer && w->on_device)
        CHECK(mirror_forget_reflux(&w->on.mirror, l + 1, w->law.system) == OK);
    home(w);
    if (finer) reflux_end(&w->m, l + 1, w->law.system);
    if (finer) restrict_level(w, l);
    fill_ghosts(w, l);
}

static void fill(struct world *w, bool flat)
{
    for (int l = 1; l <= LMAX; l++)
        for (lidx i = 0; i < 8 * w->m.lev[l].noct; i++) {
            int64_t x[3];
            double r2 = 0;
            okey_coords(w->m.lev[l].key[i / 8], x);
            for (int d = 0; d < 3; d++) {
                double y = ((double)(2 * x[d] + (i >> d & 1)) + 0.5) * mesh_dx(&w->m, l) -
                           w->centre;
                r2 += y * y;
            }
            for (int v = 0; v < NVAR; v++)
                w->m.lev[l].fld[FLD_U + v][i / 8][i % 8] = flat ? 1
                                                                : 1 + (v + 1) * exp(-r2 * 60) *
                                                                          (v < 6 ? 0.3 : -0.1);
        }
}

/* Results over own leaves: sums of both quantities; order-independent hash of their bits. */
struct result {
    double sum[ADVECTED], lowest, highest;
    int64_t octs, bits, gas;
};

static struct result result_of(struct world *w)
{
    struct result x = {.lowest = HUGE_VAL};
    struct sum s[ADVECTED];
    for (int v = 0; v < ADVECTED; v++) sum_init(&s[v]);
    for (int l = LMIN; l <= LMAX; l++) {
        const struct level *lv = &w->m.lev[l];
        x.octs += l > LMIN ? lv->nown : 0;
        for (lidx i = 0; i < 8 * lv->nown; i++) {
            for (int v = 0; v < NVAR && lv->child[i / 8][i % 8] < 0; v++) {
                double u = lv->fld[FLD_U + v][i / 8][i % 8], z = u * pow(mesh_dx(&w->m, l), 3);
                uint64_t b;
                memcpy(&b, &u, sizeof b);
                b = (b ^ (uint64_t)lv->key[i / 8] << 20 ^ (uint64_t)(i % 8 + 8 * v)) *
                    0x9e3779b97f4a7c15u;
                b = (b ^ b >> 29) * 0xbf58476d1ce4e5b9u;
                bool own = v == FIELD - FLD_U || v == FIELD - FLD_U + 1;
                *(own ? &x.bits : &x.gas) += (int64_t)(b >> 8);
                if (own) sum_add(&s[v - (FIELD - FLD_U)], z);
                if (own) x.lowest = fmin(x.lowest, u), x.highest = fmax(x.highest, u);
            }
        }
    }
    comm_sums(w->c, s, ADVECTED);
    comm_add_i64(w->c, &x.octs, 1);
    comm_add_i64(w->c, &x.bits, 1);
    comm_add_i64(w->c, &x.gas, 1);
    for (int v = 0; v < ADVECTED; v++) x.sum[v] = sum_get(&s[v]);
    return x;
}

/* The longest step of the coarsest level that all levels allow. */
static double longest_step(struct world *w)
{
    double all = HUGE_VAL;
    for (int l = LMIN; l <= LMAX; l++) {
        struct patch_courant_args args;
        const struct patch_courant_kernel k = {&advect_courant, &args};
        double dev, dt = patch_courant(&w->m, l, &w->law, NULL, NULL);
        all = fmin(all, dt * (1 << (l - LMIN)));
        if (!w->on_device) continue;
        CHECK(patch_dev_courant_begin(&w->dev, &w->m, l, &w->law, &k, w->on.stream) == OK);
        CHECK(patch_dev_courant(&w->dev, &w->m, l, &w->law, &dev) == OK && dev == dt, "level %d",
              l);
    }
    CHECK(fabs(all * 1.4 / mesh_dx(&w->m, LMIN) - 1) < 1e-15, "%g", all);
    return all;
}

struct how {
    int threads;
    bool device, flat, walls;
};

static struct result run(const struct comm *c, struct how how)
{
    const bool flat = how.flat, device = how.device, b = how.walls, bounded[6] = {b, b, b, b, b, b};
    struct world w = {
        .c = c, .law = advect_law, .centre = how.walls ? 0.1 : 0.4, .on_device = device};
    omp_set_num_threads(how.threads);
    mesh_init(&w.m, LMIN, LMAX, NVAR, true, false, 1.0, bounded);
    w.d = domain_new(DOMAIN_KSECTION, c->size, LMAX, bounded);
    adapt_build(&w.m, c, w.d);
    for (int k = 0; k < 2; k++) {
        fill(&w, false);
        adapt(&w);
    }
    fill(&w, flat);
    if (flat)
        for (int l = 1; l <= LMAX; l++) fill_ghosts(&w, l);
    for (int l = LMAX - 1; l >= LMIN; l--) restrict_level(&w, l), fill_ghosts(&w, l);
    if (device) CHECK(test_mirror_open(&w.on, &w.m, 7, 0) == OK);
    if (device) patch_dev_init(&w.dev, &w.on.mirror);
    struct result before = result_of(&w), after;
    for (int k = 0; k < STEPS; k++) {
        advance(&w, LMIN, 0.84 * longest_step(&w));
        after = result_of(&w);
        for (int v = 0; v < ADVECTED && !how.walls; v++)
            CHECK(fabs(after.sum[v] - before.sum[v]) < 1e-14 * fabs(before.sum[v]),
                  "sum %d changes by %g", v, after.sum[v] / before.sum[v] - 1);
        CHECK(flat ? after.highest - after.lowest < 1e-14 : after.bits != before.bits);
        if (!flat) adapt(&w);
    }
    CHECK(flat || after.octs != before.octs, "the mesh adapts");
    CHECK(!flat || after.gas == before.gas, "the other fields stay");
    if (device) {
        dev_settle(w.on.dev);
        patch_dev_fini(&w.dev);
        CHECK(test_mirror_close(&w.on) == 0);
    }
    mesh_fini(&w.m);
    domain_free(w.d);
    return after;
}

/* Beside walls a cell's children have no slope, except of a number that changes its sign there. */
static void test_children(const struct comm *alone)
{
    static const bool walls[6] = {true, true, true, true, true, true};
    struct world w = {.c = alone, .centre = 0.1};
    const struct patch_cell corner = {LMIN, 0, 0};
    double even[8], odd[8];
    mesh_init(&w.m, LMIN, LMIN, NVAR, true, false, 1.0, walls);
    w.d = domain_new(DOMAIN_KSECTION, 1, LMIN, walls);
    adapt_build(&w.m, alone, w.d);
    fill(&w, false);
    const double *u = w.m.lev[LMIN].fld[FIELD][0];
    patch_children(&w.m, corner, FIELD, 0, even);
    patch_children(&w.m, corner, FIELD, 1 << 2, odd);
    for (int k = 0; k < 8; k++) {
        CHECK(even[k] == u[0], "child %d", k);
        CHECK(odd[k] == u[0] + ((k >> 1 & 1) - 0.5) * (0.5 * patch_minmod(-u[0], u[0], u[2])));
    }
    CHECK(odd[0] != odd[2], "a slope in y");
    mesh_fini(&w.m);
    domain_free(w.d);
}

int main(int argc, char **argv)
{
    struct comm all;
    const struct comm alone = {.size = 1};
    comm_init(&argc, &argv, &all);
    test_children(&alone);
    for (int walls = 0; walls < 2; walls++) {
        struct result one = run(&alone, (struct how){1, .walls = walls});
        CHECK(one.octs > 500, "%d octs", (int)one.octs);
        CHECK(run(&alone, (struct how){2, .walls = walls}).bits == one.bits, "two threads");
        CHECK(run(&alone, (struct how){1, true, .walls = walls}).bits == one.bits, "on a device");
        CHECK(run(&all, (struct how){1, .walls = walls}).bits == one.bits, "%d ranks", all.size);
    }
    run(&alone, (struct how){1, .flat = true});
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
    if (all.rank == 0) printf("%d passed, %d failed\n", passed, failed);
    comm_fini();
    return failed != 0;
}
