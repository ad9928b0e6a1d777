/* view/profile: radial profiles around a place: gas, dark matter, stars, other particles. */
#pragma once
#include <stdbool.h>

#include "ckpt/source.h"
#include "plot/canvas.h"

struct profile_options {
    double centre[3], radius; /* in units of the box; the radius up to 0.5 */
    int bins;
    bool linear; /* bins of equal width, else of equal ratio: the first from 0 to radius/100 */
    bool physical;
};

/* Columns of a profile: view/profile.c has their names and units. What has no value is NAN. */
enum profile_column {
    PROFILE_FROM,
    PROFILE_TO,
    PROFILE_GAS_DENSITY,
    PROFILE_TEMPERATURE, /* T/μ, by mass */
    PROFILE_GAS_VR,
    PROFILE_GAS_MASS, /* masses: within `to` */
    PROFILE_DM_DENSITY,
    PROFILE_DM_VR,
    PROFILE_DM_SIGMA, /* dispersion of velocities along one axis */
    PROFILE_DM_MASS,
    PROFILE_DM_COUNT, /* particles in the bin */
    PROFILE_STAR_DENSITY,
    PROFILE_STAR_VR,
    PROFILE_STAR_SIGMA,
    PROFILE_STAR_MASS,
    PROFILE_STAR_COUNT,
    PROFILE_OTHER_DENSITY,
    PROFILE_OTHER_VR,
    PROFILE_OTHER_SIGMA,
    PROFILE_OTHER_MASS,
    PROFILE_OTHER_COUNT,
    PROFILE_COLUMNS
};

struct profile {
    int n;
    double (*row)[PROFILE_COLUMNS]; /* [n] */
    double bulk[3];                 /* mean velocity of all matter inside, which v_r leave out */
    bool has[SPECIES_COUNT];        /* is there any */
    const char *unit[PROFILE_COLUMNS], *unit_velocity;
    char title[160]; /* which checkpoint */
    /* Of the plot: r with a unit by its size, and what it is for one of the table. */
    char axis[48];
    double stretch;
};

const char *profile_name(enum profile_column c);
/* Reads the checkpoint. *p is zero; profile_free also after an error. */
MUST_USE enum err profile_make(struct profile *p, struct source *r,
                               const struct profile_options *o);
void profile_free(struct profile *p);
enum { PROFILE_WIDTH = 1040, PROFILE_HEIGHT = 840 };
void profile_plot(struct canvas *c, const void *profile); /* a canvas_draw, of this size */
