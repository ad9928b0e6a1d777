/* dev/trial: on the device or by the CPU, whichever is faster (gpu_auto_tune).
 *
 * What has a place is a unit: the gas of a level, its gravity, or the particles of all levels.
 * Fields that two phases need in different places travel, so the time of a phase alone says little.
 * A trial therefore compares whole steps with a unit here and there: of the coarser level, with all
 * that it moves and waits for. It measures a few steps as they are and a few with the unit in the
 * other place, the first of each apart, which moves fields once; medians decide, and a unit moves
 * only for a gain. First all units together are tried, for the copies between them may cost more
 * than each gains; then the two of each level together, and each of them, finest level first, and
 * the particles. A unit is tried again when its octs have doubled or halved.
 *
 * All is a function of the numbers given, so that ranks that are given the same choose the same. No
 * clock, no device: sim/phase.c has them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum trial_kind { TRIAL_GAS, TRIAL_GRAVITY, TRIAL_PARTS, TRIAL_KINDS };
enum { TRIAL_STEPS = 3 /* measured with a unit in each place */, TRIAL_LEVEL_MAX = 42 };

/* levelmin, levelmax: of the mesh; has: the kinds that a device has kernels for */
struct trials *trials_new(int levelmin, int levelmax, const bool has[TRIAL_KINDS]);
void trials_free(struct trials **t);
/* Is this done by the CPU now? */
bool trials_cpu(const struct trials *t, enum trial_kind kind, int l);
/* A step of level l begins; octs[0 … levelmax] of the levels, on all ranks. True: it is to be
 * measured, by trials_end of the same level. */
bool trials_begin(struct trials *t, int l, const int64_t *octs);

/* Result of a trial. */
struct trial_result {
    const char *what;                   /* NULL: it has not ended */
    int level;                          /* of the unit; 0: all levels */
    int step;                           /* the level whose steps were measured */
    double seconds_cpu, seconds_device; /* of such a step: median, or of the one that was enough */
    bool cpu;                           /* the choice that was kept */
};
/* The step that is measured has ended. */
struct trial_result trials_end(struct trials *t, double seconds);
