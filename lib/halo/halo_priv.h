/* halo_priv: what the files of lib/halo share. */
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
};

/* Moves all bodies to the ranks of a balanced decomposition. (collective) */
void halo_spread(struct halo_space *s, int64_t *n, struct halo_body **body);
void halo_space_free(struct halo_space *s);
/* The other ranks that may have points within `radius` of x, a place of this rank's domain; local.
 * Ascending, without repeats. */
void halo_ranks_near(const struct halo_space *s, const double x[3], double radius,
                     struct rank_list *out, struct rank_list *scratch);

/* Friends of friends over all ranks: label[i] = (rank << 32 | point), the least of the group, of
 * this rank's n points. (collective, agreed) */
MUST_USE enum err halo_groups(const struct halo_space *s, int64_t n, const double *const x[3],
                              double link, int64_t *label);

/* A radix tree of the places of n bodies, `stride` bytes apart, which it does not keep. Local. */
MUST_USE enum err halo_plant(const struct halo_space *s, int64_t n, const struct halo_body *first,
                             size_t stride, struct tree **t);

/* A member of a group, or a body in a sphere. */
struct halo_part {
    int64_t group;
    struct halo_body b;
};
/* Sorts by group, then by id, kind and place. */
void halo_sort_parts(int64_t n, struct halo_part *p);

/* Fills in id, number, mass, x, v from the members of a group. Local. */
MUST_USE enum err halo_measure_members(const struct halo_space *s, int64_t n,
                                       const struct halo_part *p, struct halo *h);
/* Fills in what is within spheres from all bodies within `radius` of the centre. Returns whether
 * that is far enough. Reorders p. Local. */
bool halo_measure_spheres(const struct halo_space *s, double gravity, double radius, int64_t n,
                          struct halo_part *p, struct halo *h);
/* Spheres of all halos of this rank. (collective, agreed) */
MUST_USE enum err halo_spheres(const struct halo_space *s, double gravity, int64_t nbody,
                               const struct halo_body *body, int64_t n, struct halo *h);

/* a - b on axis k by the shorter way. */
static inline double halo_offset(const struct halo_space *s, int k, double a, double b)
{
    double d = a - b;
    if (!s->periodic[k]) return d;
    return d > 0.5 ? d - 1 : d < -0.5 ? d + 1 : d;
}
