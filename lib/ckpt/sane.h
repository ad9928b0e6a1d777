/* ckpt/sane: checks that particle values are usable by any program. */
#pragma once
#include "ckpt/source.h"

/* Checks that positions are within a box length of the box and velocities and masses are finite;
 * x[d] and v[d] may be NULL. Otherwise ERR_FORMAT with `file` and the particle. box: side of the
 * box. */
MUST_USE enum err sane_parts(const char *file, double box, const struct source_parts *p);
