/* tracer: particles that follow the gas. Method: docs/method/tracers.md.
 *
 * A tracer is a particle of a family up to 0 (part/families.def): it has no gravity, no mass and no
 * energy. Its column of masses has the mass of gas that it stands for. Gas tracers move in one of
 * two ways:
 *
 * - classical: by the velocity of the gas, interpolated at the tracer. tracers_aim finds the
 *   velocity at the start of the step of a level, tracers_drift the one at its end and the new
 *   position;
 * - Monte-Carlo (Cadiou, Dubois & Pichon 2019): a tracer is at the centre of a leaf cell, and jumps
 *   to a neighbouring one with the probability that a parcel of the cell's gas leaves through that
 *   face (tracers_jump). After the mesh has changed, tracers_settle moves tracers to the centres of
 *   leaf cells.
 *
 * Random numbers depend on the id of a tracer, the time and the use, so that a tracer takes the
 * same way on any number of ranks and after a restart. A tracer that has left its level in this
 * step (its host does not contain it) moves no more in it. */
#pragma once
#include "base/rng.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "hydro/hydro.h"
#include "oct/mesh.h"
#include "param/param.h"
#include "part/part.h"
#include "phys/stars.h"
#include "sink/places.h"

/* Ways in which gas tracers move. */
enum tracer_way {
    TRACER_NONE,   /* the run has no tracers, or no gas */
    TRACER_DRIFTS, /* classical */
    TRACER_JUMPS   /* Monte-Carlo */
};
enum tracer_way tracer_way(const struct params *p);

/* Uses of random numbers; each draws from a stream of its own. */
enum tracer_use {
    TRACER_USE_PLACE, /* placement, by cell */
    TRACER_USE_JUMP,
    TRACER_USE_DESCEND, /* from a coarser cell into the level */
    TRACER_USE_SETTLE,
    TRACER_USE_STARS,
    TRACER_USE_EJECTA,
    TRACER_USE_SINKS,
    TRACER_USE_JETS
};

struct tracer_flux; /* mass fluxes of the last Godunov step of each level (Monte-Carlo) */

/* Arguments of the functions below; all pointers are lent. */
struct tracer_run {
    const struct params *par;
    const struct hydro_par *hydro;
    const struct comm *comm;
    const struct domain *dom;
    const struct mesh *mesh;
    struct parts *parts;
    struct tracer_flux *flux; /* NULL unless TRACER_JUMPS */
    const int *nsubcycle;     /* [LEVEL_MAX + 2] steps of level l+1 per step of level l */
    const double *dt;         /* [LEVEL_MAX + 2] steps of the levels */
    int nstep;                /* number of fine steps so far: no two steps of a level share it */
};

/* Random numbers of a key (a tracer's id, a cell's key) for a use in the present step of level l.
 */
struct rng tracer_rng(const struct tracer_run *r, uint64_t key, int l, enum tracer_use use);
/* The seed of these streams (base/rng.h), whose step is nstep. */
uint64_t tracer_seed(const struct tracer_run *r, int l, enum tracer_use use);

/* ---- start ---- */

/* Places the tracers that &TRACER_PARAMS describes on this rank's cells, behind all other particles
 * and with the following ids. The mesh and the gas are complete, all particles are on levelmin.
 * *n: number of new tracers on all ranks. (collective, agreed) */
MUST_USE enum err tracers_place(struct tracer_run *r, int64_t *n);

/* The number of tracers that tracers_place will make, before there is a mesh, from the number of
 * cells and the mass of the gas in the box (NAN: unknown, and then *n may be, too). (collective,
 * agreed) */
MUST_USE enum err tracers_expect(struct tracer_run *r, double cells, double gas, double *n);

/* ---- classical ---- */

/* Velocity of the gas at the classical tracers of level l (first[l]..first[l+1]-1), at the start of
 * the step; ghosts of the gas of l and l-1 are valid. Local. */
void tracers_aim(struct tracer_run *r, int l);
/* Moves them by the step of level l, after the gas. Local. */
void tracers_drift(struct tracer_run *r, int l);

/* ---- Monte-Carlo ---- */

/* Data of the moves (tracer/flux.h). */
struct tracer_flux *tracer_flux_new(void);
void tracer_flux_free(struct tracer_flux **f);

/* At the start of a step of level l, after part_enter: tracers in cells that were split or merged
 * since the last call go to centres of leaf cells, of all levels from l on; those of a split cell
 * to a child with a probability of its mass. Ghosts of the gas are valid. All particles are on
 * level l before and after. (collective) */
void tracers_settle(struct tracer_run *r, int l);
/* Before the steps of level l within one of level l−1: begins the sums of the mass that enters
 * level l through its boundary. Local. */
void tracers_watch_entry(struct tracer_run *r, int l);
/* Before the Godunov step of level l: the receiver of its mass fluxes (hydro_par.flow), which is
 * lent until tracers_jump. Local. */
const struct patch_flow *tracers_watch(struct tracer_run *r, int l);
/* After the Godunov step of level l: tracers of level l alone jump with the mass that left their
 * cells in this step, those of level l−1 with the mass that entered level l. (collective) */
void tracers_jump(struct tracer_run *r, int l);

/* Where stars note the mass that they swap with the gas (term_run.ledger). */
struct star_ledger *tracers_ledger(struct tracer_flux *f);
/* After the particles of level l have moved, or with `coarse` after the terms of a coarse step:
 * tracers follow the mass that stars have swapped with the gas since the last call. (collective) */
MUST_USE enum err tracers_swap(struct tracer_run *r, int l, bool coarse);

/* After sinks have taken gas, when the gas is that of after: gas tracers of these cells join the
 * sinks. l: the level whose step it was, 0: at a coarse step. (collective) */
MUST_USE enum err tracers_join_sinks(struct tracer_run *r, int l);
/* At the end of a coarse step: tracers of sinks go to their sinks, or to those that these have
 * merged into. Those of a sink that has left the box are beyond its boundary. Local. */
void tracers_follow_sinks(struct tracer_run *r, const struct sink_places *at);
/* After black holes have released energy: tracers of the gas in their jets go to cells of these.
 * All particles are on levelmin, and ghosts of the gas are valid. (collective) */
void tracers_launch(struct tracer_run *r);
