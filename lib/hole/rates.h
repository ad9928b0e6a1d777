/* hole/rates: rates of accretion and drag on a black hole in gas: point functions, in any
 * consistent units unless an argument says otherwise. Method: docs/method/blackholes.md. */
#pragma once

/* Accretion rate 4 pi G^2 M^2 rho / (cs^2 + v^2)^(3/2) (Hoyle & Lyttleton 1939; Bondi 1952). cs2,
 * v2: squares of the sound speed and of the relative speed; 0 if both are 0. */
double hole_bondi(double G, double mass, double rho, double cs2, double v2);
/* Boost factor of accretion (Booth & Schaye 2009); excess: density over the threshold of star
 * formation, above which the cold phase is not resolved; at least 1. */
double hole_boost(double excess, double power);
/* Eddington limit: the fraction of its mass that a black hole accretes per second, in rest mass,
 * when it radiates the fraction `efficiency` of that. */
double hole_eddington(double efficiency);
/* Scale r_K of the kernel exp(-r^2/r_K^2) of averages and accretion (Krumholz et al. 2004): the
 * Bondi radius G M / (cs^2 + v^2), limited to dx/4 .. 2 dx. */
double hole_kernel(double G, double mass, double cs2, double v2, double dx);
/* Dynamical friction in gas (Ostriker 1999): deceleration divided by relative velocity. */
double hole_drag(double G, double mass, double rho, double cs, double speed);
/* Dependence of the drag on the Mach number, I(M)/M^2 of Chapon et al. (2013), with the Coulomb
 * logarithm 3.2. */
double hole_drag_mach(double mach);
