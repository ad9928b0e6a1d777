/* galaxy/dice: initial conditions from files of Gadget with gas, dark matter and stars, as the
 * program DICE writes them (Perret 2016) and as RAMSES reads them with &DICE_PARAMS
 * (docs/method/galaxies.md). Particles of dark matter and stars become particles of the run;
 * particles of gas become the gas of the cells, and no more. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"
#include "part/part.h"
#include "phys/units.h"
#include "snap/snap.h"

enum { DICE_TYPES = 6, DICE_NAME = 5 };

/* Numbers per particle that are spread over the cells. */
enum dice_sum {
    DICE_MASS,
    DICE_MOMENTUM,
    DICE_ENERGY = DICE_MOMENTUM + 3,
    DICE_METAL,
    DICE_MARK,
    DICE_SUMS
};

struct dice {
    const struct params *par; /* lent */
    struct units units;
    bool metal; /* whether the gas has metals */
    struct snap_layout layout;
    char name[SNAP_COLUMNS + 1][DICE_NAME];
    double length, speed, mass, energy, time; /* code units per unit of the files */
    int64_t kept; /* particles of the run in all files, before those outside of the box are left
                     out */
    /* Particles of gas, and those of type ic_mask_ptype, whose mass is the mark; further columns
     * (numbers in col) have their energy and metals per mass, the part of the mass that is gas,
     * and that which is a mark. */
    struct parts gas;
    int u, z, is_gas, is_mark;
    bool read;
};

/* Takes &DICE_PARAMS and reads the headers of all files. Call dice_close after errors too. Local.
 */
MUST_USE enum err dice_open(struct dice *d, const struct params *par, const struct units *u,
                            bool metal);
void dice_close(struct dice *d);

/* Appends dark matter and stars; each rank reads an equal share of the rows; part_distribute must
 * follow. (collective) */
MUST_USE enum err dice_particles(struct dice *d, const struct mesh *m, const struct comm *c,
                                 struct parts *p);

/* Properties of the gas of a run to which the particles of gas are added. */
struct dice_cells {
    int nvar, metal, mark; /* variables of the gas; metal, mark: −1: none */
    double gamma, smallr;
};
/* Sets the gas of own octs of all levels, without magnetic energy: the clouds of the particles, or
 * with amr_struct their cells, and where they leave less than IG_rho the surrounding gas. The sum
 * over leaf cells has the mass, the momentum, the energy and the metals of the particles, but for
 * the latter. Reads the particles at the first call. (collective) */
MUST_USE enum err dice_gas(struct dice *d, struct mesh *m, const struct comm *c,
                           const struct domain *dom, const struct dice_cells *q);

/* Vector potential of the fields of galaxies at a point, without ic_mag_const. Local. */
void dice_potential(const struct params *par, const double x[3], double A[3]);

/* ---- private to dice*.c ---- */

bool dice_skips(const struct dice *d, int type);             /* whether a type is left out */
void dice_path(const struct dice *d, int k, char path[600]); /* file k, from 0 */
/* Reads particles of gas and marks, each rank a share. Local. */
MUST_USE enum err dice_read_gas(struct dice *d, const struct mesh *m, const struct comm *c);
/* Spreads the particles over the cells of the level of the leaf that has them; all values of a cell
 * are per volume, as the variables of the gas. (collective) */
MUST_USE enum err dice_spread(struct dice *d, struct mesh *m, const struct comm *c,
                              const struct domain *dom, const struct dice_cells *q);
