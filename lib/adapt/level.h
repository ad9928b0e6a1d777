/* adapt/level: a level of the mesh from its own octs: its ghosts, and the plan of their exchange.
 *
 * An oct's owner is the owner of its centre; who needs it as a ghost is a pure function of its
 * position (domain_near). So a level is rebuilt from its own octs alone: each owner informs the
 * ranks that need an oct, and no rank sends requests. Refinement needs no such messages: the
 * parents of all ghosts are present, and their flags determine the new ghosts. All functions are
 * collective unless marked local. Private to adapt. */
#pragma once
#include "adapt/adapt_dev.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* The change of a level by refinement, or, with `unset`, its first octs, which were read. */
struct level_change {
    struct mesh_moves *moves;
    struct adapt_dev *dev; /* device whose memory is reserved; NULL: none */
    lidx created;          /* number of new own octs */
    /* Called when the device has or lacks the memory, before the old octs go. */
    void (*before)(void *ctx);
    void *ctx;
    const bool *unset; /* as in mesh_install: the other members are not used then */
};

/* Replaces level l by these own octs, `total` over all ranks, and their ghosts: derived from the
 * flags of the coarser level, or announced by the owners if v is NULL or the octs were read. The
 * caller sets the links. */
void level_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                   int64_t total, lidx nown, const okey *own, const struct level_change *v);
/* Sets the links of levels 1..last and the parents of level last. Local. */
void level_links(struct mesh *m, int last);
/* Ghosts of all fields and flags of level l, on a device or not (dev NULL). */
void level_fill(const struct comm *c, struct mesh *m, int l, struct adapt_dev *dev);
