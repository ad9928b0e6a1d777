/* dom/domain_priv: what domain.c, ksection.c, hilbert.c and balance.c share. Private to dom.
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
    int axis[TREE_LEVELS];
    /* where the tree's coordinates begin along each axis: 0 but along periodic ones (origin.c) */
    int64_t origin[3];
    /* of the groups of a tree level that have small[l] ranks or one more: the quotient and the
     * remainder by the level's factor */
    int small[TREE_LEVELS], each[TREE_LEVELS][2], more[TREE_LEVELS][2];
    /* [nrank] the plane between the boxes that hold ranks r - 1 and r where the tree parts them;
     * cut[0] is not used */
    int64_t *cut;
};

struct hilbert_walk;

struct hilbert {
    int grain;   /* bounds are multiples of 2^grain, so that a double holds them */
    hkey *bound; /* [nrank+1] */
    int nwalk;
    struct hilbert_walk *walk; /* [nwalk] scratch of domain_near */
};

struct domain {
    enum domain_kind kind;
    int nrank, levelmax, ndim;
    int64_t extent;
    bool bounded[6], periodic[3];
    struct ksection ksec;
    struct hilbert hilb;
};

/* Lower corner of an oct in units; its width is domain_width. */
static inline void domain_corner(const struct domain *d, int level, okey key, int64_t x[3])
{
    okey_coords(key, x);
    for (int a = 0; a < 3; a++) x[a] <<= d->levelmax + 2 - level;
}

static inline int64_t domain_width(const struct domain *d, int level)
{
    return (int64_t)1 << (d->levelmax + 2 - level);
}

/* A point in the coordinates of the k-section tree: 1..extent. */
static inline int64_t ksection_at(const struct domain *d, int axis, int64_t x)
{
    return ((x - d->ksec.origin[axis] - 1) & (d->extent - 1)) + 1;
}

/* no cut planes yet */
struct domain *domain_alloc(enum domain_kind kind, int ndim, int nrank, int levelmax,
                            const bool bounded[6]);

void ksection_plan(struct domain *d);    /* tree, axes, room for cut planes */
void ksection_uniform(struct domain *d); /* cut planes of equal volumes */
void ksection_fini(struct domain *d);
/* The box (lo,hi] of a rank, in the tree's coordinates. */
void ksection_box(const struct domain *d, int rank, int64_t box[3][2]);
int ksection_rank(const struct domain *d, int level, okey key);
/* the rank of an oct that no cut plane cuts, else -1 */
int ksection_whole(const struct domain *d, int level, okey key);
int ksection_near(const struct domain *d, int me, int level, okey key, int *rank);

void hilbert_plan(struct domain *d); /* room for bounds */
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

/* How far the ball's centre is from low..high, widened by the margin; 0: it is inside. */
static inline double domain_ball_off(const struct domain_ball *b, int axis, int64_t low,
                                     int64_t high)
{
    double below = (double)low - b->margin - b->x[axis],
           above = b->x[axis] - (double)high - b->margin, off = below > above ? below : above;
    return off > 0 ? off : 0;
}

/* Does a box that is off[] away from the centre meet the ball? */
static inline bool domain_ball_meets(const struct domain_ball *b, const double off[3])
{
    return off[0] * off[0] + off[1] * off[1] + off[2] * off[2] <= b->radius * b->radius;
}
