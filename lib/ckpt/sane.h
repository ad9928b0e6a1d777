/* ckpt/sane: what a value may be, so that any program can work with it. */
#pragma once
#include "ckpt/source.h"

/* Every position is within a box length of the box, every velocity and mass is finite; x[d], v[d]
 * may be NULL. ERR_FORMAT, with `file` and the particle. box: its length. */
MUST_USE enum err sane_parts(const char *file, double box, const struct source_parts *p);
