/* turb/kiss: the process of RAMSES, to compare with it: amplitudes of all modes of the lattice,
 * drawn one after the other in the order of its loops from the generator KISS (Marsaglia 2009), the
 * projection on wave numbers without their signs, modes that are their own conjugates real and
 * positive. Private to turb. */
#pragma once
#include "turb/process.h"

struct turb_kiss {
    int n;
    int (*k)[3];    /* [n] indices 0 … 63 along each axis; x changes fastest */
    int *partner;   /* [n] the mode of which this one is the conjugate; −1: it is drawn */
    double *weight; /* [n] */
    double (*last)[3][2], (*next)[3][2];
    uint64_t state[4]; /* of the generator */
    double t_last, t_next, delta, decay;
    double along, across;
    bool half;        /* the conjugates of the modes have no weight */
    bool before_2026; /* the weights of two fields in time are exchanged, the clock is ahead */
};

/* The generator at the start of a run. */
void turb_kiss_seed(uint64_t seed, uint64_t state[4]);
/* A field, `last`, that is drawn at once, as RAMSES of 2026 does for initial velocities. */
struct turb_kiss *turb_kiss_once(const struct turb_spectrum *s, double comp_frac,
                                 uint64_t state[4]);
/* The state at time t of a run that starts. */
struct turb_kiss *turb_kiss_new(const struct param_turb *p, const struct turb_spectrum *s,
                                uint64_t seed, double t);
void turb_kiss_free(struct turb_kiss **o);
void turb_kiss_step(struct turb_kiss *o);          /* the next interval */
double turb_kiss_power(const struct turb_kiss *o); /* rms of a field with these weights */
