/* lineage/merger_priv: functions shared by the files of merger. Private to lineage. */
#pragma once
#include <math.h>

#include "base/mem.h"
#include "lineage/merger.h"

/* A group that is lost or merged, with its tracers. */
struct merger_lost {
    int64_t node, n;
    double mass;       /* in the merit */
    int64_t *particle; /* [n] tracers, the most bound first (owner: the trees) */
};

/* Finds the groups that have the members id[n], on rank 0: row[i] becomes the row of the group,
 * −1: in no group. Sorts g->member. Returns the number of members with the id of another member.
 * (collective) */
int64_t merger_seek(const struct comm *c, struct merger_groups *g, int64_t n, const int64_t *id,
                    int64_t *row);
/* Relative uncertainty of the mass of a group of n members. */
static inline double merger_noise(int64_t n)
{
    return 1 / sqrt((double)n);
}
/* Room for the uncertainties of all groups. */
static inline void merger_noise_make(struct lineage_groups *g)
{
    g->noise = mem_new(sizeof *g->noise * (size_t)g->n + 1, "trees: tracers");
}
/* Links the groups of the last output to those of the one before and to the lost ones, on rank 0:
 * place: rows of the groups that have the tracers of f->earlier, then those of f->lost. later: the
 * groups of the last output. */
void merger_link(struct mergers *f, const struct lineage_groups *later, const int64_t *place);
