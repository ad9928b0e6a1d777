/* dom/domain: a decomposition is a pure function position → rank, known to all ranks.
 *
 * Two kinds: the k-section tree (Kim 2026, section 2) and Hilbert key ranges as in RAMSES.
 * Positions are given as (level, key) of an oct; its rank is that of its centre, i.e. of the parent
 * cell's centre. Cut planes and keys are at a resolution of 2^-(levelmax+1) of the box or
 * coarser. Results do not depend on it, so it may depend on clocks.
 *
 * Any number of ranks, prime ones too. What every rank holds of a decomposition: 8 bytes a rank
 * (k-section: a cut plane) or 16 (Hilbert: a bound). */
#pragma once
#include "comm/comm.h"
#include "oct/mesh.h"

enum domain_kind { DOMAIN_KSECTION, DOMAIN_HILBERT };

struct domain; /* opaque; equal on all ranks */

/* Equal volumes (k-section) or equal key ranges (Hilbert). */
struct domain *domain_new(enum domain_kind kind, int nrank, int levelmax, const bool bounded[6]);
/* domain_new for octs in one or two dimensions (y, z of their keys are 0); Hilbert only. */
struct domain *domain_new_in(int ndim, enum domain_kind kind, int nrank, int levelmax,
                             const bool bounded[6]);
void domain_free(struct domain *d);
enum domain_kind domain_kind(const struct domain *d);
int domain_nrank(const struct domain *d);

/* Rank that owns the oct (level, key): the owner of its centre. */
int domain_rank(const struct domain *d, int level, okey key);

/* Ranks that own the eight cells of an oct, that is, the octs that refine them. */
void domain_cell_ranks(const struct domain *d, int level, okey key, int rank[8]);

/* The rank that has all of an oct's volume, and so all its descendants; -1: several have parts. */
int domain_whole(const struct domain *d, int level, okey key);

/* The ranks, other than `me`, that need oct (level,key) as a ghost: those whose domain meets the
 * cube of 3^3 octs around it, those that own its grandparent, and those that own its parent or one
 * of the seven octs of the parent's level that it touches, wrapped periodically. Ascending, without
 * repeats, into rank[]; returns their number (rank[] has room for domain_nrank). Fast when none. */
int domain_near(const struct domain *d, int me, int level, okey key, int *rank);

/* domain_near of octs one after the other, fast where those in a row have one parent: if no other
 * rank needs the parent as a ghost, all 27 octs around it are its rank's, and its children are
 * nobody's ghosts either. Asked of each oct in turn; a thread has its own. */
struct domain_row {
    const struct domain *d;
    int level; /* of the parent; -1: none yet */
    okey parent;
    int only;  /* the rank, or -1 */
    int *near; /* [domain_nrank] */
};
void domain_row_begin(struct domain_row *w, const struct domain *d);
void domain_row_end(struct domain_row *w);
/* The rank of the oct; *n others need it, near[0..*n-1]. */
int domain_row_near(struct domain_row *w, int level, okey key, int *n);

/* Ranks, in a list that grows. Begins as zeros; rank: FREE. */
struct rank_list {
    int n, cap;
    int *rank;
};

/* The ranks whose domain comes nearer than `margin`, on each axis, to the ball around x: all that
 * do, and no others but by rounding; ascending, without repeats, instead of what the list held. In
 * units of the box; nothing is wrapped: x may lie outside of the box. */
void domain_ball(const struct domain *d, const double x[3], double radius, double margin,
                 struct rank_list *ranks);

/* Octs by their centres, each given by one rank, once or in parts. cost >= 0, any unit. If copy is
 * not NULL, what ranks hold is balanced, which is more than that: each rank that is to have a ghost
 * of an oct holds copy of it, too; and of cost, part is of particles. These are on the rank of
 * their oct and, at other times, on that of its ancestor on level base; there is room for the more
 * of both. */
struct domain_load {
    int64_t n;
    const int *level;
    const okey *key;
    const double *cost, *copy, *part; /* [n] */
    int base;
    /* [levels] what a unit of cost works in a coarse step, 0 below base: then the boxes of a
     * k-section may begin anywhere in a periodic box, so that ranks have as much of each level as
     * of all. NULL: they begin at 0, as cuRAMSES stores them */
    const double *work;
    const double *ghosts; /* bytes of this rank's ghosts under the present domains; NULL: unknown */
    double enough;        /* max/min over ranks with which the search may end */
};
/* A new decomposition with equal cost per rank, within the resolution of cut planes or 1 %; with
 * copies, one whose ranks hold amounts as equal as can be had (dom/equalize.c), and *spread is
 * max/min of these. NULL: they are within `enough` under d, which is of that kind. Without copies
 * spread may be NULL. (collective) */
struct domain *domain_balance(const struct domain *d, enum domain_kind kind, const struct comm *c,
                              const struct domain_load *load, double *spread);

/* The level from which on each oct has the same owner and is a ghost of the same ranks under both,
 * which are of as many ranks; levelmax + 1: on none, or the domains are too intricate to see it. */
int domain_agreement(const struct domain *a, const struct domain *b);
/* The Hilbert decomposition that is alike; NULL: none is, as far as domain_agreement sees. */
struct domain *domain_along(const struct domain *d);

/* Hilbert only: the bound keys 0..nrank as RAMSES prints and stores them (real*8, exact: bounds are
 * keys that a double represents). */
void domain_bound_keys(const struct domain *d, double *bound);
/* RAMSES's Hilbert key of integer position x at `bits` bits per dimension. */
unsigned __int128 hilbert_key(const int64_t x[3], int bits);
/* k-section only: the tree as cuRAMSES stores it: nodes from 1, breadth first; tables of nodes or
 * ranks with the second index slowest; cut planes and boxes in units of the box. At most kmax
 * children per node. All leaves are on the last level: a rank that is alone before it is the only
 * child of its node, whose cut planes are at the end of its box. */
struct domain_tree {
    int nlev, kmax, nnode;
    int32_t *factor, *axis; /* [nlev] axis 1..3 */
    double *cut;            /* [kmax-1][nnode] */
    int32_t *next;          /* [kmax][nnode] children, 0: none */
    int32_t *rank;          /* [nnode] leaves: from 1; others 0 */
    double *low, *high;     /* [3][nrank] */
};
void domain_tree(const struct domain *d, struct domain_tree *t);
void domain_tree_free(struct domain_tree *t);
