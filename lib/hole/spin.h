/* hole/spin: spin of a black hole: changes by accretion from a disc and by mergers, and dependence
 * of the radiated energy on it. Method: docs/method/blackholes.md.
 *
 * The spin parameter a = c J / (G M^2) is at most SPIN_MAX (Thorne 1974). It is negative while the
 * disc next to the hole counter-rotates. The axis is a unit vector along the angular momentum of
 * the hole, 0 without spin. */
#pragma once
#include <stdbool.h>

#define SPIN_MAX 0.998

/* Normalises v; out = 0 if v is 0. Returns the length of v. */
double spin_axis(const double v[3], double out[3]);
/* Radius of the last stable circular orbit in units of G M / c^2 (Bardeen, Press & Teukolsky 1972).
 */
double spin_lso(double a);
/* Fraction of the rest mass that a thin disc radiates: 1 - the specific energy of the last stable
 * orbit. */
double spin_efficiency(double a);
/* Energy of jets and winds of a magnetically arrested disc per accreted rest mass (McKinney,
 * Tchekhovskoy & Blandford 2012, fit of Dubois et al. 2021). */
double spin_jet(double a);

/* Spin parameter after the hole's mass has grown by the factor `growth` = M'/M >= 1: spin_thin by
 * matter from the last stable orbit (Bardeen 1970, exact for any growth), spin_arrested from a
 * magnetically arrested disc, which spins the hole down. */
double spin_thin(double a, double growth);
double spin_arrested(double a, double growth);

struct spin {
    double a, axis[3];
};

/* Properties of accreted gas. */
struct spin_flow {
    double mass, gain;  /* mass of the hole before, mass accreted; solar masses */
    double rate;        /* accretion rate in units of the Eddington limit */
    double momentum[3]; /* direction of the angular momentum of the gas, any length; 0: none */
    /* whether the disc ends where it is gravitationally unstable (Dotti et al. 2013) */
    bool self_gravity;
    bool arrested; /* whether the disc is magnetically arrested */
};
/* Accretes gas in successive discs: each aligns the hole with the sum of the two angular momenta,
 * or against it, where it counter-rotates (King et al. 2005), and is then accreted. */
void spin_accrete(struct spin *s, const struct spin_flow *f);

/* Spin of the remnant of two holes (Rezzolla et al. 2008). orbit: direction of the orbital angular
 * momentum, any length; 0: none. */
struct spin spin_merge(const struct spin *one, double mass_one, const struct spin *two,
                       double mass_two, const double orbit[3]);
