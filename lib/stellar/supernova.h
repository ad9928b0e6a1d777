/* stellar/supernova: explosions of stellar objects: ejecta, radial momentum and heat in a sphere.
 * Method and papers: docs/method/stellar.md.
 *
 * The ejecta have the velocity of the sink, and the same density in the whole sphere. The momentum
 * per volume is proportional to u - q, u being the distance from the centre in units of the radius,
 * q its mean over the volume: without the limit of velocity the sum of the momenta is 0. Sums over
 * the cells are integers, and supernovae are applied in the order of their ids: nothing depends on
 * ranks or threads. */
#pragma once
#include "dom/event.h"
#include "hydro/hydro.h"

/* Parameters of a supernova, code units. */
struct supernova_law {
    double radius, energy, momentum;
    double heat_max; /* maximum heat per mass of gas, before and after */
    double v_max;    /* maximum velocity that the momentum gives to gas */
    bool either;     /* heat if the cooling radius is above the radius, else momentum */
    /* cooling radius at the density `dense` (Martizzi, Faucher-Giguère & Quataert 2015) */
    double cooling, dense;
};

struct supernova {
    struct event at;      /* position in the box, unique id; the law sets the radius */
    int64_t sink, number; /* for the log */
    double mass, v[3];    /* ejecta */
    /* ---- results ---- */
    double rho, cooling;            /* mean density with the ejecta; cooling radius */
    double momentum, kinetic, heat; /* given to the gas: sum of |momentum|, energies */
};

struct supernova_site {
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
    const struct hydro_par *hydro;
};

/* Applies the n supernovae of this rank. *done: those of all ranks, *all, in the order of ids, with
 * their results, on every rank; FREE. Restriction and ghosts are up to the caller. All ranks return
 * an error together. (collective) */
MUST_USE enum err supernovae_apply(const struct supernova_site *s, const struct supernova_law *law,
                                   int64_t n, const struct supernova *e, int64_t *all,
                                   struct supernova **done);
