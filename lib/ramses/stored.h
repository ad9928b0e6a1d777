/* ramses/stored: hydro and grav files out of values as another code stored them: every bit of every
 * field, whatever it means. */
#pragma once
#include "ramses/out.h"

/* What is written of the fields of a source, gas or gravity; *first: place in o.stored. */
int ramses_stored_fields(const struct ramses_out *w, bool grav, int *first);
MUST_USE enum err ramses_write_stored(const struct ramses_out *w, const char *path, bool grav);
