/* pk/grafic: masses in initial conditions. */
#pragma once
#include "view/feed.h"

/* Whether the directory has initial conditions in GRAFIC format: dark matter as displaced
 * particles, gas as the field ic_deltab on a mesh of its own. */
bool grafic_is(const char *dir);
bool grafic_has_gas(const char *dir);
/* Checks that the files of the directory agree; *n: cells along a side. (collective, agreed) */
MUST_USE enum err grafic_cells(const struct comm *c, const char *dir, int *n);
/* adds all masses to the meshes (collective, agreed) */
MUST_USE enum err feed_grafic(struct feed *f, const char *dir);
