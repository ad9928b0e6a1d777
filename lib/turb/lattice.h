/* turb/lattice: a vector field on the nodes of a periodic lattice, from amplitudes of its Fourier
 * modes. Every rank makes the whole lattice, and all get the same bits: transforms are those of
 * fft/fixed, of the lines that are not empty. Private to turb. */
#pragma once
#include "turb/force_kern.h"

/* Numbers of a field (turb/force_kern.h). */
struct turb_field {
    double *a;   /* of a lattice: [z][y][x][4], one plane or row in fewer dimensions; NULL: none */
    double most; /* no node has a higher sum of the magnitudes of the components */
};

struct turb_fft; /* plans and scratch memory */
struct turb_fft *turb_fft_new(int ndim);
void turb_fft_free(struct turb_fft **f);

/* a(x) = Σ factor·amp exp(2πi k·x) over the modes and their conjugates. half: k are from −32 to 32,
 * and of k and −k one mode is given; else k are indices 0 … 63, and all modes are given. */
void turb_lattice_make(struct turb_fft *f, int n, const int (*k)[3], double (*const amp)[3][2],
                       double factor, bool half, struct turb_field *out);
void turb_field_free(struct turb_field *l);
int64_t turb_lattice_nodes(int ndim);
