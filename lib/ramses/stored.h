/* ramses/stored: writes hydro and grav files from the values of another code: every bit of every
 * field, whatever its meaning. */
#pragma once
#include "ramses/out.h"

MUST_USE enum err ramses_write_stored(const struct ramses_out *w, const char *path, bool grav);
