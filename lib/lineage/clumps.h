/* lineage/clumps: the clumps of a run as groups, on rank 0, and where the members of earlier groups
 * are now. All functions are collective; results are on rank 0, and the sets are empty elsewhere.
 */
#pragma once
#include "clump/clump.h"
#include "lineage/link.h"

struct lineage_clumps {
    struct lineage_groups groups; /* by ascending index; peak: as `whole` */
    struct clump *at;             /* [groups.n] */
    double *whole;                /* [groups.n] masses with all sub-clumps */
    double (*galaxy)[3];          /* [groups.n] positions of the most bound particles */
};

/* Groups of all clumps with members (clump_unbind.members). nmost: maximum number of tracers.
 * exclusive: false to include the masses of sub-clumps in the masses of the merit. */
void lineage_clumps_make(const struct clumps *k, const struct comm *c, int nmost, bool exclusive,
                         struct lineage_clumps *out);
void lineage_clumps_free(struct lineage_clumps *k);

/* Places in these groups of n particles, asked for by rank 0 alone, by their ids. */
void lineage_find(const struct clumps *k, const struct comm *c, const struct lineage_groups *groups,
                  int64_t n, const int64_t *id, struct lineage_place *at);

/* A particle and its position, code units. */
struct lineage_spot {
    int64_t id;
    double x[3];
};
/* Positions of the galaxies of the past, by ascending id; a particle that does not exist any more
 * is left out. past: of rank 0. The result (owner: caller, FREE) has *n rows. */
struct lineage_spot *lineage_spots(const struct lineage_past *past, const struct parts *p,
                                   const struct comm *c, int64_t *n);
