/* dom/ghost_dev: an exchange of arrays on the emulated device gives the bytes of an exchange on the
 * host: rows of several arrays with several strides, single cells, arrays in which not all octs
 * have a row, integers that are added on their owners, nested exchanges, ranks with and without a
 * device, after changes of the mesh, for 20 seeds. Only messages cross the bus. Catches: a row of
 * another peer or array, lists that are not sent anew, ghosts that arrive before they are sent, a
 * buffer that is used twice, ghosts that are added twice or not at all.
 *
 * test: tier=quick mpi=1,2,3 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapt/adapt.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dom/ghost_dev.h"
#include "test_device.h"

enum { LMIN = 3, LMAX = 4, SEEDS = 20, ARRAYS = 5, BLACK = 4 };
static const int black[BLACK] = {1, 2, 4, 7};
static const size_t words[ARRAYS] = {64, 64, 64, 8, 64}, bytes[ARRAYS] = {64, 1, 8, 1, 24};

static struct world {
    struct comm c;
    struct domain *d;
    struct mesh m;
    struct dev *dev;
    struct dev_stream *stream;
    struct ghost_dev *ghost;
} w;

static void refine(int turn)
{
    struct rng r = rng_make(12, (uint64_t)turn, 1);
    okey stripe = rng_word(&r) % 8;
    struct level *lv = &w.m.lev[LMIN];
    for (lidx i = 0; i < lv->nown; i++)
        for (int k = 0; k < 8; k++) lv->flag[i][k] = ((lv->key[i] ^ (okey)k) & 7) <= stripe;
    adapt_refine(&w.m, &w.c, w.d, LMIN, NULL, NULL);
}

/* Arrays on the host, and their copies on the device; there NULL: no device on this rank. */
struct arrays {
    int n;
    const size_t *stride;
    size_t noct;
    char *here[ARRAYS];
    void *there[ARRAYS];
};

static void arrays_make(struct arrays *a, int n, const size_t *stride, int l, uint64_t seed)
{
    struct rng r = rng_make(seed, (uint64_t)w.c.rank, 2);
    *a = (struct arrays){.n = n, .stride = stride, .noct = (size_t)w.m.lev[l].noct};
    for (int i = 0; i < n; i++) {
        a->here[i] = mem_new(stride[i] * a->noct + 1, "test");
        for (size_t k = 0; k < stride[i] * a->noct; k++) a->here[i][k] = (char)rng_word(&r);
        if (!w.ghost) continue;
        CHECK(dev_new(w.dev, &a->there[i], stride[i] * a->noct + 1, "test") == OK);
        dev_put(w.stream, a->there[i], a->here[i], stride[i] * a->noct);
    }
}

static void arrays_free(struct arrays *a)
{
    for (int i = 0; i < a->n; i++) {
        FREE(a->here[i]);
        if (w.ghost) dev_free(w.dev, a->there[i]);
    }
}

/* Compares arrays on the device with those on the host, byte by byte. */
static void arrays_compare(const struct arrays *a, const char *what)
{
    for (int i = 0; i < a->n && w.ghost; i++) {
        char *got = mem_new(a->stride[i] * a->noct + 1, "test");
        dev_get(w.stream, got, a->there[i], a->stride[i] * a->noct);
        CHECK(dev_wait(w.stream) == OK);
        CHECK(memcmp(got, a->here[i], a->stride[i] * a->noct) == 0, "%s: array %d", what, i);
        mem_free(got);
    }
}

/* ---- exchanges: as this rank has them, and on the host ---- */

struct exchange {
    struct arrays a;
    bool cells;
    struct ghost_dev_plan *plan;
    struct ghost_dev_rows dev;
    struct ghost_rows host;
};

static void send_host(struct exchange *x, int l)
{
    const struct xplan *p = &w.m.lev[l].plan;
    if (x->cells)
        ghost_cells_begin(&x->host, &w.c, COMM_MULTIGRID, p, black, (void *)x->a.here[0]);
    else
        ghost_rows_begin(&x->host, &w.c, COMM_BULK_DP, p, x->a.n, (void **)x->a.here, x->a.stride);
}

