/* stencil/turb: the Ornstein–Uhlenbeck process of &TURB_PARAMS, amplitudes of Fourier modes of an
 * acceleration (Schmidt et al. 2009, section 2). Private to stencil.
 *
 * At time mΔ, with Δ = turb_T/turb_Ndt, a mode has the amplitude
 *     a_m = (1 − 1/turb_Ndt) a_(m−1) + √Δ w(|k|) P g_m,
 * where g_m is a random vector with mean square 1 in each component, w is the spectrum of
 * amplitudes and P takes 1 − comp_frac of the part across k and comp_frac of the part along k.
 * Between these times the acceleration is interpolated linearly. It is normalised as RAMSES does,
 * so that its rms over cells and components is turb_rms on average over times much longer than
 * turb_T.
 *
 * g_m has m and k as key. The memory of the process fades, so a_m is computed from a step when it
 * was zero that depends on m alone: it has the same bits in a run that resumes, which needs to know
 * the time only. */
#pragma once
#include "stencil/waves.h"

struct turb;

/* Errors name the parameter. Local. */
MUST_USE enum err turb_new(const struct stencil *t, struct turb **out);
void turb_free(struct turb **o);
/* Acceleration at this time after the start of the run (lent). */
const struct waves *turb_at(struct turb *o, double time);
