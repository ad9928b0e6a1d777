/* part: particles. Method: docs/method/part.md.
 *
 * Particles are one structure of arrays. During a step of level l the particles at first[l]..n-1
 * belong to level l: each is hosted by an oct of level l (host). Particles in refined cells are
 * then handed to level l+1, by a partition that puts them last: first[l+1] is where they begin. So
 * levels are nested ranges, and returning particles to the coarser level costs nothing. A host is a
 * ghost oct, or an oct that the particle has left, only between part_merge or part_move and the
 * next part_enter. A particle that left all octs of its level keeps its host until it is returned.
 * Within a level particles are nearly sorted by host, for speed only: no bit depends on the order
 * of particles. Along axes that the mesh lacks positions and velocities are 0. */
#pragma once
#include "base/sum.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"
#include "part/cic_kern.h"
#include "part/column.h"

struct parts {
    int64_t n, cap;
    /* Columns, by name and by number; options and further columns are NULL unless the run has them.
     */
    union {
        struct {
            double *x[3], *v[3];
#define COLUMN(symbol, member, type, ...) type *member;
#define OPTION(symbol, member, type, ...) type *member;
#include "part/columns.def"
        };
        void *col[COL_MAX];
    };
    lidx *host; /* host oct, index in the arrays of its level */
    /* start of level l; the level ends at first[l+1], followed by finer levels */
    int64_t first[LEVEL_MAX + 3];
    /* number of particles of this rank removed because they left a box with boundaries */
    int64_t lost;

    /* The following are set by the caller after part_init. */
    bool is_static;  /* RAMSES's static: velocities := force, positions stay */
    unsigned frozen; /* families that keep their positions and velocities (part/family.h) */
    /* whether there may be tracers (families up to 0); of these forces move those of stars alone */
    bool tracers;
    /* whether gas tracers jump from cell to cell: levelp of these is the level of their cell, and
     * partner its number in its oct, with PART_JUMPED if they jumped in the last step */
    bool jumps;
    /* whether every gas tracer jumps, and its cell is a leaf */
    bool settled;
    /* whether the boundary at −x,+x,… is a mirror: the normal force beyond it changes sign
     * (otherwise the force is copied) */
    bool reflect[6];
    double mass_sph; /* unit of mass in the number deposit: if > 0, stars count as m / mass_sph */
    /* maximum depth of blocks, ≤ 2: (2^block_depth)³ octs share a patch of the mesh; 0: each
     * particle finds its cells alone. part_init sets 2; lower values are for tests: no bit depends
     * on it. */
    int block_depth;

    /* columns of the run, set by part_want and part_add */
    struct part_columns columns;

    /* The following are private: columns that not every run has, bytes per value, offset in a
     * packet (part.c). */
    int nmore;
    struct {
        int column, size, at;
    } more[COL_MAX];
    /* start of each level's particles in its last step: sorted pieces */
    int64_t run[LEVEL_MAX + 3];
    /* Rows parallel to the particles: scratch of the sort; from part_synchro to part_move the force
     * on particles first[l] … retained[l]-1 of each level l (retained[l] = 0: of none). */
    void *scratch[3];
    int64_t scratch_cap, retained[LEVEL_MAX + 3];
};

enum { PART_JUMPED = 8 };

/* Bytes per particle: columns, host, scratch of the sort and of the kicks. */
size_t part_bytes(const struct part_columns *columns);
enum { PART_SCRATCH_BYTES = 3 * 8 };
void part_init(struct parts *p);
void part_fini(struct parts *p);
/* part_want adds column c to the run, the next function all rows of the table with this `when`:
 * existing particles get 0. All ranks must make the same call. */
void part_want(struct parts *p, int c);
void part_want_all(struct parts *p, enum part_when when);
/* Adds a further column (part_column_add in part/column.h). Returns its number, −1 if the table is
 * full. */
int part_add(struct parts *p, const char *name, char type);
void part_reserve(struct parts *p, int64_t n);
/* Appends n particles, which the caller fills in; columns that not every run has are 0. Returns the
 * index of the first. */
int64_t part_append(struct parts *p, int64_t n);
/* Makes room for n particles of dark matter without a host after p->n, which the caller increases
 * when it has filled in positions, velocities, masses and ids. */
void part_append_dm(struct parts *p, int64_t n, int levelmin);

/* *next := one more than the largest id of a particle of any rank. Error if few ids are left; what:
 * the start of its message. (collective) */
MUST_USE enum err part_next_id(const struct parts *p, const struct comm *c, const char *what,
                               int64_t *next);
/* First unused id as of part_next_id, given the largest id, at least 0, of this rank. */
MUST_USE enum err part_id_after(int64_t max, const struct comm *c, const char *what, int64_t *next);

/* Assigns rank and host on levelmin to particles anywhere, from their positions. Wraps
 * periodically; first[] = all on levelmin. Error if a particle is outside a box with boundaries.
 * (collective) */
MUST_USE enum err part_distribute(struct parts *p, const struct mesh *m, const struct comm *c,
                                  const struct domain *d);
/* Distributes particles of a checkpoint, as part_distribute: particles beyond a boundary, which
 * RAMSES keeps, are removed and counted in lost. (collective) */
MUST_USE enum err part_take(struct parts *p, const struct mesh *m, const struct comm *c,
                            const struct domain *d);
