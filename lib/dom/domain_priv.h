/* dom/domain_priv: what domain.c, ksection.c, hilbert.c and balance.c share. Not for others.
 *
 * All positions are integers in units of 2^-(levelmax+1) of the box ("units"; the box has `extent`
 * of them per side): the finest oct is 4 units wide, the finest cell 2, and every centre of an oct
 * or a cell is an integer number of units. */
#pragma once
#include "dom/domain.h"

enum { KSECTION_LEVELS = 31 };

typedef unsigned __int128 hkey; /* Hilbert key, levelmax+1 bits per dimension of ndim */

struct ksection {
    int nlev;                    /* tree levels; 0 for one rank */
    int factor[KSECTION_LEVELS]; /* children of each node of the tree level */
    int axis[KSECTION_LEVELS];
    /* [node][factor-1]; child j of node p is node p*factor+j of the next tree level */
    int64_t *wall[KSECTION_LEVELS];
    int64_t (*box)[3][2]; /* [rank][axis]: (lo,hi], the last tree level's children */
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
    bool wall[6], periodic[3];
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

/* no cut planes yet */
struct domain *domain_alloc(enum domain_kind kind, int ndim, int nrank, int levelmax,
                            const bool wall[6]);

void ksection_plan(struct domain *d);    /* factors, axes, room for cut planes */
void ksection_uniform(struct domain *d); /* cut planes of equal volumes */
void ksection_finish(struct domain *d);  /* boxes of the ranks, once all cut planes are known */
void ksection_fini(struct domain *d);
/* The interval (side[0],side[1]] of node p of tree level l along an axis; needs the cut planes of
 * the levels above only. */
void ksection_side(const struct domain *d, int l, int64_t p, int axis, int64_t side[2]);
int ksection_rank(const struct domain *d, int level, okey key);
/* no cut plane cuts the oct */
bool ksection_whole(const struct domain *d, int rank, int level, okey key);
int ksection_near(const struct domain *d, int me, int level, okey key, int *rank);

void hilbert_plan(struct domain *d); /* room for bounds */
void hilbert_uniform(struct domain *d);
void hilbert_finish(struct domain *d);
void hilbert_fini(struct domain *d);
hkey hilbert_centre_key(const struct domain *d, int level, okey key);
int hilbert_rank(const struct domain *d, int level, okey key);
bool hilbert_whole(const struct domain *d, int rank, int level, okey key);
int hilbert_near(const struct domain *d, int me, int level, okey key, int *rank);

/* What domain_ball asks for, in units. */
struct domain_ball {
    const struct domain *d;
    double x[3], radius, margin;
    unsigned char *meets; /* [nrank] */
};
void ksection_ball(const struct domain_ball *b);
void hilbert_ball(const struct domain_ball *b);

/* Does the box, widened by the margin, meet the ball? */
static inline bool domain_ball_meets(const struct domain_ball *b, const int64_t side[3][2])
{
    double d2 = 0;
    for (int a = 0; a < 3; a++) {
        double low = (double)side[a][0] - b->margin - b->x[a],
               high = b->x[a] - (double)side[a][1] - b->margin, d = low > high ? low : high;
        if (d > 0) d2 += d * d;
    }
    return d2 <= b->radius * b->radius;
}

/* First of the ascending cut planes w[0..n-1] with x <= w, else n. */
static inline int wall_slot(const int64_t *w, int n, int64_t x)
{
    int lo = 0, len = n;
    while (len > 8) {
        int half = len / 2;
        if (w[lo + half - 1] < x) lo += half;
        len -= half;
    }
    int hi = lo + len;
    while (lo < hi && w[lo] < x) lo++;
    return lo;
}
