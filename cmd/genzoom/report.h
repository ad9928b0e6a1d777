/* genzoom/report: namelist, particle masses and memory for a set and its mask. */
#pragma once
#include <stdio.h>

#include "mask.h"
#include "points.h"

struct report {
    const struct zoom_set *s;
    const struct mask_level *mask; /* mask by level */
    int number;                    /* number of ic_pvar_NNNNN */
    int levelmax, ranks;
    const int *nexpand; /* nexpand by level, for levels whose children have files */
    double omega_b;
    const char *name, *region; /* name of the mask file; description of the region */
    bool written;
    const struct trace *trace; /* traced particles, if .ids > 0 */
};

void report_namelist(FILE *out, const struct report *r);
void report_json(FILE *out, const struct report *r);
