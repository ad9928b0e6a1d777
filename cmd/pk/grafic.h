/* pk/grafic: the masses of initial conditions. */
#pragma once
#include "view/feed.h"

/* Initial conditions in GRAFIC form: dark matter as displaced particles, gas as the field ic_deltab
 * on its own mesh. */
bool grafic_is(const char *dir);
bool grafic_has_gas(const char *dir);
/* Checks that the files of the directory agree, and gives their cells a side. (collective, agreed)
 */
MUST_USE enum err grafic_cells(const struct comm *c, const char *dir, int *n);
MUST_USE enum err feed_grafic(struct feed *f, const char *dir); /* (collective, agreed) */