static void receive_host(struct exchange *x)
{
    if (x->cells)
        ghost_cells_end(&x->host, black, (void *)x->a.here[0]);
    else
        ghost_rows_end(&x->host, x->a.n, (void **)x->a.here, x->a.stride);
}

/* A rank without a device gets the bytes of the host's exchange, whatever its peers have. */
static void send(struct exchange *x, int l)
{
    enum err e = OK;
    if (!w.ghost) {
        send_host(x, l);
        return;
    }
    CHECK(ghost_dev_level(w.ghost, &w.m, l, &x->plan) == OK);
    if (x->cells)
        e = ghost_dev_cells_begin(&x->dev, w.ghost, &w.c, COMM_MULTIGRID, x->plan, black,
                                  x->a.there[0]);
    else
        e = ghost_dev_rows_begin(&x->dev, w.ghost, &w.c, COMM_BULK_DP, x->plan, x->a.n, x->a.there,
                                 x->a.stride);
    CHECK(e == OK, "%s", err_message());
}

static void receive(struct exchange *x)
{
    if (!w.ghost)
        receive_host(x);
    else if (x->cells)
        ghost_dev_cells_end(&x->dev, black, x->a.there[0]);
    else
        ghost_dev_rows_end(&x->dev, x->a.n, x->a.there, x->a.stride);
}

/* Three nested exchanges; own rows change during the exchange. */
static void test_exchanges(int l, uint64_t seed)
{
    enum { ALL = 3 };
    const size_t own = (size_t)w.m.lev[l].nown;
    struct exchange x[ALL] = {{.cells = true}};
    arrays_make(&x[0].a, 1, words, l, seed);
    arrays_make(&x[1].a, ARRAYS, words, l, seed + 100);
    arrays_make(&x[2].a, ARRAYS, bytes, l, seed + 200);
    struct arrays before[ALL];
    for (int k = 0; k < ALL; k++) {
        before[k] = x[k].a;
        for (int i = 0; i < x[k].a.n; i++) {
            size_t all = x[k].a.stride[i] * x[k].a.noct;
            before[k].here[i] = mem_new(all + 1, "test");
            memcpy(before[k].here[i], x[k].a.here[i], all);
        }
    }
    for (int k = 0; k < ALL; k++) send(&x[k], l);
    for (int k = 0; k < ALL; k++) /* zero, on the device or the host */
        for (int i = 0; i < x[k].a.n; i++) {
            if (w.ghost)
                dev_fill(w.stream, x[k].a.there[i], 0, x[k].a.stride[i] * own);
            else
                memset(x[k].a.here[i], 0, x[k].a.stride[i] * own);
        }
    for (int k = ALL - 1; k >= 0; k--) receive(&x[k]);
    for (int k = 0; k < ALL; k++) { /* the same exchange on the host of all ranks */
        struct exchange y = {.a = before[k], .cells = x[k].cells};
        send_host(&y, l);
        for (int i = 0; i < y.a.n; i++) memset(y.a.here[i], 0, y.a.stride[i] * own);
        receive_host(&y);
        arrays_compare(&y.a, w.ghost ? "device" : "host");
        for (int i = 0; i < y.a.n; i++) {
            size_t all = y.a.stride[i] * y.a.noct;
            if (!w.ghost) CHECK(memcmp(y.a.here[i], x[k].a.here[i], all) == 0, "peers on devices");
            FREE(y.a.here[i]);
        }
        arrays_free(&x[k].a);
    }
}

/* ---- arrays in which some octs have a row ---- */

static void some_present(const struct arrays *a, const lidx *row, int l)
{
    struct ghost_dev_plan *plan;
    struct ghost_dev_rows x;
    void *there;
    const size_t size = sizeof *row * a->noct;
    struct ghost_dev_arrays all = {.n = 1, .arr = {a->there[0]}, .stride = {a->stride[0]}};
    CHECK(dev_new(w.dev, &there, size + 1, "test") == OK);
    dev_put(w.stream, there, row, size);
    all.row = there;
    CHECK(ghost_dev_level(w.ghost, &w.m, l, &plan) == OK);
    CHECK(ghost_dev_mixed_begin(&x, w.ghost, &w.c, COMM_BULK_FLUX, plan, &all) == OK);
    ghost_dev_mixed_end(&x, &all);
    CHECK(dev_wait(w.stream) == OK);
    dev_free(w.dev, there);
}

