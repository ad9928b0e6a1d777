/* view/phase: phase diagrams, plotted and printed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plot/canvas.h"

struct phase_axis {
    const char *name;  /* of the field; lent */
    const char *brief; /* its name in tables; lent */
    const char *unit;  /* physical, or "code"; lent */
    char label[96];    /* name and unit in pictures */
    bool log;          /* the axis has the logarithm */
};

/* Phase diagram: masses in solar masses. */
struct diagram {
    int n;           /* bins along each axis */
    char title[160]; /* name of the checkpoint */
    struct phase_axis axis[2];
    bool usual;               /* its axes are n_H and T/μ, as if none are given */
    double range[2][2];       /* [axis][from, to], log10 of the values on a logarithmic axis */
    int64_t *mass;            /* [n (second axis)][n (first)] in units of `quantum` */
    int64_t *cells;           /* [n][n] number of cells in each bin */
    double total;             /* total mass of gas */
    double quantum;           /* mass quantum */
    int64_t out, out_cells;   /* mass and cells beyond the ranges */
    int64_t cold, cold_cells; /* mass and cells with a value ≤ 0, which has no logarithm */
    /* range of colours given: lo, hi, values of phase_share of the first and last colour */
    bool has_colours;
    double lo, hi;
    int colours;
};

/* Fraction of the mass in a bin, per dex², or per unit of linear axes. */
double phase_share(const struct diagram *d, int bin);
void phase_plot(struct canvas *c, const void *diagram); /* a canvas_draw function */
void phase_table(FILE *out, const struct diagram *d, const char *path);
