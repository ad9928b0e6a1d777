/* phys/stars: what star formation and supernovae share. Method: docs/method/stars.md. */
#pragma once
#include "phys/floor.h"
#include "phys/term.h"
#include "phys/yields.h"

/* The law of a run at a time, code units. */
struct star_law {
    double mass;    /* of one star: particles are multiples of it */
    double min;     /* density of the gas above which stars form */
    double hottest; /* T/mu in K above the floor below which they form */
    struct temperature_floor floor;
    double rate; /* of star formation: mass per time and volume / density^1.5 */
    double G;    /* of gravity, code units */
};
struct star_law star_law(const struct term_run *r);
double star_mass(const struct term_run *r);

/* The key of random numbers that differ by their purpose: with the run's iseed. */
uint64_t star_seed(const struct params *p, uint64_t purpose);

/* phys/stars.c: the stars of a level. */
MUST_USE enum err stars_form(const struct term_run *r, bool *changed);

/* Says which recipes the run has. */
void star_log_law(const struct params *p);

/* The birth time of a star that is this old (s) at the end of the step, as it is written: t, which
 * is conformal with cosmology, or with use_proper_time proper time in 1/H0, 0 at a = 1. */
double star_birth(const struct term_run *r, double age);
/* The age (s) at that time of a star whose birth time is this. */
double star_age(const struct term_run *r, double birth);

/* The chemical elements of the run's table of yields: variables of the gas, columns of stars. */
struct star_elements {
    int n, var[YIELD_ELEMENTS], column[YIELD_ELEMENTS];
};
struct star_elements star_elements(const struct term_run *r);
/* Mass fraction of element e in star i. */
static inline double *star_element(const struct parts *p, const struct star_elements *s, int e,
                                   int64_t i)
{
    return (double *)p->col[s->column[e]] + i;
}

/* The numbers of RAMSES; quiet: not in the log. */
enum { STAR_QUIET = -1, STAR_BIRTH = 0, STAR_DEATH = 1 };

/* One line of stars.txt. */
struct star_event {
    int64_t id;
    int32_t kind, level; /* kind: STAR_BIRTH, STAR_DEATH */
    double m, x[3], v[3];
    double rho, T2, metal; /* of the cell before it, H/cm^3 and K; metallicity of the star */
};
/* Event of particle k in a cell of this rank. */
struct star_event star_event(const struct term_run *r, int kind, const struct level *lv, lidx oct,
                             int cell, int64_t k);
#define STAR_LOG "stars.txt" /* in the current directory */
/* Appends the events of all ranks to it, by id. (collective) */
MUST_USE enum err star_log(const struct term_run *r, int64_t n, struct star_event *e);
enum { STAR_EXPLODED = 1 }; /* tag */
/* Explosions of a step of this level, or of the coarse step that has ended. */
struct star_deaths {
    double first, last; /* births of those that explode: first < birth <= last */
    double specific;    /* energy per ejected mass, code units */
    double boost;       /* mass_gmc in stars */
    /* of the mass of a star: ejected; with sf_imf of single stars, not heavier than heaviest, of
     * which the lightest that explodes has the mass `lightest`; code units */
    double ejected, single, lightest, heaviest;
    uint64_t seed;
};
struct star_deaths star_deaths(const struct term_run *r);
/* Mass that a star of this mass ejects. */
double star_ejecta(const struct star_deaths *d, double mass);
bool star_due(const struct parts *p, const struct star_deaths *d, int64_t i);
/* Of the energy: explosions of clouds of mass_gmc, as rare as these are heavy; the mean is 1. */
double star_sampled(const struct star_deaths *d, int64_t id);

/* Says how many stars of all ranks exploded, and the energy that gas got, code units. (collective)
 */
void star_log_energy(const struct term_run *r, int64_t n, struct sum *energy);
/* Energy per ejected mass, code units: f_esn 1e51 erg for each 10 solar masses. */
double star_explosion(const struct term_run *r);
/* Of a cell: T/mu in K. */
double star_T2(const struct term_run *r, const struct level *lv, lidx i, int c);
