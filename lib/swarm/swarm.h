/* swarm: particles without a mesh over all ranks: domains, migration, and copies of other ranks'
 * particles within reach (ghosts).
 *
 * The caller's columns are arrays of `room` rows, own particles first, then ghosts. A domain
 * decomposition (dom/domain.h) of the frame tells the owner of a position; no result depends on
 * it, nor on the order of rows. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "tree/near.h"

enum { SWARM_COLUMNS = 40 };

struct swarm_column {
    void **data; /* address of the caller's pointer */
    size_t bytes;
    bool moves; /* goes with a particle to another rank */
};

struct swarm {
    const struct comm *comm; /* lent */
    struct near_frame frame; /* of positions: the periodic box, or a box with all particles */
    bool open;               /* the frame follows the particles: no axis is periodic */
    int64_t n, ghosts;
    int ncolumn;
    struct swarm_column column[SWARM_COLUMNS];
    double **x; /* the caller's double *x[3], columns among the above */
    void (*reserve)(void *owner, int64_t rows); /* makes room in all columns, keeps contents */
    void *owner;
    struct domain *dom;
    struct swarm_plan *plan; /* of the ghosts; private */
};

/* periodic: the box is lo … lo + side; without it the frame is that of the particles, and lo and
 * side are not used. The caller then sets x, reserve, owner and n, and adds the columns. */
void swarm_init(struct swarm *s, const struct comm *c, enum domain_kind kind, const double lo[3],
                const double side[3], bool periodic);
void swarm_fini(struct swarm *s);
void swarm_add(struct swarm *s, void **data, size_t bytes, bool moves);

/* Drops ghosts, wraps positions along periodic axes, makes the frame of an open swarm from the
 * positions of all particles and from nothing else (frame.c), and sends particles to their owners.
 * Columns that do not move then have no meaning. Error: a position that is not finite, with the
 * number of the row. (collective, agreed) */
MUST_USE enum err swarm_move(struct swarm *s);
/* swarm_move after domains of equal cost; cost[n] of own particles, NULL: 1 each. Own particles are
 * then also in the order of their keys in memory. (collective, agreed) */
MUST_USE enum err swarm_balance(struct swarm *s, const double *cost);
/* Ratio of the largest to the mean cost of a rank; 1 if there is none. (collective) */
double swarm_imbalance(const struct swarm *s, const double *cost);

/* Makes ghosts of all particles b of other ranks that are within max(reach_a, reach_b) of a
 * particle a of this rank (a few more may come), and fills columns which[0..nwhich) of them.
 * Distances are those to the nearest image; positions of ghosts are those at their owners.
 * reach[n]: of own particles. Sets ghosts. Error: a reach that is negative or not finite.
 * (collective, agreed) */
MUST_USE enum err swarm_ghosts(struct swarm *s, const double *reach, int nwhich, const int *which);
/* Fills columns of the ghosts anew. (collective) */
void swarm_fill(struct swarm *s, int nwhich, const int *which);
/* Bytes of this rank's plan, for the table of memory. */
size_t swarm_bytes(const struct swarm *s);
