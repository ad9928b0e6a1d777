/* sink: sink particles and black holes. Method: docs/method/sinks.md.
 *
 * A run has one of two families of sinks (enum sink_family); both use this core: the table of
 * sinks, their owners, and the exchange of data with other ranks.
 *
 * A sink belongs to the rank that owns its leaf cell. No rank knows the sinks of others:
 * interactions of a sink with the cells around it use copies of the sink (sink/copies.h), which are
 * routed events (dom/event). Sums over cells are exact (base/sum), copies are ordered by id: no
 * result depends on ranks or threads. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* SINK_RAMSES: &SINK_PARAMS. SINK_HORIZON: &PHYSICS_PARAMS, as in Horizon-AGN and cuRAMSES.
 * SINK_BOTH: columns of both families. Bits of runs of RAMSES's sinks with more columns:
 * SINK_STELLAR: with stellar objects, SINK_DESCENT: with sink_descent, SINK_CONE: on light
 * cones that follow paths. */
enum sink_family {
    SINK_NONE,
    SINK_RAMSES = 1,
    SINK_HORIZON = 2,
    SINK_BOTH = 3,
    SINK_STELLAR = 4,
    SINK_DESCENT = 8,
    SINK_CONE = 16
};

/* Sums over the cloud of a sink on one level: volume of the gas, mass, momentum, internal
 * energy. */
struct sink_gas {
    double volume, mass, momentum[3], thermal;
    double turn[3]; /* angular momentum about the sink (Horizon) */
};

/* A sink in code units. Members from sink/columns.def are its state; the others are valid within a
 * coarse step. */
struct sink {
    int64_t id; /* unique id from 1, in the order of birth; a merger keeps the smaller one */
#define SINK_REAL(name, member, family) double member;
#define SINK_WHOLE(name, member, family) int64_t member;
#define SINK_VECTOR(x, y, z, member, family) double member[3];
#include "sink/columns.def"
    /* ---- within a coarse step ---- */
    int64_t into; /* id of the sink that it has merged into, without mass; 0: none */
    /* has direct gravity, instead of a cloud with mass (RAMSES) */
    bool direct;
    double rate, rate_hole;             /* accretion rates of the sink, and of the hole in it */
    double eddington;                   /* Eddington rate */
    double volume, mass_gas;            /* volume and gas mass of the cloud */
    double force[LEVEL_MAX + 1][3];     /* acceleration by matter on each level */
    struct sink_gas gas[LEVEL_MAX + 1]; /* gas in the cloud, by level */
};

/* A sink that is no more: it has merged into another, or is beyond a boundary (into: 0). */
struct sink_gone {
    int64_t id, into;
    double x[3];
};

struct sinks {
    int family;   /* bits of enum sink_family */
    bool recalls; /* whether `gone` is kept, for what belongs to sinks (sink_places) */
    /* sinks that this rank has removed since the last call of sink_places */
    int64_t ngone, gone_room;
    struct sink_gone *gone;
    int64_t n, cap;
    struct sink *at; /* sinks of this rank, ascending by id */
    int64_t total;   /* number of sinks on all ranks */
    int64_t made;    /* number of ids assigned so far: the next id is made + 1 */
    int level;       /* level on which sinks moved last; 0: not moved yet */
};

/* A column of the state, for checkpoints. */
struct sink_column {
    const char *name; /* name as in catalogs (ckpt/catalog.h) */
    size_t offset;    /* offset in struct sink */
    bool whole;       /* int64_t, else double */
    int family;       /* bits of enum sink_family: runs that have the column */
};
int sink_columns(void); /* number of columns, without the id */
const struct sink_column *sink_column(int i);

void sinks_free(struct sinks *s);
/* The sink of this rank with this id, once they are settled; NULL: it is not here. */
struct sink *sinks_find(const struct sinks *s, int64_t id);
/* Appends n zeroed sinks, and returns the first. The caller sets ids and then calls
 * sinks_settle. */
struct sink *sinks_add(struct sinks *s, int64_t n);
/* Wraps positions, removes sinks beyond a boundary and sinks without mass (merged), sends every
 * sink to its owner, sorts by id, and counts. *lost: number of sinks beyond a boundary, on all
 * ranks. (collective) */
void sinks_settle(struct sinks *s, const struct mesh *m, const struct comm *c,
                  const struct domain *d, int64_t *lost);
/* Gathers the marked sinks of all ranks, by id, on every rank, so that all ranks can process them
 * alike. *all: their number. Returns NULL if there are none, else FREE. (collective) */
struct sink *sinks_share(const struct sinks *s, const bool *marked, const struct comm *c,
                         int64_t *all);
/* Copies the state of marked own sinks back from a list of sinks_share. Local. */
void sinks_return(struct sinks *s, const bool *marked, const struct sink *from, int64_t all);
/* Sums over the cloud on levels levelmin..levelmax. */
struct sink_gas sink_gas_sum(const struct sink *s, int levelmin, int levelmax);
/* Wraps a position that has moved by less than a box into a periodic box. */
void sink_wrap(const struct mesh *m, double x[3]);
/* Vector from a to b, to the nearest image in a periodic box. */
void sink_between(const struct mesh *m, const double a[3], const double b[3], double r[3]);
/* Whether a position is in the box. */
bool sink_inside(const struct mesh *m, const double x[3]);
/* Whether a position is in the box after wrapping, or at most a box beyond a boundary, so that
 * sinks_settle can remove the sink. */
bool sink_reached(const struct mesh *m, const double x[3]);
