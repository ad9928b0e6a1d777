/* dev: the emulated device compared with plain loops, and errors that it must detect: device memory
 * dereferenced by the host, early reads of copies, unjustified assumptions on the order of streams,
 * blocks and threads. Each law is tested with 20 seeds; each planted fault must show with one of
 * them.
 *
 * test: tier=quick */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "dev/dev.h"
#include "dev/digits.h"
#include "dev/digits_kern.h"
#include "dev/kernel.h"
#include "dev/pool.h"
#include "dev/stages.h"
#include "test_device.h"

enum { SEEDS = 20, N = 5000, THREADS = 64, EACH = 4 * THREADS };

static struct dev *device(uint64_t seed)
{
    char why[DEV_WHY] = "";
    struct dev *d = dev_open(&(struct dev_how){.kind = test_device(), .seed = seed}, why);
    CHECK(d, "%s", why);
    return d;
}

static void *array(struct dev *d, size_t bytes, const char *name)
{
    void *p = NULL;
    CHECK(dev_new(d, &p, bytes, name) == OK && p);
    return p;
}

static uint64_t hash(const void *p, size_t bytes)
{
    const unsigned char *c = p;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < bytes; i++) h = (h ^ c[i]) * 1099511628211u;
    return h;
}

/* ---- kernels: sums of blocks of EACH values ---- */

struct sum_args {
    double *to;
    const double *from;
    int n;
};

struct sum_shared {
    double part[THREADS];
};

static void sum_up(const struct sum_args *a, struct sum_shared *s, struct dev_block *b)
{
    for (int half = THREADS / 2; half > 0; half /= 2)
        PHASE (t, half) s->part[t] += s->part[t + half];
    PHASE (t, 1) a->to[b->index] = s->part[0];
}

KERNEL(kernel_sum, struct sum_args, struct sum_shared, THREADS)
{
    PHASE (t, THREADS) {
        s->part[t] = 0;
        for (int i = t; i < EACH; i += THREADS) {
            int64_t at = (int64_t)b->index * EACH + i;
            if (at < a->n) s->part[t] += a->from[at];
        }
    }
    sum_up(a, s, b);
}

/* Planted fault: data that other threads read are written in the same phase. */
KERNEL(kernel_no_barrier, struct sum_args, struct sum_shared, THREADS)
{
    PHASE (t, THREADS) {
        s->part[t] = a->from[b->index * EACH + t];
        if (t < THREADS / 2) s->part[t] += s->part[t + THREADS / 2];
    }
    PHASE (t, 1) a->to[b->index] = s->part[0];
}

/* Planted fault: shared memory is assumed to be zero at the start. */
KERNEL(kernel_no_zero, struct sum_args, struct sum_shared, THREADS)
{
    PHASE (t, THREADS)
        if (t < THREADS / 2) s->part[t] = a->from[b->index * EACH + t];
    sum_up(a, s, b);
}

/* Planted fault: all threads of a block, or all blocks, add to one location in order of arrival. */
KERNEL(kernel_race, struct sum_args, struct sum_shared, THREADS)
{
    PHASE (t, EACH) a->to[b->index] += a->from[b->index * EACH + t];
}

/* Planted fault: a block needs the result of the previous one. */
KERNEL(kernel_chain, struct sum_args, struct sum_shared, THREADS)
{
    PHASE (t, 1) a->to[b->index] = a->from[b->index] + (b->index ? a->to[b->index - 1] : 0.0);
}

static void values(double *x)
{
    struct rng r = rng_make(7, 1, 1);
    for (int i = 0; i < N; i++) x[i] = (rng_uniform(&r) - 0.5) * (1 << rng_word(&r) % 20);
}

enum { BLOCKS = N / EACH };

