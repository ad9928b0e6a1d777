/* pk/pk_priv: structs and functions shared by the files of pk. Private to pk. */
#pragma once
#include <assert.h>
#include <complex.h>
#include <stddef.h>
#include <string.h>

#include "base/sum.h"
#include "fft/fft.h"
#include "pk/pk.h"
#include "pk/window.h"

/* Padding of rows. Points are added to four cells of a row at a time, of which some may be before
 * the first or after the last: these have memory between the rows, and are added to their periodic
 * images at the end. */
enum { PK_PAD = 8, PK_BEFORE = 2, PK_AFTER = 4 }; /* padding between two rows: one cache line */

/* Whether eight cells are one vector of the processor. Otherwise whole rows would take more time
 * than the waits for stores. */
#ifdef __AVX512F__
enum { PK_ROWS = 1 };
#else
enum { PK_ROWS = 0 };
#endif

struct pk {
    const struct comm *c;
    struct pk_par par;
    int nmesh;
    struct fft *fft;
    /* Masses of this rank's block, in units of quantum; [1]: of positions shifted by half a cell;
     * NULL: empty. Rows and planes are padded: strides of a power of two would map them to the same
     * few cache sets. */
    int64_t *mass[PK_MESHES][2];
    double complex *wave[PK_MESHES]; /* δ_k/n³ like fft->k; NULL: no mass, or not requested */
    size_t pitch, plane;
    double quantum;
    double max, taken; /* total announced in pk_new; Σ |m| assigned to this rank's block */
    struct sum m[PK_MESHES], m2[PK_MESHES]; /* Σ m of all items, Σ m² of points; of this rank */
    unsigned sampled;                       /* set of meshes with samples */
    bool rows;     /* cubes are added by whole rows of a block, and in runs: PK_ROWS */
    size_t room;   /* capacity in doubles per axis, for weights of the widest cube of a batch */
    int64_t items; /* capacity of the sorting buffers in points: cells and masses, tiles, order */
    window4 *cell;
    int32_t *tile, *item;
    /* ranks along y and z; part of each row, while items are sent */
    int grid[2], *part[2];
};

/* Offset of the row of cells (0.., y, z) in this rank's block. */
static inline size_t pk_row(const struct pk *p, int y, int z)
{
    return PK_PAD + (size_t)z * p->plane + (size_t)y * p->pitch;
}

static inline int pk_wrap(int i, int n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

/* Conversion from units of items to cells and quanta. */
struct pk_cells {
    window4 n, fold;
    double quanta; /* quanta per unit of mass, a power of two */
};

static inline struct pk_cells pk_cells_of(const struct pk *p)
{
    double n = p->par.n, fold = p->par.fold;
    return (struct pk_cells){{n, n, n, n}, {fold, fold, fold, fold}, 1 / p->quantum};
}

/* Loads x, y, z and size of an item. */
static inline void pk_item_line(const struct pk_item *it, window4 *line)
{
    static_assert(offsetof(struct pk_item, size) == 3 * sizeof it->x[0], "size is next to x");
    memcpy(line, it, sizeof *line);
}

/* Computes position in cells, 0 ≤ x < n, and mass in quanta. */
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

/* Adds m[i] w[i] to row[i], i < 4, rounded as by llrint: adding 1.5·2^52 rounds to the nearest
 * integer, to even. |m| < 2^51. */
typedef int64_t pk_long4 __attribute__((vector_size(32), aligned(8), may_alias));
static inline void pk_add_four(char *row, window4 m, window4 w)
{
    const window4 shift = {0x1.8p52, 0x1.8p52, 0x1.8p52, 0x1.8p52};
    *(pk_long4 *)row += (pk_long4)(m * w + shift) - (pk_long4)shift;
}

/* Adds n cubes to the meshes (pk/cubes). */
void pk_cubes(struct pk *p, int64_t n, const struct pk_item *it);
/* Adds n points, or n samples, to the meshes (pk/points). */
void pk_points(struct pk *p, int64_t n, const struct pk_item *it);
