/* sim/physics: what the source terms of a run need before its first step. */
#include "phys/stars.h"
#include "phys/yields.h"
#include "sim/sim.h"

enum err sim_physics(struct sim *s)
{
    const struct params *p = s->par;
    star_tell(p);
    if (param_yields(p))
        TRY(err_agree(&s->comm, yields_new(p->physics.yieldtablefilename, &s->yields)));
    return sim_cooling(s);
}
