/* pk/table: spectra as a text table. */
#pragma once
#include <stdio.h>

#include "pk/pk.h"

struct pk_origin {
    bool cosmo;
    double aexp, t, length; /* length: box size in Mpc/h, or code units without cosmology */
};

struct pk_table {
    struct pk_origin from;
    const char *path;
    const struct pk_par *par;
    int axis; /* line of sight, −1: real space */
    int npair, nbin;
    const char (*name)[40];   /* [npair] names of the spectra */
    const struct pk_bin *bin; /* [npair][nbin] spectra */
    int64_t points, cells;    /* numbers of points and of cells in the spectrum */
};

/* Bins of one fundamental mode up to Nyquist: n/2 bins; edge[n/2 + 1]. */
void pk_fundamental_bins(int n, double *edge);
void pk_table_tsv(FILE *out, const struct pk_table *t);
void pk_table_json(FILE *out, const struct pk_table *t);
