/* adapt/adapt_dev, oct/remap: refinement of levels whose fields are on the emulated device gives
 * the fields, ghosts and links of the host, bit by bit: gas and gravity, each on device, host or
 * both, after several changes, for 20 seeds, with ranks without a device, and with a full device.
 * Bus traffic is proportional to the change. Catches: octs moved from the wrong slot, values of a
 * stale level, outdated links or hash tables, stale fields read by the host.
 *
 * test: tier=quick mpi=1,3
 * test: all tier=check mpi=2,3 timeout=240 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "adapt/adapt_dev.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "hydro/hydro.h"
#include "hydro/hydro_dev.h"
#include "oct/fields.h"
#include "oct/find_kern.h"
#include "test_device.h"

enum { LMIN = 3, LMAX = 6, TURNS = 3, SEEDS = 20, NVAR = 6 };

struct world {
    struct mesh m;
    struct test_mirror on; /* on.dev NULL: all fields are on the host */
    struct ghost_dev *ghost;
    struct hydro_dev *gas;
    struct hydro_dev_prolong prolong;
    struct adapt_dev adapt;
};

static struct comm comm;
static struct domain *dom;
static struct hydro_par par = {.nvar = NVAR,
                               .gamma = 1.4,
                               .smallr = 1e-8,
                               .smallc = 1e-6,
                               .interpol_type = 1,
                               .interpol_var = 2};

/* ---- a mesh around a moving point ---- */

/* Whether a cell is to be refined; at the end, with radius 0, none is. */
static bool wants(int l, okey key, int cell, int turn)
{
    const double centre[TURNS][3] = {{0.05, 0.97, 0.4}, {0.13, 0.9, 0.45}, {0.2, 0.85, 0.4}};
    const double radius[TURNS] = {0.08, 0.11, 0.03};
    int64_t q[3];
    double dx = 1.0 / (double)(1 << l), r2 = 0;
    okey_coords(key, q);
    for (int d = 0; d < 3; d++) {
        double x = ((double)(2 * q[d] + (cell >> d & 1)) + 0.5) * dx - centre[turn][d];
        x -= floor(x + 0.5);
        r2 += x * x;
    }
    return l < LMIN || (turn < 2 || l < LMIN + 1 ? sqrt(r2) < radius[turn] + 5 * dx : false);
}

static void flag(struct mesh *m, int l, int turn)
{
    struct level *lv = &m->lev[l];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) lv->flag[i][k] = wants(l, lv->key[i], k, turn);
}

/* Refines and coarsens by the flags of own octs. */
static void change_flagged(struct world *w, int l)
{
    struct mesh *m = &w->m;
    ghost_fill_flags(&comm, m, l);
    struct adapt_changes here = adapt_count(m, l), all = here;
    comm_add_i64(&comm, &all.created, 2);
    adapt_change(m, &comm, dom, l, here, all,
                 &(struct adapt_values){hydro_prolong, &par, w->on.dev ? &w->adapt : NULL, true});
}

static void change(struct world *w, int l, int turn)
{
    flag(&w->m, l, turn);
    change_flagged(w, l);
}

/* Removes octs from the finest level on, creates octs from the coarsest level on. */
static void refine(struct world *w, int turn)
{
    for (int l = LMAX - 1; l >= LMIN; l--) {
        struct level *lv = &w->m.lev[l];
        unsigned char(*was)[8] = mem_new(sizeof *was * (size_t)lv->nown + 1, "test");
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) was[i][k] = lv->child[i][k] >= 0;
        flag(&w->m, l, turn);
        for (lidx i = 0; i < lv->nown; i++)
            for (int k = 0; k < 8; k++) lv->flag[i][k] &= was[i][k];
        mem_free(was);
        change_flagged(w, l);
    }
    for (int l = LMIN; l < LMAX; l++) change(w, l, turn);
}

/* Values that depend on position only, so that both worlds, and all ranks, agree. */
static void fill(struct mesh *m, int turn)
{
    for (int l = 1; l <= LMAX; l++)
        for (lidx i = 0; i < m->lev[l].noct; i++) {
            struct rng r = rng_make((uint64_t)m->lev[l].key[i], (uint64_t)l, (uint64_t)turn);
            for (int c = 0; c < 8; c++) {
                for (int f = 0; f < FLD_U; f++)
                    if (mesh_has_field(m, f)) m->lev[l].fld[f][i][c] = rng_uniform(&r) - 0.5;
                double rho = 0.2 + rng_uniform(&r), e = 0.1;
                m->lev[l].fld[FLD_U][i][c] = rho;
                for (int v = 1; v < NVAR; v++) {
                    double q = rng_uniform(&r) - 0.5;
                    e += v <= 3 ? 0.5 * rho * q * q : 0;
                    m->lev[l].fld[FLD_U + v][i][c] = v == GAS_ENERGY ? e + rho : rho * q;
                }
            }
        }
    for (int l = 1; l <= LMAX; l++) memset(m->lev[l].valid, 1, sizeof m->lev[l].valid);
}

/* ---- worlds ---- */

