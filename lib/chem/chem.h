/* chem: radiation and gas of single cells: absorption of photons, ionisation and recombination of
 * hydrogen and helium, molecular hydrogen, heating and cooling, dust and infrared radiation
 * (Rosdahl et al. 2013; Rosdahl & Teyssier 2015; Nickerson, Teyssier & Rosdahl 2018). All numbers
 * are in cgs units, photons are counted. The module knows neither a mesh nor other ranks.
 *
 * A batch of cells is advanced by implicit sub-steps, whose lengths each cell chooses by itself.
 * The bits of a cell depend on its own values alone, not on the cells beside it.
 *
 * Two rules exist. CHEM_RAMSES is that of RAMSES-RT: photons are absorbed by the neutral gas at the
 * beginning of a sub-step, and those at its end ionise what is left of it then, so that photons are
 * lost in ionisation fronts. CHEM_EXACT absorbs exactly the photons that ionise: both follow from
 * one implicit system, and nuclei are conserved without a normalisation. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "chem/par.h"

enum { CHEM_BATCH = 120 };

/* A batch of cells. Input and output: T2, x, N, F. Input: n_H, Z, cools, N_rate, F_rate. Output, to
 * which chem_advance adds: momentum, absorbed, emitted. Arrays of fractions, groups and components
 * that do not exist are neither read nor written; elements beyond n may be written. */
struct chem_cells {
    int n;
    double T2[CHEM_BATCH];                /* T/μ, K */
    double nH[CHEM_BATCH], Z[CHEM_BATCH]; /* 1/cm³; in units of solar metallicity */
    double cools[CHEM_BATCH];             /* 1; 0: no heating or cooling */
    double x[CHEM_FRACTIONS][CHEM_BATCH];
    double N[CHEM_GROUPS][CHEM_BATCH];      /* photons/cm³ */
    double F[CHEM_GROUPS][3][CHEM_BATCH];   /* photons/cm²/s */
    double N_rate[CHEM_GROUPS][CHEM_BATCH]; /* added per second while the cell advances */
    double F_rate[CHEM_GROUPS][3][CHEM_BATCH];
    double momentum[3][CHEM_BATCH];           /* gained by the gas, g/cm²/s */
    double absorbed[CHEM_GROUPS][CHEM_BATCH]; /* photons/cm³, by gas and dust */
    double emitted[CHEM_GROUPS][CHEM_BATCH];  /* photons/cm³, by recombination and dust */
    bool smooth; /* N_rate and F_rate are not zero (else they are not read) */
};

/* Sums over calls. refused: by the first reason of a shorter sub-step. */
struct chem_stats {
    int64_t cells, steps, max_steps; /* steps: sub-steps tried; the most of any cell */
    int64_t refused[CHEM_REASONS];
    int stuck; /* the first cell of a batch that did not reach its end, after an error */
};

struct chem_tables *chem_tables_new(void);
void chem_tables_free(struct chem_tables *t);
size_t chem_tables_bytes(void); /* tables have no pointers: a device may have a copy */

/* Computes p->law; call after a change of other members. An error names the wrong parameter. */
MUST_USE enum err chem_derive(struct chem_par *p);

/* Advances cells over dt seconds; callable from any thread. An error if a cell needs more than
 * 100000 sub-steps; its values then are those reached, and the message has those of the first such
 * cell, whose number is stats->stuck. */
MUST_USE enum err chem_advance(const struct chem_par *p, struct chem_cells *c, double dt,
                               struct chem_stats *stats);

/* Fractions in equilibrium of gas of temperature T2 = T/μ (K) with photons N, which may be NULL.
 * Returns μ. In the reference's precision: μ to 1e-4 by bisection. */
double chem_equilibrium(const struct chem_par *p, double T2, double nH, double Z, const double *N,
                        double x[CHEM_FRACTIONS]);
/* Mean molecular weight, and temperature in K. */
double chem_mu(const struct chem_par *p, double T2, const double x[CHEM_FRACTIONS]);
double chem_temperature(const struct chem_par *p, double T2, const double x[CHEM_FRACTIONS]);

/* Rates at a temperature (K): recombination, collisional ionisation (cm³/s) of HI, HeI, HeII, and
 * cooling (erg/cm³/s) of gas of these fractions. For tables of inspect and for tests. */
struct chem_rates {
    double recombine[3], ionise[3], cool;
};
struct chem_rates chem_rates_at(const struct chem_par *p, double T, double nH,
                                const double x[CHEM_FRACTIONS]);

/* ---- trapped infrared radiation (Rosdahl & Teyssier 2015) ---- */

/* Adds the energy of trapped photons, erg/cm³, to group 0. */
void chem_release(const struct chem_par *p, struct chem_cells *c, const double trapped[CHEM_BATCH]);
/* Takes the trapped part out of group 0, in cells of the width dx (cm). */
void chem_trap(const struct chem_par *p, struct chem_cells *c, double dx,
               double trapped[CHEM_BATCH]);
