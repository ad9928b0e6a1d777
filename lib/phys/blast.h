/* phys/blast: explosions that reach further than a cell: Sedov blasts with mass loading (Dubois &
 * Teyssier 2008) and injection of momentum. Method: docs/method/stars.md.
 *
 * The cell at the centre gives gas to the ejecta; the cells within the radius get mass, scalars,
 * momentum and energy. What a blast needs to know of all its cells is summed in integers, and
 * blasts are applied in the order of their ids: the result does not depend on ranks or threads.
 * Mass, momentum and scalars are conserved. */
#pragma once
#include "dom/event.h"
#include "phys/stars.h"

struct blast {
    struct event at;                /* place, radius, and an id of its own */
    double mass, v[3];              /* of the ejecta, above 0; velocity of the star */
    double metals, energy;          /* mass of metals among it; energy beside that of its motion */
    double delayed;                 /* mass for the scalar of delayed_cooling */
    double element[YIELD_ELEMENTS]; /* masses of the run's elements among it */
    double load;           /* mass of gas that goes with it, at most a quarter of the cell */
    struct star_event log; /* of the star; the cell's part is filled in */
};

/* A blast where particle i is, with its id and velocity, and what the log says of it; the mass,
 * metals and energy are the caller's. */
struct blast blast_from(const struct parts *p, int64_t i);

struct blast_law {
    double kinetic; /* fraction of the energy */
    /* 0: the ejecta move. Above: all gas within the radius does, with at most this radial momentum
     * for 1e51 erg in gas of 1 H/cm³, code units */
    double terminal;
    double supernova; /* 1e51 erg in code units */
};

/* The n blasts of this rank, at a coarse step. *changed: did cells of this rank change? No two
 * blasts have the same id. On error all ranks return it. (collective) */
MUST_USE enum err blast_apply(const struct term_run *r, const struct blast_law *law, int64_t n,
                              const struct blast *b, bool *changed);
/* blast_apply with the radius of the run: two finest cells as wide as they are at a = 1, or
 * rbubble. If there are blasts, and it is too large for the box: an error. */
MUST_USE enum err blast_spread(const struct term_run *r, const struct blast_law *law, int64_t n,
                               struct blast *b, bool *changed);
