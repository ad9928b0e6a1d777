/* Smoothed particles on the emulated device equal those of the CPU to the last bit: uniform,
 * clustered and coincident particles, some at the boundary, some ghosts, both kernels, all switches
 * and equations of state, in a periodic box and in open space, with eight random orders of
 * execution. Errors are those of the CPU; a device that is too small says so, and nothing is left.
 * Catches: a neighbour that another thread adds, a list that ends at a window, a phase that reads
 * what another thread writes.
 *
 * test: tier=check timeout=120 */
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "smooth/smooth_dev.h"
#include "smooth_world.h"
#include "test_device.h"

enum place { UNIFORM, CLUSTER, PAIRS, PLACES };

static void put(struct smooth *s, int64_t n, int64_t ghosts, enum place place, double h)
{
    struct rng r = rng_make(44, (uint64_t)n, (uint32_t)place);
    smooth_world_init(s, n);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            double x = rng_uniform(&r);
            if (place == CLUSTER && i % 3 == 0) x = 0.97 + 0.02 * rng_normal(&r);
            if (place == PAIRS && i % 2 == 1) x = s->x[k][i - 1];
            s->x[k][i] = x - floor(x) < 1 ? x - floor(x) : 0;
            s->v[k][i] = rng_normal(&r);
            s->a[k][i] = rng_normal(&r);
        }
        s->type[i] = i % 7 == 3 ? SMOOTH_BOUNDARY : SMOOTH_GAS;
        s->u[i] = 1 + rng_uniform(&r);
        s->alpha[i] = rng_uniform(&r);
        s->h[i] = h * (1 + 0.5 * rng_uniform(&r));
        s->omega[i] = 1;
    }
    s->n = n - ghosts, s->ghosts = ghosts;
}

struct place_dev {
    struct dev *dev;
    struct dev_stream *stream;
    struct smooth_dev *on;
};

static bool open_dev(struct place_dev *q, uint64_t seed, size_t max)
{
    char why[DEV_WHY];
    q->dev = dev_open(&(struct dev_how){.kind = test_device(), .seed = seed, .max = max}, why);
    CHECK(q->dev, "%s", why);
    if (!q->dev) return false;
    q->stream = dev_stream_new(q->dev);
    q->on = smooth_dev_new(q->dev, q->stream);
    return true;
}

static void close_dev(struct place_dev *q)
{
    smooth_dev_free(&q->on);
    dev_settle(q->dev);
    dev_stream_free(&q->stream);
    CHECK(dev_bytes(q->dev) == 0, "%zu bytes are left", dev_bytes(q->dev));
    dev_close(&q->dev);
}

/* Ghosts have the columns that the host knows. */
static enum err fill_ghosts(struct place_dev *q, struct smooth *s)
{
    const smooth_set second = smooth_columns_of(SMOOTH_SECOND);
    TRY(smooth_dev_home(q->on, s, second));
    smooth_dev_changed(q->on, second, false);
    return OK;
}

/* h of both, with reaches that grow, then forces. */
static enum err evaluate(const struct smooth_par *p, struct smooth *s, double period,
                         struct place_dev *q)
{
    const double side = period > 0 ? period : 1;
    const struct near_frame f = {.side = {side, side, side}, .period = {period, period, period}};
    struct near *t = NULL;
    double *reach = mem_new((size_t)(s->n + 1) * sizeof *reach, "reach");
    enum err err = OK;
    int64_t beyond = 1;
    const double factor = 1.3 * smooth_support(p->kernel);
    if (q)
        TRY_OUT(smooth_dev_tree(q->on, s, &f));
    else
        t = smooth_world_near(s, period, 0);
    while (beyond > 0) {
        for (int64_t i = 0; i < s->n; i++) reach[i] = factor * s->h[i];
        TRY_OUT(q ? smooth_dev_density(q->on, p, s, factor, &beyond)
                  : smooth_density(p, s, t, reach, &beyond));
    }
    if (q) TRY_OUT(fill_ghosts(q, s));
    TRY_OUT(q ? smooth_dev_forces(q->on, p, s) : smooth_forces(p, s, t));
    if (q) err = smooth_dev_home(q->on, s, SMOOTH_ALL);
out:
    near_free(&t);
    FREE(reach);
    return err;
}