static uint64_t run_kernel(const struct dev_kernel *k, uint64_t seed)
{
    double x[N], sum[BLOCKS] = {0};
    struct dev *d = device(seed);
    struct dev_stream *s = dev_stream_new(d);
    struct sum_args a = {array(d, sizeof sum, "sums"), array(d, sizeof x, "values"), N};
    values(x);
    dev_put(s, (void *)a.from, x, sizeof x);
    dev_fill(s, a.to, 0, sizeof sum);
    dev_launch(s, k, BLOCKS, &a);
    dev_get(s, sum, a.to, sizeof sum);
    CHECK(dev_wait(s) == OK);
    dev_stream_free(&s);
    dev_close(&d);
    return hash(sum, sizeof sum);
}

static int results(const struct dev_kernel *k)
{
    uint64_t first = run_kernel(k, 1);
    int other = 0;
    for (uint64_t seed = 2; seed <= SEEDS; seed++) other += run_kernel(k, seed) != first;
    return other;
}

/* Without a seed: the order of a plain loop. */
static void test_kernels(void)
{
    double x[N], part[THREADS], sum[BLOCKS];
    values(x);
    for (int k = 0; k < BLOCKS; k++) {
        for (int t = 0; t < THREADS; t++) {
            part[t] = 0;
            for (int i = t; i < EACH; i += THREADS) part[t] += x[k * EACH + i];
        }
        for (int half = THREADS / 2; half > 0; half /= 2)
            for (int t = 0; t < half; t++) part[t] += part[t + half];
        sum[k] = part[0];
    }
    for (uint64_t seed = 0; seed <= SEEDS; seed++)
        CHECK(run_kernel(&kernel_sum, seed) == hash(sum, sizeof sum), "seed %d", (int)seed);
    CHECK(results(&kernel_no_barrier) > 0);
    CHECK(run_kernel(&kernel_no_zero, 1) != hash(sum, sizeof sum));
    CHECK(results(&kernel_race) > 0);
    CHECK(results(&kernel_chain) > 0);
}

/* ---- streams ---- */

struct add_args {
    int *x;
    int add;
};

KERNEL(kernel_add, struct add_args, struct sum_shared, THREADS)
{
    PHASE (t, 1) a->x[0] = 3 * a->x[0] + a->add;
}

/* ---- stages ---- */

struct ripple_args {
    struct dev_stages each;
    int *x; /* [blocks] by stage */
};

/* A block adds what its neighbours had in the stage before, if each stage sees all of it. */
KERNEL_STAGES(kernel_ripple, struct ripple_args, struct dev_nothing, THREADS)
{
    const int n = b->count, i = b->index, *from = a->x + stage * n;
    PHASE (t, 1)
        a->x[(stage + 1) * n + i] = from[i] + 2 * from[(i + 1) % n] + from[(i + n - 1) % n];
}

static void test_stages(uint64_t seed)
{
    enum { MAX = 8, STAGES = 5 };
    int x[STAGES + 1][MAX] = {{1, 0, 3, 7, 2, 9, 4, 1}}, y[STAGES + 1][MAX];
    struct dev *d = device(seed);
    struct dev_stream *s = dev_stream_new(d);
    const int n = dev_together(s, &kernel_ripple) < MAX ? dev_together(s, &kernel_ripple) : MAX;
    struct ripple_args a = {{.stages = STAGES}, array(d, sizeof x, "ripple")};
    int *p = &x[0][0];
    dev_put(s, a.x, x, sizeof x);
    dev_launch_stages(s, &kernel_ripple, n, &a);
    dev_get(s, y, a.x, sizeof y);
    CHECK(dev_wait(s) == OK);
    for (int k = 0; k < STAGES; k++)
        for (int i = 0; i < n; i++)
            p[(k + 1) * n + i] = p[k * n + i] + 2 * p[k * n + (i + 1) % n] +
                                 p[k * n + (i + n - 1) % n];
    CHECK(n > 0 && n <= dev_processors(d), "%d", n);
    CHECK(memcmp(x, y, sizeof *p * (size_t)((STAGES + 1) * n)) == 0, "seed %d", (int)seed);
    CHECK(dev_counts(d).launches == 1);
    dev_stream_free(&s);
    dev_close(&d);
}