static void world_open(struct world *w, bool device, uint64_t seed, size_t max)
{
    const bool periodic[6] = {false};
    *w = (struct world){.on.dev = NULL};
    mesh_init(&w->m, LMIN, LMAX, NVAR, true, 2, 1, periodic);
    mesh_set_photons(&w->m, 2);
    adapt_build(&w->m, &comm, dom);
    if (!device) return;
    CHECK(test_mirror_open(&w->on, &w->m, seed, max) == OK);
    CHECK(ghost_dev_new(&w->ghost, w->on.dev, w->on.stream) == OK);
    CHECK(hydro_dev_new(&w->gas, &w->on.mirror) == OK);
    w->prolong = (struct hydro_dev_prolong){w->gas, &par};
    w->adapt = (struct adapt_dev){
        .mirror = &w->on.mirror, .ghost = w->ghost, .gas = {hydro_dev_prolong, &w->prolong}};
}

static void world_close(struct world *w)
{
    if (w->on.dev) CHECK(dev_wait(w->on.stream) == OK);
    hydro_dev_free(&w->gas);
    ghost_dev_free(&w->ghost);
    CHECK(test_mirror_close(&w->on) == 0);
    mesh_fini(&w->m);
}

/* Moves fields to locations, by the seven digits of `how`, one per row: 0 host, 1 device, 2
 * both. */
static void location(struct world *w, int how)
{
    for (int i = 0; w->on.dev && i < FIELD_ROWS; i++) {
        const int first = field_rows[i].first, n = field_row_count(&w->m, &field_rows[i]);
        int digit = how;
        for (int k = i % 7; k > 0; k--) digit /= 3;
        for (int l = 1; l <= LMAX && digit % 3 > 0; l++) {
            if (mirror_need(&w->on.mirror, &w->m, l, first, n, LOCATION_DEVICE) != OK) return;
            if (digit % 3 == 1) mirror_wrote(&w->on.mirror, l, first, n, LOCATION_DEVICE);
        }
    }
    if (w->on.dev) CHECK(dev_wait(w->on.stream) == OK);
}

/* ---- comparisons ---- */

static void fetch(struct world *w, void *pointer, const void *there, size_t bytes)
{
    void *to = mem_new(bytes + 1, "test");
    if (bytes > 0) dev_get(w->on.stream, to, there, bytes);
    CHECK(dev_wait(w->on.stream) == OK);
    *(void **)pointer = to;
}

/* Compares links on the device, if they are current, with those on the host. */
static void compare_links(struct world *w, int l)
{
    const struct level *lv = &w->m.lev[l], *im = &w->on.mirror.image->lev[l];
    size_t n = (size_t)lv->noct;
    if (!w->on.dev || !w->on.mirror.linked[l] || w->on.mirror.octs[l] != lv->octs ||
        w->on.mirror.links[l] != lv->links)
        return;
    struct level x = {.noct = lv->noct, .hash = im->hash};
    fetch(w, &x.key, im->key, n * sizeof *lv->key);
    fetch(w, &x.child, im->child, n * sizeof *lv->child);
    fetch(w, &x.parent, im->parent, n * sizeof *lv->parent);
    fetch(w, &x.nbr, im->nbr, n * sizeof *lv->nbr);
    fetch(w, &x.hash.slot, im->hash.slot, (im->hash.mask + 1) * sizeof(lidx));
    CHECK(memcmp(x.key, lv->key, n * sizeof *lv->key) == 0, "keys of level %d", l);
    CHECK(memcmp(x.child, lv->child, n * sizeof *lv->child) == 0, "children of level %d", l);
    CHECK(memcmp(x.parent, lv->parent, n * sizeof *lv->parent) == 0, "parents of level %d", l);
    CHECK(memcmp(x.nbr, lv->nbr, n * sizeof *lv->nbr) == 0, "neighbours of level %d", l);
    lidx lost = level_find(&x, (okey)1 << 60) != -1;
    for (lidx i = 0; i < lv->noct; i++) lost += level_find(&x, lv->key[i]) != i;
    CHECK(lost == 0, "hash table of level %d: %d", l, (int)lost);
    FREE(x.key);
    FREE(x.child);
    FREE(x.parent);
    FREE(x.nbr);
    FREE(x.hash.slot);
}

static void compare(struct world *w, const struct world *right, const char *what, uint64_t seed)
{
    for (int l = 1; l <= LMAX; l++) compare_links(w, l);
    if (w->on.dev) CHECK(mirror_home(&w->on.mirror, &w->m, false) == OK);
    for (int l = 1; l <= LMAX; l++) {
        const struct level *a = &w->m.lev[l], *b = &right->m.lev[l];
        CHECK(a->noct == b->noct && a->nown == b->nown);
        for (int f = 0; f < FLD_U + NVAR; f++)
            if (a->fld[f])
                CHECK(memcmp(a->fld[f], b->fld[f], sizeof *a->fld[f] * (size_t)a->noct) == 0,
                      "%s, seed %d: field %d of level %d", what, (int)seed, f, l);
    }
}

/* ---- tests ---- */

