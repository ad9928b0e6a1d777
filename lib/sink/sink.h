/* sink: sink particles and black holes. Method: docs/method/sinks.md.
 *
 * A run has one of two families of laws (enum sink_family); both stand on this core: the table of
 * sinks, who owns them, and how what they are reaches other ranks and what these find comes back.
 *
 * A sink belongs to the rank that owns the leaf cell it is in. No rank knows the others' sinks, and
 * nothing is summed over all sinks on all ranks: what a sink does to the cells around it, and what
 * these give it, goes by copies (sink/copies.h), which are routed events (dom/event). Sums over
 * cells are exact (base/sum), copies are ordered by id: no result depends on ranks or threads. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* RAMSES: &SINK_PARAMS. HORIZON: &PHYSICS_PARAMS, as Horizon-AGN and cuRAMSES have it. BOTH: of
 * columns. */
enum sink_family { SINK_NONE, SINK_RAMSES = 1, SINK_HORIZON = 2, SINK_BOTH = 3 };

/* Sums over the cloud of a sink, of one level: the volume of gas and what is in it. */
struct sink_gas {
    double volume, mass, momentum[3], thermal;
    double turn[3]; /* angular momentum about the sink (Horizon) */
};

/* All in code units. The members of sink/columns.def are the state; the rest lives within a coarse
 * step. */
struct sink {
    int64_t id; /* from 1, in the order of birth; a merger keeps the smaller one */
#define SINK_REAL(name, member, family) double member;
#define SINK_WHOLE(name, member, family) int64_t member;
#define SINK_VECTOR(x, y, z, member, family) double member[3];
#include "sink/columns.def"
    /* ---- within a coarse step ---- */
    bool direct;                        /* pulls by itself, not by a cloud of mass (RAMSES) */
    double rate, rate_hole;             /* accretion by the sink, and by the hole in it */
    double eddington;                   /* Eddington's rate */
    double volume, mass_gas;            /* of its cloud */
    double force[LEVEL_MAX + 1][3];     /* acceleration by what is on each level */
    struct sink_gas gas[LEVEL_MAX + 1]; /* in the cloud, by level */
};

struct sinks {
    enum sink_family family;
    int64_t n, cap;
    struct sink *at; /* this rank's, by id */
    int64_t total;   /* of all ranks, known to all */
    int64_t made;    /* ids given so far: the next is made + 1 */
    int level;       /* on which they moved last; 0: not yet */
};

/* A column of the state, for checkpoints. */
struct sink_column {
    const char *name; /* as catalogs (ckpt/catalog.h) have it */
    size_t offset;    /* in struct sink */
    bool whole;       /* int64_t, else double */
    int family;       /* bits of enum sink_family: which runs have it */
};
int sink_columns(void); /* the id is not among them */
const struct sink_column *sink_column(int i);

void sinks_free(struct sinks *s);
/* n zeroed sinks at the end. Returns the first; the caller gives ids and then calls sinks_settle.
 */
struct sink *sinks_add(struct sinks *s, int64_t n);
/* Wraps positions, sends every sink to its owner, sorts by id, counts. Those beyond a boundary, and
 * those without mass (they have merged), are removed; *lost: how many were beyond a boundary, of
 * all ranks. (collective) */
void sinks_settle(struct sinks *s, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int64_t *lost);
/* The *all sinks that their ranks have marked, by id, on every rank, so that all do the same with
 * them; NULL if there are none, else FREE. (collective) */
struct sink *sinks_share(const struct sinks *s, const bool *marked, const struct comm *c,
                         int64_t *all);
/* This rank's marked ones become what they are in such a list. Local. */
void sinks_return(struct sinks *s, const bool *marked, const struct sink *from, int64_t all);
/* Sums over its cloud on these levels. */
struct sink_gas sink_gas_sum(const struct sink *s, int levelmin, int levelmax);
/* A position that has moved by less than a box, back into a periodic box. */
void sink_wrap(const struct mesh *m, double x[3]);
/* b - a, the nearest image in a periodic box. */
void sink_between(const struct mesh *m, const double a[3], const double b[3], double r[3]);
/* Is it in the box? */
bool sink_inside(const struct mesh *m, const double x[3]);
/* In the box when it is wrapped, or up to a box beyond a boundary, so that sinks_settle removes it.
 */
bool sink_reached(const struct mesh *m, const double x[3]);
