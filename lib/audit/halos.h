/* audit/halos: the halos of a checkpoint (lib/halo). */
#pragma once
#include "ckpt/source.h"
#include "halo/table.h"

struct halos_request {
    double link;  /* mean separations */
    int64_t min;  /* members */
    bool bound;   /* centres are the members that are bound most */
    bool members; /* their ids are kept */
    /* Only halos whose centre is in a sphere (centre, radius in units of the box); what is within
     * 1.5 times its radius is read. */
    bool has_sphere;
    double sphere[4];
    size_t memory; /* bytes of this rank; 0: no limit */
};

/* Defaults of inspect and genzoom. */
static const struct halos_request HALOS_USUAL = {.link = 0.2, .min = 20};

struct halos_found {
    struct halo_box box;
    struct halo_list list;
    int64_t cut; /* halos that may reach beyond what was read around the sphere */
};

/* Reads all pieces of s (source_open_state), divided among the ranks; the list is rank 0's. On
 * error there is nothing to free. (collective, agreed) */
MUST_USE enum err source_halos(struct source *s, const struct comm *c,
                               const struct halos_request *q, struct halos_found *out);
