/* hole/rates: what gas does to a black hole in it: point functions, in any system of units unless
 * an argument says otherwise. Method: docs/method/blackholes.md. */
#pragma once

/* 4 pi G^2 M^2 rho / (cs^2 + v^2)^(3/2): mass per time (Hoyle & Lyttleton 1939; Bondi 1952). cs2,
 * v2: squares of the sound speed and of the relative speed; 0 if both are. */
double hole_bondi(double G, double mass, double rho, double cs2, double v2);
/* Booth & Schaye (2009): the factor for gas that is this many times denser than the threshold of
 * star formation, whose cold phase is not resolved; at least 1. */
double hole_boost(double excess, double power);
/* Of the limit of Eddington: the fraction of its mass that a black hole accretes a second, in rest
 * mass, when it radiates the fraction `efficiency` of that. */
double hole_eddington(double efficiency);
/* The scale of the kernel exp(-r^2/r_K^2) of averages and accretion (Krumholz et al. 2004): the
 * Bondi radius G M / (cs^2 + v^2), but between dx/4 and 2 dx. */
double hole_kernel(double G, double mass, double cs2, double v2, double dx);
/* Gas as a background drags a body that moves through it (Ostriker 1999): the deceleration is this
 * rate times the relative velocity. */
double hole_drag(double G, double mass, double rho, double cs, double speed);
/* Its dependence on the Mach number, I(M)/M^2 of Chapon et al. (2013), with the Coulomb logarithm
 * 3.2. */
double hole_drag_mach(double mach);
