/* view/spectra: curves on logarithmic axes, shot noise dashed. */
#pragma once
#include <stdbool.h>

#include "pk/table.h"
#include "plot/canvas.h"

struct spectrum {
    char label[64];
    int n;
    double *k, *p, shot;
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
