/* pk: shared by the files of lib/pk. */
#pragma once
#include <complex.h>

#include "base/sum.h"
#include "fft/fft.h"
#include "pk/pk.h"

struct pk {
    const struct comm *c;
    struct pk_par par;
    int nmesh;
    struct fft *fft;
    /* Masses of this rank's block, in units of quantum: cell (x, y, z) of it at z*plane + y*pitch +
     * x. Both are padded, for rows that are near in space would share a few places of the cache,
     * were they a power of two apart. */
    /* the second: positions half a cell on; NULL: nothing there yet */
    int64_t *mass[PK_MESHES][2];
    double complex *wave[PK_MESHES]; /* δ_k/n³ like fft->k; NULL: no mass in it, or not asked for */
    size_t pitch, plane;
    double quantum;
    double most, taken; /* the total that was announced · Σ |m| laid on this rank's block */
    struct sum m[PK_MESHES], m2[PK_MESHES]; /* Σ m of all items, Σ m² of points; of this rank */
    unsigned sampled;                       /* set of meshes with samples */
    /* doubles a dimension, for weights of the widest item of a batch */
    size_t room;
    /* ranks along y and z; part of each row: while items are sent */
    int grid[2], *part[2];
};
