/* view/phase: a phase diagram, as it is drawn and written. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "plot/canvas.h"

enum { PHASE_NH, PHASE_T2 };

/* Masses in solar masses; ranges are decimal logarithms of n_H in 1/cm³ and T/μ in K. */
struct diagram {
    int n;                    /* bins a side */
    char title[160];          /* which checkpoint */
    double range[2][2];       /* [axis][from, to] */
    int64_t *mass;            /* [n (T/μ)][n (n_H)] in units of `quantum` */
    int64_t *cells;           /* cells in each bin */
    double total;             /* mass of all gas */
    double quantum;           /* a mass */
    int64_t out, out_cells;   /* beyond the ranges */
    int64_t cold, cold_cells; /* of a temperature of 0 or below, which has no logarithm */
    bool has_colours;         /* lo, hi: share of the mass per dex² of the first and last colour */
    double lo, hi;
    int colours;
};

/* Share of the mass in a bin per dex². */
double phase_share(const struct diagram *d, int bin);
void phase_plot(struct canvas *c, const void *diagram); /* a canvas_draw */
void phase_table(FILE *out, const struct diagram *d, const char *path);
