/* sink/run: the sinks of a run, and the phases of sim/step.c that handle them. */
#pragma once
#include "ckpt/catalog.h"
#include "param/param.h"
#include "phys/stars.h"
#include "phys/units.h"
#include "sink/merge.h"
#include "sink/pull.h"
#include "sink/ramses.h"
#include "sparse/rows.h"

/* Copies of sinks on a level, from its deposit to its accretion. */
struct sink_round {
    struct sink_copies copies;
    struct sink_cells *cells; /* [copies.here.n] cells of each copy, or NULL */
    struct hydro_change change;
};

/* Data of a sink that its copies need to sum the gas around it. */
struct sink_visit {
    double m;
    bool direct;
    double kernel2, v[3]; /* data of other kinds of sinks */
};
enum { SINK_GAS_SUMS = 9 };

/* Functions of another family of sinks, in place of sink/ramses (hole/horizon). */
struct sink_run;
struct sink_kind {
    enum sink_family family;
    const char *name;                      /* name in the log */
    void (*law)(const struct sink_run *s); /* sets the parameters for the time of the run */
    void (*visit)(const struct sink_run *s, const struct sink *a, struct sink_visit *v);
    /* sums the gas in the cells of a copy's cloud on level l; thread-safe */
    void (*collect)(const struct sink_run *s, int l, const struct sink_visit *v,
                    const struct sink_cells *cells, struct sum sums[SINK_GAS_SUMS]);
    struct sink_gas (*gas)(const struct sum sums[SINK_GAS_SUMS]);
    /* computes rates from the gas of all levels */
    void (*rates)(const struct sink_run *s, struct sink *a);
    /* accretion on level l (collective) */
    MUST_USE enum err (*accrete)(const struct sink_run *s, int l);
};

struct sink_state {
    const struct sink_kind *kind; /* family of sinks; NULL: sink/ramses */
    void *own;                    /* private data of the family; FREE */
    struct sinks table;
    struct sink_law law; /* parameters in this coarse step */
    struct sink_merging merging;
    struct sink_softening soft;
    double direct; /* minimum mass of direct sinks; < 0: no sink is direct */
    struct sink_round round[LEVEL_MAX + 2];
    double dense[LEVEL_MAX + 2]; /* max mean density of direct sinks by level, on this rank */
};

/* View of the run in a phase; all pointers are lent. */
struct sink_run {
    struct sink_state *sinks; /* sinks; NULL: a run without sinks */
    const struct params *par;
    const struct hydro_par *hydro;
    const struct comm *comm;
    const struct domain *dom;
    struct mesh *mesh;
    const struct cosmo_par *cosmo; /* NULL without cosmology */
    const bool *reflect;           /* reflecting faces of the box, as in struct parts */
    const int64_t *noct;           /* octs by level over all ranks, number */
    const double *dtnew, *dtold;   /* time steps by level */
    double t, aexp;
    struct units units;
    double quantum, mass_sph; /* quantum of mass deposits; mass that counts as one particle */
    int nstep_coarse;
    struct star_swaps *captured; /* where gas that sinks take is noted; NULL: nowhere */
    struct mirror *mirror;       /* of a device that may have the gas and the force; NULL: none */
    bool on_ghosts;              /* the current phase works on ghosts, too */
};

/* ---- setup (sink/setup.c) ---- */
/* State of a run with sinks. kind: NULL: RAMSES. */
struct sink_state *sinks_new(const struct sink_kind *kind);
void sinks_end(struct sink_state **k);
/* Sets the parameters for the time of the run. */
void sinks_law(const struct sink_run *s);
/* Reads initial sinks from the file ic_sink, if it exists; or restores sinks from a checkpoint.
 * (collective) */
MUST_USE enum err sinks_initial(const struct sink_run *s);
MUST_USE enum err sinks_restore(const struct sink_run *s, const struct catalog *t,
                                const char *path);
/* Stores the sinks of all ranks in the catalog, in place of its former content. (collective) */
MUST_USE enum err sinks_store(const struct sink_run *s, struct catalog *t);

/* ---- steps (sink/run.c) ---- */
/* Whether the run has sinks now; equal on all ranks. */
static inline bool sinks_any(const struct sink_state *k)
{
    return k && k->table.total > 0;
}
/* Whether gravity between sinks and cells may be direct in this run. */
static inline bool sinks_direct(const struct sink_state *k)
{
    return k->direct >= 0;
}
struct sink_context sink_run_context(const struct sink_run *s);
void sink_round_close(struct sink_round *r); /* the round is empty afterwards */
/* Makes the copies of level l, which deposit their masses and refinement marks
 * (sink_cloud_deposit). (collective) */
MUST_USE enum err sinks_deposit(const struct sink_run *s, int l, int64_t (*mass)[8],
                                int64_t (*number)[8]);
/* Adds mass and first moments, or kinetic energy, of sinks that are in the source of the Poisson
 * equation. Local. */
void sinks_mass(const struct sink_state *k, struct sum sum[4]);
void sinks_kinetic(const struct sink_state *k, struct sum *ekin);
/* Gravity between direct sinks and cells. (collective) */
void sinks_pull(const struct sink_run *s, int l);
/* Own octs of level l, `ghosts`: ghosts too, in or beside the clouds of the copies of a level. FREE
 * out->oct. */
void sinks_octs(const struct sink_run *s, int copies, int l, bool ghosts, struct rows *out);
/* Collects gas and force in the clouds. (collective) */
MUST_USE enum err sinks_look_around(const struct sink_run *s, int l);
/* Minimum time step of this rank's sinks on level l; *rho_max becomes the maximum density over all
 * ranks, for the free-fall limit. (collective) */
double sinks_timestep(const struct sink_run *s, int l, double *rho_max);
/* Mergers, kick and drift, at the end of a finest step. (collective) */
MUST_USE enum err sinks_move(const struct sink_run *s, int l);
/* Accretion and feedback: round[l].change gets the changes of the gas. (collective) */
MUST_USE enum err sinks_accrete(const struct sink_run *s, int l);
/* At the end of a coarse step: removes merged sinks, sends the others to their owners, gives new
 * ones their seeds, and computes rates. *fed: seeds were taken from leaf cells on some rank.
 * (collective) */
MUST_USE enum err sinks_renew(const struct sink_run *s, bool *fed);