/* As for flux registers, with a further array of all octs in which other rows are zero. */
static void test_some(int l, uint64_t seed)
{
    struct rng r = rng_make(seed, (uint64_t)w.c.rank, 3);
    struct arrays a, b;
    arrays_make(&a, 1, words, l, seed);
    arrays_make(&b, 1, words, l, seed);
    lidx *row = mem_new(sizeof *row * a.noct + 1, "test"), n = 0;
    for (size_t i = 0; i < a.noct; i++) {
        char *all = b.here[0] + 64 * i;
        row[i] = rng_word(&r) % 3 ? -1 : n++;
        if (row[i] < 0)
            memset(all, 0, 64);
        else
            memcpy(all, a.here[0] + 64 * (size_t)row[i], 64);
    }
    if (w.ghost)
        some_present(&a, row, l);
    else
        ghost_fill_rows(&w.c, COMM_BULK_FLUX, &w.m.lev[l].plan, 1, (void **)b.here, words);
    if (w.ghost) { /* host exchange, for the comparison only */
        dev_get(w.stream, a.here[0], a.there[0], 64 * a.noct);
        CHECK(dev_wait(w.stream) == OK);
    }
    ghost_fill_rows(&w.c, COMM_BULK_FLUX, &w.m.lev[l].plan, 1, (void **)b.here, words);
    for (size_t i = 0; i < a.noct && w.ghost; i++)
        if (row[i] >= 0)
            CHECK(memcmp(a.here[0] + 64 * (size_t)row[i], b.here[0] + 64 * i, 64) == 0, "some");
    mem_free(row);
    arrays_free(&a);
    arrays_free(&b);
}

/* ---- integers of ghosts, added on their owners ---- */

/* Adds on the device or the host, as this rank has the arrays. */
static void add_somewhere(int l, struct arrays *a)
{
    struct ghost_dev_plan *plan;
    if (!w.ghost) {
        ghost_add_i64(&w.c, &w.m.lev[l].plan, a->n, (int64_t(*const *)[8])a->here);
        return;
    }
    CHECK(ghost_dev_level(w.ghost, &w.m, l, &plan) == OK);
    CHECK(ghost_dev_add_i64(w.ghost, &w.c, plan, a->n, (int64_t(*const *)[8])a->there) == OK);
}

/* Arrays whose sums do not overflow. */
static void sums_make(struct arrays *a, int n, int l, uint64_t seed)
{
    arrays_make(a, n, words, l, seed);
    for (int i = 0; i < n; i++) {
        int64_t *x = (int64_t *)(void *)a->here[i];
        for (size_t k = 0; k < 8 * a->noct; k++) x[k] /= 64;
        if (w.ghost) dev_put(w.stream, a->there[i], x, 64 * a->noct);
        if (w.ghost) CHECK(dev_wait(w.stream) == OK);
    }
}

static void test_sums(int l, uint64_t seed)
{
    for (int n = 1; n <= 3; n++) {
        struct arrays a, b; /* compared one after the other, finally both on the host */
        sums_make(&a, n, l, seed + (uint64_t)n);
        sums_make(&b, n, l, seed + (uint64_t)n);
        add_somewhere(l, &a);
        ghost_add_i64(&w.c, &w.m.lev[l].plan, n, (int64_t(*const *)[8])b.here);
        for (int i = 0; i < n && !w.ghost; i++)
            CHECK(memcmp(a.here[i], b.here[i], 64 * a.noct) == 0, "peers on devices: sums");
        for (int i = 0; i < n && w.ghost; i++) memcpy(a.here[i], b.here[i], 64 * a.noct);
        arrays_compare(&a, "sums");
        arrays_free(&a);
        arrays_free(&b);
    }
}

