/* halo/halo_priv: what the files of this module share. Private to halo. */
#pragma once
#include <math.h>

#include "base/mem.h"
#include "dom/domain.h"
#include "halo/halo.h"
#include "tree/tree.h"

/* Which rank has which body: a point is at most `margin` outside of the domain of its rank. */
struct halo_space {
    const struct comm *c;
    struct domain *domain; /* NULL: one rank */
    bool periodic[3];
    double margin;
    double lo[3], hi[3];          /* around this rank's bodies */
    double lightest;              /* mass of dark matter */
    double density[HALO_SPHERES]; /* masses per volume of the box; NAN: unknown */
    double quantum;               /* of mass: all is below 2^126 of it */
    double gravity;
    int64_t exact; /* as in halo_par */
};

/* ---- bodies ---- */

/* Room for n bodies; those there remain. */
void halo_set_room(struct halo_set *s, int64_t n);
/* A tree over the bodies, which are sorted as it wants them; (*order)[i] (owner: caller, FREE): the
 * former place of body i. Local. */
MUST_USE enum err halo_set_plant(const struct halo_space *s, struct halo_set *set, int32_t **order,
                                 struct tree **t);
/* Moves all bodies to the ranks of a balanced decomposition. (collective) */
void halo_spread(struct halo_space *s, struct halo_points *b);
/* In how many turns n bodies are sent, so that few are there twice. (collective) */
int64_t halo_turns(const struct comm *c, int64_t n);
void halo_space_free(struct halo_space *s);
/* The other ranks that may have points within `radius` of x, a place of this rank's domain; local.
 * Ascending, without repeats. */
void halo_ranks_near(const struct halo_space *s, const double x[3], double radius,
                     struct rank_list *out, struct rank_list *scratch);

/* Questions of fixed size to other ranks: item i is for rank[i]. `answer` writes the answers to n
 * items that one rank has sent. Returns the answers in the order of the items; owner: caller,
 * FREE. (collective) */
struct halo_question {
    size_t item, answer;
    void (*reply)(void *ctx, int64_t n, const void *item, void *answer);
    void *ctx;
};
void *halo_ask(const struct comm *c, const struct halo_question *q, int64_t n, const void *item,
               const int *rank);

/* ---- groups ---- */

/* The members of a halo that this rank has. */
struct halo_part {
    int owner;        /* the rank that measures it, */
    int64_t index;    /* and its number there */
    int64_t all;      /* members on all ranks */
    int64_t first, n; /* of this rank, in `member` */
};

struct halo_groups {
    struct halo_set *dark; /* sorted by the tree; those of mass below 0 are copies */
    struct tree *tree;
    int32_t *part; /* of each body: the part of a halo that it is in; -1: none */
    int64_t nparts;
    struct halo_part *parts; /* by owner and place */
    int32_t *member;
    int64_t n; /* halos of this rank */
};
/* Friends of friends over all ranks. *dark gets copies of what is near on other ranks.
 * (collective, agreed) */
MUST_USE enum err halo_groups(const struct halo_space *s, double link, int64_t min,
                              struct halo_set *dark, struct halo_groups *out);
void halo_groups_free(struct halo_groups *g);

/* ---- measures ---- */

/* Fills in id, number, mass, x, v of the g->n halos of this rank. (collective) */
void halo_measure_members(const struct halo_space *s, enum halo_centre centre,
                          const struct halo_groups *g, struct halo *h);

/* Trees over all bodies: dark matter; all other matter. */
struct halo_trees {
    const struct halo_set *set[2];
    struct tree *tree[2];
};
/* Fills in masses and radii of spheres. (collective) */
void halo_measure_spheres(const struct halo_space *s, const struct halo_trees *t, int64_t n,
                          struct halo *h);
/* Fills in what is within the virial radius. (collective) */
void halo_measure_inside(const struct halo_space *s, const struct halo_trees *t, int64_t n,
                         struct halo *h);

/* a - b on axis k by the shorter way. */
static inline double halo_offset(const struct halo_space *s, int k, double a, double b)
{
    double d = a - b;
    if (!s->periodic[k]) return d;
    return d > 0.5 ? d - 1 : d < -0.5 ? d + 1 : d;
}
