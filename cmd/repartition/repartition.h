/* repartition: declarations shared by its files. */
#pragma once
#include <stdio.h>

#include "reshape/reshape.h"

struct options {
    struct reshape reshape;
    const char *out;
    int chunk; /* memory limit as a number of input files; 0: not given */
    bool json, quiet, ranks_given, order_given, weights_given, memory_given, hdf5, many;
    int verbose;
    int npath;
    char **paths;
};

/* Prints the predicted load balance, as text or JSON; written: path of the result, or NULL. */
void report_print(const struct options *o, const struct source *s, const struct reshape_plan *p,
                  const char *written, FILE *out);
