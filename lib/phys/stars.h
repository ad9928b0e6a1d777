/* phys/stars: functions shared by star formation and supernovae. Method: docs/method/stars.md. */
#pragma once
#include "phys/floor.h"
#include "phys/term.h"
#include "phys/yields.h"

/* Star formation law of a run at a time, code units. */
struct star_law {
    double mass;    /* mass of one star; particle masses are multiples of it */
    double min;     /* minimum density of gas that forms stars */
    double hottest; /* maximum T/mu in K above the floor of gas that forms stars */
    struct temperature_floor floor;
    double rate; /* star formation rate: mass per time and volume / density^1.5 */
    double G;    /* gravitational constant */
};
struct star_law star_law(const struct term_run *r);
double star_mass(const struct term_run *r);

/* Seed of random numbers, from their purpose and the run's iseed. */
uint64_t star_seed(const struct params *p, uint64_t purpose);

/* Forms the stars of a level (phys/stars.c). */
MUST_USE enum err stars_form(const struct term_run *r, bool *changed);

/* Logs the recipes of the run. */
void star_log_law(const struct params *p);

/* Birth time of a star of this age (s) at the end of the step, as in files: t, which is conformal
 * with cosmology, or with use_proper_time proper time in 1/H0, 0 at a = 1. */
double star_birth(const struct term_run *r, double age);
/* Age (s) at the end of the step of a star with this birth time. */
double star_age(const struct term_run *r, double birth);

/* Chemical elements of the run's table of yields: variables of the gas, columns of stars. */
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

/* Mass that a star took from the gas of a leaf cell, or gave to it. */
struct star_swap {
    int64_t id, at; /* id of the star; its index if it was born, else -1 */
    /* fraction of the cell's gas that has become the star, or of the star that is gas again */
    double share;
    int64_t cell[3]; /* number of the cell along each axis, in cells of its level */
    int32_t level;
};
struct star_swaps {
    int64_t n, room;
    struct star_swap *row;
};
/* Gas of a leaf cell that a black hole has loaded into its jets: a cylinder at x along the unit
 * vector `axis`, of this radius and half length, in which mass falls off as exp(-r^2/2 radius^2)
 * from the axis. */
struct jet_load {
    struct star_swap from; /* id of the hole, fraction of the gas of the cell */
    double x[3], axis[3], radius;
};
/* The swaps that tracers have not followed yet (tracers_swap, tracers_join_sinks, tracers_launch).
 */
struct star_ledger {
    struct star_swaps born, ejected;
    /* gas that sinks took; id: of the sink, share: density that the cell has lost */
    struct star_swaps captured;
    struct {
        int64_t n, room;
        struct jet_load *row;
    } launched;
};
/* Notes a swap with a cell of this rank. */
void star_note(struct star_swaps *s, int64_t id, int64_t at, double share, const struct level *lv,
               lidx oct, int cell);

/* Kinds of events, numbered as in RAMSES; quiet: not logged. */
enum { STAR_QUIET = -1, STAR_BIRTH = 0, STAR_DEATH = 1 };

/* A line of stars.txt. */
struct star_event {
    int64_t id;
    int32_t kind, level; /* kind: STAR_BIRTH, STAR_DEATH */
    double m, x[3], v[3];
    /* gas of the cell before the event, H/cm^3 and K; metallicity of the star */
    double rho, T2, metal;
};
/* Event of particle k in a cell of this rank. */
struct star_event star_event(const struct term_run *r, int kind, const struct level *lv, lidx oct,
                             int cell, int64_t k);
#define STAR_LOG "stars.txt" /* file in the current directory */
/* Appends the events of all ranks to STAR_LOG, sorted by id. (collective) */
MUST_USE enum err star_log(const struct term_run *r, int64_t n, struct star_event *e);
/* tag of a star that has exploded; no tag, which is an int8_t, for stars_born */
enum { STAR_EXPLODED = 1, STAR_NO_TAG = 256 };
/* Supernovae in a step of this level, or in the last coarse step. */
struct star_deaths {
    double first, last; /* birth times of exploding stars: first < birth <= last */
    double specific;    /* energy per ejected mass, code units */
    double boost;       /* mass_gmc in units of the star mass */
    /* Ejected mass fraction, of single stars with sf_imf; minimum mass of an exploding single star,
     * maximum mass of a single star, code units. */
    double ejected, single, lightest, heaviest;
    uint64_t seed;
};
struct star_deaths star_deaths(const struct term_run *r);
/* Mass that a star of this mass ejects. */
double star_ejecta(const struct star_deaths *d, double mass);
bool star_due(const struct parts *p, const struct star_deaths *d, int64_t i);
/* Particles of the level, or at a coarse step of all levels, of this family, with another tag than
 * `other` (STAR_NO_TAG: with any tag), born after birth[0] and not after birth[1]: their indices in
 * ascending order, FREE. Where particles are on a device, their columns come to the host; a caller
 * that changes them sends them back (part_dev_few_send). */
int64_t *stars_born(const struct term_run *r, enum part_family family, int other,
                    const double birth[2], int64_t *n);
/* Stars for which star_due holds, likewise. */
int64_t *stars_due(const struct term_run *r, const struct star_deaths *d, int64_t *n);
/* Random factor of the energy for explosions in clouds of mass_gmc: rare and strong; the mean is 1.
 */
double star_sampled(const struct star_deaths *d, int64_t id);

/* Logs the number of supernovae of all ranks, and the energy given to the gas, code units.
 * (collective) */
void star_log_energy(const struct term_run *r, int64_t n, struct sum *energy);
/* Energy per ejected mass, code units: f_esn 1e51 erg for each 10 solar masses. */
double star_explosion(const struct term_run *r);
/* T/mu in K of a cell. */
double star_T2(const struct term_run *r, const struct level *lv, lidx i, int c);
