/* pk/grafic: the masses of initial conditions. */
#pragma once
#include "view/feed.h"

/* Initial conditions in GRAFIC form: dark matter as displaced particles, gas as the field ic_deltab
 * on its own mesh. */
bool grafic_is(const char *dir);
bool grafic_has_gas(const char *dir);
MUST_USE enum err grafic_cells(const char *dir, int *n);        /* a side */
MUST_USE enum err feed_grafic(struct feed *f, const char *dir); /* (collective, agreed) */