/* Number of particles of this rank that are outside of a periodic box by more than `rounding` (code
 * units); *far: largest distance. Local. */
int64_t part_outside(const struct parts *p, const struct mesh *m, double rounding, double *far);
/* Distributes particles after domains have changed, as part_distribute: particles beyond a
 * boundary, which part_enter would remove next, are removed and counted in lost. (collective) */
void part_redistribute(struct parts *p, const struct mesh *m, const struct comm *c,
                       const struct domain *d);

/* Starts a step of level l: wraps positions; particles of the range that left their oct get the
 * neighbouring oct of level l if that exists (otherwise they keep their host), and go to the rank
 * that owns it. Particles beyond a boundary are removed and counted in lost. (collective) */
void part_enter(struct parts *p, const struct mesh *m, const struct comm *c, const struct domain *d,
                int l);
/* Hands particles in refined cells of level l to level l+1 (sets first[l+1], hosts on level l+1,
 * sends to the owner). At levelmax only ends the range. (collective) */
void part_hand_down(struct parts *p, const struct mesh *m, const struct comm *c,
                    const struct domain *d, int l);
/* cell[k] := number in its oct of the cell of level l that particle begin + k is in, of n. */
void part_cells(const struct parts *p, const struct mesh *m, int l, int64_t begin, int n,
                int *cell);
/* Ends a step: the range of level l+1 joins the range of level l; hosts become the parents. Local.
 */
void part_merge(struct parts *p, const struct mesh *m, int l);

/* Appends n particles to level l, as part_append; particles of finer levels move behind them. */
int64_t part_insert(struct parts *p, int l, int64_t n);

/* Particles of level l alone whose host is marked, ~k for oct k of level l+1, become the first of
 * level l+1, with host k. Finer levels stay as they are. Local. */
void part_promote(struct parts *p, int l);

/* Removes n particles of level l, by ascending index; finer levels must be empty. Local. */
void part_remove(struct parts *p, const struct mesh *m, int l, int64_t n, const int64_t *at);

/* Cell of a new particle: a leaf cell of level l. New particles become the last of level l, whose
 * own particles have not changed level or oct since part_hand_down. */
struct part_birth_cell {
    lidx oct; /* own oct of level l */
    int cell;
    int64_t number; /* number, unique within the cell in this call */
};
/* Creates n particles on this rank with host, levelp = l and an id: next, next + 1, … in the order
 * of cells along the Morton curve, then of numbers, over all ranks. The caller fills in the rest;
 * columns that not every run has are 0. Returns the index of the first; *total: their number on all
 * ranks. (collective) */
int64_t part_create(struct parts *p, const struct mesh *m, const struct comm *c, int l, int64_t n,
                    const struct part_birth_cell *location, int64_t next, int64_t *total);

/* A request for `count` consecutive ids for the particles of a cell. */
struct part_ticket {
    okey cell;      /* position on the Morton curve, in cells of the finest level: part_cell_key */
    int64_t number; /* number, unique within the cell in this call */
    int64_t count;
    int64_t id; /* out: the first id */
};
static inline okey part_cell_key(const struct level *lv, lidx oct, int cell)
{
    return (lv->key[oct] << 3 | (okey)cell) << 3 * (LEVEL_MAX - lv->level);
}
/* Numbers the particles of n tickets of this rank: next, next + 1, … in the order of cells along
 * the Morton curve, then of numbers, over all ranks. (collective) */
void part_number(const struct comm *c, int64_t n, struct part_ticket *t, int64_t next);

/* CIC mass deposit of the particles of level l (all from first[l] on; call before part_hand_down)
 * on existing cells of level l, own and ghost rows: mass[noct][8] in units of quantum; number !=
 * NULL: also the CIC-weighted number (DM counts 1 for any mass; mass_cut > 0: heavier DM is
 * ignored), in units of 2^-32. The caller zeroes the arrays and adds the ghosts (ghost_add_i64).
 * cic_levelmax as in RAMSES: > 0: no DM mass on finer levels, no DM number from it on. Local. */
void part_deposit(const struct parts *p, const struct mesh *m, int l, double quantum,
                  double mass_cut, int cic_levelmax, int64_t (*mass)[8], int64_t (*number)[8]);

/* Mass of the particles begin … end-1 if all are dark matter of one mass; 0: they differ, or there
 * are none. Local. */
double part_alike(const struct parts *p, int64_t begin, int64_t end);

/* Kicks the particles of level l alone (first[l]..first[l+1]-1) with the force of level l (or l-1
 * where the cloud leaves the level): v += ½ dteff f; dteff = dtnew[levelp] if levelp >= l else
 * dtold[levelp]; then levelp = l. F must be valid in ghosts of l and l-1. Local. */
void part_synchro(struct parts *p, const struct mesh *m, int l, const double *dtnew,
                  const double *dtold);
/* Kicks and moves the particles of level l: v += ½ dt f; x += v dt; no wrap. After part_synchro of
 * the level the cached force is used: neither the force nor these positions have changed since.
 * Both leave tracers as they are, but for those of stars. Local. */
void part_move(struct parts *p, const struct mesh *m, int l, double dt);
/* Maximum of |v_i| over the particles with mass of level l alone, for the Courant condition;
 * part_kinetic adds their kinetic energy Σ ½ m v² to an exact sum. Local. */
double part_vmax(const struct parts *p, int l);
void part_kinetic(const struct parts *p, int l, struct sum *ekin);
