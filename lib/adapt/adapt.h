/* adapt/adapt: mesh changes that involve other ranks: first build, refinement, ghosts,
 * redistribution. All are collective, unless they say local. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* Levels 1..levelmin, complete, owned by d. Fields are zero. */
void adapt_build(struct mesh *m, const struct comm *c, const struct domain *d);

/* Values of a new oct in cell `cell` of own oct `parent` of level l: fill out[f][8] for f < nfld
 * (the persistent fields that exist, in ascending order of enum field). NULL: injection of the
 * parent cell's values for all, or between faces (field_prolong). */
typedef void adapt_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8],
                           void *ctx);

/* Refines and derefines level l → l+1 by flag (of own octs of level l; ghost flags are filled
 * here). Ghosts of level l+1 are rebuilt and all its fields, also those of ghosts, are valid on
 * return if those of level l were. Returns the number of octs made plus removed, over all ranks. */
int64_t adapt_refine(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                     adapt_prolong *f, void *ctx);

/* adapt_refine in two halves, so that one sum serves many levels. count: octs of level l+1 to be
 * created and removed here; flags of level l valid in ghosts; local. change: given these and their
 * sums over all ranks. */
struct adapt_changes {
    int64_t created, removed;
};
struct adapt_changes adapt_count(const struct mesh *m, int l);
/* Where values of created octs come from: f and ctx as above; dev: fields are on a device, too
 * (adapt/adapt_dev), NULL: none is. */
struct adapt_values {
    adapt_prolong *f;
    void *ctx;
    struct adapt_dev *dev;
};
void adapt_change(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                  struct adapt_changes here, struct adapt_changes all,
                  const struct adapt_values *v);

/* Clears flags of own cells of level l > 1 that are to be split though an oct of level l beside
 * them neither exists nor is created by the flags of level l−1. Flags of both levels valid in
 * ghosts. Returns their number. Local: if any rank has dropped some, ghosts of the flags are stale,
 * and finer levels may have to follow. */
int64_t adapt_drop_ungraded(struct mesh *m, int l);

/* For a mesh that is read: level l := these own octs (ascending keys, each owned by this rank under
 * d) and the ghosts that follow from them; fields are zero. For l = 1..levelmax, then adapt_link
 * once, which needs the parents of all octs. */
void adapt_install(struct mesh *m, const struct comm *c, const struct domain *d, int l, lidx nown,
                   const okey *own);
void adapt_link(struct mesh *m); /* local */
/* Ghosts of all fields and flags of all levels. */
void adapt_fill(struct mesh *m, const struct comm *c);

/* Moves every oct with its fields and flags to its owner under d, once and as a whole; those that
 * stay are not sent. Rebuilds ghosts and fills them. A rank sends 16 MB at a time. was: domains of
 * before, or NULL; levels on which both are alike (domain_agreement) are left as they are, and so
 * are their ghosts. */
void adapt_redistribute(struct mesh *m, const struct comm *c, const struct domain *was,
                        const struct domain *d);
