/* view/spectra: plot of power spectra on logarithmic axes, shot noise dashed; magnitudes of
 * multipoles, with squares where they are negative. */
#pragma once
#include <stdbool.h>

#include "pk/table.h"
#include "plot/canvas.h"

struct spectrum {
    char label[80];
    int n;
    double *k, *p, shot;
    bool multipole; /* multipole: p may be negative */
};

struct spectra {
    struct spectrum *curve;
    int n;
    bool cosmo;
};

/* Collects curves, table by table; spectra_draw draws them at the end. */
void spectra_add(struct spectra *p, const struct pk_table *t);
void spectra_draw(struct canvas *c, const void *spectra); /* a canvas_draw function */
void spectra_free(struct spectra *p);
