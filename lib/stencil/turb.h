/* stencil/turb: waves of driven turbulence, whose amplitudes are those of turb/process. The
 * acceleration is normalised as RAMSES does, so that its rms over cells and components is turb_rms
 * on average over times much longer than turb_T. Private to stencil. */
#pragma once
#include "stencil/waves.h"

struct driven;

/* Errors name the parameter. Local. */
MUST_USE enum err driven_new(const struct stencil *t, struct driven **out);
void driven_free(struct driven **o);
/* Acceleration at this time after the start of the run (lent). */
const struct waves *driven_at(struct driven *o, double time);
