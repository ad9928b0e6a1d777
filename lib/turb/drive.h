/* turb/drive: the state of driven turbulence. Private to turb. */
#pragma once
#include "turb/kiss.h"
#include "turb/lattice.h"
#include "turb/process.h"

/* The field of step m. */
struct turb_slot {
    int64_t m;     /* −1: none */
    double factor; /* acceleration over amplitude */
    struct turb_field field;
    double *dev; /* on the device, which frees it; NULL: no memory there */
    bool sent;
};

/* Amplitudes of modes at both ends of an interval; half, k: as turb_lattice_make has them. */
struct turb_amplitudes {
    int n;
    bool half;
    int (*k)[3];
    double (*last)[3][2], (*next)[3][2];
};

/* A step of a coarse level begins in the present interval or in one of the two before it. */
enum { TURB_RING = 4 };
/* Coarser levels keep waves along x, at most 64 kB a level. */
enum { TURB_LEVELS = 10 };

struct turb {
    int ndim;
    double interval, min_rho, rms, norm;   /* norm: acceleration over amplitude */
    bool is_static, exact;                 /* one field for ever; every field has this rms */
    double fixed[2];                       /* weights of a static field */
    struct turb_process *process;          /* or: */
    struct turb_kiss *kiss;                /* the process of RAMSES */
    int64_t m;                             /* the interval */
    struct turb_fft *fft;                  /* NULL: fields are stored by waves */
    struct turb_slot slot[TURB_RING];      /* of step m: slot[m % TURB_RING] */
    struct turb_along *along[TURB_LEVELS]; /* [oct along x]; NULL: not wanted yet */
    struct turb_row *row;                  /* of the last force that was prepared */
    int64_t row_room;
    struct dev *dev; /* lent; NULL: none */
};
