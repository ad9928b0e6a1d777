/* view/unit: the fields of a checkpoint in physical units. */
#pragma once
#include <stdbool.h>

#include "ckpt/source.h"
#include "phys/units.h"

static const double SOLAR_MASS = 1.98892e33, KILOPARSEC = 3.0856776e21; /* g, cm */

/* A code unit is worth `worth` of the unit of this name. */
struct unit {
    double worth;
    const char *name;
};

/* physical false, or a field of unknown dimension: 1 and "code"; pure numbers have the name "". */
struct unit unit_of(const char *field, const struct units *u, bool physical);
/* Of masses: Msun/h with cosmology, else Msun. */
struct unit unit_mass(const struct ckpt_head *h);
/* "output 2, z = 1.2" */
void unit_title(const struct source *r, bool physical, char *text, size_t n);
