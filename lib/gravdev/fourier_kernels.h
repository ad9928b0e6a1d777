/* gravdev/fourier_kernels: arguments of the kernels of a solve in Fourier space (fourier_kernel.c).
 * Pointers are device addresses. Private to gravdev. */
#pragma once
#define FFT_ONE /* one number per device thread */
#include "dev/kernel.h"
#include "fft/fft_kern.h"
#include "grav/green_kern.h"

enum {
    FOURIER_POINTS = 2048, /* complex numbers in the lines of a block, an upper limit of n */
    FOURIER_ROOM = 2560    /* allocated shared memory, including padding between lines */
};

struct fourier_pair {
    double re, im;
} __attribute__((aligned(16)));

/* Lines of a block in shared memory: number i of line q is at i·stride + q. */
struct fourier_lines {
    struct fft_passes p;
    int n, lanes, log_lanes, stride;
    int count; /* total number of lines, at most 2048·2048 */
    const double *root;
};

/* Rows along x of a complete level, n numbers, and their modes: wave[(z·n + y)·pitch + kx]. */
struct fourier_rows_args {
    struct fourier_lines g;
    int pitch;
    double (*cell)[8]; /* octs in Morton order */
    double mean;       /* mean to be subtracted */
    struct fourier_pair *wave;
};

/* Columns: line q begins at (q / nk)·outer + q mod nk of wave; its n numbers are `step` apart. */
struct fourier_columns_args {
    struct fourier_lines g;
    int nk;
    int64_t outer, step;
    bool back;
    struct fourier_pair *wave;
};

/* Lines along z: forward transform, multiplication by the Green function, backward transform. */
struct fourier_green_args {
    struct fourier_columns_args c;
    struct green_tables t;
    double scale;
};

#if !defined(__CUDACC__)
extern const struct dev_kernel fourier_rows, fourier_columns, fourier_green, fourier_rows_back;
#endif
