/* pk/output: tables and plots as files. A file appears whole or not at all; one that is there stays, unless forced. Rank 0 only. */
#pragma once
#include "base/err.h"
#include "pk/table.h"

/* dir/pk_NNNNN.tsv or .json; dir is made if it is missing. path gets its name. */
MUST_USE enum err output_table(const char *dir, int number, bool json, bool force, const struct pk_table *t,
                               size_t size, char *path);
MUST_USE enum err output_may_write(const char *path, bool force);

/* Curves are gathered, table by table, and drawn at the end. */
struct plot_curve {
    char label[64];
    int n;
    double *k, *p, shot;
};

struct plot {
    struct plot_curve *curve;
    int n;
    bool cosmo;
};

void plot_add(struct plot *p, const struct pk_table *t);
MUST_USE enum err plot_save(const struct plot *p, const char *path, bool force); /* SVG */
void plot_free(struct plot *p);
