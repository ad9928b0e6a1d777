/* pk/pk_priv: what the files of this module share. Private to pk. */
#pragma once
#include <assert.h>
#include <complex.h>
#include <stddef.h>
#include <string.h>

#include "base/sum.h"
#include "fft/fft.h"
#include "pk/pk.h"
#include "pk/window.h"

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
    double max, taken; /* the total that was announced; Σ |m| assigned to this rank's block */
    struct sum m[PK_MESHES], m2[PK_MESHES]; /* Σ m of all items, Σ m² of points; of this rank */
    unsigned sampled;                       /* set of meshes with samples */
    size_t room;   /* doubles per dimension, for weights of the widest cube of a batch */
    int64_t items; /* room to sort so many points: as pk_cells has them, tiles, and their order */
    window4 *cell;
    int32_t *tile, *item;
    /* ranks along y and z; part of each row: while items are sent */
    int grid[2], *part[2];
};

/* Where the row of cells (0.., y, z) of this rank's block begins. */
static inline size_t pk_row(const struct pk *p, int y, int z)
{
    return PK_PAD + (size_t)z * p->plane + (size_t)y * p->pitch;
}

static inline int pk_wrap(int i, int n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

/* From the units of items to cells and quanta. */
struct pk_cells {
    window4 n, fold;
    double quanta; /* in a unit of mass: a power of two */
};

static inline struct pk_cells pk_cells_of(const struct pk *p)
{
    double n = p->par.n, fold = p->par.fold;
    return (struct pk_cells){{n, n, n, n}, {fold, fold, fold, fold}, 1 / p->quantum};
}

/* x, y, z and size of an item. */
static inline void pk_item_line(const struct pk_item *it, window4 *line)
{
    static_assert(offsetof(struct pk_item, size) == 3 * sizeof it->x[0], "size is next to x");
    memcpy(line, it, sizeof *line);
}

/* Position in cells, 0 ≤ x < n, and mass in quanta. */
static inline __attribute__((always_inline)) void pk_cells(const struct pk_cells *to,
                                                           const struct pk_item *it, window4 *out)
{
    window4 x;
    pk_item_line(it, &x);
    x *= to->fold;
    x = (x - WINDOW_FLOOR(x)) * to->n;
    x = (window4)((window4_bits)x & (x < to->n));
    x[3] = it->m * to->quanta;
    *out = x;
}

/* Points or samples, not both (pk/points). */
void pk_points(struct pk *p, int64_t n, const struct pk_item *it);