static void world_open(uint64_t seed, size_t max)
{
    char why[DEV_WHY];
    w.dev = dev_open(&(struct dev_how){.kind = test_device(), .seed = seed, .max = max}, why);
    w.stream = dev_stream_new(w.dev);
    CHECK(ghost_dev_new(&w.ghost, w.dev, w.stream) == OK);
}

static void world_close(void)
{
    dev_settle(w.dev);
    ghost_dev_free(&w.ghost);
    dev_stream_free(&w.stream);
    CHECK(!w.dev || dev_bytes(w.dev) == 0);
    dev_close(&w.dev);
}

/* mixed: only ranks other than the first have a device. */
static void test_seed(uint64_t seed, bool mixed)
{
    if (!mixed || w.c.rank > 0) world_open(seed, 0);
    for (int turn = 0; turn < 2; turn++) {
        refine((int)seed + turn);
        for (int l = LMIN - 1; l <= LMAX; l++) {
            test_exchanges(l, seed);
            test_sums(l, seed);
            test_some(l, seed);
        }
    }
    world_close();
}

/* The second exchange of a level copies its messages only. */
static void test_copies(void)
{
    const struct xplan *p = &w.m.lev[LMIN].plan;
    struct dev_count before = {0}, now;
    world_open(3, 0);
    for (int k = 0; k < 2; k++) {
        struct exchange x = {.cells = false};
        arrays_make(&x.a, 3, words, LMIN, 5);
        CHECK(dev_wait(w.stream) == OK);
        before = dev_counts(w.dev);
        send(&x, LMIN);
        receive(&x);
        CHECK(dev_wait(w.stream) == OK);
        now = dev_counts(w.dev);
        arrays_free(&x.a);
    }
    int64_t row = 3 * 64, out = p->npeer ? p->sfirst[p->npeer] : 0,
            in = p->npeer ? p->rfirst[p->npeer] : 0;
    CHECK(now.got - before.got == row * out && now.put - before.put == row * in,
          "%lld and %lld bytes", (long long)(now.got - before.got),
          (long long)(now.put - before.put));
    CHECK(now.launches - before.launches == (p->npeer ? 2 : 0));
    world_close();
}

/* A full device sends nothing; the host exchanges instead. */
static void test_full(void)
{
    world_open(1, 4096);
    struct exchange x = {.cells = false};
    x.a = (struct arrays){.n = 2, .stride = words, .noct = (size_t)w.m.lev[LMIN].noct};
    for (int i = 0; i < 2; i++) x.a.here[i] = mem_zero(64 * x.a.noct + 1, "test");
    CHECK(ghost_dev_level(w.ghost, &w.m, LMIN, &x.plan) == OK);
    bool peers = x.plan->plan->npeer > 0;
    enum err e = ghost_dev_rows_begin(&x.dev, w.ghost, &w.c, COMM_BULK_DP, x.plan, 2,
                                      (void *[]){w.dev, w.dev}, words);
    CHECK(e == (peers ? ERR_LIMIT : OK), "%d", e);
    if (e == OK) ghost_dev_rows_end(&x.dev, 2, (void *[]){w.dev, w.dev}, words);
    if (e != OK) {
        send_host(&x, LMIN);
        receive_host(&x);
    }
    for (int i = 0; i < 2; i++) FREE(x.a.here[i]);
    world_close();
}

int main(int argc, char **argv)
{
    const bool periodic[6] = {false};
    comm_init(&argc, &argv, &w.c);
    w.d = domain_new(DOMAIN_KSECTION, w.c.size, LMAX, periodic);
    mesh_init(&w.m, LMIN, LMAX, 0, false, true, 1, periodic);
    adapt_build(&w.m, &w.c, w.d);
    for (uint64_t seed = 0; seed < SEEDS; seed++) test_seed(seed, seed % 4 == 3);
    test_copies();
    test_full();
    mesh_fini(&w.m);
    domain_free(w.d);
    int64_t all[2] = {passed, failed};
    comm_add_i64(&w.c, all, 2);
    if (w.c.rank == 0) printf("%d checks, %d failed\n", (int)(all[0] + all[1]), (int)all[1]);
    comm_fini();
    return all[1] != 0;
}
