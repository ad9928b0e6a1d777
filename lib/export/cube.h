/* export/cube: fields of an octree on a uniform mesh of the box or of a part of it, in bounded
 * memory.
 *
 * A cell of the cube that lies in a leaf cell gets its value. Where several leaf cells overlap it,
 * it gets their mean by volume or, for velocities, temperatures and fractions, by mass, with the
 * shares of their volume: sums over the cube are those over the leaf cells. The mass of a particle
 * belongs to the cell of the cube that it is in.
 *
 * Terms are added as integers of 128 bits, multiples of a quantum that the maximum of the field
 * fixes, so that the sums do not depend on the order of cells, pieces or ranks. */
#pragma once
#include "export/field.h"

struct cube_ask {
    int n;     /* cells along the longest side of the region; 0: by level */
    int level; /* cells of this level, at whose faces the region then ends */
    bool part; /* region lo to hi, in code units; else the box */
    double lo[3], hi[3];
    const char *fields; /* as for export_find */
    bool physical;      /* values in physical units */
    int64_t memory;     /* bytes; 0: the default */
};

struct cube {
    struct export_list list;
    int ndim;
    bool physical;
    int64_t n[3];              /* cells; 1 along missing axes */
    double lo[3], hi[3], side; /* corners, and the side of a cell, in units of the box */
    double per_cell;           /* cells of the cube a box: 1/side */
    int64_t memory;
    double max[EXPORT_FIELDS], max_rho; /* largest magnitudes in the region */
};

/* Prepares; the source must be open and be kept open. Reads it once. q is zero before;
 * cube_free must be called after errors too. (one rank) */
MUST_USE enum err cube_open(struct cube *q, struct source *s, const struct cube_ask *ask);
void cube_free(struct cube *q);
static inline int64_t cube_cells(const struct cube *q)
{
    return q->n[0] * q->n[1] * q->n[2];
}
/* Receives values of cells first … first + n − 1 of a field, x fastest. */
typedef enum err cube_take(void *ctx, int field, int64_t first, int64_t n, const double *value);
/* Reads all values. in_order: field by field, each from its first cell to the last; otherwise the
 * fields of a part of the mesh together, which reads the checkpoint less often. */
MUST_USE enum err cube_read(struct cube *q, bool in_order, cube_take *take, void *ctx);
/* Unit of the values, and what a number of them is in that unit: 1 if they are physical. */
struct unit cube_unit(const struct cube *q, int field);
