/* stencil/slices: pictures of planes through the middle of the box, slices/NAME_NNNNNNNN.png in the
 * directory of outputs, every slice_every steps: the frames of a film. A pixel is a cell; the file
 * contains the range of its colours and the time as texts. */
#pragma once
#include "sim/solver.h"
#include "stencil/stencil.h"

/* Checks the names in slice_fields, which must be fields or derived values of the equations. */
MUST_USE enum err stencil_slices_check(const struct stencil *t);
bool stencil_slices_due(const struct stencil *t, int64_t it);
/* Writes the pictures of step `it`. Halos are valid. (collective, agreed) */
MUST_USE enum err stencil_slices(struct sim *s, const struct stencil *t, int64_t it);
