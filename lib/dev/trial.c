#include "dev/trial.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* A gain below 5 per cent does not justify a move. A single step slower by the factor SLOW ends a
 * measurement; SLOW_FIRST applies to the first step, which also moves the fields once. */
static const double GAIN = 0.95, SLOW = 2, SLOW_FIRST = 10;

/* Units; each level has BOTH, GAS, GRAVITY, from LEVELS on. */
enum { BOTH, GAS, GRAVITY, EACH };
enum { ALL, PARTS, LEVELS, UNITS = LEVELS + EACH * (TRIAL_LEVEL_MAX + 1) };

struct trials {
    int levelmin, levelmax;
    bool has[TRIAL_KINDS];
    bool cpu[UNITS];        /* location of elementary units: true for the CPU */
    int64_t decided[UNITS]; /* number of octs at the last decision; 0: never */
    /* State of the trial in progress. */
    int unit; /* unit under trial; −1: none */
    int step; /* level whose steps are measured */
    int64_t octs;
    bool before[UNITS]; /* locations before the trial */
    bool other;         /* true while the unit is in the alternative location */
    int n;              /* measured steps in the present location, including the first */
    double seconds[2][TRIAL_STEPS];
};

/* ---- units ---- */

static int unit_of(enum trial_kind kind, int l)
{
    return kind == TRIAL_PARTS ? PARTS : LEVELS + EACH * l + (kind == TRIAL_GAS ? GAS : GRAVITY);
}

static int level_of(int unit)
{
    return unit < LEVELS ? 0 : (unit - LEVELS) / EACH;
}

/* Part of a level's unit: BOTH, GAS or GRAVITY. */
static int part_of(int unit)
{
    return (unit - LEVELS) % EACH;
}

static bool contains(int unit, int one)
{
    if (unit == ALL || unit == one) return true;
    return unit >= LEVELS && part_of(unit) == BOTH && level_of(unit) == level_of(one);
}

/* The first elementary unit in a unit. */
static int first_of(int unit)
{
    return unit == ALL ? PARTS : unit >= LEVELS && part_of(unit) == BOTH ? unit + GAS : unit;
}

static bool exists(const struct trials *t, int unit)
{
    if (unit == ALL) return true;
    if (unit == PARTS) return t->has[TRIAL_PARTS];
    return (part_of(unit) == GRAVITY || t->has[TRIAL_GAS]) &&
           (part_of(unit) == GAS || t->has[TRIAL_GRAVITY]);
}

/* The level whose steps include all work that depends on the unit. */
static int step_of(const struct trials *t, int unit)
{
    int l = level_of(unit);
    return l > t->levelmin ? l - 1 : t->levelmin;
}

static int64_t octs_of(const struct trials *t, int unit, const int64_t *octs)
{
    int64_t sum = 0;
    if (unit >= LEVELS) return octs[level_of(unit)];
    for (int l = t->levelmin; l <= t->levelmax; l++) sum += octs[l];
    return sum;
}

struct trials *trials_new(int levelmin, int levelmax, const bool has[TRIAL_KINDS])
{
    BUG_ON(levelmin < 1 || levelmax > TRIAL_LEVEL_MAX);
    struct trials *t = mem_zero(sizeof *t, "trials");
    t->levelmin = levelmin, t->levelmax = levelmax, t->unit = -1;
    memcpy(t->has, has, sizeof t->has);
    return t;
}

void trials_free(struct trials **t)
{
    FREE(*t);
}

bool trials_cpu(const struct trials *t, enum trial_kind kind, int l)
{
    return t->cpu[unit_of(kind, l)];
}

/* ---- one trial ---- */

static void turn(struct trials *t)
{
    const bool was = t->cpu[first_of(t->unit)];
    t->other = true;
    t->n = 0;
    for (int u = 0; u < UNITS; u++)
        if (contains(t->unit, u)) t->cpu[u] = !was;
}

static void stop(struct trials *t)
{
    memcpy(t->cpu, t->before, sizeof t->cpu);
    t->unit = -1;
}

static void start(struct trials *t, int unit, const int64_t *octs)
{
    if (unit == ALL) {
        memset(t->cpu, 0, sizeof t->cpu);
        memset(t->decided, 0, sizeof t->decided);
    }
    memcpy(t->before, t->cpu, sizeof t->cpu);
    t->unit = unit;
    t->step = step_of(t, unit);
    t->octs = octs_of(t, unit, octs);
    t->other = false;
    t->n = 0;
}

static bool due(const struct trials *t, int unit, const int64_t *octs)
{
    int64_t n = octs_of(t, unit, octs), then = t->decided[unit];
    return exists(t, unit) && n > 0 && (then == 0 || n >= 2 * then || 2 * n <= then);
}

/* The next unit to be tried: all together, then the units of the finest level, which has the most
 * launches in a coarse step, and so on; −1 if none. */
static int next(const struct trials *t, const int64_t *octs)
{
    int unit = -1;
    if (due(t, ALL, octs)) return ALL;
    for (int u = PARTS; u < UNITS; u++)
        if (due(t, u, octs) && (unit < 0 || step_of(t, u) > step_of(t, unit))) unit = u;
    return unit;
}

bool trials_begin(struct trials *t, int l, const int64_t *octs)
{
    const bool between = l == t->levelmin || l == t->step; /* no step is being measured */
    if (t->unit >= 0 && between && (octs[t->step] == 0 || octs_of(t, t->unit, octs) == 0)) stop(t);
    if (t->unit >= 0) return l == t->step;
    const int unit = next(t, octs);
    if (unit < 0 || step_of(t, unit) != l) return false;
    start(t, unit, octs);
    return true;
}

static double median(const double *x, int n)
{
    double y[TRIAL_STEPS];
    memcpy(y, x, sizeof *x * (size_t)n);
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && y[k] < y[k - 1]; k--) {
            double z = y[k];
            y[k] = y[k - 1], y[k - 1] = z;
        }
    return y[n / 2];
}

static struct trial_result decide(struct trials *t, double other)
{
    static const char *const names[] = {"gas and gravity", "gas", "gravity"};
    double as_it_was = median(t->seconds[0], TRIAL_STEPS);
    bool moves = other < GAIN * as_it_was, was = t->before[first_of(t->unit)];
    struct trial_result r = {.what = t->unit == ALL     ? "all"
                                     : t->unit == PARTS ? "particles"
                                                        : names[part_of(t->unit)],
                             .level = level_of(t->unit),
                             .step = t->step,
                             .seconds_cpu = was ? as_it_was : other,
                             .seconds_device = was ? other : as_it_was,
                             .cpu = was != moves};
    t->decided[t->unit] = t->octs;
    if (!moves) memcpy(t->cpu, t->before, sizeof t->cpu);
    t->unit = -1;
    return r;
}

struct trial_result trials_end(struct trials *t, double seconds)
{
    const struct trial_result goes_on = {.what = NULL};
    if (t->unit < 0) return goes_on;
    const int n = t->n++;
    if (n > 0) t->seconds[t->other][n - 1] = seconds;
    if (!t->other) {
        if (n == TRIAL_STEPS) turn(t);
        return goes_on;
    }
    if (seconds > (n == 0 ? SLOW_FIRST : SLOW) * median(t->seconds[0], TRIAL_STEPS))
        return decide(t, seconds);
    return n < TRIAL_STEPS ? goes_on : decide(t, median(t->seconds[1], TRIAL_STEPS));
}
