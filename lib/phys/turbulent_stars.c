/* phys/turbulent_stars: star formation with sf_virial, which reads the gas and the force of
 * neighbouring cells; otherwise that of phys/stars.c. */
#include "oct/field_sets.h"
#include "phys/stars.h"

static bool wanted(const struct params *p)
{
    return param_stars(p) && p->physics.sf_virial && !p->run.static_gas;
}

const struct term term_turbulent_stars = {.name = "stars",
                                          .stages = TERM_LEVEL,
                                          .wanted = wanted,
                                          .reads = GAS | FORCE | PARTS,
                                          .ghosts = GAS | FORCE,
                                          .writes = GAS | PARTS,
                                          .apply = stars_form};
