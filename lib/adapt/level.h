/* adapt/level: a level of the mesh from its own octs: its ghosts, and the plan of their exchange.
 *
 * An oct's owner is the owner of its centre; who needs it as a ghost is a pure function of its
 * position (domain_near). So a level is rebuilt from its own octs alone: each owner informs the
 * ranks that need an oct; no rank sends requests. After refinement nobody need be informed: the
 * parents of all ghosts are here, and their flags say which octs there are. All collective.
 * Private to adapt. */
#pragma once
#include "adapt/adapt_dev.h"
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* A level that refinement changes. */
struct level_change {
    struct mesh_moves *moves;
    struct adapt_dev *dev; /* where room is made; NULL: on no device */
    lidx created;          /* own octs that are new */
};

/* Level l := these own octs, `total` on all ranks, and the ghosts that refinement makes, or those
 * that other ranks announce (v NULL). Links are left to the caller. */
void level_install(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                   int64_t total, lidx nown, const okey *own, const struct level_change *v);
/* Links of levels 1..last, with the parents of the last; local. */
void level_links(struct mesh *m, int last);
/* Ghosts of all fields and flags of level l, on a device or not (dev NULL). */
void level_fill(const struct comm *c, struct mesh *m, int l, struct adapt_dev *dev);
