/* sink/cloud: the cloud of a sink, a sphere of points half a finest cell apart, and its cells.
 *
 * Each point is a cube of one cell of the level it is on, and spreads over the eight cells around
 * it (cloud in cell). A point is on the level of the finest oct that contains it; on that level it
 * weighs on leaf cells alone. The points are not particles: every rank finds those that concern its
 * own cells, from a copy of the sink (sink/copies.h), in one order. */
#pragma once

#include "oct/gas_kern.h"
#include "sink/copies.h"

struct sink_cloud {
    int n, nheavy;
    double (*at)[3];       /* [n] from the centre, code units */
    bool *heavy;           /* [n] has a share of the mass */
    double radius, volume; /* of all, of a point */
};

/* Radii in cells of size dx: of the cloud, and of its part with mass. */
void sink_cloud_make(struct sink_cloud *c, int radius, int massive, double dx);
void sink_cloud_free(struct sink_cloud *c);
/* From the sink, how far away can the centre of a cell of level l be on which its cloud weighs? */
double sink_cloud_reach(const struct sink_cloud *c, const struct mesh *m, int l);

/* A cell and its weight. */
struct sink_cell {
    lidx oct;
    int cell;
    double w;    /* of the points on the level, in volumes of a point */
    double r[3]; /* its centre - the place of the copy */
};
struct sink_cells {
    int64_t n;
    struct sink_cell *cell; /* FREE */
};
/* The gas in a cell of the level: density, at least smallr, velocity, specific energy. */
struct sink_cell_gas {
    double d, v[3], e;
};
static inline struct sink_cell_gas sink_cell_gas(const struct level *lv, const struct sink_cell *c,
                                                 double smallr)
{
    const struct gas_cell u = gas_cell_above(lv, c->oct, c->cell, smallr);
    struct sink_cell_gas g = {.d = u.rho, .e = u.e / u.rho};
    for (int d = 0; d < 3; d++) g.v[d] = u.m[d] / u.rho;
    return g;
}

/* Own leaf cells of level l on which points of this level weigh, around x. */
void sink_cloud_cells(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                      struct sink_cells *out);
/* Deposit of a cloud in the cells of a level. */
struct sink_trace {
    double mass, quantum;    /* of each heavy point; the unit of the masses */
    double each, each_heavy; /* number that a point counts for, and a heavy one besides */
    double mark;             /* added once to the number of a cell that a point touches */
};
/* Adds it to own cells of level l, of points on this level or a finer one: masses in units of
 * quantum, numbers in units of 2^-32. number: NULL: none. */
void sink_cloud_deposit(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                        const struct sink_trace *t, int64_t (*mass)[8], int64_t (*number)[8]);
/* Adds the acceleration of the points on level l in own octs, interpolated as for particles
 * (part_synchro); ghosts of the force are valid on l and l-1. reflect: as struct parts has it. */
void sink_cloud_force(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                      const bool reflect[6], struct sum force[3]);
