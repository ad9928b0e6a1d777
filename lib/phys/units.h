/* phys/units: code units in cgs at an expansion factor; computed only here. */
#pragma once
#include "cosmo/cosmo.h"
#include "param/param.h"

struct units {
    double length, density, time; /* cm, g/cm³, s */
    double velocity;              /* cm/s */
    double mass;                  /* g */
    double temperature;           /* conversion of pressure/density to T/μ in K */
    double hydrogen;              /* conversion of density to hydrogen nuclei/cm³ */
    double photons, flux;         /* to photons/cm³ and /cm²/s; 0: not known */
};

/* Units from the units of length, density and time in cgs. */
struct units units_of(double length, double density, double time);
/* Units at expansion factor a. cosmo: NULL without cosmology; the units are then given by
 * &UNITS_PARAMS for any a. */
struct units units_at(const struct param_units *u, const struct cosmo_par *cosmo, double a);
