/* fft/lines: transforms of single lines and transposes of blocks, shared by the files of fft.
 * Private to fft. */
#pragma once
#include <complex.h>
#include <fftw3.h>
#include <string.h>

#include "fft/fft.h"
#include "fft/fixed.h"

enum {
    FFT_BLOCK = 8,   /* rows and columns of a tile of a transpose */
    FFT_APART = 1024 /* longest line that is transformed into another array */
};

/* A direction of the grid of ranks: ranks along it, and parts of the two transposed axes. */
struct line {
    int n, me;
    int *rank;        /* [n] ranks along the line */
    int *real, *wave; /* [n+1] bounds of the parts of y or z; of kx or ky */
};

struct fft_lines {
    const struct comm *c;
    int n;      /* length of a line */
    int ny, nz; /* grid of ranks: rank = py + ny*pz */
    struct line y, z;
    double complex *a, *b;
    fftw_plan forward[2], backward[2]; /* FFTW plans: real ↔ complex · complex */
    fftw_plan apart[2]; /* forward · backward: complex, into another array; NULL: not wanted */
    struct fft_fixed *fixed; /* line transforms that replace the plans; NULL: FFTW */
};

/* Transforms a line of complex numbers in place. */
static inline void fft_line_complex(const struct fft_lines *l, bool back, double complex *a)
{
    double complex room[FFT_APART] __attribute__((aligned(64)));
    if (!l->apart[back]) {
        fftw_execute_dft(back ? l->backward[1] : l->forward[1], a, a);
        return;
    }
    fftw_execute_dft(l->apart[back], a, room);
    memcpy(a, room, sizeof *a * (size_t)l->n);
}

/* Transforms a line of real numbers in place, or back. */
static inline void fft_line_real(const struct fft_lines *l, bool back, double complex *a)
{
    if (back)
        fftw_execute_dft_c2r(l->backward[0], a, (double *)a);
    else
        fftw_execute_dft_r2c(l->forward[0], (double *)a, a);
}

/* Transposes a block of `nrow` rows and `ncol` columns: element (row, col) at in[row*from_r + col]
 * goes to out[col*to_c + row]. */
static inline void fft_transpose(const double complex *in, size_t from_r, int nrow, int ncol,
                                 double complex *out, size_t to_c)
{
    for (int r0 = 0; r0 < nrow; r0 += FFT_BLOCK)
        for (int c0 = 0; c0 < ncol; c0 += FFT_BLOCK) {
            int r1 = r0 + FFT_BLOCK < nrow ? r0 + FFT_BLOCK : nrow,
                c1 = c0 + FFT_BLOCK < ncol ? c0 + FFT_BLOCK : ncol;
            for (int col = c0; col < c1; col++)
                for (int row = r0; row < r1; row++)
                    out[(size_t)col * to_c + (size_t)row] = in[(size_t)row * from_r + (size_t)col];
        }
}

/* Whether this rank has whole planes of x and y. */
static inline bool fft_has_planes(const struct fft_lines *l)
{
    return l->y.n == 1 && !l->fixed;
}

/* Transforms planes of a to b along x and y, or back from b to a; a plane stays in the caches. */
void fft_planes(struct fft *f, bool back);
