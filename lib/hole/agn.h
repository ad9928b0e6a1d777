/* hole/agn: feedback of black holes, at coarse steps (Dubois et al. 2012). Method:
 * docs/method/blackholes.md.
 *
 * A hole that accretes more than x_floor of its Eddington limit heats a sphere, by mass. One that
 * accretes less drives jets: gas of its cell, at two opposite velocities, in a cylinder along its
 * axis. Energy that would heat gas above the temperature ceiling is saved until the next release,
 * which is then of the saved energy alone, as heat. Cells are found through spatial bins
 * (dom/bins.h); sums over cells of other ranks are integers, and holes are treated in the order of
 * their ids: the result does not depend on ranks or threads. Mass, momentum and scalars are
 * conserved, and for each hole
 *
 *     energy of the accreted mass + saved before = given to the gas + saved after. */
#pragma once
#include "dom/event.h"
#include "phys/term.h"

enum agn_mode { AGN_QUIET, AGN_SAVED, AGN_HEAT, AGN_JET };

struct agn {
    struct event at;   /* position in the box and a unique id; the radius is set by the law */
    double axis[3];    /* axis of jets, any length; 0: heat instead */
    double spin;       /* spin parameter; negative: the disc counter-rotates */
    double efficiency; /* fraction of the accreted rest mass that is radiated */
    double rate;       /* accretion rate in units of the Eddington limit; not finite: quiet */
    double accreted;   /* mass accreted since the last release, code units; set to 0 at a release */
    double saved;      /* energy saved, code units; in: before, out: after the release */
    /* The following are results. */
    enum agn_mode mode;
    double given; /* energy given to the gas, code units */
};

/* Parameters of feedback in code units, temperatures T/mu in K. */
struct agn_law {
    double radius;    /* radius of spheres, radius and half length of cylinders */
    double light2;    /* square of the speed of light */
    double x_floor;   /* rate in units of the Eddington limit below which there are jets */
    double heat, jet; /* fractions of the radiated energy, for heating and for jets */
    double loading;   /* jet mass per accreted mass; at most a quarter of the cell's gas */
    double min;       /* minimum temperature rise; a release that would heat less waits */
    double ceiling;   /* maximum temperature of heated gas */
    bool arrested;    /* jet energy of magnetically arrested discs */
};
struct agn_law agn_law(const struct term_run *r);

/* Releases the energy of the n holes of this rank, at a coarse step. *changed: whether cells of
 * this rank changed. On error all ranks return it. (collective) */
MUST_USE enum err agn_release(const struct term_run *r, const struct agn_law *law, int64_t n,
                              struct agn *a, bool *changed);
