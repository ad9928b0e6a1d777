/* dom/domain_priv: declarations shared by domain.c, ksection.c, hilbert.c and balance.c. Private to
 * dom.
 *
 * All positions are integers in units of 2^-(levelmax+1) of the box ("units"; the box has `extent`
 * of them per side): the finest oct is 4 units wide, the finest cell 2, and every centre of an oct
 * or a cell is an integer number of units. */
#pragma once
#include "comm/tree.h"
#include "dom/domain.h"

typedef unsigned __int128 hkey; /* Hilbert key, levelmax+1 bits per dimension of ndim */

struct ksection {
    struct tree tree;
    int first; /* the axis that is cut first; 0 unless another one is better (origin.c) */
    int axis[TREE_LEVELS];
    /* Origin of the tree's coordinates; nonzero only along periodic axes (origin.c). */
    int64_t origin[3];
    /* Group sizes by tree level: a group has small[l] ranks or one more; each[] and more[] are the
     * quotient and remainder of the two sizes by the level's factor. */
    int small[TREE_LEVELS], each[TREE_LEVELS][2], more[TREE_LEVELS][2];
    /* [nrank] cut[r]: plane between the boxes that hold ranks r - 1 and r where the tree separates
     * them; cut[0] is unused. */
    int64_t *cut;
};

struct hilbert_walk;

struct hilbert {
    int grain;   /* binary exponent of the spacing of bounds, which are exact as doubles */
    hkey *bound; /* [nrank+1] first keys */
    int nwalk;
    struct hilbert_walk *walk; /* [nwalk] workspaces of domain_near */
};

struct domain {
    enum domain_kind kind;
    int nrank, levelmax, ndim;
    int margin; /* octs (domain_set_margin) */
    int64_t extent;
    bool bounded[6], periodic[3];
    struct ksection ksec;
    struct hilbert hilb;
};

/* Lower corner of an oct in units; the width is domain_width. */
static inline void domain_corner(const struct domain *d, int level, okey key, int64_t x[3])
{
    okey_coords(key, x);
    for (int a = 0; a < 3; a++) x[a] <<= d->levelmax + 2 - level;
}

static inline int64_t domain_width(const struct domain *d, int level)
{
    return (int64_t)1 << (d->levelmax + 2 - level);
}

/* Coordinate of a point in the k-section tree: 1..extent. */
static inline int64_t ksection_at(const struct domain *d, int axis, int64_t x)
{
    return ((x - d->ksec.origin[axis] - 1) & (d->extent - 1)) + 1;
}

/* Allocates a decomposition without cut planes. */
struct domain *domain_alloc(enum domain_kind kind, int ndim, int nrank, int levelmax,
                            const bool bounded[6]);

void ksection_plan(struct domain *d); /* sets tree and axes, allocates cut planes */
/* Plans the tree anew, with this axis cut first. */
void ksection_first(struct domain *d, int axis);
void ksection_uniform(struct domain *d); /* sets cut planes of equal volumes */
void ksection_fini(struct domain *d);
/* The box (lo,hi] of a rank in tree coordinates. */
void ksection_box(const struct domain *d, int rank, int64_t box[3][2]);
int ksection_rank(const struct domain *d, int level, okey key);
/* The rank of an oct that no cut plane divides, else -1. */
int ksection_whole(const struct domain *d, int level, okey key);
int ksection_near(const struct domain *d, int me, int level, okey key, int *rank);

void hilbert_plan(struct domain *d); /* allocates the bounds */
void hilbert_uniform(struct domain *d);
void hilbert_finish(struct domain *d);
void hilbert_fini(struct domain *d);
hkey hilbert_centre_key(const struct domain *d, int level, okey key);
int hilbert_rank(const struct domain *d, int level, okey key);
bool hilbert_whole(const struct domain *d, int rank, int level, okey key);
int hilbert_near(const struct domain *d, int me, int level, okey key, int *rank);

/* Arguments of domain_ball, in units. */
struct domain_ball {
    const struct domain *d;
    double x[3], radius, margin;
    struct rank_list *ranks;
};
void rank_list_add(struct rank_list *s, int rank);
void ksection_ball(const struct domain_ball *b);
void hilbert_ball(const struct domain_ball *b);

/* Distance along an axis from the ball's centre to low..high widened by the margin; 0 inside. */
static inline double domain_ball_off(const struct domain_ball *b, int axis, int64_t low,
                                     int64_t high)
{
    double below = (double)low - b->margin - b->x[axis],
           above = b->x[axis] - (double)high - b->margin, off = below > above ? below : above;
    return off > 0 ? off : 0;
}

/* Whether a box at distance off[] from the centre intersects the ball. */
static inline bool domain_ball_meets(const struct domain_ball *b, const double off[3])
{
    return off[0] * off[0] + off[1] * off[1] + off[2] * off[2] <= b->radius * b->radius;
}
