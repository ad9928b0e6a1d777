/* hole/create: creation of black holes (Dubois et al. 2010, 2014). Method:
 * docs/method/blackholes.md. */
#pragma once
#include "phys/term.h"
#include "sink/copies.h"

/* Criteria for new black holes, code units. */
struct hole_seeding {
    double dense;             /* minimum density of the gas, and of stars */
    double mass;              /* maximum mass of a seed */
    double apart;             /* minimum distance to another hole */
    double stars, dispersion; /* minimum density and velocity dispersion of the stars in the oct */
    double G;
    bool with_stars;
};
struct hole_seeding hole_seeding(const struct term_run *r);

/* Creates holes in leaf cells of any rank, at a coarse step. They are added on the rank of their
 * cell, which loses their mass at constant velocity and temperature. *born: number of new holes of
 * all ranks. (collective) */
MUST_USE enum err hole_create(const struct term_run *r, const struct hole_seeding *law,
                              struct sinks *s, int64_t *born);
