/* galaxy: the initial state of one galaxy or of two that merge (docs/method/galaxies.md), RAMSES's
 * patch merger: discs of gas in rotation by tables of the circular velocity, and particles in text
 * files, as &MERGER_PARAMS describes them.
 *
 * The state of a cell depends on its centre and its size alone. Lengths, speeds and masses are in
 * code units after merger_open. */
#pragma once
#include "comm/comm.h"
#include "oct/mesh.h"
#include "part/part.h"
#include "phys/units.h"

/* Units of the namelists of RAMSES's patch, which have none of their own: kpc, 1e9 solar masses per
 * kpc³, and the time for which G = 1. */
struct units merger_units(void);

/* ---- circular velocity ---- */

/* A table of the circular velocity: rows of radius and speed, radii ascending. */
struct curve {
    int64_t n; /* rows, at least two */
    double *r, *v;
};

/* Reads the text table: a row has a radius in kpc and a speed in km/s; the unit of the results is
 * length and speed (cgs). Call curve_free after errors too. Local. */
MUST_USE enum err curve_read(const char *path, double length, double speed, struct curve *c);
void curve_free(struct curve *c);
/* Speed at radius r, linear between rows; below the first row the line of the first two rows
 * continues, beyond the last row that of the last two. */
double curve_at(const struct curve *c, double r);

/* ---- discs ---- */

struct disc {
    double center[3];        /* from the low corner of the box */
    double axis[3];          /* unit vector of the rotation */
    double v[3];             /* velocity of the galaxy */
    double mass;             /* of its gas; 0: none */
    double a, cut, h, cut_h; /* scale radius and cut-off radius, scale height and cut-off height */
    double rho;              /* density at the centre */
    struct curve curve;
};

struct merger {
    int n; /* galaxies: 1 or 2 */
    bool toomre, gaussian;
    struct disc disc[2];
    double to[3];      /* from the centre of galaxy 1 to that of galaxy 2, divided by its square */
    double share;      /* M1 / (M1 + M2): where the space of galaxy 2 begins along `to` */
    double rho_min;    /* least density in a disc */
    double cs2;        /* square of the isothermal speed of sound of the discs */
    double outside[2]; /* density and pressure around the discs */
    double metals;     /* mass fraction of metals, at the radius cut / 2; 0: no metals */
};

/* Takes &MERGER_PARAMS and reads the tables. Parameters that describe no galaxy and damaged tables
 * are errors. metal: whether the gas has metals. Call merger_close after errors too. Local. */
MUST_USE enum err merger_open(struct merger *g, const struct params *par, const struct units *u,
                              bool metal);
void merger_close(struct merger *g);
/* Density, velocity, pressure and, with metals, the metallicity of the cell of size dx whose centre
 * is x. Local. */
struct merger_cell {
    double d, v[3], p, z;
};
struct merger_cell merger_cell(const struct merger *g, const double x[3], double dx);

/* ---- particles ---- */

/* Number of particles that the files of both galaxies have. (collective) */
MUST_USE enum err merger_count(const struct params *par, const struct comm *c, int64_t *n);
/* Appends the particles of the files of both galaxies as dark matter, turned from the z axis to the
 * axis of their galaxy; ids in the order of the lines of both files. Particles outside of the box
 * are left out. Each rank reads a part of a file; part_distribute must follow. (collective) */
MUST_USE enum err merger_particles(const struct params *par, const struct units *u,
                                   const struct mesh *m, const struct comm *c, struct parts *p);
/* The axis of galaxy k, 0 or 1, as a unit vector. */
MUST_USE enum err merger_axis(const struct params *par, int k, double axis[3]);
/* The rotation about an axis in the xy plane that turns the z axis to `axis`. */
void merger_rotation(const double axis[3], double matrix[3][3]);
