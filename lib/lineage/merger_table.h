/* lineage/merger_table: merger trees as text. On rank 0, after merger_grow. */
#pragma once
#include <stdio.h>

#include "lineage/merger.h"

/* The way in which the groups were found, for the head of the table. */
struct merger_found {
    const char *groups; /* "halos" or "clumps" */
    double link;        /* of halos: linking length in mean separations of particles */
    int64_t min;        /* of halos: minimum number of members */
    int tracers;        /* number of tracers of a group */
};

/* Columns of the table: a row is a node; nodes go by their depth-first numbers. */
int merger_columns(void);
const char *merger_column(int column, const char **unit); /* name of a column; unit: "" for none */
bool merger_column_whole(int column);                     /* whether the column holds integers */
double merger_value(const struct mergers *f, int64_t node, int column);
void merger_table_tsv(FILE *out, const struct mergers *f, const struct merger_found *how);
/* The trees as Consistent-Trees writes them to tree_0_0_0.dat (Behroozi et al. 2013); outputs of a
 * cosmological run. Columns that are not measured are nan. */
void merger_table_consistent(FILE *out, const struct mergers *f, const struct merger_found *how);
