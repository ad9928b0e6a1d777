/* dev/trial: automatic choice between device and CPU (gpu_auto_tune).
 *
 * A unit is a piece of work with one location: the gas of a level, its gravity, or the particles of
 * all levels. Fields that two phases need in different locations are copied, so the time of a phase
 * alone is not conclusive. A trial therefore compares whole steps of the coarser level, with all
 * copies and waits, for a unit in both locations. A few steps are measured in the present location
 * and a few in the alternative one; the first of each, which moves fields once, is kept apart.
 * Medians decide, and a unit moves only for a gain. First all units are tried together, for the
 * copies between them may cost more than each gains; then, finest level first, the two units of
 * each level together and each alone, and the particles. A unit is tried again when its number of
 * octs has doubled or halved.
 *
 * All decisions are a function of the arguments, so that ranks with equal arguments decide equally.
 * Clock and device are in sim/phase.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum trial_kind { TRIAL_GAS, TRIAL_GRAVITY, TRIAL_PARTS, TRIAL_KINDS };
enum { TRIAL_STEPS = 3 /* steps measured in each location */, TRIAL_LEVEL_MAX = 42 };

/* levelmin, levelmax: levels of the mesh; has: kinds of work with device kernels. */
struct trials *trials_new(int levelmin, int levelmax, const bool has[TRIAL_KINDS]);
void trials_free(struct trials **t);
/* Whether this work is now done by the CPU. */
bool trials_cpu(const struct trials *t, enum trial_kind kind, int l);
/* Call at the start of a step of level l; octs[0 … levelmax]: octs per level over all ranks. True
 * if the step is to be measured until trials_end of that level. */
bool trials_begin(struct trials *t, int l, const int64_t *octs);

/* Result of a trial. */
struct trial_result {
    const char *what;                   /* name of the unit; NULL: the trial has not ended */
    int level;                          /* level of the unit; 0: all levels */
    int step;                           /* level whose steps were measured */
    double seconds_cpu, seconds_device; /* seconds per step: median, or a conclusive single step */
    bool cpu;                           /* true if the CPU was chosen */
};
/* Call at the end of a measured step. */
struct trial_result trials_end(struct trials *t, double seconds);
