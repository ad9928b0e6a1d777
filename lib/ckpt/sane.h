/* ckpt/sane: which values a particle may have, so that any program can work with it. */
#pragma once
#include "ckpt/source.h"

/* Every position is within a box length of the box, every velocity and mass is finite; x[d] and
 * v[d] may be NULL. Otherwise ERR_FORMAT with `file` and the particle. box: side of the box. */
MUST_USE enum err sane_parts(const char *file, double box, const struct source_parts *p);
