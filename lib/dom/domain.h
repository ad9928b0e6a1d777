/* dom/domain: a decomposition is a pure function position → rank, known to all ranks.
 *
 * Two kinds: the k-section tree (Kim 2026, section 2) and Hilbert key ranges as in RAMSES.
 * Positions are given as (level, key) of an oct; the rank of an oct is the owner of its centre,
 * i.e. of the parent cell's centre. Cut planes and keys are at a resolution of 2^-(levelmax+1) of
 * the box or coarser. Results do not depend on the decomposition, so it may depend on clocks.
 *
 * The number of ranks is arbitrary, also prime. Memory per rank: 8 bytes for each rank (k-section:
 * a cut plane) or 16 (Hilbert: a bound). */
#pragma once
#include "comm/comm.h"
#include "oct/mesh.h"

enum domain_kind { DOMAIN_KSECTION, DOMAIN_HILBERT };

struct domain; /* opaque decomposition, equal on all ranks */

/* Makes domains of equal volumes (k-section) or equal key ranges (Hilbert). */
struct domain *domain_new(enum domain_kind kind, int nrank, int levelmax, const bool bounded[6]);
/* domain_new for octs in one or two dimensions (y, z of their keys are 0). */
struct domain *domain_new_in(int ndim, enum domain_kind kind, int nrank, int levelmax,
                             const bool bounded[6]);
/* Domains for a mesh, with the margin that it needs. */
struct domain *domain_new_of(const struct mesh *m, enum domain_kind kind, int nrank);
/* Ranks need the octs within this many octs of own ones as ghosts: one, as new domains have it, or
 * DOMAIN_MARGIN if the gas has a magnetic field (oct/mesh.h). Domains that are made from others
 * have their margin. */
enum { DOMAIN_MARGIN = 2 };
void domain_set_margin(struct domain *d, int octs);
void domain_free(struct domain *d);
enum domain_kind domain_kind(const struct domain *d);
int domain_nrank(const struct domain *d);

/* Rank that owns the oct (level, key): the owner of its centre. */
int domain_rank(const struct domain *d, int level, okey key);

/* Ranks that own the eight cells of an oct, that is, the octs that refine these cells. */
void domain_cell_ranks(const struct domain *d, int level, okey key, int rank[8]);

/* The rank that owns all of an oct's volume, and so all descendants; -1 if shared. */
int domain_whole(const struct domain *d, int level, okey key);

/* The ranks, other than `me`, that need oct (level,key) as a ghost: ranks whose domain intersects
 * the cube of 3^3 octs around it (5^3 with a margin of two octs), that own its grandparent, or that
 * own its parent or one of the seven octs of the parent's level that it touches, wrapped
 * periodically. Writes ascending ranks without repeats to rank[], which has room for domain_nrank,
 * and returns their number. Fast if there are none. */
int domain_near(const struct domain *d, int me, int level, okey key, int *rank);

/* Iterator for domain_near over successive octs, fast if these share a parent: if no other rank
 * needs the parent as a ghost, all 27 octs around the parent have one owner, and its children are
 * no ghosts either. Each thread needs its own iterator. */
struct domain_row {
    const struct domain *d;
    int level; /* level of the parent; -1: none yet */
    okey parent;
    int only;  /* the only rank around the parent, or -1 */
    int *near; /* [domain_nrank] workspace */
};
void domain_row_begin(struct domain_row *w, const struct domain *d);
void domain_row_end(struct domain_row *w);
/* Returns the owner of the oct; *n other ranks near[0..*n-1] need it as a ghost. */
int domain_row_near(struct domain_row *w, int level, okey key, int *n);

/* A growing list of ranks. Initialise to zero; free `rank`. */
struct rank_list {
    int n, cap;
    int *rank;
};

/* Lists the ranks whose domain, extended by `margin` on each axis, intersects the ball around x:
 * exactly, up to rounding; ascending, without repeats, replacing the old contents. Units of the
 * box; no periodic wrapping: x may lie outside of the box. */
void domain_ball(const struct domain *d, const double x[3], double radius, double margin,
                 struct rank_list *ranks);

/* A new origin or first axis of a k-section must save this share of the work. */
#define DOMAIN_GAIN 0.03

/* Samples of the load: octs by their centres, each given by one rank, once or in parts. cost >= 0,
 * in any unit. If copy is not NULL, the amounts that ranks hold are balanced, ghosts included: each
 * rank with a ghost of an oct also holds `copy` of it. `part` is the particle part of `cost`:
 * particles are on the rank of their oct or, at other times, of its ancestor on level base; the
 * larger of the two counts. */
struct domain_load {
    int64_t n;
    const int *level;
    const okey *key;
    const double *cost, *copy, *part; /* [n] costs, ghost costs, particle costs */
    int base;
    /* [levels] work per unit of cost in a coarse step, 0 below base: the origin of a k-section in a
     * periodic box is then chosen so that ranks have equal shares of each level. NULL: the origin
     * is 0, as in cuRAMSES files. */
    const double *work;
    double gain; /* share of the work that a new origin must save, if more than DOMAIN_GAIN */
    /* More work beside a plane across x, within rows of octs that are advanced together, than
     * beside one across another axis, per oct, relative to the work of an oct. */
    double rows;
    const double *ghosts; /* bytes of this rank's ghosts under the present domains; NULL: unknown */
    double enough;        /* max/min over ranks at which the search may end */
};
/* Makes a decomposition with equal cost per rank, within the resolution of cut planes or 1 %. With
 * copies, amounts held by ranks are as equal as possible (dom/equalize.c), and *spread is their
 * max/min. Returns NULL if the amounts are within `enough` under d, which must be of this kind.
 * Without copies spread may be NULL. (collective) */
struct domain *domain_balance(const struct domain *d, enum domain_kind kind, const struct comm *c,
                              const struct domain_load *load, double *spread);

/* First level from which on each oct has one owner and one set of ghost ranks under both
 * decompositions, which must have equal numbers of ranks; levelmax + 1 if there is none, or if the
 * domains are too intricate for the test. */
int domain_agreement(const struct domain *a, const struct domain *b);
/* The Hilbert decomposition that equals d; NULL if none is found by domain_agreement. */
struct domain *domain_along(const struct domain *d);

/* Hilbert only: bound keys 0..nrank as RAMSES prints and stores them (real*8, exact, since bounds
 * are representable as doubles). */
void domain_bound_keys(const struct domain *d, double *bound);
/* RAMSES's Hilbert key of integer position x at `bits` bits per dimension. */
unsigned __int128 hilbert_key(const int64_t x[3], int bits);
/* k-section only: the tree in the layout of cuRAMSES: nodes from 1, breadth first; tables of nodes
 * or ranks with the second index slowest; cut planes and boxes in units of the box. At most kmax
 * children per node. All leaves are on the last level: a rank that is alone earlier is the only
 * child of its node, whose cut planes are at the end of its box. */
struct domain_tree {
    int nlev, kmax, nnode;
    int32_t *factor, *axis; /* [nlev] children per node; axis 1..3 */
    double *cut;            /* [kmax-1][nnode] cut planes */
    int32_t *next;          /* [kmax][nnode] children, 0: none */
    int32_t *rank;          /* [nnode] rank of a leaf, from 1; 0 for other nodes */
    double *low, *high;     /* [3][nrank] corners of boxes */
};
void domain_tree(const struct domain *d, struct domain_tree *t);
void domain_tree_free(struct domain_tree *t);
