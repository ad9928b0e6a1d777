/* view/profile: radial profiles around a centre: gas, dark matter, stars, other particles. */
#pragma once
#include <stdbool.h>

#include "ckpt/source.h"
#include "plot/canvas.h"

struct profile_options {
    double centre[3], radius; /* in units of the box; radius up to 0.5 */
    int bins;
    /* bins of equal width, else of equal ratio, with a first bin from 0 to radius/100 */
    bool linear;
    bool physical;
};

/* Columns of a profile: view/profile.c has names and units. Missing values are NAN. */
enum profile_column {
    PROFILE_FROM,
    PROFILE_TO,
    PROFILE_GAS_DENSITY,
    PROFILE_TEMPERATURE, /* T/μ, weighted by mass */
    PROFILE_GAS_VR,
    PROFILE_GAS_MASS, /* cumulative mass within `to`, as for other species */
    PROFILE_DM_DENSITY,
    PROFILE_DM_VR,
    PROFILE_DM_SIGMA, /* one-dimensional velocity dispersion */
    PROFILE_DM_MASS,
    PROFILE_DM_COUNT, /* number of particles in the bin */
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
    /* fractions of ions, weighted by mass, those that the gas has */
    PROFILE_HI,
    PROFILE_HII,
    PROFILE_HEII,
    PROFILE_HEIII,
    PROFILE_COLUMNS
};
enum { PROFILE_IONS = PROFILE_COLUMNS - PROFILE_HI };

struct profile {
    int n;
    double (*row)[PROFILE_COLUMNS]; /* [n] */
    int columns;                    /* of the table: without fractions that are missing */
    enum profile_column list[PROFILE_COLUMNS]; /* [columns] */
    /* mean velocity of all matter within the radius, subtracted from v_r */
    double bulk[3];
    bool has[SPECIES_COUNT]; /* whether the species is present */
    const char *unit[PROFILE_COLUMNS], *unit_velocity;
    char title[160]; /* name of the checkpoint */
    /* axis of the plot: label with a unit that fits the radius; stretch: factor to this unit from
     * that of the table */
    char axis[48];
    double stretch;
};

const char *profile_name(enum profile_column c);
/* Reads the checkpoint. *p is zero; profile_free also after an error. */
MUST_USE enum err profile_make(struct profile *p, struct source *r,
                               const struct profile_options *o);
void profile_free(struct profile *p);
/* A plot has charts side by side in rows, below a title: sizes in points. */
enum { PROFILE_WIDTH = 1040, PROFILE_TITLE = 40, PROFILE_ROW = 400 };
int profile_height(const struct profile *p);
void profile_plot(struct canvas *c, const void *profile); /* canvas_draw function of this size */
