/* phys/units: code units in cgs at an expansion factor; the only place that computes them. */
#pragma once
#include "cosmo/cosmo.h"
#include "param/param.h"

struct units {
    double length, density, time; /* cm, g/cm³, s */
    double velocity;              /* cm/s */
    double mass;                  /* g */
    double temperature;           /* pressure/density → T/μ in K */
    double hydrogen;              /* density → hydrogen nuclei/cm³ */
};

/* Of length, density and time in cgs. */
struct units units_of(double length, double density, double time);
/* cosmo: NULL without cosmology; the units are then those of &UNITS_PARAMS for any a. */
struct units units_at(const struct param_units *u, const struct cosmo_par *cosmo, double a);
