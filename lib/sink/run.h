/* sink/run: the sinks of a run, and what they do in its steps: the phases of sim/step.c that have
 * to do with them. */
#pragma once
#include "ckpt/catalog.h"
#include "param/param.h"
#include "phys/units.h"
#include "sink/merge.h"
#include "sink/pull.h"
#include "sink/ramses.h"

/* The copies of a level, from its deposit to its accretion. */
struct sink_round {
    struct sink_copies copies;
    struct sink_cells *cells; /* [copies.here.n], or NULL */
    struct hydro_change change;
};

/* Data of a sink that its copies need when they sum the gas around it. */
struct sink_visit {
    double m;
    bool direct;
    double kernel2, v[3]; /* of another kind's */
};
enum { SINK_GAS_SUMS = 9 };

/* Laws of another kind in place of those of sink/ramses (hole/horizon). */
struct sink_run;
struct sink_kind {
    enum sink_family family;
    const char *name;                      /* for the log */
    void (*law)(const struct sink_run *s); /* at the time of the run */
    void (*visit)(const struct sink_run *s, const struct sink *a, struct sink_visit *v);
    /* the gas in the cells of a copy's cloud on level l; several threads call it */
    void (*collect)(const struct sink_run *s, int l, const struct sink_visit *v,
                    const struct sink_cells *cells, struct sum sums[SINK_GAS_SUMS]);
    struct sink_gas (*gas)(const struct sum sums[SINK_GAS_SUMS]);
    void (*rates)(const struct sink_run *s, struct sink *a);       /* from the gas of all levels */
    MUST_USE enum err (*accrete)(const struct sink_run *s, int l); /* (collective) */
};

struct sink_state {
    const struct sink_kind *kind; /* NULL: sink/ramses */
    void *own;                    /* the kind's; FREE */
    struct sinks table;
    struct sink_law law; /* of this coarse step */
    struct sink_merging merging;
    struct sink_softening soft;
    double direct; /* mass from which a sink pulls by itself; < 0: none does */
    struct sink_round round[LEVEL_MAX + 2];
    double dense[LEVEL_MAX + 2]; /* by direct ones on the level, of this rank */
};

/* The run at this moment; all lent. */
struct sink_run {
    struct sink_state *sinks; /* NULL: the run has none */
    const struct params *par;
    const struct hydro_par *hydro;
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
    const struct cosmo_par *cosmo; /* NULL without cosmology */
    const bool *reflect;           /* boundaries that mirror, as struct parts has them */
    const int64_t *noct;           /* octs of each level over all ranks */
    const double *dtnew, *dtold;   /* by level */
    double t, aexp;
    struct units units;
    double quantum, mass_sph; /* of mass deposits; unit of the number of particles */
    int nstep_coarse;
    bool on_ghosts; /* the phase works on ghosts, too */
};

/* ---- setup (sink/setup.c) ---- */
/* Of a run with sinks. kind: NULL: those of RAMSES. */
struct sink_state *sinks_new(const struct sink_kind *kind);
void sinks_end(struct sink_state **k);
/* The laws at the time of the run. */
void sinks_law(const struct sink_run *s);
/* The file ic_sink, if there is one; or what a checkpoint has (collective) */
MUST_USE enum err sinks_initial(const struct sink_run *s);
MUST_USE enum err sinks_restore(const struct sink_run *s, const struct catalog *t,
                                const char *path);
/* Stores the sinks of all ranks in the catalog, in place of its former content. (collective) */
MUST_USE enum err sinks_store(const struct sink_run *s, struct catalog *t);

/* ---- steps (sink/run.c) ---- */
/* Is there something to do? Alike on all ranks. */
static inline bool sinks_any(const struct sink_state *k)
{
    return k && k->table.total > 0;
}
struct sink_context sink_run_context(const struct sink_run *s);
void sink_round_close(struct sink_round *r); /* empty afterwards */
/* The copies of level l are made, and leave their masses and marks (sink_cloud_deposit).
 * (collective) */
MUST_USE enum err sinks_deposit(const struct sink_run *s, int l, int64_t (*mass)[8],
                                int64_t (*number)[8]);
/* Mass and its first moments, and kinetic energy, of the sinks that the Poisson equation has.
 * Local. */
void sinks_mass(const struct sink_state *k, struct sum sum[4]);
void sinks_kinetic(const struct sink_state *k, struct sum *ekin);
/* Direct sinks pull the cells, and cells pull them. (collective) */
void sinks_pull(const struct sink_run *s, int l);
/* Gas and force in the clouds. (collective) */
void sinks_look_around(const struct sink_run *s, int l);
/* The least of the time steps that the sinks of this rank allow on level l; the density for the
 * free fall is that of all ranks. (collective) */
double sinks_timestep(const struct sink_run *s, int l, double *rho_max);
/* At the end of a finest step: mergers, kick and drift. (collective) */
MUST_USE enum err sinks_move(const struct sink_run *s, int l);
/* Accretion and feedback: round[l].change is what the gas of the level gets. (collective) */
MUST_USE enum err sinks_accrete(const struct sink_run *s, int l);
/* At the end of a coarse step: mergers are gone, the others find their owners; new ones get their
 * seeds (*fed: from leaf cells of some rank); rates of the new state. (collective) */
MUST_USE enum err sinks_renew(const struct sink_run *s, bool *fed);
