/* turb/process: the Ornstein–Uhlenbeck process of &TURB_PARAMS, amplitudes of Fourier modes of an
 * acceleration (Schmidt et al. 2009, section 2), for meshes of any kind.
 *
 * At time mΔ, with Δ = turb_T/turb_Ndt, a mode has the amplitude
 *     a_m = (1 − 1/turb_Ndt) a_(m−1) + √Δ w(|k|) P g_m,
 * where g_m is a random vector with mean square 1 in each component, w is the spectrum of
 * amplitudes and P takes 1 − comp_frac of the part across k and comp_frac of the part along k.
 * Between these times the acceleration is interpolated linearly.
 *
 * g_m has m and k as key. The memory of the process fades, so a_m is computed from a step when it
 * was zero that depends on m alone: it has the same bits in a run that resumes, which needs to know
 * the time only. */
#pragma once
#include "param/param.h"

/* A spectrum by its name in namelists: weight of amplitudes at |k| in units of 2π/box, 0 above
 * `highest`. */
struct turb_spectrum {
    const char *name;
    double (*weight)(double kappa, double unused);
    double highest;
    bool one; /* the wave (1, 0, 0) alone has a weight */
};
/* Weight of the wave k with this |k|. */
double turb_weight(const struct turb_spectrum *s, double kappa, const int k[3]);

/* Errors name the parameter. Local. */
MUST_USE enum err turb_spectrum_find(const char *parameter, const char *name,
                                     const struct turb_spectrum **out);
/* Checks the parameters of the process. */
MUST_USE enum err turb_process_check(const struct param_turb *p);

/* Modes: waves along each axis of the box, unit vectors along k, weights. */
struct turb_modes {
    int n;
    int (*k)[3];
    double (*unit)[3];
    double *weight;
};
void turb_modes_free(struct turb_modes *m);

struct turb_process {
    struct turb_modes modes;             /* owned */
    double (*last)[3][2], (*next)[3][2]; /* [n] a_m and a_(m+1) */
    int64_t m;                           /* −1: not yet computed */
    uint64_t seed;
    double delta, keep, along, across; /* Δ; 1 − 1/turb_Ndt; shares of both parts */
    int64_t first;                     /* m at the start of the run */
    int64_t memory;                    /* steps after which an amplitude is forgotten */
};

/* Takes the modes over. memory: how long an amplitude is remembered, in units of turb_T;
 * exp(−memory) of it is lost. */
struct turb_process *turb_process_new(const struct param_turb *p, uint64_t seed, int memory,
                                      struct turb_modes *modes);
void turb_process_free(struct turb_process **o);
/* Sets last and next to a_m and a_(m+1). */
void turb_process_move(struct turb_process *o, int64_t m);
/* Root mean square of the weights of the modes, each of which stands for itself and for −k. */
double turb_process_power(const struct turb_process *o);
