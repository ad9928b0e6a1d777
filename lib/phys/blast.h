/* phys/blast: explosions that extend over several cells: Sedov blasts with mass loading (Dubois &
 * Teyssier 2008) and injection of momentum. Method: docs/method/stars.md.
 *
 * The central cell gives gas to the ejecta; the cells within the radius get mass, scalars, momentum
 * and energy. Sums over the cells of a blast are integers, and blasts are applied in the order of
 * their ids: the result does not depend on ranks or threads. Mass, momentum and scalars are
 * conserved. */
#pragma once
#include "dom/event.h"
#include "phys/stars.h"

struct blast {
    struct event at;   /* position, radius, and a unique id */
    double mass, v[3]; /* mass of the ejecta, above 0; velocity of the star */
    /* mass of metals in the ejecta; energy besides the kinetic energy of the motion with the star
     */
    double metals, energy;
    double delayed;                 /* mass in the scalar of delayed_cooling */
    double element[YIELD_ELEMENTS]; /* masses of the run's elements in the ejecta */
    double load;                    /* mass of gas carried along, at most a quarter of the cell's */
    struct star_event log;          /* log entry of the star; the cell's properties are filled in */
};

/* Blast at the position of particle i, with its id, velocity and log entry; the caller sets mass,
 * metals and energy. */
struct blast blast_from(const struct parts *p, int64_t i);

struct blast_law {
    double kinetic; /* kinetic fraction of the energy */
    /* 0: only the ejecta move. Above: all gas within the radius moves; maximum radial momentum for
     * 1e51 erg in gas of 1 H/cm³, code units. */
    double terminal;
    double supernova; /* 1e51 erg in code units */
};

/* Applies the n blasts of this rank, at a coarse step. *changed: whether cells of this rank
 * changed. Ids of blasts must be unique. On error all ranks return it. (collective) */
MUST_USE enum err blast_apply(const struct term_run *r, const struct blast_law *law, int64_t n,
                              const struct blast *b, bool *changed);
/* Applies blasts with the radius of the run: rbubble, or two finest cells, as wide as these are at
 * a = 1. Error if there are blasts and the radius is too large for the box. */
MUST_USE enum err blast_spread(const struct term_run *r, const struct blast_law *law, int64_t n,
                               struct blast *b, bool *changed);
