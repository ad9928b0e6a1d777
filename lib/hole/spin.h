/* hole/spin: the spin of a black hole: what it gains from a disc and from mergers, and what it does
 * to the energy that is set free. Method: docs/method/blackholes.md.
 *
 * The spin parameter a = c J / (G M^2) is at most SPIN_MAX (Thorne 1974). It is negative while the
 * disc next to the hole counter-rotates. The axis is a unit vector along the angular momentum of
 * the hole, 0 if it has none. */
#pragma once
#include <stdbool.h>

#define SPIN_MAX 0.998

/* The direction of a vector, 0 if it has none; returns its length. */
double spin_axis(const double v[3], double out[3]);
/* Radius of the last stable circular orbit in G M / c^2 (Bardeen, Press & Teukolsky 1972). */
double spin_lso(double a);
/* Fraction of the rest mass that a thin disc radiates: 1 - energy of that orbit. */
double spin_efficiency(double a);
/* Energy of jets and winds of a magnetically arrested disc per accreted rest mass (McKinney,
 * Tchekhovskoy & Blandford 2012, fit of Dubois et al. 2021). */
double spin_jet(double a);

/* The parameter after the hole's mass has grown `growth` = M'/M >= 1 times: by matter from the last
 * stable orbit (Bardeen 1970, exact for any growth), or from a magnetically arrested disc, which
 * spins it down. */
double spin_thin(double a, double growth);
double spin_arrested(double a, double growth);

struct spin {
    double a, axis[3];
};

/* Gas that a black hole accretes. */
struct spin_flow {
    double mass, gain;  /* of the hole before, what it gains; solar masses */
    double rate;        /* accretion in units of the limit of Eddington */
    double momentum[3]; /* direction of the angular momentum of the gas, any length; 0: none */
    bool self_gravity;  /* ends the disc where it is unstable (Dotti et al. 2013) */
    bool arrested;      /* the disc is magnetically arrested */
};
/* Discs one after the other: each aligns the hole with the sum of the two angular momenta, or
 * against it, where it counter-rotates (King et al. 2005), and is then accreted. */
void spin_accrete(struct spin *s, const struct spin_flow *f);

/* Two holes merge (Rezzolla et al. 2008). orbit: direction of the orbital angular momentum, any
 * length; 0: none. */
struct spin spin_merge(const struct spin *one, double mass_one, const struct spin *two,
                       double mass_two, const double orbit[3]);
