/* repartition: what its files share. */
#pragma once
#include <stdio.h>

#include "reshape/reshape.h"

struct options {
    struct reshape reshape;
    const char *out;
    int chunk; /* input files, 0: none asked for */
    bool json, quiet, ranks_given, order_given, weights_given, memory_given, hdf5, many;
    int verbose;
    int npath;
    char **paths;
};

/* The balance that is to be expected, as text or JSON; written: where the checkpoint went, or NULL.
 */
void report_print(const struct options *o, const struct source *s, const struct reshape_plan *p,
                  const char *written, FILE *out);
