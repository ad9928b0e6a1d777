/* ckpt/boundary: the boundaries of a box that is not periodic, in the layout of RAMSES.
 *
 * RAMSES surrounds the box (one coarse cell) by a layer of coarse cells on both sides of each axis
 * that is not periodic. A region is a face of the box, with or without the adjacent edges and
 * corners, and has its own list of octs. An oct beyond the boundary exists where its reference, the
 * oct inside the boundary, exists; its cells follow from the cells of the reference. Coarse cells
 * are numbered by their offset from the box, -1..1 along each axis: code (i+1) + 3(j+1) +
 * 9(k+1). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "oct/mesh.h"

enum { BOUNDARY_MAX = 6, BOUNDARY_CODES = 27, BOUNDARY_BOX = 13 };
/* Values of RAMSES's bound_type. */
enum boundary_type { BOUNDARY_REFLECT = 1, BOUNDARY_OUTFLOW = 2, BOUNDARY_IMPOSED = 3 };

struct boundary {
    int n; /* number of regions; 0: periodic box */
    struct boundary_region {
        int face;            /* face of the box, 0..5 for −x,+x,−y,+y,−z,+z */
        int low[3], high[3]; /* range of coarse cells covered, -1..1 with the box at 0 */
        enum boundary_type type;
        double state[NVAR_MAX]; /* imposed density, velocity (3), pressure, scalars */
        double field[3];        /* imposed magnetic field */
    } region[BOUNDARY_MAX];
};

/* Rule for the values of an oct beyond the boundary. */
struct boundary_rule {
    int region;            /* index of the region, -1: no octs */
    int shift[3];          /* offset from the box, -1..1 per axis */
    unsigned char from[8]; /* source cell in the reference oct by cell */
    bool flip[3];          /* vector components that change sign */
    int imposed;           /* index of the region that imposes the state, -1: none */
    int step[3], nstep;    /* regions passed on the way into the box, and their number */
};

struct boundary_layout {
    int n[3], skip[3]; /* coarse cells along each axis · coarse cells below the box */
    struct boundary_rule rule[BOUNDARY_CODES];
    int ncode, code[BOUNDARY_CODES]; /* codes that have octs, in order of region */
};

struct params;

/* Reads the regions from &BOUNDARY_PARAMS. Later regions of a face replace earlier ones. Regions of
 * edges alone repeat the face regions and are ignored. */
void boundary_of_params(const struct params *p, struct boundary *b);
/* Inverse of boundary_of_params without imposed states: sets faces and types in
 * &BOUNDARY_PARAMS. */
void boundary_to_params(const struct boundary *b, struct params *p);
/* Reads types and imposed states from a namelist with the regions of b. Returns false, with b
 * unchanged, if the regions differ or the namelist cannot be read. */
bool boundary_types(struct boundary *b, const char *namelist, size_t bytes);
void boundary_faces(const struct boundary *b, bool bounded[6]);
/* Computes the positions and rules of octs beyond the boundaries. An error if an axis has a
 * boundary on one side only. where: path of the checkpoint, for messages. */
MUST_USE enum err boundary_lay_out(const struct boundary *b, int ndim, const char *where,
                                   struct boundary_layout *out);
/* Extrapolates the potential to the eight cells of an oct beyond the boundary from the reference
 * oct, linearly along each axis. */
void boundary_phi(const struct boundary_rule *r, const double in[8], double out[8]);
/* The magnetic field on the faces of the eight cells of an oct beyond the boundary from that of the
 * reference oct. Along the boundary it is copied, or imposed. Across it, it is antisymmetric about
 * its value on a reflecting wall; with outflow it goes on with the gradient of the nearest cell;
 * where a state is imposed it keeps its value on the boundary. */
void boundary_field(const struct boundary *b, const struct boundary_rule *r,
                    const double *const in[6], double out[6][8]);