static void run(const char *what, bool device, uint64_t seed, int how, size_t max)
{
    if (getenv("TRACE")) fprintf(stderr, "%d: %s %d %d %zu\n", comm.rank, what, device, how, max);
    struct world w, right;
    world_open(&w, device, seed, max);
    world_open(&right, false, 0, 0);
    for (int turn = 0; turn < TURNS; turn++) {
        fill(&w.m, turn);
        fill(&right.m, turn);
        if (w.on.dev)
            for (int l = 1; l <= LMAX; l++)
                mirror_wrote(&w.on.mirror, l, 0, MIRROR_FIELDS, LOCATION_HOST);
        location(&w, how);
        refine(&w, turn);
        refine(&right, turn);
        compare(&w, &right, what, seed);
    }
    world_close(&w);
    world_close(&right);
}

/* Splits only the given cells of the first oct of level LMIN. */
static void split_first(struct world *w, unsigned cells)
{
    struct mesh *m = &w->m;
    struct level *lv = &m->lev[LMIN];
    memset(lv->flag, 0, sizeof *lv->flag * (size_t)lv->noct);
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8 && lv->key[i] == 0; k++) lv->flag[i][k] = cells >> k & 1;
    change_flagged(w, LMIN);
}

/* The first created octs follow directly after the first old oct. */
static void test_first(void)
{
    struct world w, right;
    world_open(&w, true, 4, 0);
    world_open(&right, false, 0, 0);
    for (unsigned cells = 1; cells < 32; cells = 2 * cells + 1) {
        split_first(&w, cells);
        split_first(&right, cells);
        compare(&w, &right, "first octs", 4);
        fill(&w.m, (int)cells);
        fill(&right.m, (int)cells);
        for (int l = 1; l <= LMAX; l++)
            mirror_wrote(&w.on.mirror, l, 0, MIRROR_FIELDS, LOCATION_HOST);
        location(&w, 1093);
    }
    world_close(&w);
    world_close(&right);
}

/* Whether a cell has a child without children. */
static bool is_outer(const struct mesh *m, int l, lidx i, int cell)
{
    lidx child = m->lev[l].child[i][cell], max = -1;
    for (int k = 0; k < 8 && child >= 0; k++)
        if (m->lev[l + 1].child[child][k] > max) max = m->lev[l + 1].child[child][k];
    return child >= 0 && max < 0;
}

/* A small change, with all fields on the device, copies little. */
static void test_copies(void)
{
    struct world w;
    double bytes = 0;
    world_open(&w, true, 3, 0);
    refine(&w, 0);
    fill(&w.m, 0);
    location(&w, 1093); /* digit 1 in all seven places */
    flag(&w.m, LMIN + 1, 0);
    struct level *lv = &w.m.lev[LMIN + 1];
    bool done = false;
    for (lidx i = 0; i < lv->nown && comm.rank == 0; i++)
        for (int k = 0; k < 8 && !done; k++)
            if (i > lv->nown / 2 && is_outer(&w.m, LMIN + 1, i, k)) lv->flag[i][k] = 0, done = true;
    ghost_fill_flags(&comm, &w.m, LMIN + 1);
    struct adapt_changes here = adapt_count(&w.m, LMIN + 1), all = here;
    comm_add_i64(&comm, &all.created, 2);
    struct dev_count before = dev_counts(w.on.dev);
    adapt_change(&w.m, &comm, dom, LMIN + 1, here, all,
                 &(struct adapt_values){hydro_prolong, &par, &w.adapt, true});
    struct dev_count now = dev_counts(w.on.dev);
    for (int l = LMIN; l <= LMIN + 2; l++)
        bytes += (double)mesh_oct_bytes(mesh_kind(&w.m)) * w.m.lev[l].noct;
    double share = (double)(now.put - before.put + now.got - before.got) / bytes;
    CHECK(all.removed > 0 && all.created == 0);
    CHECK(comm.size > 1 || share < 0.002, "%g of the levels", share);
    world_close(&w);
}

int main(int argc, char **argv)
{
    const bool periodic[6] = {false};
    comm_init(&argc, &argv, &comm);
    bool full = argc > 1;
    dom = domain_new(DOMAIN_KSECTION, comm.size, LMAX, periodic);
    if (!full) {
        run("all there", true, 0, 1093, 0);
        run("all there, mixed ranks", comm.rank > 0, 1, 1093, 0);
        run("all at both", true, 2, 2186, 0);
        test_first();
        test_copies();
    }
    for (int seed = full ? 5 : 3; seed < (full ? SEEDS : 5); seed++) {
        int how = (seed * 7919) % 2187;
        run("some there", seed % 3 > 0 || comm.rank % 2 == 0, (uint64_t)seed, how, 0);
        run("full", true, (uint64_t)seed, how, (size_t)200000 << seed % 8);
    }
    domain_free(dom);
    int64_t all[2] = {passed, failed};
    comm_add_i64(&comm, all, 2);
    if (comm.rank == 0) printf("%d checks, %d failed\n", (int)(all[0] + all[1]), (int)all[1]);
    comm_fini();
    return all[1] != 0;
}
