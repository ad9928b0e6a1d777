/* part/motion: what a kick finds out about the particles that it has at hand anyway. */
#pragma once
#include "part/part.h"

/* Motion of the particles of a level after part_kick. */
struct part_motion {
    int level;         /* the level; 0: not measured */
    double fastest;    /* as part_vmax */
    bool counted;      /* whether energy is wanted; set by the caller */
    struct sum energy; /* as part_kinetic */
};

/* part_synchro that also measures the motion, unless there may be tracers. Local. */
void part_kick(struct parts *p, const struct mesh *m, int l, const double *dtnew,
               const double *dtold, struct part_motion *motion);
