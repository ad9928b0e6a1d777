/* deposit: smoothed particles as an octree with gas, and as columns along the line of sight.
 *
 * A cell of the octree is divided while it has more than `most` particles and is wider than half
 * the least smoothing length of these. Cells that touch, across faces, edges or corners, differ by
 * at most one level. Each particle gives its mass, momentum and energy to the leaf cells in shares
 * that are the integrals of its kernel over them, by the midpoint rule with points at most 2h/3
 * apart, divided by their sum: shares are positive and add up to 1, so all three are conserved. A
 * kernel within one cell goes to this cell as a whole.
 *
 * Particles are taken in the order of their keys and ids: bits depend neither on the order in
 * memory nor on threads. Cells that no kernel reaches have the density DEPOSIT_FLOOR of the mean
 * one, at rest, with the mean specific energy. Local; uses the threads of OpenMP. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "oct/mesh.h"
#include "smooth/smooth.h"

enum { DEPOSIT_VALUES = 5, DEPOSIT_MOST = 4 };
static const double DEPOSIT_FLOOR = 1e-20;

struct deposit_gas {
    int64_t n;
    const double *x[3], *v[3], *h;
    const double *e; /* internal energy per mass */
    const int64_t *id;
    double mass; /* of a particle */
    enum smooth_kernel kernel;
};

/* The cube that the octree divides. domain: the part of it that has gas, in units of the cube;
 * period of each axis, 0: none. A box that is no cube lies in the middle. */
struct deposit_cube {
    double corner[3], side;
    double lo[3], hi[3], period[3];
    bool open; /* the cube as a whole is not periodic */
};
/* The cube of a periodic box, or, with side NULL, of particles in open space: it has their kernels,
 * and its centre is the origin of coordinates if this is among them. */
struct deposit_cube deposit_cube(const struct deposit_gas *g, const double lo[3],
                                 const double side[3]);

/* value[8*oct + cell]: mass, momentum, energy per volume. child[8*oct + cell]: oct of the next
 * level, −1 of a leaf. Octs are in Morton order. */
struct deposit_level {
    int64_t n;
    okey *key;
    int64_t *child;
    double (*value)[DEPOSIT_VALUES];
};
struct deposit {
    struct deposit_cube cube;
    int levelmin, levelmax; /* finest level without leaf cells in its parent; finest level */
    double floor;           /* density of cells without particles */
    struct deposit_level level[LEVEL_MAX + 2];
};

/* Octs alone; then their values. most: 0: DEPOSIT_MOST. Error: a position that is not in the
 * cube. */
MUST_USE enum err deposit_new(const struct deposit_gas *g, const struct deposit_cube *cube,
                              int most, int levelmax, struct deposit **out);
void deposit_fill(struct deposit *d, const struct deposit_gas *g);
void deposit_free(struct deposit **d);

/* ---- kernels: C f(q), with the integral over space 1 ---- */

struct deposit_kernel {
    double support, norm;
    void (*f)(int64_t n, double *q); /* replaces each q ≥ 0 by f(q) */
};
const struct deposit_kernel *deposit_kernel(enum smooth_kernel k);

/* ---- columns ---- */

/* Integrals of a kernel along straight lines, by the square of their distance b from its centre:
 * h² ∫ W dz at (b/h)² = i / scale; linear in between, to 1e-7 of the largest. */
enum { DEPOSIT_LINE = 4096 };
struct deposit_line {
    const struct deposit_kernel *kernel;
    double scale, y[DEPOSIT_LINE + 2];
};
void deposit_line_init(struct deposit_line *l, enum smooth_kernel k);
/* at: (b/h)² scale, of which those beyond the support give 0. */
static inline double deposit_line(const struct deposit_line *l, double at)
{
    const int i = (int)(at < DEPOSIT_LINE ? at : DEPOSIT_LINE);
    return l->y[i] + (at < DEPOSIT_LINE ? at - i : 0) * (l->y[i + 1] - l->y[i]);
}

/* A region seen along its third axis: n[0] × n[1] pixels; positions in any unit of length. */
struct deposit_raster {
    int n[2];
    double lo[3], hi[3];
    bool whole;         /* all of the third axis counts */
    double *sum, *norm; /* [n[1]*n[0]] */
};
/* Adds a·share/area to sum and b·share/area to norm of each pixel, where share is the part of the
 * kernel within the pixel and the depth of the region. Shares of all pixels, including those beyond
 * the region, add up to 1 as long as the kernel covers few of them; otherwise to 1e-5. */
void deposit_draw(const struct deposit_line *l, const struct deposit_raster *r, const double x[3],
                  double h, double a, double b);
