/* adapt/adapt: mesh changes that involve other ranks: first build, refinement, ghosts,
 * redistribution. All functions are collective unless marked local. */
#pragma once
#include "comm/comm.h"
#include "dom/domain.h"
#include "oct/mesh.h"

/* Builds levels 1..levelmin, complete, owned according to d. All fields are zero. */
void adapt_build(struct mesh *m, const struct comm *c, const struct domain *d);

/* Values of a new oct in cell `cell` of oct `parent` of level l, an own oct or a ghost: the
 * function fills out[f][8] for f < nfld (the existing persistent fields, in ascending order of enum
 * field). A NULL function stands for injection of the parent cell's values, or interpolation
 * between faces (field_prolong). Of a mesh with a magnetic field it may also read level l + 1,
 * which then has lost and got no octs yet. */
typedef void adapt_prolong(const struct mesh *m, int l, lidx parent, int cell, double (*out)[8],
                           void *ctx);

/* Refines and derefines level l → l+1 by the flags of own octs of level l; ghost flags are filled
 * first. Ghosts of level l+1 are rebuilt; those of a field that were valid stay valid. Ghosts of
 * level l, and interpolated fields of level l-1, must be valid, or known to be stale: they are
 * filled. Returns the number of octs created plus removed over all ranks. */
int64_t adapt_refine(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                     adapt_prolong *f, void *ctx);

/* Numbers of own octs of level l+1 that refinement creates and removes on this rank. adapt_count
 * and adapt_change are the two halves of adapt_refine, so that one reduction serves many levels.
 * adapt_count is local and needs the flags of level l in ghosts; adapt_change takes the numbers of
 * this rank and their sums over all ranks. */
struct adapt_changes {
    int64_t created, removed;
};
struct adapt_changes adapt_count(const struct mesh *m, int l);
/* Source of the values of created octs: f and ctx as for adapt_prolong; dev describes the fields on
 * a device (adapt/adapt_dev), NULL if no field is on a device. sent, equal on all ranks: values of
 * octs and ghosts travel in messages; set it if any rank may have a device. */
struct adapt_values {
    adapt_prolong *f;
    void *ctx;
    struct adapt_dev *dev;
    bool sent;
};
void adapt_change(struct mesh *m, const struct comm *c, const struct domain *d, int l,
                  struct adapt_changes here, struct adapt_changes all,
                  const struct adapt_values *v);

/* Clears flags of own cells of level l > 1 that are to be split though an oct of level l next to
 * them neither exists nor is created by the flags of level l−1. Flags of both levels must be valid
 * in ghosts. Returns the number of dropped flags. Local: if any rank has dropped flags, the ghost
 * flags are stale and finer levels may need the check again. */
int64_t adapt_drop_ungraded(struct mesh *m, int l);

/* Makes the links of all levels of a mesh that was read (adapt/install.h). Local. */
void adapt_link(struct mesh *m);
/* Fills the ghosts of all fields and flags on all levels. */
void adapt_fill(struct mesh *m, const struct comm *c);

/* Moves every oct with its fields and flags to its owner under d; octs that keep their owner are
 * not sent. Ghosts are rebuilt and filled. A rank sends at most 16 MB per exchange. was: the
 * previous domains, or NULL; levels on which both decompositions agree (domain_agreement) stay
 * unchanged, ghosts included. */
void adapt_redistribute(struct mesh *m, const struct comm *c, const struct domain *was,
                        const struct domain *d);
