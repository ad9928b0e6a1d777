/* hole/create: where black holes are born (Dubois et al. 2010, 2014). Method:
 * docs/method/blackholes.md. */
#pragma once
#include "phys/term.h"
#include "sink/copies.h"

/* Code units. */
struct hole_seeding {
    double dense;             /* least density of the gas, and of stars */
    double mass;              /* of a seed, at most */
    double apart;             /* no other hole is nearer */
    double stars, dispersion; /* of the oct: more stars than this density, and faster */
    double G;
    bool with_stars;
};
struct hole_seeding hole_seeding(const struct term_run *r);

/* At a coarse step: new holes in leaf cells of any rank. They are added on the rank of their cell,
 * which loses their mass at constant velocity and temperature. *born: how many, of all ranks.
 * (collective) */
MUST_USE enum err hole_create(const struct term_run *r, const struct hole_seeding *law,
                              struct sinks *s, int64_t *born);