/* The name of the first column that differs; NULL: none. */
static const char *differs(struct smooth *a, struct smooth *b)
{
    for (enum smooth_column c = 0; c < SMOOTH_COLUMNS; c++)
        if (memcmp(*smooth_at(a, c), *smooth_at(b, c), smooth_row[c].bytes * (size_t)a->n) != 0)
            return smooth_row[c].name;
    return NULL;
}

struct trial {
    struct smooth_par par;
    int64_t n, ghosts;
    enum place place;
    double h, period;
    uint64_t seeds;
};

static void fill_scratch(struct smooth *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        s->alpha_loc[i] = s->vsig[i] = s->near[i] = s->u_half[i] = 0;
        for (int k = 0; k < 3; k++) s->v_half[k][i] = 0;
    }
}

static void compare(const struct trial *t)
{
    struct smooth want, got;
    put(&want, t->n, t->ghosts, t->place, t->h);
    fill_scratch(&want);
    const enum err err = evaluate(&t->par, &want, t->period, NULL);
    char text[512];
    snprintf(text, sizeof text, "%s", err == OK ? "" : err_message());
    for (uint64_t seed = 0; seed < t->seeds; seed++) {
        struct place_dev q;
        put(&got, t->n, t->ghosts, t->place, t->h);
        fill_scratch(&got);
        if (!open_dev(&q, seed, 0)) return;
        const enum err there = evaluate(&t->par, &got, t->period, &q);
        CHECK(there == err && (err == OK || strcmp(text, err_message()) == 0), "place %d: %s / %s",
              t->place, text, there == OK ? "" : err_message());
        const char *column = err == OK ? differs(&want, &got) : NULL;
        CHECK(!column, "place %d kernel %d seed %d: %s", t->place, t->par.kernel, (int)seed,
              column);
        close_dev(&q);
        smooth_free(&got);
    }
    smooth_free(&want);
}

static void test_places(void)
{
    for (enum smooth_kernel k = 0; k < SMOOTH_KERNELS; k++)
        for (enum place place = 0; place < PLACES; place++) {
            const struct trial t = {smooth_world_par(k, 260), 260, 20, place, 0.2, 1, 2};
            compare(&t);
        }
    struct trial t = {smooth_world_par(SMOOTH_M4, 150), 150, 0, CLUSTER, 0.1, 0, 8};
    compare(&t);
}

static void test_laws(void)
{
    for (enum smooth_switch w = SMOOTH_CD10; w <= SMOOTH_DISC; w++)
        for (enum smooth_eos e = 0; e < SMOOTH_EOS; e++) {
            struct trial t = {smooth_world_par(SMOOTH_M4, 100), 100, 10, UNIFORM, 0.25, 0, 1};
            t.par.alpha_switch = w;
            t.par.eos = e;
            t.par.gravity = w == SMOOTH_MM97;
            compare(&t);
        }
}

/* All at one place; a few particles in an open frame; h that is no number. */
static void test_faults(void)
{
    struct trial alone = {smooth_world_par(SMOOTH_M4, 4), 4, 0, UNIFORM, 0.2, 0, 2};
    compare(&alone);
    struct trial bad = {smooth_world_par(SMOOTH_M4, 64), 64, 0, UNIFORM, NAN, 0, 2};
    compare(&bad);
}

static void test_memory(void)
{
    for (size_t max = 1 << 12; max < (1 << 19); max *= 4) {
        const struct smooth_par par = smooth_world_par(SMOOTH_M4, 200);
        struct smooth s;
        struct place_dev q;
        put(&s, 200, 0, UNIFORM, 0.2);
        if (!open_dev(&q, 1, max)) return;
        const enum err err = evaluate(&par, &s, 1, &q);
        CHECK(err == OK || (err == ERR_LIMIT && strstr(err_message(), "do not fit")), "%s",
              err_message());
        close_dev(&q);
        smooth_free(&s);
    }
}

int main(void)
{
    test_places();
    test_laws();
    test_faults();
    test_memory();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
