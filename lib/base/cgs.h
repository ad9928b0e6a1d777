/* base/cgs: physical constants and units of astronomy, in cgs units; they stand nowhere else.
 *
 * RAMSES_ begins the names of values that RAMSES rounds or takes otherwise. Runs follow RAMSES's;
 * tables and pictures use the others. */
#pragma once

/* CODATA 2018 (Tiesinga et al. 2021), and the second, kelvin and ampere of 2019, which are exact */
static const double CGS_C = 2.99792458e10;       /* speed of light, cm/s */
static const double CGS_G = 6.6743e-8;           /* constant of gravity, cm³/g/s² */
static const double CGS_KB = 1.380649e-16;       /* Boltzmann's constant, erg/K */
static const double CGS_MP = 1.67262192e-24;     /* mass of the proton, g */
static const double CGS_THOMSON = 6.6524587e-25; /* cross section of an electron, cm² */

/* the solar mass of IAU 2015, GM_sun over G; a parsec of eight digits; the Julian year */
static const double CGS_MSUN = 1.98841e33;                                                 /* g */
static const double CGS_PC = 3.0856776e18, CGS_KPC = 3.0856776e21, CGS_MPC = 3.0856776e24; /* cm */
static const double CGS_YEAR = 3.15576e7, CGS_MYR = 3.15576e13, CGS_GYR = 3.15576e16;      /* s */
static const double CGS_AU = 1.495978707e13, CGS_KM = 1e5;                                 /* cm */
static const double CGS_FOE = 1e51; /* energy of a supernova, erg */

/* critical density, (Msun/h)/(Mpc/h)³ */
static const double RHO_CRIT_MSUN_MPC = 2.77536627e11;

static const double RAMSES_C = 2.9979246e10;
static const double RAMSES_G = 6.67408e-8, RAMSES_G_2024 = 6.67e-8; /* since 2025, before */
static const double RAMSES_MH = 1.660539e-24; /* its mass of hydrogen, the atomic mass unit */
static const double RAMSES_HYDROGEN = 0.76;   /* of primordial gas, by mass; the rest is helium */
static const double RAMSES_MSUN = 1.9891e33;
static const double RAMSES_RHO_CRIT = 1.88e-29;    /* critical density for h = 1, g/cm³ */
static const double RAMSES_HUBBLE = 3.2408608e-18; /* 100 km/s/Mpc, 1/s */
static const double RAMSES_TWOPI = 6.2831853;
/* of cooling_ism: in the equation of energy, and in the rates of the lines */
static const double RAMSES_KB_ISM = 1.38062e-16, RAMSES_KB_LINES = 1.38e-16;
