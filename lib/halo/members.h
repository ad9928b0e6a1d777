/* halo/members: functions shared by halo/members, halo/centre and halo/bound. Private to halo. */
#pragma once
#include "halo/halo_priv.h"

/* Whether other ranks have members of the halo. */
static inline bool halo_is_shared(const struct halo_part *p)
{
    return p->n < p->all;
}

/* Finds the centres x of the g->n halos of this rank, whose v is known, and their most bound
 * members. (collective) */
void halo_find_centres(const struct halo_space *s, const struct halo_groups *g, struct halo *h,
                       enum halo_centre centre, struct halo_tracers *t);

/* Candidate for the centre of part k, among the members on this rank. */
struct halo_choice {
    int64_t index;
    double value; /* quantity to minimise; ties: smallest id, then coordinates */
    int64_t id;
    double x[3];
};
/* Whether candidate a is chosen before b. */
bool halo_chosen(const struct halo_choice *a, const struct halo_choice *b);
struct halo_choice halo_choice_of(const struct halo_groups *g, int64_t part, int32_t member,
                                  double value);
/* Sends a value of `bytes` bytes for each halo of this rank to all ranks that have parts of it;
 * returns one value for each part; owner: caller, FREE. (collective) */
void *halo_send_parts(const struct halo_space *s, const struct halo_groups *g, const void *of_halo,
                      size_t bytes);

/* Potential of a halo, centred on its densest member, as seen by part `part` of this rank. */
struct halo_well {
    const struct halo_space *s;
    const struct halo_groups *g;
    int64_t part;
    const struct halo_core *core;
    const double *potential; /* in bins of the distance from the core */
};
/* Energy per mass of a member, relative to the mean velocity of the members. */
double halo_energy(const struct halo_well *w, int32_t member);
/* Calls fn with the potential of each part of this rank, whose halo has the densest member h->x,
 * with its 32nd neighbour at the square root of core2. (collective) */
typedef void halo_well_fn(const struct halo_well *w, void *ctx);
void halo_each_well(const struct halo_space *s, const struct halo_groups *g, const struct halo *h,
                    const double *core2, halo_well_fn *fn, void *ctx);
/* Finds the most bound member of each part; a halo_well_fn, best: [g->nparts]. */
void halo_find_bound(const struct halo_well *w, void *best);
/* Lists the most bound members of the halos of this rank. (collective) */
void halo_find_tracers(const struct halo_space *s, const struct halo_groups *g,
                       const struct halo *h, const double *core2, struct halo_tracers *t);
