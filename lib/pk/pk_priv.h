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
     * x. Both are padded: rows a power of two apart would map to the same few cache sets. */
    /* the second: positions shifted by half a cell; NULL: empty */
    int64_t *mass[PK_MESHES][2];
    double complex *wave[PK_MESHES]; /* δ_k/n³ like fft->k; NULL: no mass, or not requested */
    size_t pitch, plane;
    double quantum;
    double most, taken; /* the total that was announced; Σ |m| assigned to this rank's block */
    struct sum m[PK_MESHES], m2[PK_MESHES]; /* Σ m of all items, Σ m² of points; of this rank */
    unsigned sampled;                       /* set of meshes with samples */
    /* doubles per dimension, for weights of the widest item of a batch */
    size_t room;
    /* ranks along y and z; part of each row: while items are sent */
    int grid[2], *part[2];
};
