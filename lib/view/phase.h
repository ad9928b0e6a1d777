/* view/phase: phase diagrams, plotted and printed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plot/canvas.h"

enum { PHASE_NH, PHASE_T2 };

/* Phase diagram: masses in solar masses; ranges in log10 of n_H in 1/cm³ and of T/μ in K. */
struct diagram {
    int n;                    /* bins along each axis */
    char title[160];          /* name of the checkpoint */
    double range[2][2];       /* [axis][from, to] */
    int64_t *mass;            /* [n (T/μ)][n (n_H)] in units of `quantum` */
    int64_t *cells;           /* [n][n] number of cells in each bin */
    double total;             /* total mass of gas */
    double quantum;           /* mass quantum */
    int64_t out, out_cells;   /* mass and cells beyond the ranges */
    int64_t cold, cold_cells; /* mass and cells with temperature ≤ 0, which has no logarithm */
    /* range of colours given: lo, hi, fraction of the mass per dex² of the first and last colour */
    bool has_colours;
    double lo, hi;
    int colours;
};

/* Fraction of the mass in a bin, per dex². */
double phase_share(const struct diagram *d, int bin);
void phase_plot(struct canvas *c, const void *diagram); /* a canvas_draw function */
void phase_table(FILE *out, const struct diagram *d, const char *path);
