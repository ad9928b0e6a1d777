/* pk: shared by the files of lib/pk. */
#pragma once
#include <complex.h>

#include "base/sum.h"
#include "fft/fft.h"
#include "pk/pk.h"

/* Points add to four cells of a row at a time, of which some may be before its first or after its
 * last: these have places of their own between the rows, and are added to their images at the end.
 */
enum { PK_PAD = 8, PK_BEFORE = 2, PK_AFTER = 4 }; /* between two rows: a cache line */

struct pk {
    const struct comm *c;
    struct pk_par par;
    int nmesh;
    struct fft *fft;
    /* Masses of this rank's block, in units of quantum. Rows and planes are padded: at a power of
     * two apart they would map to the same few cache sets. */
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

/* Where the row of cells (0.., y, z) of this rank's block begins. */
static inline size_t pk_row(const struct pk *p, int y, int z)
{
    return PK_PAD + (size_t)z * p->plane + (size_t)y * p->pitch;
}
