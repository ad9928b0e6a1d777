/* ramses/stored: writes hydro and grav files of values as another code stored them: every bit of
 * every field, whatever it means. */
#pragma once
#include "ramses/out.h"

MUST_USE enum err ramses_write_stored(const struct ramses_out *w, const char *path, bool grav);
