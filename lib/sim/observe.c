/* sim/observe: the state of the run as observers see it (observe/observe.h), and when they run. */
#include "observe/observe.h"

#include "base/log.h"
#include "sim/sim.h"

static enum err find_clumps(void *owner, struct clumps *out)
{
    return sim_clumps(owner, out);
}

struct observation sim_observation(struct sim *s, const struct ckpt_head *h, int number)
{
    return (struct observation){.par = s->par,
                                .comm = &s->comm,
                                .mesh = &s->mesh,
                                .parts = &s->parts,
                                .head = h,
                                .dir = s->run.out.dir,
                                .number = number,
                                .find_clumps = find_clumps,
                                .owner = s};
}

/* Sets of fields come from a device, if they are there. */
static enum err bring_home(struct sim *s, field_set reads)
{
    for (int l = 1; l <= s->mesh.levelmax; l++)
        TRY(sim_device_need(s, l, reads & SET_GHOSTED, LOCATION_HOST));
    return reads & SET_PARTS ? sim_parts_home(s) : OK;
}

enum err sim_observe(struct sim *s, int when)
{
    struct ckpt_head h;
    if (!observers_wanted(s->par, when)) return OK;
    sim_head(s, &h);
    struct observation o = sim_observation(
        s, &h, when == OBSERVE_OUTPUT ? s->run.late.number : s->run.out.ifout);
    observer_set due = observers_due(&o, when);
    if (due) TRY(sim_gather(s));
    if (due) TRY(bring_home(s, observers_read(due)));
    return observers_run(&o, due);
}

enum err sim_measure_missing(struct sim *s)
{
    struct ckpt_head h;
    if (!s->run.restart.resumed || s->run.restart.number < 0) return OK;
    sim_head(s, &h);
    struct observation o = sim_observation(s, &h, s->run.restart.number);
    observer_set missing = observers_missing(&o);
    if (!missing) return OK;
    TRY(sim_gather(s));
    TRY(sim_device_home(s, false));
    TRY(sim_parts_home(s));
    log_info(" The tables beside output_%05d are missing: they are written now", o.number);
    return observers_run(&o, missing);
}
