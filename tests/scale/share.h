/* Shares of a cost field on each rank, and the ranks that it exchanges ghosts with, from the
 * functions that simulate itself calls: domain_rank, domain_near, and the routes of comm/tree. */
#pragma once
#include "box.h"
#include "comm/tree.h"
#include "dom/domain.h"

struct range { /* over ranks */
    double min, mean, max;
};

struct share {
    int nrank, sampled; /* ranks whose partners were looked up */
    double cost_all;
    struct range cost; /* in units of the mean */
    double grain;      /* most of a mean share that no cut can divide, within one rank */
    int64_t empty;     /* ranks that own no oct of level levelmin or finer */
    struct range octs, parts;
    struct range work; /* octs times the steps of their level in a coarse step */
    /* Of the sampled ranks, octs of level levelmin and finer. One exchange of a value per cell. */
    struct range partners;   /* ranks that get octs, of all levels together */
    struct range p2p;        /* messages if each level has its own */
    struct range ghosts;     /* octs sent, once for each receiver */
    struct range bytes;      /* sent point to point */
    struct range walk_msgs;  /* in one walk along the tree, exact for each of all ranks */
    struct range walk_bytes; /* with what a rank passes on: sent from the sampled ranks, all hops */
    /* messages and octs sent in a coarse step, if each step of a level has one exchange */
    struct range step_msgs, step_ghosts;
    int64_t root_partners; /* ranks that get the octs of level 1 */
    int levels;            /* that hold octs, from levelmin on */
};

/* The owner of each oct. */
int32_t *share_owners(const struct box *f, const struct domain *d);
/* sample: number of ranks at most whose partners are looked up. */
void share_measure(const struct box *f, const struct domain *d, const int32_t *owner, int sample,
                   struct share *s);

/* Ranks a message passes on its way from one rank to another: sends. */
int share_hops(const struct tree *t, int from, int to);
