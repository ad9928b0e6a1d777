/* Trials of locations (dev/trial.h) on a model machine: costs of units on host and device, and
 * costs of copies between neighbouring units in different locations. */
#include "dev/trial.h"

#include "base/mem.h"
#include "check.h"

enum { LMIN = 5, LMAX = 8 };

/* Cost model in seconds: of a step of one level, per oct and per launch; of copying a field, per
 * oct. */
struct machine {
    double cpu, device, launch, cross;
    bool gravity, parts;
};

static int64_t octs[TRIAL_LEVEL_MAX + 1];
static struct trials *t;
static int measured, noise;

static double unit(const struct machine *m, enum trial_kind kind, int l)
{
    double n = (double)octs[l];
    return trials_cpu(t, kind, l) ? m->cpu * n : m->launch + m->device * n;
}

/* Time of a step of level l, without finer levels. The force is copied in each step, and the gas if
 * the finer level needs it elsewhere. */
static double level(const struct machine *m, int l)
{
    bool gas = trials_cpu(t, TRIAL_GAS, l);
    double s = unit(m, TRIAL_GAS, l);
    if (m->gravity) {
        s += unit(m, TRIAL_GRAVITY, l);
        if (trials_cpu(t, TRIAL_GRAVITY, l) != gas) s += m->cross * (double)octs[l];
    }
    if (m->parts) s += unit(m, TRIAL_PARTS, l);
    if (octs[l + 1] > 0 && trials_cpu(t, TRIAL_GAS, l + 1) != gas) s += m->cross * (double)octs[l];
    return s;
}

/* Time of a step of level l and two of each finer one, with a clock that is sometimes perturbed. */
static double step(const struct machine *m, int l)
{
    if (octs[l] == 0) return 0;
    bool timed = trials_begin(t, l, octs);
    double seconds = level(m, l) + step(m, l + 1);
    seconds += step(m, l + 1);
    if (!timed) return seconds;
    measured++;
    trials_end(t, seconds * (++noise % 5 == 0 ? 1.9 : 1));
    return seconds;
}

static void begin(const struct machine *m)
{
    const bool has[] = {[TRIAL_GAS] = true, [TRIAL_GRAVITY] = m->gravity, [TRIAL_PARTS] = m->parts};
    trials_free(&t);
    t = trials_new(LMIN, LMAX, has);
    measured = 0;
}

static void steps(const struct machine *m, int n)
{
    for (int i = 0; i < n; i++) step(m, LMIN);
}

static void set(int64_t a, int64_t b, int64_t c, int64_t d)
{
    octs[LMIN] = a, octs[LMIN + 1] = b, octs[LMIN + 2] = c, octs[LMIN + 3] = d;
}

/* Bit mask of the levels that have this unit on the CPU; the base level has bit 1. */
static int on_cpu(enum trial_kind kind)
{
    int bits = 0;
    for (int l = LMIN; l <= LMAX; l++) bits |= trials_cpu(t, kind, l) << (l - LMIN);
    return bits;
}

static const struct machine GPU = {1e-6, 5e-8, 1e-4, 1e-9, true, true};

/* Large levels run on the device, levels that take no longer than launches on the CPU. */
static void test_sizes(void)
{
    begin(&GPU);
    set(4096, 20000, 5000, 10);
    steps(&GPU, 100);
    CHECK(on_cpu(TRIAL_GAS) == 8, "%d", on_cpu(TRIAL_GAS));
    CHECK(on_cpu(TRIAL_GRAVITY) == 8, "%d", on_cpu(TRIAL_GRAVITY));
    CHECK(on_cpu(TRIAL_PARTS) == 0, "%d", on_cpu(TRIAL_PARTS));
}

/* Each unit alone would gain, but copies cost more. */
static void test_copies(void)
{
    struct machine m = GPU;
    m.cross = 1e-5;
    begin(&m);
    set(4096, 20000, 5000, 10);
    steps(&m, 100);
    CHECK(on_cpu(TRIAL_GAS) + on_cpu(TRIAL_GRAVITY) == 0, "%d", on_cpu(TRIAL_GAS));
}

/* Everything is faster on the CPU, although moving any unit alone makes the step slower. */
static void test_all(void)
{
    struct machine m = {1e-6, 2e-6, 1e-4, 1e-4, true, true};
    begin(&m);
    set(512, 1000, 700, 300);
    steps(&m, 100);
    CHECK(on_cpu(TRIAL_GAS) == 15 && on_cpu(TRIAL_GRAVITY) == 15);
    CHECK(trials_cpu(t, TRIAL_PARTS, LMIN));
}

/* Decisions are reconsidered when the number of octs has doubled or halved, not before. */
static void test_again(void)
{
    begin(&GPU);
    set(4096, 20000, 5000, 10);
    steps(&GPU, 100);
    int before = measured;
    set(4096, 21000, 6000, 19);
    steps(&GPU, 20);
    CHECK(measured == before, "%d steps", measured - before);
    set(4096, 20000, 5000, 21);
    steps(&GPU, 20);
    CHECK(measured > before);
    before = measured;
    set(4096, 20000, 5000, 10);
    steps(&GPU, 20);
    CHECK(measured > before);
    set(4096, 20000, 5000, 2000);
    steps(&GPU, 20);
    CHECK(on_cpu(TRIAL_GAS) == 0, "%d", on_cpu(TRIAL_GAS));
}

/* A level vanishes during its trial: the former locations hold, and the trial continues when it is
 * back. */
static void test_gone(void)
{
    for (int n = 1; n < 12; n++) {
        begin(&GPU);
        set(4096, 20000, 0, 0);
        steps(&GPU, 100);
        int before = on_cpu(TRIAL_GAS) + 16 * on_cpu(TRIAL_GRAVITY), end = measured + n;
        set(4096, 20000, 10, 0);
        while (measured < end) step(&GPU, LMIN);
        set(4096, 20000, 0, 0);
        steps(&GPU, 2);
        int now = on_cpu(TRIAL_GAS) + 16 * on_cpu(TRIAL_GRAVITY);
        CHECK((now & 0x33) == (before & 0x33), "after %d: %d, was %d", n, now, before);
        set(4096, 20000, 10, 0);
        steps(&GPU, 100);
        CHECK(on_cpu(TRIAL_GAS) == 4 && on_cpu(TRIAL_GRAVITY) == 4, "%d", on_cpu(TRIAL_GAS));
    }
}

/* A very slow location is not measured longer than necessary. */
static void test_slow(void)
{
    struct machine m = {1e-4, 5e-8, 1e-6, 0, false, false};
    begin(&m);
    set(4096, 0, 0, 0);
    steps(&m, 30);
    CHECK(on_cpu(TRIAL_GAS) == 0);
    CHECK(measured == 2 * (1 + TRIAL_STEPS + 1), "%d", measured); /* all units, and the gas */
}

int main(void)
{
    test_sizes();
    test_copies();
    test_all();
    test_again();
    test_gone();
    test_slow();
    trials_free(&t);
    CHECK(mem_now() == 0);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
