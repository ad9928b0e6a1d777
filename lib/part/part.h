/* part: particles. Method: docs/method/part.md.
 *
 * One structure of arrays. During a step of level l the particles at first[l]..n-1 belong to level
 * l: each is hosted by an oct of level l (host). Those in refined cells are then handed to level
 * l+1, by a partition that puts them last: first[l+1] is where they begin. So levels are nested
 * ranges, and giving particles back to the coarser level costs nothing. A host is a ghost oct, or
 * an oct that the particle has left, only between part_merge or part_move and the next part_enter.
 * A particle that left all octs of its level keeps its host until it is given back. Within a level
 * particles are nearly sorted by host. This is for speed only: no bit depends on the order of
 * particles. */
#pragma once
#include "base/sum.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"
#include "part/cic_kern.h"
#include "part/column.h"

struct parts {
    int64_t n, cap;
    /* The columns, by name and by number; options and further columns are NULL unless the run has
     * them. */
    union {
        struct {
            double *x[3], *v[3];
#define COLUMN(symbol, member, type, ...) type *member;
#define OPTION(symbol, member, type, ...) type *member;
#include "part/columns.def"
        };
        void *col[COL_MAX];
    };
    lidx *host; /* oct (index in its level's arrays) */
    /* level l: first[l]..first[l+1]-1, then those of finer levels */
    int64_t first[LEVEL_MAX + 3];
    /* particles of this rank that left a box with boundaries, and were removed */
    int64_t lost;

    /* Set by the caller after part_init. */
    bool is_static; /* RAMSES's static: velocities := force, positions stay */
    /* the boundary at −x,+x,… mirrors: normal force beyond it has the other sign (else it is
     * copied) */
    bool reflect[6];
    double mass_sph; /* > 0: stars count as m / mass_sph in the number deposit */
    /* the most octs that share a patch of the mesh are (2^block_depth)³, ≤ 2; 0: each particle
     * finds its cells alone. part_init: 2; less is for tests: no bit depends on it. */
    int block_depth;

    /* Set by part_want and part_add. */
    struct part_columns columns;

    /* Private. */
    /* columns that exist beside those of every run, bytes per value, and where it is in a packet
     * (part.c) */
    int nmore;
    struct {
        int column, size, at;
    } more[COL_MAX];
    /* where each level's particles began in its last step: pieces that are sorted */
    int64_t run[LEVEL_MAX + 3];
    /* Rows beside the particles, at the same places: of the sort; from part_synchro to part_move
     * the force on particles first[l] … kept[l]-1 of each level l (kept[l] = 0: on none). */
    void *scratch[3];
    int64_t scratch_cap, retained[LEVEL_MAX + 3];
};

/* Bytes that a particle takes: columns, host, scratch of the sort and of the kicks. */
size_t part_bytes(const struct part_columns *columns);
enum { PART_SCRATCH_BYTES = 3 * 8 };
void part_init(struct parts *p);
void part_fini(struct parts *p);
/* The run gets column c, or all rows of the table with this `when`: existing particles get 0. The
 * same on all ranks. */
void part_want(struct parts *p, int c);
void part_want_all(struct parts *p, enum part_when when);
/* A further column (part/column.h: part_column_add). Returns its number, −1 if there is no room. */
int part_add(struct parts *p, const char *name, char type);
void part_reserve(struct parts *p, int64_t n);
/* Appends n particles, which the caller fills in: columns that not every run has are 0. Returns the
 * first. */
int64_t part_append(struct parts *p, int64_t n);

/* Particles anywhere, with global positions only → rank and host on levelmin. Wraps periodically;
 * first[] = all on levelmin. Error if a particle is outside a box with boundaries. (collective) */
MUST_USE enum err part_distribute(struct parts *p, const struct mesh *m, const struct comm *c,
                                  const struct domain *d);
/* part_distribute for particles of a checkpoint: particles beyond a boundary, which RAMSES keeps,
 * are removed and counted in lost. (collective) */
