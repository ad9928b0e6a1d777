/* view/spectra: curves on logarithmic axes, shot noise dashed; multipoles by their magnitude, with
 * squares where they are negative. */
#pragma once
#include <stdbool.h>

#include "pk/table.h"
#include "plot/canvas.h"

struct spectrum {
    char label[80];
    int n;
    double *k, *p, shot;
    bool multipole; /* then p may be negative */
};

struct spectra {
    struct spectrum *curve;
    int n;
    bool cosmo;
};

/* Curves are gathered, table by table, and drawn at the end. */
void spectra_add(struct spectra *p, const struct pk_table *t);
void spectra_draw(struct canvas *c, const void *spectra); /* a canvas_draw */
void spectra_free(struct spectra *p);
