/* halo/members: what halo/members and halo/centre share. Private to halo. */
#pragma once
#include "halo/halo_priv.h"

/* Have other ranks members of it? */
static inline bool halo_is_shared(const struct halo_part *p)
{
    return p->n < p->all;
}

/* Fills in x of the g->n halos of this rank, whose v is known. (collective) */
void halo_find_centres(const struct halo_space *s, const struct halo_groups *g, struct halo *h,
                       enum halo_centre centre);

/* The member of part k that is bound most, of those that this rank has; its energy. The centre of
 * the halo's potential is the densest member. (collective) */
struct halo_choice {
    int64_t index;
    double value; /* the least is chosen; of equals, the least id; then the least place */
    int64_t id;
    double x[3];
};
void halo_find_bound(const struct halo_space *s, const struct halo_groups *g, const struct halo *h,
                     const double *core2, struct halo_choice *best);
/* Is a chosen before b? */
bool halo_chosen(const struct halo_choice *a, const struct halo_choice *b);
struct halo_choice halo_choice_of(const struct halo_groups *g, int64_t part, int32_t member,
                                  double value);
/* Sends values that the owner of a halo knows to all ranks that have parts of it: values of `bytes`
 * bytes of the halos of this rank; returns one for each part; owner: caller, FREE. (collective) */
void *halo_send_parts(const struct halo_space *s, const struct halo_groups *g, const void *of_halo,
                      size_t bytes);
