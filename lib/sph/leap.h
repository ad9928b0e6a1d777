/* sph/leap: what a step does to each particle (Price et al. 2018, section 2.3.3), on the host
 * (leap.c) or on a device, where columns stay (leap_dev.c), with the same bits. Private header of
 * the module. */
#pragma once
#include "sph/sph.h"

/* α of the switch, velocities and energies in the middle of a step, which v_half and u_half keep,
 * and those predicted at its end, with positions at its end; in turn:
 * - drift: α, v and u in the middle, x at the end;
 * - predict: v_half and u_half, v and u at the end. */
void leap_drift_all(struct sph *s, double dt);
void leap_predict_all(struct sph *s, double dt);
/* v and u at the end of the step from v_half and u_half. */
struct leap_corrected {
    double most;       /* largest change of a velocity, squared */
    struct sum square; /* Σ v² */
    bool bad;          /* an energy is negative or not a number */
};
void leap_correct_all(struct sph *s, double dt, struct leap_corrected *c);
/* The longest step that the particles of this rank allow, and their largest h. */
double leap_longest(const struct sph *s);
double leap_largest_h(const struct sph *s);

/* These functions on the device of s. ERR_LIMIT: the device failed. leap_dev_wrap puts positions
 * back into a periodic box; *bad: how many are not finite. */
MUST_USE enum err leap_dev_drift_and_predict(struct sph *s, double dt);
MUST_USE enum err leap_dev_correct(struct sph *s, double dt, struct leap_corrected *c);
MUST_USE enum err leap_dev_longest(struct sph *s, double *dt);
MUST_USE enum err leap_dev_largest_h(struct sph *s, double *h);
MUST_USE enum err leap_dev_wrap(struct sph *s, int64_t *bad);