/* Work of two streams on one number, ordered by an event, or not (planted fault). */
static int two_streams(uint64_t seed, bool event)
{
    struct dev *d = device(seed);
    struct dev_stream *a = dev_stream_new(d), *b = dev_stream_new(d);
    struct dev_event *e = dev_event_new(d);
    int x = 5;
    struct add_args one = {array(d, sizeof x, "number"), 1}, two = {one.x, 2};
    dev_put(a, one.x, &x, sizeof x);
    dev_launch(a, &kernel_add, 1, &one);
    dev_record(e, a);
    if (event) dev_after(b, e);
    dev_launch(b, &kernel_add, 1, &two);
    dev_get(b, &x, one.x, sizeof x);
    CHECK(x == 5, "too early"); /* no work runs before a wait */
    CHECK(dev_wait(b) == OK && dev_wait(a) == OK);
    dev_event_free(&e);
    dev_stream_free(&a);
    dev_stream_free(&b);
    dev_close(&d);
    return x;
}

/* Planted fault: the host changes data that are still to be copied. */
static int early_host(uint64_t seed)
{
    struct dev *d = device(seed);
    struct dev_stream *s = dev_stream_new(d);
    int x = 1, y = 0, *p = array(d, sizeof x, "number");
    dev_put(s, p, &x, sizeof x);
    x = 2;
    dev_get(s, &y, p, sizeof y);
    CHECK(dev_wait(s) == OK);
    dev_stream_free(&s);
    dev_close(&d);
    return y;
}

static void test_streams(void)
{
    int wrong = 0;
    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        CHECK(two_streams(seed, true) == 3 * 16 + 2);
        wrong += two_streams(seed, false) != 3 * 16 + 2;
        CHECK(early_host(seed) == 2);
    }
    CHECK(wrong > 0);
}

/* ---- scans and sorts ---- */

static void test_scan_sort(uint64_t seed)
{
    static int32_t one[N], sum[N + 1], value[N];
    static uint64_t key[N];
    struct dev *d = device(seed);
    struct dev_stream *s = dev_stream_new(d);
    struct rng r = rng_make(8, seed, 1);
    for (int i = 0; i < N; i++) {
        one[i] = (int32_t)(rng_word(&r) % 3);
        value[i] = i;
        key[i] = (uint64_t)(rng_word(&r) % 50) << 50 | rng_word(&r) % 40;
    }
    int32_t *from = array(d, sizeof one, "counts"), *to = array(d, sizeof sum, "sums");
    uint64_t *k = array(d, sizeof key, "keys");
    dev_put(s, from, one, sizeof one);
    dev_put(s, k, key, sizeof key);
    dev_scan(s, to, from, N);
    dev_put(s, from, value, sizeof value);
    dev_sort(s, k, from, N);
    dev_get(s, sum, to, sizeof sum);
    dev_get(s, value, from, sizeof value);
    CHECK(dev_wait(s) == OK);
    int32_t all = 0;
    bool right = true, sorted = true;
    for (int i = 0; i < N; i++) {
        right &= sum[i] == all;
        all += one[i];
        int x = value[i], y = i ? value[i - 1] : value[i];
        sorted &= key[y] < key[x] || (key[y] == key[x] && y <= x);
    }
    CHECK(right && sum[N] == all);
    CHECK(sorted);
    struct dev_count c = dev_counts(d);
    CHECK(c.put == 2 * (int64_t)sizeof one + (int64_t)sizeof key);
    CHECK(c.got == (int64_t)(sizeof sum + sizeof value) && c.copies == 5 && c.waits == 1);
    const struct dev_launches *scan = dev_launches(d, 0), *sort = dev_launches(d, 1);
    CHECK(scan && sort && !dev_launches(d, 2));
    CHECK(!strcmp(scan->kernel, "scan") && scan->launches == 1);
    CHECK(scan->blocks == dev_blocks(N) && scan->max >= scan->blocks &&
          scan->max < 2 * scan->blocks);
    dev_stream_free(&s);
    dev_close(&d);
}

/* ---- memory ---- */

/* Dropped arrays keep their values until the stream has passed the drop, and are freed afterwards:
 * by a wait, at once if the stream is empty, or when another allocation does not fit. */
