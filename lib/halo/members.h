/* halo/members: functions shared by halo/members, halo/centre and halo/bound. Private to halo. */
#pragma once
#include "halo/halo_priv.h"

/* Whether other ranks have members of the halo. */
static inline bool halo_is_shared(const struct halo_part *p)
{
    return p->n < p->all;
}

/* Finds the centres x of the g->n halos of this rank, whose v is known. (collective) */
void halo_find_centres(const struct halo_space *s, const struct halo_groups *g, struct halo *h,
                       enum halo_centre centre);

/* Candidate for the most bound member of part k, among the members on this rank, and its energy.
 * The potential is centred on the densest member. (collective) */
struct halo_choice {
    int64_t index;
    double value; /* quantity to minimise; ties: smallest id, then coordinates */
    int64_t id;
    double x[3];
};
void halo_find_bound(const struct halo_space *s, const struct halo_groups *g, const struct halo *h,
                     const double *core2, struct halo_choice *best);
/* Whether candidate a is chosen before b. */
bool halo_chosen(const struct halo_choice *a, const struct halo_choice *b);
struct halo_choice halo_choice_of(const struct halo_groups *g, int64_t part, int32_t member,
                                  double value);
/* Sends a value of `bytes` bytes for each halo of this rank to all ranks that have parts of it;
 * returns one value for each part; owner: caller, FREE. (collective) */
void *halo_send_parts(const struct halo_space *s, const struct halo_groups *g, const void *of_halo,
                      size_t bytes);
