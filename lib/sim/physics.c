/* sim/physics: what the source terms of a run need before its first step. */
#include "phys/stars.h"
#include "sim/sim.h"

enum err sim_physics(struct sim *s)
{
    const struct params *p = s->par;
    star_tell(p);
    return sim_cooling(s);
}
