/* sed/lamps: photons of sinks: of their stellar objects (Vacca, Garmany & Shull 1996), and of the
 * gas that black holes accrete.
 *
 * Each point of a sink's cloud emits an equal share of the sink's photons into the leaf cell that
 * contains it. All ranks have all lamps, in the order of ids: no bit depends on ranks. */
#pragma once
#include "sed/stars.h"
#include "stellar/stellar.h"

struct sed_lamp {
    int64_t id;
    double x[3], rate[SED_GROUPS]; /* photons per second */
};
struct sed_lamps {
    int64_t n;
    struct sed_lamp *at;
};

struct sed_lamp_law {
    int n;                    /* groups */
    bool objects, holes;      /* rt_sink, rt_AGN */
    int group;                /* group of the photons of stellar objects, from 0 */
    double lifetime;          /* objects emit up to this age, s (hii_t) */
    double egy[SED_GROUPS];   /* energies of the groups, eV */
    double share[SED_GROUPS]; /* fractions of the radiated energy of black holes */
};

/* Photons per second of a star of this mass, in solar masses. */
double sed_vacca(double mass);
/* The lamps of all ranks at the time s->t. k: NULL: no stellar objects. All ranks return the same
 * lamps. (collective) */
void sed_lamps_light(const struct sink_run *s, const struct stellar *k,
                     const struct sed_lamp_law *law, struct sed_lamps *out);
void sed_lamps_free(struct sed_lamps *l);
/* Emission into own leaf cells of level l in the time dt (code units). Local. */
void sed_sinks_emit(const struct sink_run *s, const struct sed_lamps *lamps, int l, double dt,
                    struct sed_light *light);
