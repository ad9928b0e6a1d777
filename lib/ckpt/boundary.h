/* ckpt/boundary: the boundaries of a box that is not periodic, in the layout of RAMSES.
 *
 * RAMSES surrounds the box (one coarse cell) by a layer of coarse cells on both sides of each axis
 * that is not periodic. A region is a face of the box, with or without the adjacent edges and
 * corners, and has its own list of octs. An oct beyond the boundary exists where its reference, the
 * oct inside the boundary, exists; its cells follow from those of the reference. Coarse cells are
 * numbered by their offset from the box, -1..1 along each axis: code (i+1) + 3(j+1) + 9(k+1). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "oct/mesh.h"

enum { BOUNDARY_MAX = 6, BOUNDARY_CODES = 27, BOUNDARY_BOX = 13 };
/* RAMSES's bound_type */
enum boundary_type { BOUNDARY_REFLECT = 1, BOUNDARY_OUTFLOW = 2, BOUNDARY_IMPOSED = 3 };

struct boundary {
    int n; /* 0: the box is periodic */
    struct boundary_region {
        int face;            /* −x,+x,−y,+y,−z,+z */
        int low[3], high[3]; /* coarse cells that it covers, -1..1, the box being 0 */
        enum boundary_type type;
        double state[NVAR_MAX]; /* imposed: density, velocity (3), pressure, scalars */
    } region[BOUNDARY_MAX];
};

/* The values of the cells of an oct beyond the boundary. */
struct boundary_rule {
    int region;            /* -1: there are no octs */
    int shift[3];          /* -1, 0, 1: offset from the box */
    unsigned char from[8]; /* cell of the reference oct in the box */
    bool flip[3];          /* this component of vectors changes sign */
    int imposed;           /* region that imposes the state, -1: none */
};

struct boundary_layout {
    int n[3], skip[3]; /* coarse cells along each axis · those below the box */
    struct boundary_rule rule[BOUNDARY_CODES];
    int ncode, code[BOUNDARY_CODES]; /* codes that have octs, region by region */
};

struct params;

/* Regions from &BOUNDARY_PARAMS. Later regions of a face replace earlier ones. Regions of edges
 * alone repeat those of the faces and are ignored. */
void boundary_of_params(const struct params *p, struct boundary *b);
/* The reverse, but for imposed states: &BOUNDARY_PARAMS whose faces and types are those of b. */
void boundary_to_params(const struct boundary *b, struct params *p);
/* Types and imposed states from a namelist whose regions are those of b. False, with b unchanged,
 * if they are others or the namelist cannot be read. */
bool boundary_types(struct boundary *b, const char *namelist, size_t bytes);
void boundary_faces(const struct boundary *b, bool bounded[6]);
/* The positions and the rules of octs beyond the boundaries. An error if an axis has a boundary on
 * one side only. where: the checkpoint, for messages. */
MUST_USE enum err boundary_lay_out(const struct boundary *b, int ndim, const char *where,
                                   struct boundary_layout *out);
/* Potential of the eight cells beyond, from those of the reference oct: linear along each axis. */
void boundary_phi(const struct boundary_rule *r, const double in[8], double out[8]);
