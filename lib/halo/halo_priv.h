/* halo/halo_priv: structs and functions shared by the files of halo. Private to halo. */
#pragma once
#include <math.h>

#include "base/mem.h"
#include "dom/domain.h"
#include "halo/halo.h"
#include "tree/tree.h"

/* Distribution of dark matter over ranks: a particle is at most `margin` outside of the domain of
 * its rank. Other bodies are where halos need them. */
struct halo_space {
    const struct comm *c;
    struct domain *domain; /* decomposition of dark matter; NULL: one rank */
    bool periodic[3];
    double margin;
    double lo[3], hi[3];          /* bounding box of this rank's dark matter */
    double lightest;              /* lowest mass of dark matter */
    double density[HALO_SPHERES]; /* masses per volume of the box; NAN: unknown */
    double quantum;               /* unit of halo_mass: all masses are below 2^126 units */
    double gravity;
    int64_t exact; /* halo_par.exact */
};

/* ---- bodies ---- */

/* Makes room for n bodies; existing bodies are kept. */
void halo_set_room(struct halo_set *s, int64_t n);
void halo_set_free(struct halo_set *s);
/* Builds a tree over the bodies and sorts them in its order; (*order)[i] (owner: caller, FREE): the
 * former index of body i. Local. */
MUST_USE enum err halo_set_plant(const struct halo_space *s, struct halo_set *set, int32_t **order,
                                 struct tree **t);
/* Makes a decomposition that balances dark matter, and moves dark matter to its ranks.
 * (collective) */
void halo_spread(struct halo_space *s, struct halo_set *dark);
/* Moves bodies to their ranks in this decomposition. (collective) */
void halo_spread_set(const struct halo_space *s, struct halo_set *set);
/* Body of cell c of an oct of gas. */
static inline struct halo_point halo_cell_body(int level, okey key, int c, double m)
{
    struct halo_point b = {.m = m, .kind = SPECIES_GAS};
    int64_t at[3];
    okey_coords(key << 3 | (okey)c, at);
    for (int k = 0; k < 3; k++) b.x[k] = ((double)at[k] + 0.5) * ldexp(1, -level);
    return b;
}
/* Number of batches in which n bodies are sent, so that few are in memory twice. (collective) */
int64_t halo_turns(const struct comm *c, int64_t n);
void halo_space_free(struct halo_space *s);
/* Finds the other ranks that may have bodies within `radius` of x, a position in this rank's
 * domain; ascending, without repeats. Local. */
void halo_ranks_near(const struct halo_space *s, const double x[3], double radius,
                     struct rank_list *out, struct rank_list *scratch);

/* Requests of fixed size to other ranks: item i is for rank[i]. `answer` writes the replies to n
 * items from one rank. Returns the replies in the order of the items; owner: caller, FREE.
 * (collective) */
struct halo_question {
    size_t item, answer;
    void (*reply)(void *ctx, int64_t n, const void *item, void *answer);
    void *ctx;
};
void *halo_ask(const struct comm *c, const struct halo_question *q, int64_t n, const void *item,
               const int *rank);

/* ---- groups ---- */

/* Members of a halo on this rank. */
struct halo_part {
    int owner;        /* rank that measures the halo */
    int64_t index;    /* index of the halo on that rank */
    int64_t all;      /* number of members on all ranks */
    int64_t first, n; /* range in `member` of this rank's members */
};

struct halo_groups {
    struct halo_set *dark; /* bodies in the order of the tree; negative mass: copies */
    struct tree *tree;
    int32_t *part; /* index in `parts` of each body; -1: no halo */
    int64_t nparts;
    struct halo_part *parts; /* [nparts] sorted by owner and index */
    int32_t *member;
    int64_t n; /* number of halos of this rank */
};
/* Finds friends of friends over all ranks. *dark gets copies of bodies of other ranks near the
 * domain. (collective, agreed) */
MUST_USE enum err halo_groups(const struct halo_space *s, double link, int64_t min,
                              struct halo_set *dark, struct halo_groups *out);
void halo_groups_free(struct halo_groups *g);

/* ---- measures ---- */

/* The most bound members of the halos of this rank, at most `want` of each; `halo` is the index of
 * the halo on this rank. */
struct halo_tracers {
    int want;
    int64_t n;
    struct halo_tracer *at; /* (owner: caller, FREE) */
};
/* Computes id, number, mass, x, v of the g->n halos of this rank, and lists their most bound
 * members unless t->want is 0. (collective) */
void halo_measure_members(const struct halo_space *s, enum halo_centre centre,
                          const struct halo_groups *g, struct halo *h, struct halo_tracers *t);

/* Trees over dark matter, and over the other matter in the marked regions of the box. */
struct halo_trees {
    const struct halo_set *set[2];
    struct tree *tree[2];
};

/* Other matter near halos (halo/nearby). */
struct halo_nearby {
    const struct halo_points *all; /* other matter of this rank, as read */
    uint64_t *marked;              /* a bit for each cell of a mesh over the box */
    struct halo_set set;           /* bodies in marked cells, on the ranks of the decomposition */
};
void halo_nearby_init(struct halo_nearby *q, const struct halo_points *all);
void halo_nearby_fini(struct halo_nearby *q);
/* Marks all that is within `radius` of x. Local. */
void halo_nearby_mark(struct halo_nearby *q, const struct halo_space *s, const double x[3],
                      double radius);
/* Replaces set and tree 1 of t by those of the regions that any rank has marked. (collective,
 * agreed) */
MUST_USE enum err halo_nearby_plant(struct halo_nearby *q, const struct halo_space *s,
                                    struct halo_trees *t);

/* Computes the masses and radii of spheres, and plants a tree of other matter that contains them.
 * (collective, agreed) */
MUST_USE enum err halo_measure_spheres(const struct halo_space *s, struct halo_nearby *near,
                                       struct halo_trees *t, int64_t n, struct halo *h);
/* Computes the properties within the virial radius. (collective) */
void halo_measure_inside(const struct halo_space *s, const struct halo_trees *t, int64_t n,
                         struct halo *h);

/* a - b on axis k, by the shorter way on a periodic axis. */
static inline double halo_offset(const struct halo_space *s, int k, double a, double b)
{
    double d = a - b;
    if (!s->periodic[k]) return d;
    return d > 0.5 ? d - 1 : d < -0.5 ? d + 1 : d;
}
