/* ramses/tags: the clumps of particles in the order of a file of particles. Private to ramses. */
#pragma once
#include "out/out.h"

/* Numbers of clumps of o->p, in its order, 0: none (owner: caller, FREE), from the tags that all
 * ranks had before the particles moved. (collective) */
int32_t *ramses_tags(const struct ckpt_out *o);
