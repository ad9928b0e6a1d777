/* sink/cloud: the cloud of a sink, a sphere of points half a finest cell apart, and its cells.
 *
 * Each point is a cube of one cell of its level, and spreads over the eight cells around it (cloud
 * in cell). The level of a point is that of the finest oct that contains it; on this level the
 * point contributes to leaf cells alone. The points are not particles: every rank finds the points
 * that overlap its own cells, from a copy of the sink (sink/copies.h), in a fixed order. */
#pragma once

#include "oct/gas_kern.h"
#include "sink/copies.h"
#include "sparse/rows.h"

struct sink_cloud {
    int n, nheavy;
    double (*at)[3];       /* [n] positions relative to the centre, code units */
    bool *heavy;           /* [n] whether a point carries mass */
    double radius, volume; /* radius of the cloud, volume of a point */
};

/* Makes a cloud. Radii in cells of size dx: of the cloud, and of its part with mass. */
void sink_cloud_make(struct sink_cloud *c, int radius, int massive, double dx);
void sink_cloud_free(struct sink_cloud *c);
/* Maximum distance from the sink of the centre of a cell of level l that overlaps its cloud. */
double sink_cloud_reach(const struct sink_cloud *c, const struct mesh *m, int l);

/* A cell of a cloud and its weight. */
struct sink_cell {
    lidx oct;
    int cell;
    double w;    /* weight: overlap with points of the level, in volumes of a point */
    double r[3]; /* centre of the cell minus position of the copy */
};
struct sink_cells {
    int64_t n;
    struct sink_cell *cell; /* FREE */
};
/* Gas in a cell: density (at least smallr), velocity, specific energy. */
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

/* Mass that a cell loses, per volume, takes energy and scalars with it, at constant velocity and
 * temperature: adds this to the changes u of the cells of its oct. Momentum is up to the caller. */
static inline void sink_cell_lose(const struct level *lv, const struct sink_cell *c,
                                  const struct sink_cell_gas *g, double lost, int nvar,
                                  double (*u)[8])
{
    u[GAS_DENSITY][c->cell] -= lost;
    gas_change_energy(u, c->cell, -lost * g->e);
    for (int v = GAS_SCALARS; v < nvar; v++)
        u[v][c->cell] -= lost * (level_gas(lv, v)[c->oct][c->cell] / g->d);
    if (lv->nener > 0)
        gas_change_energy(u, c->cell, -lost * (gas_cell_energies(lv, c->oct, c->cell) / g->d));
}

/* Own leaf cells of level l on which points of this level weigh, around x. */
void sink_cloud_cells(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                      struct sink_cells *out);
/* Adds to a list the octs of level l that the cubes of the cloud's points meet; some may be there
 * already. */
void sink_cloud_octs(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                     bool ghosts, struct rows *out);
/* Parameters for the deposit of a cloud in the cells of a level. */
struct sink_trace {
    double mass, quantum; /* mass of each heavy point; mass quantum of the deposit */
    /* number that each point counts for; further number of a heavy point */
    double each, each_heavy;
    double mark; /* number added once to each cell that a point touches */
};
/* Adds the points on level l or finer levels to own cells of level l: masses in units of quantum,
 * numbers in units of 2^-32. number: NULL: masses only. */
void sink_cloud_deposit(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                        const struct sink_trace *t, int64_t (*mass)[8], int64_t (*number)[8]);
/* Adds the acceleration of the points on level l in own octs, interpolated as for particles
 * (part_synchro). Ghosts of the force must be valid on l and l-1. reflect: as in struct parts. */
void sink_cloud_force(const struct sink_cloud *c, const struct mesh *m, int l, const double x[3],
                      const bool reflect[6], struct sum force[3]);
