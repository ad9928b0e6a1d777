/* dom/cut: declarations shared by balance.c (domains with given shares of the cost) and equalize.c
 * (shares for which all ranks hold equal amounts of data, ghosts included). Private to dom. */
#pragma once
#include "dom/domain_priv.h"

enum { PARALLEL_FROM = 50000 }; /* minimum samples per rank for threads */

/* State of one tree level: nodes to cut, and samples of this rank. */
struct cut {
    const struct comm *comm;
    const struct domain_load *load;
    int64_t n;     /* number of samples */
    int64_t *x;    /* [n] positions of samples, integer units in (0, extent] */
    int64_t *cost; /* [n] integer costs of samples */
    int64_t *copy; /* [n] integer costs of one ghost of each sample; NULL: ghosts are not counted */
    int64_t *part; /* [n] particle part of `cost` */
    int64_t ghosts; /* load.ghosts as an integer; -1: unknown */
    int32_t *node;  /* [n] node of each sample */
    int32_t *seg;   /* [n] workspace of the search */
    int64_t *due;   /* [ranks+1] cumulative shares of the ranks before, in any unit */
    int64_t nnode;
    int nchild;
    struct group *group; /* [nnode] ranks of a node; n = 0: no node */
    const struct tree *tree;
    const int *axis; /* [tree levels] axes; current tree level */
    int level;
    int first; /* first axis and origin of the new domains; k-section only */
    int64_t origin[3];
    double tolerance;            /* tolerance relative to the cost of the smallest child */
    int64_t (*side)[2];          /* [nnode] interval along the axis */
    int64_t (*box)[3][2];        /* [nnode] boxes; k-section only */
    int64_t *total;              /* [nnode] cost over all ranks */
    int64_t *plane;              /* [nnode][nchild-1] resulting cut planes */
    const struct cut_hold *hold; /* brackets, k-section only; NULL: planes follow the shares */
};

/* Cut planes with brackets, each identified by the rank whose box begins at the plane: planes of
 * tree levels before `level` are at best[], planes of `level` between low[] and high[]. */
struct cut_hold {
    int level;
    int64_t *low, *high, *best;
    int64_t none[2]; /* low[], high[] of planes without a known bound */
    int64_t step;    /* half an oct of the level with the most bytes of copies */
};

/* Makes domains whose costs are proportional to their shares (collective). */
struct domain *cut_domain(const struct domain *d, enum domain_kind kind, struct cut *s);

/* equalize.c: improves domains of equal cost until ranks hold amounts as equal as possible; *spread
 * is their max/min. Takes ownership of d and changes the shares (collective). */
struct domain *equalize(struct domain *d, struct cut *s, double *spread);
/* Ratio max/min of the amounts that ranks hold (collective). */
double equalize_spread(const struct domain *d, struct cut *s);

/* origin.c: sets first axis and origin to those of d or to better ones, which need new cut planes;
 * returns whether they change (collective). */
bool origin_choose(const struct domain *d, struct cut *s);
