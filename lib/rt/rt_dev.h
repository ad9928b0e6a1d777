/* rt/rt_dev: radiation and chemistry on a device, with the bits of the CPU. Photons and gas stay
 * there from sub-step to sub-step; the sums of the ledger stay, too, until it is reported.
 *
 * While rt->dev is set, the parts of a step (rt/rt.h) run there. rt_dev_begin allocates what the
 * sub-steps of a level need, so that nothing else can fail for lack of memory. What has no kernel
 * (rt/lights.h) takes the photons and the gas of the level home and gives them back. */
#pragma once
#include "dom/ghost_dev.h"
#include "oct/mirror.h"
#include "rt/rt.h"

/* The choice of the run that has no kernel; NULL: all have one. */
const char *rt_dev_lacks(const struct rt *rt, const struct mesh *m);
/* rt, the mirror of the mesh and the exchanges of ghosts are lent. */
MUST_USE enum err rt_dev_new(struct rt_dev **d, struct rt *rt, struct mirror *x,
                             struct ghost_dev *g);
/* The stream must be empty. The ledger gets what the device counted. */
void rt_dev_free(struct rt_dev **d);
/* Brings what sub-steps of level l need to the device. ERR_LIMIT: nothing has changed. Local. */
MUST_USE enum err rt_dev_begin(struct rt_dev *d, const struct rt_run *r, int l);
/* After the chemistry of the last sub-step: counts of chemistry to the ledger, and the error of a
 * cell that has not reached the end. Local. */
MUST_USE enum err rt_dev_end(struct rt_dev *d, const struct rt_run *r, int l);
/* The registers of level l are used up. Local. */
MUST_USE enum err rt_dev_forget(struct rt_dev *d, int l);

/* Before the host makes the sub-steps of level l: photons and registers of levels that take part
 * are at the host, and nowhere else. rt_dev_host_registers: the host has made those of level l. */
MUST_USE enum err rt_dev_home(struct mirror *x, struct mesh *m, int l);
void rt_dev_host_registers(struct mirror *x, int l);
/* As rt_registers. ERR_LIMIT: the device has too little memory, and nothing has changed. Local. */
MUST_USE enum err rt_dev_registers(struct rt_dev *d, struct mesh *m, int l);

/* The parts of a sub-step, as in rt/rt.h. */
void rt_dev_transport(struct rt_dev *d, struct mesh *m, int l, double dt, bool first);
void rt_dev_sources(struct rt_dev *d, const struct rt_run *r, int l, double dt);
void rt_dev_confine(struct rt_dev *d, struct mesh *m, int l);
void rt_dev_send(struct rt_dev *d, const struct rt_run *r, int l); /* (collective) */
void rt_dev_receive(struct rt_dev *d, struct mesh *m, int l);      /* from level l + 1 */
void rt_dev_registers_clear(struct rt_dev *d, struct mesh *m, int l);
void rt_dev_restrict(struct rt_dev *d, struct mesh *m, int l);
void rt_dev_fill(struct rt_dev *d, const struct rt_run *r, int l); /* ghosts (collective) */
void rt_dev_chemistry(struct rt_dev *d, const struct rt_run *r, int l, double dt);
/* Photons and gas of level l at the host, for host code that changes them, and back. */
void rt_dev_lend(struct rt_dev *d, struct mesh *m, int l);
void rt_dev_take(struct rt_dev *d, struct mesh *m, int l);
/* Moves the sums of the device to rt->ledger. */
void rt_dev_ledger(struct rt_dev *d);
/* Adds the photons of each group in leaf cells of own octs of level l; false: the newest copy is
 * at the host. */
bool rt_dev_inside(struct rt_dev *d, struct mesh *m, int l, struct sum all[RT_GROUPS]);