MUST_USE enum err part_take(struct parts *p, const struct mesh *m, const struct comm *c,
                            const struct domain *d);
/* How many particles of this rank are outside of a periodic box by more than `rounding` (code
 * units); *far: how far the farthest is. Local. */
int64_t part_outside(const struct parts *p, const struct mesh *m, double rounding, double *far);
/* part_distribute in a run whose domains have changed: particles beyond a boundary, which
 * part_enter would remove next, are removed and counted in lost. (collective) */
void part_redistribute(struct parts *p, const struct mesh *m, const struct comm *c,
                       const struct domain *d);

/* Start of a step of level l: wraps positions; particles of the range that left their oct get the
 * neighbouring oct of level l where that exists (else they keep their host), and go to the rank
 * that owns it. Those beyond a boundary are removed and counted in lost. (collective) */
void part_enter(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d,
                int l);
/* Hands particles in refined cells of level l to level l+1 (sets first[l+1], hosts on level l+1,
 * sends to the owner). At levelmax it only ends the range. (collective) */
void part_hand_down(struct parts *p, const struct mesh *m, const struct comm *c,
                    const struct domain *d, int l);
/* End: range of level l+1 joins that of level l; hosts become the parents. Local. */
void part_merge(struct parts *p, const struct mesh *m, int l);

/* Appends n particles to level l, as part_append does: particles of finer levels move behind them.
 * Columns that not every run has are 0. */
int64_t part_insert(struct parts *p, int l, int64_t n);

/* Removes n particles of level l, by ascending index; finer levels have none. Local. */
void part_remove(struct parts *p, const struct mesh *m, int l, int64_t n, const int64_t *at);

/* New particles in leaf cells of level l, n on this rank: they are the last of level l, whose own
 * particles have not moved to another level or oct since part_hand_down. */
struct part_birth_cell {
    lidx oct; /* own, of level l */
    int cell;
    int64_t number; /* among those of this cell in this call: no two have all three alike */
};
/* Each gets its host, levelp = l and an id: next, next + 1, … in the order of cells along the
 * Morton curve, then of numbers, whichever rank they are on. The caller fills in the rest; columns
 * that not every run has are 0. Returns the first; *total: their number on all ranks. (collective)
 */
int64_t part_create(struct parts *p, const struct mesh *m, const struct comm *c, int l, int64_t n,
                    const struct part_birth_cell *location, int64_t next, int64_t *total);

/* CIC mass deposit of the particles of level l (all from first[l] on; call before part_hand_down)
 * on existing cells of level l, own and ghost rows: mass[noct][8] in units of quantum; number !=
 * NULL: also the CIC-weighted number (DM 1 whatever its mass; mass_cut > 0: heavier DM ignored), in
 * units of 2^-32. Caller zeroes the arrays and adds the ghosts (ghost_add_i64). cic_levelmax as in
 * RAMSES: > 0: no DM mass above, no DM number from it on. Local. */
void part_deposit(const struct parts *p, const struct mesh *m, int l, double quantum,
                  double mass_cut, int cic_levelmax, int64_t (*mass)[8], int64_t (*number)[8]);

/* Kick of the particles of level l alone (first[l]..first[l+1]-1) with the force of level l (or l-1
 * where the cloud leaves the level): v += ½ dteff f; dteff = dtnew[levelp] if levelp >= l else
 * dtold[levelp]; then levelp = l. F valid in ghosts of l and l-1. Local. */
void part_synchro(struct parts *p, const struct mesh *m, int l, const double *dtnew,
                  const double *dtold);
/* v += ½ dt f; x += v dt; no wrap. After part_synchro of the level f is the same: neither the force
 * nor positions of these particles have changed since. Local. */
void part_move(struct parts *p, const struct mesh *m, int l, double dt);
/* max |v_i| over the particles of level l alone, for the Courant condition; kinetic energy Σ ½ m v²
 * added to an exact sum. Local. */
double part_vmax(const struct parts *p, int l);
void part_kinetic(const struct parts *p, int l, struct sum *ekin);
