/* genzoom/report: the lines of the namelist, the masses and the memory that follow from a set and
 * its mask. */
#pragma once
#include <stdio.h>

#include "mask.h"
#include "points.h"

struct report {
    const struct zoom_set *s;
    const struct mask_level *mask; /* by level */
    int number;                    /* of ic_pvar_NNNNN */
    int levelmax, ranks;
    const int *nexpand; /* by level, for levels whose children have files */
    double omega_b;
    const char *name, *region; /* file; how the mask was made, as text */
    bool written;
    const struct trace *trace; /* .ids > 0: particles were traced */
};

void report_namelist(FILE *out, const struct report *r);
void report_json(FILE *out, const struct report *r);
