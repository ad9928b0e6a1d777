/* gravdev/fourier_kernels: arguments of the kernels of a solve in Fourier space
 * (fourier_kernel.c). Pointers are the device's. Private to gravdev. */
#pragma once
#define FFT_ONE /* a kernel has one number at a time */
#include "dev/kernel.h"
#include "fft/fft_kern.h"
#include "grav/green_kern.h"

enum {
    FOURIER_POINTS = 2048, /* complex numbers of the lines of a block; so n is at most that */
    FOURIER_ROOM = 2560    /* with what separates them in shared memory */
};

struct fourier_pair {
    double re, im;
} __attribute__((aligned(16)));

/* Lines of a block side by side: number i of line q is at i·stride + q in shared memory. */
struct fourier_lines {
    struct fft_passes p;
    int n, lanes, log_lanes, stride;
    int count; /* of all lines: at most 2048·2048 */
    const double *root;
};

/* Rows along x of a complete level, n numbers, and their waves: wave[(z·n + y)·pitch + kx]. */
struct fourier_rows_args {
    struct fourier_lines g;
    int pitch;
    double (*cell)[8]; /* octs in Morton order */
    double mean;       /* to be subtracted */
    struct fourier_pair *wave;
};

/* Line q begins at (q / nk)·outer + q mod nk of wave; its n numbers are `step` apart. */
struct fourier_columns_args {
    struct fourier_lines g;
    int nk;
    int64_t outer, step;
    bool back;
    struct fourier_pair *wave;
};

/* Lines along z: forward, times the Green function, backward. */
struct fourier_green_args {
    struct fourier_columns_args c;
    struct green_tables t;
    double scale;
};

#if !defined(__CUDACC__)
extern const struct dev_kernel fourier_rows, fourier_columns, fourier_green, fourier_rows_back;
#endif
