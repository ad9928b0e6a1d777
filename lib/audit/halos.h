/* audit/halos: the halos of a checkpoint (lib/halo). */
#pragma once
#include "ckpt/source.h"
#include "halo/table.h"

struct halos_request {
    double link;  /* linking length in mean particle separations */
    int64_t min;  /* minimum number of members */
    bool bound;   /* true to centre halos on the most bound particle */
    bool members; /* true to keep the ids of members */
    int tracers;  /* number of most bound members of each halo to list; 0: none */
    /* Restriction to halos whose centre is in a sphere (centre, radius in units of the box);
     * particles within 1.5 radii are read. */
    bool has_sphere;
    double sphere[4];
    size_t memory; /* memory limit per rank, bytes; 0: none */
};

/* Default values of inspect and genzoom. */
static const struct halos_request HALOS_USUAL = {.link = 0.2, .min = 20};

struct halos_found {
    struct halo_box box;
    struct halo_list list;
    int64_t cut; /* number of halos that may extend beyond the region that was read */
};

/* The box of a checkpoint, from its header. */
struct halo_box source_box(const struct source *s);
/* Finds the halos of s (source_open_state). All pieces are read, divided among the ranks; rank 0
 * receives the list. On error nothing needs to be freed. (collective, agreed) */
MUST_USE enum err source_halos(struct source *s, const struct comm *c,
                               const struct halos_request *q, struct halos_found *out);
