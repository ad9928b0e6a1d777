/* genzoom/set: a multi-level GRAFIC2 set: directories of its levels, and consistency checks. */
#pragma once
#include "ics/ics.h"
#include "ics/split.h"

struct zoom_level {
    bool swap, refmap, ids;
};

struct zoom_set {
    struct ics_grafic g; /* levels, offsets in cells, cosmology */
    struct zoom_level lev[LEVEL_MAX + 2];
    bool gas; /* the set has ic_deltab */
};

/* Finds the levels in the given directories: each is a level itself, or contains one directory per
 * level. Checks the headers and sizes of all files, and reads all values if `deep`. On error
 * nothing needs to be closed. */
MUST_USE enum err zoom_set_open(struct zoom_set *s, int ndir, char *const dirs[], bool deep);
void zoom_set_close(struct zoom_set *s);