static void test_drop(uint64_t seed)
{
    enum { MAX = 1 << 20, HALF = MAX / 2 };
    char why[DEV_WHY] = "";
    struct dev *d = dev_open(
        &(struct dev_how){.kind = test_device(), .seed = seed, .max = MAX + HALF / 2}, why);
    struct dev_stream *s = dev_stream_new(d);
    double x[8] = {1, 2, 3}, y[8] = {0};
    void *a = array(d, HALF, "first"), *b = array(d, HALF, "second"), *c = NULL;
    dev_put(s, a, x, sizeof x);
    dev_copy(s, b, a, sizeof x);
    dev_drop(s, a);
    dev_drop(s, NULL);
    CHECK(dev_bytes(d) == 2 * HALF);
    dev_get(s, y, b, sizeof y);
    CHECK(y[0] == 0, "too early");
    CHECK(dev_new(d, &c, HALF, "third") == OK); /* the first array had to be freed */
    CHECK(dev_counts(d).waits == 1);
    CHECK(dev_wait(s) == OK && y[2] == 3);
    CHECK(dev_counts(d).waits == 1); /* no wait for an empty stream */
    size_t before = dev_bytes(d);
    dev_drop(s, b);
    CHECK(dev_bytes(d) == before - HALF);
    dev_stream_free(&s);
    dev_close(&d);
}

/* Dropped host memory stays until copies from it have run; work in a stream has completed after the
 * next wait for it. */
static void test_drop_host(uint64_t seed)
{
    enum { COUNT = 64, MANY = 100 };
    struct dev *d = device(seed);
    struct dev_stream *s = dev_stream_new(d);
    double sum = 0, y[COUNT] = {0}, *x = mem_new(sizeof y, "test"), *others[MANY];
    void *a = array(d, sizeof y, "values");
    CHECK(dev_passed(s, dev_mark(s)), "of nothing");
    for (int i = 0; i < COUNT; i++) x[i] = i;
    dev_put(s, a, x, sizeof y);
    dev_drop_host(s, x);
    for (int k = 0; k < MANY; k++) {
        others[k] = mem_new(sizeof y, "test");
        for (int i = 0; i < COUNT; i++) others[k][i] = -1;
    }
    dev_get(s, y, a, sizeof y);
    int64_t mark = dev_mark(s), waits = dev_counts(d).waits;
    CHECK(!dev_passed(s, mark));
    CHECK(dev_reach(s, mark) == OK && dev_passed(s, mark));
    for (int i = 0; i < COUNT; i++) sum += y[i];
    CHECK(sum == COUNT * (COUNT - 1) / 2, "seed %d: %g", (int)seed, sum);
    dev_put(s, a, y, sizeof y);
    CHECK(dev_reach(s, mark) == OK && dev_passed(s, mark));
    CHECK(dev_counts(d).waits == waits + 1, "a second wait");
    for (int k = 0; k < MANY; k++) mem_free(others[k]);
    dev_settle(d);
    CHECK(dev_counts(d).waits == waits + 2);
    dev_stream_free(&s);
    dev_close(&d);
}

/* Freed blocks are reused for sizes that fit, and for no others. */
static void test_pool(void)
{
    static char block[4000];
    struct dev_pool p = {0};
    struct rng r = rng_make(9, 1, 1);
    size_t size[4000];
    int retained = 0, back = 0;
    for (int i = 0; i < 4000; i++) {
        size[i] = 1 + (rng_word(&r) % (3 * POOL_MAX / 2) >> rng_word(&r) % 12);
        CHECK(pool_size(size[i]) >= size[i]);
        CHECK(pool_size(size[i]) <= size[i] + size[i] / 8 + POOL_MIN);
        bool small = size[i] <= POOL_MAX, room = p.bytes + pool_size(size[i]) <= POOL_ALL;
        CHECK(pool_give(&p, &block[i], size[i]) == (small && room));
        retained += small && room;
    }
    for (int i = 0; i < 1000; i++) {
        size_t want = 1 + (rng_word(&r) % POOL_MAX >> rng_word(&r) % 12), bytes = p.bytes;
        char *got = pool_take(&p, want);
        if (!got) continue;
        size_t is = pool_size(size[got - block]);
        CHECK(is == pool_size(want) && p.bytes == bytes - is);
        back++;
    }
    CHECK(back > 100);
    while (pool_any(&p)) back++;
    CHECK(back == retained && p.bytes == 0 && !pool_take(&p, 1));
    pool_free(&p);
}

