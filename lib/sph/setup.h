/* sph/setup: how a setup describes its particles: candidates with numbers from 0, each of which is
 * placed on its own, whatever the rank. Ids number those that belong to the set, from 1 in the
 * order of candidates. Private header of the module. */
#pragma once
#include "sph/sph.h"

enum setup_lattice { SETUP_HCP, SETUP_CUBIC, SETUP_RANDOM };

/* A box with n places along each axis: planes of hexagonal close packing (rows along x, planes
 * normal to z), cubes, or n[0]·n[1]·n[2] random points. A first place of close packing is the
 * corner. */
struct setup_block {
    double lo[3], side[3];
    int64_t n[3];
};

struct setup_point {
    double x[3], v[3], u;
    double rho; /* for the first guess of h */
};

struct setup {
    const struct sph *s;
    const struct param_sph *par;
    enum setup_lattice lattice;
    int nblock;
    struct setup_block block[2];
    int64_t n;             /* candidates */
    double mass;           /* of all particles */
    double least;          /* lowest density in a box: rho0, unless the setup sets it */
    double energy;         /* thermal energy to which u is scaled; 0: u stays */
    double lo[3], side[3]; /* the box, unless open */
    bool open;
    /* Places candidate i; false: it does not belong to the set. */
    bool (*place)(const struct setup *k, int64_t i, struct setup_point *q);
    /* Numbers of the setup of a disc: gravitational constant times the central mass, its place and
     * velocity, and M/(2π ∫ R^(1-p) dR). */
    double gm, centre[3], drift[3], sigma;
};

/* A setup plans: sets block, n, mass, place and the box. */
typedef enum err setup_fn(struct setup *k);
#define SETUP(name, function) setup_fn function;
#include "sph/setups.def"

/* ---- lattice.c ---- */

/* Distances of rows and planes over that of neighbours in a row. */
void setup_steps(enum setup_lattice l, double step[3]);
/* Places along an axis of this length nearest to the distance `step`: an even number of rows and
 * planes of close packing, so that a periodic box continues them. */
int64_t setup_count(enum setup_lattice l, int axis, double length, double step);
/* The box lo, side as one block with npx places along x; it stretches the lattice along y and z. */
void setup_whole(struct setup *k, const double lo[3], const double side[3]);
int64_t setup_places(const struct setup_block *b);
/* The position of a candidate; returns the number of its block. */
int setup_at(const struct setup *k, int64_t i, double x[3]);
/* A length over which kernels do not meet their images: twice the support where the particles have
 * this volume each, and a twentieth. */
double setup_thickness(const struct setup *k, double volume);

/* u of a pressure; 0 where the gas has no energy equation. */
double setup_energy(const struct setup *k, double pressure, double rho);
