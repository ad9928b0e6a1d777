/* view/births: times of birth and initial masses of stars, in physical units. */
#pragma once
#include "ckpt/source.h"

struct births {
    struct source *r; /* lent by the caller */
    struct params *par;
    struct cosmo *cosmo; /* cosmology; NULL: none */
    double begin;        /* time of the Big Bang in 1/H0, as in cosmo_time */
    double second;       /* seconds in a unit of time (1/H0 with cosmology) */
    double now;          /* time of the checkpoint since the Big Bang or t = 0, seconds */
    double solar;        /* solar masses in a unit of mass */
    int64_t bad;         /* number of births after the time of the checkpoint */
};

/* Opens a checkpoint; *b is zero on entry. births_close must be called after errors too. */
MUST_USE enum err births_open(struct births *b, struct source *r);
void births_close(struct births *b);
/* Seconds from the Big Bang or t = 0 to the checkpoint; NAN: it has no units. */
double births_age(struct source *r);
/* Time of birth of star i in seconds since the Big Bang or t = 0, and mass at birth in code
 * units. */
MUST_USE enum err births_star(struct births *b, const struct source_parts *p, int64_t i,
                              double *time, double *mass);
/* Called after the last star: an error if some stars were born after the time of the checkpoint. */
MUST_USE enum err births_end(const struct births *b);
/* redshift at a time; with cosmology only */
double births_redshift(const struct births *b, double time);
