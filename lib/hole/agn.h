/* hole/agn: the energy that black holes set free at a coarse step (Dubois et al. 2012). Method:
 * docs/method/blackholes.md.
 *
 * A hole that accretes more than x_floor of its limit heats a sphere, by mass. One that accretes
 * less drives jets: gas of its cell, at two opposite velocities, in a cylinder along its axis. What
 * gas cannot take below the ceiling of temperature is saved until the next time, when it alone is
 * set free, as heat. Cells are found through spatial bins (dom/bins.h); sums over cells of other
 * ranks are integers, and holes are treated in the order of their ids: the result does not depend
 * on ranks or threads. Mass, momentum and scalars are conserved, and of each hole
 *
 *     energy of the accreted mass + saved before = given to the gas + saved after. */
#pragma once
#include "dom/event.h"
#include "phys/term.h"

enum agn_mode { AGN_QUIET, AGN_SAVED, AGN_HEAT, AGN_JET };

struct agn {
    struct event at;   /* place, in the box, and an id of its own; the radius is the law's */
    double axis[3];    /* of jets, any length; 0: heat instead */
    double spin;       /* negative: the disc counter-rotates */
    double efficiency; /* radiated share of the accreted mass */
    double rate;       /* accreted mass in units of the limit of Eddington; not finite: quiet */
    double accreted;   /* mass since the last release, code units; becomes 0 if it is released */
    double saved;      /* energy, code units; becomes what is saved now */
    /* results */
    enum agn_mode mode;
    double given; /* energy to the gas, code units */
};

/* Code units, temperatures T/mu in K. */
struct agn_law {
    double radius;    /* of spheres; radius and half length of cylinders */
    double light2;    /* the speed of light, squared */
    double x_floor;   /* rate below which there are jets */
    double heat, jet; /* shares of the radiated energy */
    double loading;   /* of jets: mass per accreted mass; at most a quarter of the cell */
    double min;       /* gas that would not be heated by as much waits */
    double ceiling;   /* of gas that is heated */
    bool arrested;    /* the energy of jets is that of magnetically arrested discs */
};
struct agn_law agn_law(const struct term_run *r);

/* Of the n holes of this rank, at a coarse step. *changed: did cells of this rank change? On error
 * all ranks return it. (collective) */
MUST_USE enum err agn_release(const struct term_run *r, const struct agn_law *law, int64_t n,
                              struct agn *a, bool *changed);