static struct dev *touched;
static volatile double *pages;

static void read_it(void)
{
    (void)pages[3];
}

static void write_beyond(void)
{
    double x[101] = {0};
    struct dev_stream *s = dev_stream_new(touched);
    dev_put(s, (void *)pages, x, sizeof x);
}

struct far_args {
    double *x;
};

KERNEL(kernel_far, struct far_args, struct sum_shared, THREADS)
{
    PHASE (t, 1) a->x[b->index + 110] = 0;
}

static void launch_beyond(void)
{
    struct dev_stream *s = dev_stream_new(touched);
    dev_launch(s, &kernel_far, 1, &(struct far_args){(double *)pages});
    if (dev_wait(s) != OK) return;
}

static void read_freed(void)
{
    dev_free(touched, (void *)pages);
    (void)pages[0];
}

static void put_device(void)
{
    struct dev_stream *s = dev_stream_new(touched);
    dev_put(s, (void *)pages, (void *)(pages + 8), 8);
}

/* Runs a function in a child process, which must die with the message `says`. */
static void must_die(void (*what)(void), const char *says)
{
    int end[2], status = 0;
    char text[2000] = "";
    CHECK(pipe(end) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(end[1], STDERR_FILENO);
        what();
        _exit(0);
    }
    close(end[1]);
    for (size_t n = 0; n < sizeof text - 1;) {
        ssize_t got = read(end[0], text + n, sizeof text - 1 - n);
        if (got <= 0) break;
        n += (size_t)got;
    }
    close(end[0]);
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status), "%s", says);
    CHECK(strstr(text, says), "'%s' is not in '%s'", says, text);
}

static void test_memory(void)
{
    touched = device(3);
    pages = array(touched, 100 * sizeof *pages, "gas of level 5");
    CHECK(dev_bytes(touched) == 800);
    struct dev_stream *s = dev_stream_new(touched); /* opened once, and closed again */
    dev_fill(s, (void *)pages, 0, 800);
    CHECK(dev_wait(s) == OK);
    dev_stream_free(&s);
    must_die(read_it, "'gas of level 5' (800 bytes) was accessed by the host, at byte 24");
    must_die(read_freed, "'gas of level 5' (800 bytes) was accessed after it was freed");
    must_die(launch_beyond, "'gas of level 5' (800 bytes) was accessed beyond its end");
    must_die(write_beyond, "host_memory_name");
    must_die(put_device, "host_memory_touches");
    dev_close(&touched);
}

static void test_limits(void)
{
    char why[DEV_WHY] = "";
    void *p, *q;
    struct dev *d = dev_open(&(struct dev_how){.kind = "host", .max = 1000}, why);
    CHECK(dev_new(d, &p, 600, "first") == OK);
    CHECK(dev_new(d, &q, 600, "second") == ERR_LIMIT && strstr(err_message(), "'second'"));
    dev_free(d, p);
    CHECK(dev_new(d, &q, 600, "second") == OK);
    for (int i = 0; i < 200; i++) { /* more than are kept after their end */
        dev_free(d, q);
        CHECK(dev_new(d, &q, 600, "again") == OK);
    }
    dev_close(&d);
    CHECK(!dev_open(&(struct dev_how){.kind = "none"}, why) && why[0]);
    CHECK(mem_now() == 0, "%zu bytes are left", mem_now());
}

