/* dom/cut: what balance.c (domains of given shares of the cost) and equalize.c (the shares at which
 * ranks hold as much as each other, ghosts included) have in common. Private to dom. */
#pragma once
#include "dom/domain_priv.h"

enum { PARALLEL_FROM = 50000 }; /* samples of a rank */

/* One tree level: nodes to cut, and this rank's samples. */
struct cut {
    const struct comm *comm;
    const struct domain_load *load;
    int64_t n;      /* samples */
    int64_t *x;     /* their positions, integer units in (0, extent] */
    int64_t *cost;  /* their integer costs */
    int64_t *copy;  /* those of a ghost of each, NULL: ghosts do not count; */
    int64_t *part;  /* and those of particles, which are in cost */
    int64_t ghosts; /* as the load has them; -1: unknown */
    int32_t *node;  /* the node each sample is in */
    int32_t *seg;   /* scratch of the search */
    int64_t *due;   /* [ranks+1] shares of the ranks before, in any unit */
    int64_t nnode;
    int nchild;
    struct group *group; /* [nnode] ranks of a node; n = 0: it is not there */
    const struct tree *tree;
    const int *axis; /* [tree levels], and this level */
    int level;
    int64_t origin[3];           /* of the domains that are made; k-section only */
    double tolerance;            /* of the cost of the smallest child */
    int64_t (*side)[2];          /* [nnode] along the axis */
    int64_t (*box)[3][2];        /* [nnode] k-section only */
    int64_t *total;              /* [nnode] cost of a node over all ranks */
    int64_t *plane;              /* [nnode][nchild-1], the answer */
    const struct cut_hold *hold; /* k-section only; NULL: planes go where the shares say */
};

/* Planes that are held, by the rank whose box begins at them: those of the tree levels before
 * `level` are best[], those of `level` are to be between low[] and high[]. */
struct cut_hold {
    int level;
    int64_t *low, *high, *best;
    int64_t none[2]; /* low[], high[] of places that are not known yet */
    int64_t step;    /* half an oct of the level with most bytes of copies */
};

/* Domains such that the cost of ranks is as their shares (collective). */
struct domain *cut_domain(const struct domain *d, enum domain_kind kind, struct cut *s);

/* equalize.c: from domains of equal cost to those where what ranks hold is as equal as can be had,
 * and its max/min. Takes d over; changes the shares (collective). */
struct domain *equalize(struct domain *d, struct cut *s, double *spread);
/* Max/min of what ranks hold (collective). */
double equalize_spread(const struct domain *d, struct cut *s);

/* origin.c: chooses s->origin, that of d or a better one, which needs other cut planes than those
 * of d; returns whether it is another (collective). */
bool origin_choose(const struct domain *d, struct cut *s);
