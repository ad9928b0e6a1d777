/* pk/plot: curves on logarithmic axes, shot noise dashed. */
#pragma once
#include <stdbool.h>

#include "pk/table.h"
#include "plot/canvas.h"

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

/* Curves are gathered, table by table, and drawn at the end. */
void plot_add(struct plot *p, const struct pk_table *t);
void plot_draw(struct canvas *c, const void *plot); /* a canvas_draw */
void plot_free(struct plot *p);
