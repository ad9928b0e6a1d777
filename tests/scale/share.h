/* Load of each rank in a cost field, and the ranks with which it exchanges ghosts, by functions of
 * simulate: domain_rank, domain_near, and the routes of comm/tree. */
#pragma once
#include "box.h"
#include "comm/tree.h"
#include "dom/domain.h"

struct range { /* range over ranks */
    double min, mean, max;
};

struct share {
    int nrank, sampled; /* number of ranks, number of ranks whose partners were searched */
    double cost_all;
    struct range cost; /* cost of a rank, in units of the mean */
    double grain;      /* largest cost that no cut can divide within a rank, in units of the mean */
    int64_t empty;     /* number of ranks without octs of level levelmin or finer */
    struct range octs, parts;
    struct range work; /* octs times the steps of their level in a coarse step */
    /* For the sampled ranks and octs of level levelmin and finer: one exchange of one value per
     * cell. */
    struct range partners;  /* ranks that receive octs of any level */
    struct range p2p;       /* messages, if each level has its own */
    struct range ghosts;    /* octs sent, counted once per receiver */
    struct range bytes;     /* bytes sent point to point */
    struct range walk_msgs; /* messages of a walk along the tree, exact for all ranks */
    /* bytes of a walk, including forwarded ones: sent from the sampled ranks, all hops */
    struct range walk_bytes;
    /* messages and octs sent in a coarse step, if each step of a level has one exchange */
    struct range step_msgs, step_ghosts;
    int64_t root_partners; /* number of ranks that receive the octs of level 1 */
    int levels;            /* number of levels with octs, from levelmin on */
};

/* Finds the owner of each oct. */
int32_t *share_owners(const struct box *f, const struct domain *d);
/* Measures the loads. sample: max number of ranks whose partners are searched. */
void share_measure(const struct box *f, const struct domain *d, const int32_t *owner, int sample,
                   struct share *s);

/* Number of sends of a message on its way between two ranks. */
int share_hops(const struct tree *t, int from, int to);
