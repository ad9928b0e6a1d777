/* hole/horizon: black holes as Horizon-AGN and cuRAMSES have them (Dubois et al. 2010, 2012, 2014):
 * what they take from the gas of their clouds (sink/cloud), and what that does to them. Method:
 * docs/method/blackholes.md. */
#pragma once
#include "hydro/hydro.h"
#include "phys/term.h"
#include "sink/run.h"

/* Code units at the time of the step. */
struct hole_law {
    double aexp;              /* of this time */
    double G, dx;             /* of gravity; of a finest cell, at constant physical size */
    bool bondi, drag;         /* do they accrete, are they dragged? */
    double dense;             /* threshold of star formation: gas above it is boosted */
    double boost, boost_drag; /* exponents */
    double v2_most;           /* cap of the square of the relative velocity */
    double f_bondi, x_floor;  /* factor of accretion below this Eddington ratio */
    double eddington;         /* mass per time and mass at an efficiency of 1 */
    double sun;               /* solar mass */
    bool spin, arrested, self_gravity;
    double gamma, smallr, smallc;
    int nvar;
};
/* dx: of a finest cell, at constant physical size; cosmo: NULL without. */
struct hole_law hole_law(const struct params *par, const struct hydro_par *hydro,
                         const struct cosmo_par *cosmo, double aexp, double dx);

/* The square of the scale of its kernel, from the gas that it found last. */
double hole_kernel2(const struct hole_law *law, const struct sink *s);
/* From the gas of its cloud, by level: rates, and what the hole remembers of the gas. */
void hole_rates(const struct hole_law *law, int levelmin, int levelmax, struct sink *s);

/* The laws of a step, for sink/run. */
extern const struct sink_kind hole_kind;

/* At a coarse step, before anything else: energy is set free (hole/agn), holes merge (hole/merge)
 * and are born (hole/create). *changed: did gas of this rank? (collective) */
MUST_USE enum err hole_coarse(const struct term_run *r, struct sinks *s, bool *changed);
