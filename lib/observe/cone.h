/* observe/cone: what other observers show on light cones. Private to observe. */
#pragma once
#include "cone/cone.h"
#include "observe/observe.h"

/* Writes those of the galaxies of rank 0 that are on the light cones in the coarse step that ends
 * with this state. (collective, agreed) */
MUST_USE enum err observe_cone_galaxies(const struct observation *o, const struct cone_galaxies *g);
