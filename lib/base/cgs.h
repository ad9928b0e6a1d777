/* base/cgs: physical constants and units of astronomy, in cgs units, defined nowhere else.
 *
 * The prefix RAMSES_ marks values that RAMSES rounds or defines differently. Runs use the RAMSES
 * values; tables and pictures use the CGS values. */
#pragma once

/* CODATA 2018 (Tiesinga et al. 2021), and the second, kelvin and ampere of 2019, which are exact */
static const double CGS_C = 2.99792458e10;       /* speed of light, cm/s */
static const double CGS_G = 6.6743e-8;           /* gravitational constant, cm³/g/s² */
static const double CGS_KB = 1.380649e-16;       /* Boltzmann constant, erg/K */
static const double CGS_MP = 1.67262192e-24;     /* proton mass, g */
static const double CGS_THOMSON = 6.6524587e-25; /* Thomson cross section, cm² */

static const double CGS_LSUN = 3.828e33; /* IAU 2015 nominal solar luminosity, erg/s */
/* IAU 2015 nominal solar mass GM_sun/G; parsec to eight digits; Julian year */
static const double CGS_MSUN = 1.98841e33;                                                 /* g */
static const double CGS_PC = 3.0856776e18, CGS_KPC = 3.0856776e21, CGS_MPC = 3.0856776e24; /* cm */
static const double CGS_YEAR = 3.15576e7, CGS_MYR = 3.15576e13, CGS_GYR = 3.15576e16;      /* s */
static const double CGS_AU = 1.495978707e13, CGS_KM = 1e5;                                 /* cm */
static const double CGS_FOE = 1e51; /* energy of a supernova, erg */

/* critical density, (Msun/h)/(Mpc/h)³ */
static const double RHO_CRIT_MSUN_MPC = 2.77536627e11;

static const double RAMSES_C = 2.9979246e10;
static const double RAMSES_C_PUSH = 1 / 3.335640484668562e-11; /* of the momentum of photons */
static const double RAMSES_EV = 1.6021766e-12;                 /* electronvolt, erg */
static const double RAMSES_RADIATION = 7.5657233e-15; /* radiation constant a, erg/cm³/K⁴ */
static const double RAMSES_G = 6.67408e-8, RAMSES_G_2024 = 6.67e-8; /* since 2025, before */
static const double RAMSES_MH = 1.660539e-24;      /* its mass of hydrogen, the atomic mass unit */
static const double RAMSES_PLANCK = 6.6260702e-27; /* Planck constant, erg s */
static const double RAMSES_HYDROGEN = 0.76; /* of primordial gas, by mass; the rest is helium */
static const double RAMSES_MSUN = 1.9891e33;
/* of its patch for mergers of galaxies; its year of 365 days, also in files of DICE */
static const double RAMSES_KPC_GALAXY = 3.085677581282e21, RAMSES_G_GALAXY = 6.67428e-8;
static const double RAMSES_YEAR_GALAXY = 3.1536e7;
static const double RAMSES_RHO_CRIT = 1.88e-29;    /* critical density for h = 1, g/cm³ */
static const double RAMSES_HUBBLE = 3.2408608e-18; /* 100 km/s/Mpc, 1/s */
static const double RAMSES_TWOPI = 6.2831853;
static const double RAMSES_KB_LINES = 1.38e-16; /* Boltzmann constant of lines, erg/K */
