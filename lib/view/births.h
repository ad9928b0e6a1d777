/* view/births: when stars were born, and of which mass, in physical units. */
#pragma once
#include "ckpt/source.h"

struct births {
    struct source *r; /* lent by the caller */
    struct params *par;
    struct cosmo *cosmo; /* NULL: without */
    double begin;        /* 1/H0: the Big Bang, as cosmo_time has it */
    double second;       /* of a unit of time (1/H0 with cosmology) */
    double now;          /* s since the beginning: the Big Bang, or t = 0 */
    double solar;        /* solar masses in a unit of mass */
    int64_t bad;         /* births after the time of the checkpoint */
};

/* *b is zero. On error, too, births_close frees. */
MUST_USE enum err births_open(struct births *b, struct source *r);
void births_close(struct births *b);
/* Of star i: seconds from the beginning to its birth; its mass then, code units. */
MUST_USE enum err births_star(struct births *b, const struct source_parts *p, int64_t i,
                              double *time, double *mass);
/* After the last star: an error if some were born after the time of the checkpoint. */
MUST_USE enum err births_end(const struct births *b);
double births_redshift(const struct births *b, double time); /* with cosmology */