/* Ranks of a node take its devices in turn. */
static void test_turns(void)
{
    char why[DEV_WHY] = "", name[64];
    for (int devices = 1; devices <= 2; devices++)
        for (int rank = 0; rank < 3; rank++) {
            struct dev_how how = {.kind = "host", .devices = devices, .rank = rank};
            struct dev *d = dev_open(&how, why);
            snprintf(name, sizeof name, "emulated device %d of %d", rank % devices, devices);
            CHECK(strcmp(dev_name(d), name) == 0, "%s", dev_name(d));
            dev_close(&d);
        }
}

/* ---- exact sums on their way ---- */

enum { DIGITS_N = 65, DIGITS_W = 70 };

/* Digits of both signs in windows of all positions and lengths up to `most`; some sums are zero,
 * some have zeros inside. */
static void digits_random(struct rng *r, int n, int most, int64_t x[DIGITS_N][DIGITS_W])
{
    memset(x, 0, sizeof(int64_t[DIGITS_N][DIGITS_W]));
    for (int j = 0; j < n; j++) {
        const int length = (int)(rng_word(r) % (uint64_t)(most + 1)),
                  first = (int)(rng_word(r) % (uint64_t)(DIGITS_W + 1 - length));
        for (int d = first; d < first + length; d++)
            x[j][d] = rng_word(r) % 4 ? (int64_t)rng_word(r) : 0;
    }
}

/* The sums that arrive are those of the device, with a tenth of their bytes if they have few
 * digits; longer ones take one more copy, the first time. Without a fetch nothing changes. */
static void test_digits(uint64_t seed)
{
    static int64_t x[DIGITS_N][DIGITS_W], got[DIGITS_N][DIGITS_W];
    static const int MOST[] = {0, 5, 4, DIGITS_W, DIGITS_W, 5};
    struct rng r = rng_make(9, 4, seed);
    struct dev *d = device(seed);
    struct dev_stream *s = dev_stream_new(d);
    struct dev_digits f = {0};
    int64_t *there = array(d, sizeof x, "sums");
    for (size_t k = 0; k < sizeof MOST / sizeof *MOST; k++) {
        const int n = k == 4 ? 1 : DIGITS_N;
        digits_random(&r, n, MOST[k], x);
        memset(got, 0, sizeof got);
        got[0][0] = 77;
        CHECK(dev_digits_take(&f, got[0]) == OK && got[0][0] == 77);
        dev_put(s, there, x, sizeof x);
        const struct dev_count before = dev_counts(d);
        CHECK(dev_digits_need(&f, s, n, DIGITS_W, "sums") == OK);
        dev_digits_pack(&f, s, there);
        dev_digits_get(&f, s);
        CHECK(dev_digits_take(&f, got[0]) == OK && !f.s);
        CHECK(memcmp(got, x, sizeof got) == 0, "fetch %zu", k);
        const struct dev_count now = dev_counts(d);
        if (k != 4) CHECK(now.copies - before.copies == (k == 3 ? 2 : 1), "fetch %zu", k);
        CHECK(k > 2 || now.got - before.got < (int64_t)sizeof x / 10, "%lld bytes",
              (long long)(now.got - before.got));
        CHECK(now.got - before.got <= (int64_t)sizeof x + 8 * digits_head(n));
    }
    dev_digits_free(&f, d);
    dev_stream_free(&s);
    dev_close(&d);
}

int main(void)
{
    /* only the emulated device has the kernels of this file */
    const bool emulated = strcmp(test_device(), "host") == 0;
    if (emulated) test_kernels();
    if (emulated) test_streams();
    for (uint64_t seed = 0; seed <= 3; seed++) test_scan_sort(seed);
    for (uint64_t seed = 0; seed <= 3; seed++) test_drop(seed);
    for (uint64_t seed = 0; seed <= 3; seed++) test_drop_host(seed);
    for (uint64_t seed = 0; seed <= 3; seed++) test_digits(seed);
    test_pool();
    for (uint64_t seed = 0; seed < SEEDS; seed++) test_stages(seed);
    if (emulated) test_memory();
    if (emulated) test_limits();
    if (emulated) test_turns();
    printf("%d checks, %d failed\n", passed + failed, failed);
    return failed != 0;
}
